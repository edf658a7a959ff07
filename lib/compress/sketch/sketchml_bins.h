/* sketchml_bins.h -- SketchML's bins: quantiles of the magnitudes of positive and of negative elements. All
 * bins have about equally many elements. */
#ifndef ATOMO_SKETCHML_BINS_H
#define ATOMO_SKETCHML_BINS_H

#include "compress/compressor.h"

enum { BINS_MOST = 256, BIN_SAMPLE = 1 << 18 };
enum { ABOVE_ZERO, BELOW_ZERO, TWO_SIDES };

/* Bins of the magnitudes of positive and of negative elements, numbered from the smallest magnitude upwards. */
typedef struct {
    size_t bins[TWO_SIDES];  /* number of bins of the sign; 0 for a sign without elements */
    /* edge[side][b]: lower edge of bin b + 1 of the sign; infinite if there is no bin b + 1 */
    float edge[TWO_SIDES][BINS_MOST];
    float value[TWO_SIDES][BINS_MOST]; /* the magnitude that a bin decodes to */
} QuantileBins;

/* Finds bins, about `quantiles` for both signs together. If at most BIN_SAMPLE elements are nonzero, the bins
 * are exact quantiles, else quantiles of a sample of the nonzero elements. */
Status quantile_bins_find(QuantileBins *bins, const Call *c, const float *x, size_t quantiles);

/* For each value of the upper 16 bits of a float: the bin of the smallest magnitude with these upper bits. */
enum { BIN_CELLS = 1 << 15 };
typedef struct {
    uint8_t bin[TWO_SIDES * BIN_CELLS];
    size_t steps; /* the largest number of edges between two floats that have the same upper 16 bits */
} BinIndex;
void quantile_bins_index(const QuantileBins *bins, BinIndex *index);

/* Sets bin[i] to the bin of x[i]; undefined for zeros. */
void quantile_bins_take(const QuantileBins *bins, const BinIndex *index, const float *x, size_t n,
                        uint8_t *bin);

#endif
