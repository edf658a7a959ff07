/* json.h -- a strict reader of JSON (RFC 8259): one value and nothing behind it, UTF-8 only, at most 64
 * levels deep.
 *
 * Refused beyond what the grammar refuses: numbers beyond double, lone surrogates, and \u0000, which no C
 * string can hold. Of equal names in one object the first counts. */
#ifndef ATOMO_JSON_H
#define ATOMO_JSON_H

#include "base/arena.h"

typedef enum { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_TEXT, JSON_ARRAY, JSON_OBJECT } JsonType;

typedef struct Json {
    JsonType type;
    const char *name; /* of a member of an object */
    const char *text; /* JSON_TEXT; of a number, as it is written */
    double number;    /* JSON_NUMBER */
    int64_t whole;    /* the same where is_whole: no fraction, no exponent, fits */
    bool is_whole, on;
    const struct Json *first; /* of an array or object */
    const struct Json *next;  /* behind this one in the same array or object */
} Json;

/* The value in `size` bytes at `data`; it lives in the arena. ERR_CORRUPT with the offset otherwise. */
Status json_read(const Json **out, const char *data, size_t size, Arena *a, Error *err);

/* The same for an object, and nothing else, whose member `name` is a long array: its elements are handed over one by one,
 * and stand in no tree; the first array of that name is empty in `out`. An element is gone after its call, but its texts
 * stay: they are put over `data`, which is lost. */
typedef struct {
    const char *name;
    Status (*take)(void *of, const Json *element);
    void *of;
} JsonRows;

Status json_read_rows(const Json **out, const JsonRows *rows, char *data, size_t size, Arena *a, Error *err);

/* The member of that name; NULL where there is none, or `object` is NULL or no object. */
const Json *json_member(const Json *object, const char *name);

#endif
