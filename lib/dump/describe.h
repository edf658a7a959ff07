/* describe.h -- statistics of a tensor before compression: moments, norms, histogram, singular values, and the
 * quantities that the ATOMO paper's theorems compare.
 *
 * The statistics ignore NaN and infinities, except for their count `nonfinite`. A tensor with NaN or infinities
 * gets no spectrum. A statistic that is not defined is NaN. Sums are computed in double, block by block. */
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

/* A histogram with bins of equal width from the smallest to the largest finite element. If all elements are
 * equal, there is one bin. Bin b counts histogram_edge(b) <= x < histogram_edge(b + 1); the last bin includes
 * its upper edge. The caller sets `bins` and allocates `count` (bins). histogram_fill reduces `bins` to the
 * number in use, which is 0 if no element is finite. */
typedef struct {
    double min, max;
    size_t bins;
    uint64_t *count;
} Histogram;
void histogram_fill(Histogram *h, const float *x, size_t n);
double histogram_edge(const Histogram *h, size_t b);

/* The singular values of the tensor as a matrix; of a matrix with more than SPECTRUM_WHOLE rows and columns the
 * largest SPECTRUM_LEADING, approximately, and no nuclear norm (spectral_open_leading). Theorem 6 of the ATOMO paper compares two choices of atoms at
 * equal cost: singular vectors and single elements. Singular vectors have less variance iff (rows + cols)
 * nuclear_norm^2 <= l1^2, that is, theorem6_left <= theorem6_right. */
enum { SPECTRUM_WHOLE = 1024, SPECTRUM_LEADING = 64 };
typedef struct {
    size_t rows, cols, k; /* k: number of values: min(rows, cols), at most SPECTRUM_LEADING of a large matrix */
    /* (k) singular values, descending; NULL if the tensor is empty or not finite, or the computation
     * failed */
    double *value;
    double stable_rank; /* sum of the squared singular values divided by the largest squared singular value */
    double nuclear_norm;
    double theorem6_left, theorem6_right;
} Spectrum;

/* True for a tensor whose spectrum has the leading values only. */
static inline bool spectrum_leads(const Shape *shape, Reshape reshape)
{
    size_t rows, cols;
    matrix_view(shape, reshape, &rows, &cols);
    return rows > SPECTRUM_WHOLE && cols > SPECTRUM_WHOLE;
}

Status spectrum_take(Spectrum *s, const float *x, const Shape *shape, Reshape reshape, const Description *d,
                     Arena *a, Error *err);

#endif
