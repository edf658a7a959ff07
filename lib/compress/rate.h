/* rate.h -- the rate of a spec: the parameter that trades size for error. Finds it, reads it, replaces it.
 *
 * A schema marks the key with `.rate`. A spec of several stages has the rate of its outermost stage with such a key:
 * the rate of ef+topk is topk's. */
#ifndef ATOMO_RATE_H
#define ATOMO_RATE_H

#include "codec/compressor.h"

typedef struct {
    const Codec *stage; /* of the codec that was searched */
    const Param *key;
} Rate;

bool rate_find(Rate *r, const Codec *codec);      /* false: no stage has a rate */
bool rate_find_fine(Rate *r, const Codec *codec); /* prefers a key with finer steps (`.fine`), for solving */

/* True if the spec names the key or another key of its group. */
bool rate_named(const Rate *r);

/* The value of the key, or of the key of its group that is set; NaN: none is set. */
double rate_value(const Rate *r);

/* A copy of the codec, in `a`, with this value of the key. ERR_USAGE: the value is out of range. */
Status rate_set(const Codec **out, const Codec *codec, const Rate *r, double value, Arena *a, Error *err);

/* The range of positive values, and a value to start a search from: the default, or a typical value. */
void rate_range(const Rate *r, double *low, double *high, double *start);

/* Typical values in rising order, separated by commas; NULL: the key has no default to choose them by. Some may
 * be out of the key's range. */
const char *rate_grid(const Rate *r);

/* Appends to the set one codec for each of `values` (separated by commas; NULL: rate_grid). A codec without a
 * rate, or whose spec names the rate, is appended once, unchanged. *left_out counts the values that are out of
 * range. */
typedef struct {
    const Codec **codec;
    size_t count, cap;
} CodecSet;
Status rate_spread(CodecSet *set, const Codec *codec, const char *values, size_t *left_out, Arena *a,
                   Error *err);

#endif
