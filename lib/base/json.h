/* json.h -- a strict reader of JSON (RFC 8259): one value and nothing behind it, UTF-8 only, at most 64 levels
 * deep.
 *
 * Besides invalid JSON, the reader refuses numbers beyond double's range, lone surrogates, and \u0000, which no
 * C string can hold. If an object has two members of the same name, json_member finds the first. */
#ifndef ATOMO_JSON_H
#define ATOMO_JSON_H

#include "base/text.h"

typedef enum { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_TEXT, JSON_ARRAY, JSON_OBJECT } JsonType;

typedef struct Json {
    JsonType type;
    const char *name; /* the name of an object's member; NULL: an element of an array */
    const char *text; /* JSON_TEXT: the text; JSON_NUMBER: the number as it is written */
    double number;    /* JSON_NUMBER */
    /* the number as an integer, valid if is_whole: no fraction, no exponent, fits int64_t */
    int64_t whole;
    bool is_whole, on;
    const struct Json *first; /* the first element of an array, or member of an object */
    const struct Json *next;  /* the next element or member of the same array or object */
} Json;

/* Parses the JSON value in `size` bytes at `data` into the arena. Invalid JSON gives ERR_CORRUPT with the
 * offset of the error. */
Status json_read(const Json **out, const char *data, size_t size, Arena *a, Error *err);

/* Returns the member `name` of `object`. NULL: there is none, or `object` is NULL or not an object. */
const Json *json_member(const Json *object, const char *name);

/* Appends `text` in quotes, with JSON escapes. Bytes that are not UTF-8 become U+FFFD. */
void json_put_text(TextBuf *out, const char *text);

#endif
