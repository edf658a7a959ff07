/* rate.h -- the rate of a spec: the parameter that trades size for error.
 *
 * A compressor's Param table marks the key with `.rate`. In a spec of several stages the rate is that of the
 * outermost stage with such a key: the rate of ef+topk is topk's. */
#ifndef ATOMO_RATE_H
#define ATOMO_RATE_H

#include "compress/compressor.h"

typedef struct {
    const Codec *stage; /* the stage that has the key */
    const Param *key;
} Rate;

/* Finds the spec's rate; false: the spec has no rate. `fine`: prefers a key with finer steps (`.fine`) if there is one, to
 * search for the rate that gives payloads of a wanted size. */
bool rate_find(Rate *r, const Codec *codec, bool fine);

/* True if the spec sets the rate key, or another key of its group. At most one key of a group may be set. */
bool rate_named(const Rate *r);

/* Returns the value of the rate key. If another key of its group (param.h) is set instead, returns that
 * key's value. NaN: no key of the group is set. */
double rate_value(const Rate *r);

/* Copies the codec into `a`, with the rate key set to `value`. ERR_USAGE: the codec refuses the value. */
Status rate_set(const Codec **out, const Codec *codec, const Rate *r, double value, Arena *a, Error *err);

/* Sets the range of the key's positive values, and a start value for a search: the key's default, or a typical
 * value. */
void rate_range(const Rate *r, double *low, double *high, double *start);

/* CodecSet is an array of codecs with room for `cap`. rate_spread appends one codec for each of `values`, a
 * list separated by commas (NULL: typical values of the key). A codec without a rate, or whose spec sets the
 * rate, is appended once and unchanged. Sets *left_out to the number of values that the codec refuses. */
typedef struct {
    const Codec **codec;
    size_t count, cap;
} CodecSet;
Status rate_spread(CodecSet *set, const Codec *codec, const char *values, size_t *left_out, Arena *a,
                   Error *err);

#endif
