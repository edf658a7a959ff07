/* rate.h -- the rate of a spec: the parameter that trades size for error. Finds, reads and replaces it.
 *
 * A compressor's Param table marks the key with `.rate`. In a spec of several stages the rate is that of the
 * outermost stage with such a key: the rate of ef+topk is topk's. */
#ifndef ATOMO_RATE_H
#define ATOMO_RATE_H

#include "codec/compressor.h"

typedef struct {
    const Codec *stage; /* the stage that has the key */
    const Param *key;
} Rate;

bool rate_find(Rate *r, const Codec *codec); /* finds the spec's rate; false: it has none */
/* like rate_find, but a key with finer steps (`.fine`) comes first; for solvers */
bool rate_find_fine(Rate *r, const Codec *codec);

/* True if the spec names the key or another key of its group. */
bool rate_named(const Rate *r);

/* Returns the value of the key, or of the key that is set instead: one that excludes it (param.h, `group`). NaN: none
 * of them is set. */
double rate_value(const Rate *r);

/* Makes a copy of the codec, in `a`, with this value of the key. ERR_USAGE: the value is out of range. */
Status rate_set(const Codec **out, const Codec *codec, const Rate *r, double value, Arena *a, Error *err);

/* Returns the range of positive values, and a starting value for a search: the key's default, or a typical value. */
void rate_range(const Rate *r, double *low, double *high, double *start);

/* Returns typical values in rising order, separated by commas; NULL: the key has no default, so no values can be
 * chosen. Some values may be outside the key's range. */
const char *rate_grid(const Rate *r);

/* CodecSet: a growing array of codecs. rate_spread appends to the set one codec for each of `values` (separated by
 * commas; NULL: those of rate_grid). A codec without a rate, or whose spec names the rate, is appended once,
 * unchanged. *left_out counts the values outside the key's range. */
typedef struct {
    const Codec **codec;
    size_t count, cap;
} CodecSet;
Status rate_spread(CodecSet *set, const Codec *codec, const char *values, size_t *left_out, Arena *a,
                   Error *err);

#endif
