/* describe.h -- statistics of a tensor before compression: moments, norms, histogram, singular values, and the
 * quantities that the ATOMO paper's theorems compare.
 *
 * NaN and infinities are counted and otherwise ignored; a tensor that has any gets no spectrum. A number that does
 * not exist is NaN. Sums are in double, block by block. */
#ifndef ATOMO_DESCRIBE_H
#define ATOMO_DESCRIBE_H

#include "dump/tensor.h"

typedef struct {
    size_t n, zeros, nonfinite;
    double min, max, mean, std; /* std over n, about the mean */
    double l1, l2, linf;
    double qsgd_budget;     /* l1 / l2: ATOMO with this budget is 1-bit QSGD (Theorem 5, q = 2) */
    double terngrad_budget; /* l1 / linf: ATOMO with this budget is TernGrad (q = infinity) */
} Description;

Description describe(const float *x, size_t n);

/* Equal bins from min to max of the finite elements, the last one closed; one bin when all are equal. `count`
 * has room for `bins`. Sets `bins` to the number of bins, 0 when nothing is finite. Bin b reaches from bin_edge(b) to
 * bin_edge(b + 1). */
typedef struct {
    double min, max;
    size_t bins;
    uint64_t *count;
} Histogram;
void histogram_fill(Histogram *h, const float *x, size_t n);
double histogram_edge(const Histogram *h, size_t b);

/* Of the matrix that the tensor is viewed as. Theorem 6: at equal cost singular vectors beat entries iff
 * (rows + cols) nuclear^2 <= l1^2. */
typedef struct {
    size_t rows, cols, k; /* k = min(rows, cols) */
    double *value;        /* (k) descending; NULL when the tensor is not finite, or on failure */
    double stable_rank;   /* sum of squares over the largest square */
    double nuclear_norm;
    double theorem6_left, theorem6_right;
} Spectrum;

Status spectrum_take(Spectrum *s, const float *x, const Shape *shape, Reshape reshape, const Description *d,
                     Arena *a, Error *err);

#endif
