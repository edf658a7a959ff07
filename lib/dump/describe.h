/* describe.h -- statistics of a tensor before compression: moments, norms, histogram, singular values, and the
 * quantities that the ATOMO paper's theorems compare.
 *
 * NaN and infinities are counted and otherwise ignored; a tensor with NaN or infinities gets no spectrum. A statistic
 * that is not defined is NaN. Sums are taken in double, block by block. */
#ifndef ATOMO_DESCRIBE_H
#define ATOMO_DESCRIBE_H

#include "dump/tensor.h"

typedef struct {
    size_t n, zeros, nonfinite;
    double min, max, mean, std; /* std: root mean square distance from the mean */
    double l1, l2, linf;
    double qsgd_budget;     /* l1 / l2: ATOMO with this budget is 1-bit QSGD (Theorem 5, q = 2) */
    double terngrad_budget; /* l1 / linf: ATOMO with this budget is TernGrad (q = infinity) */
} Description;

Description describe(const float *x, size_t n);

/* Bins of equal width from the smallest to the largest finite element; one bin when all elements are equal. Bin b
 * holds histogram_edge(b) <= x < histogram_edge(b + 1); the last bin includes its upper edge. The caller sets `bins`
 * and gives `count` room for as many; histogram_fill sets `bins` to the number of bins in use, 0 when no element is
 * finite. */
typedef struct {
    double min, max;
    size_t bins;
    uint64_t *count;
} Histogram;
void histogram_fill(Histogram *h, const float *x, size_t n);
double histogram_edge(const Histogram *h, size_t b);

/* The singular values of the tensor viewed as a matrix. Theorem 6 of the ATOMO paper: at equal cost, singular vectors
 * as atoms have less variance than entries iff (rows + cols) nuclear_norm^2 <= l1^2, that is, theorem6_left <=
 * theorem6_right. */
typedef struct {
    size_t rows, cols, k; /* k = min(rows, cols) */
    double *value; /* (k) singular values, descending; NULL when the tensor is not finite, or on failure */
    double stable_rank; /* sum of the squared singular values divided by the largest squared singular value */
    double nuclear_norm;
    double theorem6_left, theorem6_right;
} Spectrum;

Status spectrum_take(Spectrum *s, const float *x, const Shape *shape, Reshape reshape, const Description *d,
                     Arena *a, Error *err);

#endif
