/* param.h -- describes a codec's parameters by a table with one line for each key. Parsing, checking, canonical
 * printing, the command `list`, error messages and docs/generated/compressors.md all use the table.
 *
 *     typedef struct { int64_t bits, bucket; int norm; } Qsgd;         the field's C type determines the parser
 *     static const char *const norms[] = {"l2", "linf", NULL};
 *     static const Param schema[] = {
 *         PARAM(Qsgd, bits, "4", 1, 16, "bits of a level", .rate = true, .group = 1),
 *         PARAM(Qsgd, levels, NULL, 1, 65535, "levels above zero", .group = 1),
 *         PARAM_OF(Qsgd, norm, "l2", norms, "scale of a bucket"),
 *         {0},
 *     };
 *
 * Types of fields: int64_t is an integer, double a real number, bool on/off, int a choice (an index into
 * `names`), an array of char a text of at most `high` characters (choices[0] describes it), const char * the
 * spec of another codec, which must be the last key and extends to the end of the stage (spec.c reads it). A
 * key whose default is NULL is unset until the spec names it: PARAM_NONE for integers, NaN for reals, "" for
 * texts. Keys of the same non-zero group exclude one another: naming a key unsets the other keys of its
 * group. */
#ifndef ATOMO_PARAM_H
#define ATOMO_PARAM_H

#include "base/arena.h"

#include <stdio.h>

typedef enum { PARAM_END, PARAM_INT, PARAM_REAL, PARAM_BOOL, PARAM_CHOICE, PARAM_TEXT, PARAM_SPEC } ParamType;

#define PARAM_NONE INT64_MIN

typedef struct {
    const char *key, *fallback; /* fallback: the default as text; NULL: unset */
    ParamType type;
    size_t offset, all; /* of the field; bytes of the struct */
    double low, high; /* the range of numbers, both ends included; `low` is excluded if `above` is set */
    const char *const *choices;
    const char *help;
    int group;
    bool above;     /* numbers must be above `low`; `low` itself is not allowed */
    bool rate;      /* true: this key controls the trade-off of payload size against error */
    bool automatic; /* true: a real number that may also be "auto", stored as NaN */
    /* true: this key sets the same quantity as the rate key in finer steps, to reach a given payload size more
     * exactly */
    bool fine;
} Param;

#define PARAM_TYPE(T, field)                                                                                 \
    _Generic(((T *)0)->field, int64_t : PARAM_INT, double : PARAM_REAL, bool : PARAM_BOOL, int : PARAM_CHOICE, \
             char * : PARAM_TEXT, const char * : PARAM_SPEC)
#define PARAM(T, field, text, lowest, highest, ...)                                                          \
    {                                                                                                        \
        .key = #field, .fallback = text, .type = PARAM_TYPE(T, field), .offset = offsetof(T, field),         \
        .all = sizeof(T), .low = lowest, .high = highest, .help = __VA_ARGS__                                \
    }
#define PARAM_OF(T, field, text, names, ...)                                                                 \
    {                                                                                                        \
        .key = #field, .fallback = text, .type = PARAM_TYPE(T, field), .offset = offsetof(T, field),         \
        .all = sizeof(T), .choices = names, .help = __VA_ARGS__                                              \
    }
#define PARAM_WORDS(T, field, forms, ...)                                                                    \
    {                                                                                                        \
        .key = #field, .type = PARAM_TYPE(T, field), .offset = offsetof(T, field), .all = sizeof(T),         \
        .choices = forms, .high = sizeof(((T *)0)->field) - 1, .help = __VA_ARGS__                           \
    }
#define PARAM_SWITCH(T, field, text, ...) PARAM_OF(T, field, text, NULL, __VA_ARGS__)

/* Returns the bytes of the struct that a schema describes. The fields of several rows may be in the struct that begins it.
 * NULL: there are no parameters. */
static inline size_t params_size(const Param *schema)
{
    size_t size = 0;
    for (; schema && schema->key; schema++)
        size = schema->all > size ? schema->all : size;
    return size;
}

/* Fills `params` with the defaults, then parses "key=value,key=value", which may be empty. `owner` is the
 * codec's name in error messages. */
Status param_parse(const Param *schema, void *params, const char *owner, const char *keys, Error *err);

/* Sets one key to the value that the text `value` gives. */
Status param_set(const Param *schema, void *params, const char *owner, const char *key, const char *value,
                 Error *err);

/* param_type names a key's type: whole, real, switch, choice, text or spec. param_value returns a key's value as text
 * (NULL: unset). param_range returns a key's range or choices for messages: "1 to 16", "l2|linf". */
const char *param_type(const Param *p);
const char *param_value(const Param *p, const void *params, char out[32]);
const char *param_range(const Param *p, char out[96]);

bool param_is_default(const Param *p, const void *params); /* returns true also for a key that is unset */

/* returns a key by its name; NULL: no such key */
const Param *param_find(const Param *schema, const char *key);
/* returns the rate key; NULL: the codec has no rate key */
const Param *param_rate(const Param *schema);
/* Returns the value of an integer or real key; NaN when it is unset. */
double param_number(const Param *p, const void *params);

#endif
