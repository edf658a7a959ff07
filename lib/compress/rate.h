/* rate.h -- the one number of a spec that trades size for error: where it stands, and the same spec with another.
 *
 * It is the key that a schema marks as its rate, of the outermost stage that has one: ef+topk's is topk's. */
#ifndef ATOMO_RATE_H
#define ATOMO_RATE_H

#include "codec/compressor.h"

typedef struct {
    const Codec *stage; /* of the codec asked about */
    const Param *key;
} Rate;

bool rate_find(Rate *r, const Codec *codec); /* false: no stage has one */
bool rate_find_fine(Rate *r,
                    const Codec *codec); /* the key for hitting a given size: finer, where there is one */

/* Whether the spec itself names the key, or one in its place. */
bool rate_named(const Rate *r);

/* The value of the key, or of the one in its place that is set. NaN: none is. */
double rate_value(const Rate *r);

/* The codec with another value there. ERR_USAGE when the key cannot have it. */
Status rate_set(const Codec **out, const Codec *codec, const Rate *r, double value, Arena *a, Error *err);

/* The range of values above zero, and one to begin with: the default, or else a usual one. */
void rate_range(const Rate *r, double *low, double *high, double *start);

/* Usual values from small to large, separated by commas; NULL where the key has no default that would show
 * its scale. Some may be out of the key's range. */
const char *rate_grid(const Rate *r);

/* One codec for each value of `values` (separated by commas; NULL: the usual ones) that codec's rate can have,
 * behind what `codec` holds already. A codec without a rate, or whose spec names it, comes once, as it is.
 * `*left_out`: values that it cannot have. */
typedef struct {
    const Codec **codec;
    size_t count, cap;
} CodecSet;
Status rate_spread(CodecSet *set, const Codec *codec, const char *values, size_t *left_out, Arena *a,
                   Error *err);

#endif
