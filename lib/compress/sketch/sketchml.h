/* sketchml.h -- the two halves of SketchML beside its sketch: bins of equally many magnitudes, and the keys of a group. */
#ifndef ATOMO_SKETCHML_H
#define ATOMO_SKETCHML_H

#include "codec/compressor.h"

enum { BINS_MOST = 256, BIN_SAMPLE = 1 << 18 };
enum { ABOVE_ZERO, BELOW_ZERO, TWO_SIDES };

/* Magnitudes of either side of zero, bins counted from zero outwards. */
typedef struct {
    size_t count[TWO_SIDES];           /* of the side's elements */
    size_t bins[TWO_SIDES];            /* 0 for a side without elements */
    float edge[TWO_SIDES][BINS_MOST];  /* where bin b + 1 begins; infinite from the last bin on */
    float value[TWO_SIDES][BINS_MOST]; /* what a bin decodes to, as a magnitude */
} Bins;

/* About `quantiles` bins with equally many elements, from a sample of BIN_SAMPLE elements where there are more. */
Status bins_find(Bins *bins, const Call *c, const float *x, size_t quantiles);

/* By an element's upper 16 bits: the bin of the least such magnitude, and how many edges there are at most among them. */
enum { BIN_CELLS = 1 << 15 };
typedef struct {
    uint8_t bin[TWO_SIDES * BIN_CELLS];
    size_t steps;
} BinIndex;
void bins_index(const Bins *bins, BinIndex *index);

/* The bins of n elements; of zeros, any. */
void bins_take(const Bins *bins, const BinIndex *index, const float *x, size_t n, uint8_t *bin);

/* Rising keys under n < 2^32, behind their number; `bytes` has room for `count` of them. delta-binary: two bits each, as
 * bit planes, for the bytes of the distance from the key before (from -1 at first), less one; then these bytes. */
enum { DELTA_BINARY, DELTA_ADAPTIVE };
void keys_put(int form, const uint32_t *key, size_t count, size_t n, uint8_t *bytes, Buf *out);

/* ERR_CORRUPT and ERR_MEMORY with the reason recorded. */
Status keys_get(int form, const Call *c, Reader *in, uint32_t **key, size_t *count);

#endif
