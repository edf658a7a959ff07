/* describe.c -- computes the statistics of a tensor (describe.h). */
#include "dump/describe.h"
#include "math/spectral.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

/* Sums are computed block by block to keep rounding errors small: a long tensor's total is a sum of few terms
 * of similar size. */
static void add_block(Description *d, const float *x, size_t n)
{
    double sum = 0, l1 = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        const double v = (double)x[i];
        if (!isfinite(v)) {
            d->nonfinite++;
            continue;
        }
        d->zeros += v == 0;
        sum += v;
        l1 += fabs(v);
        squares += v * v;
        d->min = fmin(d->min, v); /* fmin of NaN and a number is the number */
        d->max = fmax(d->max, v);
    }
    d->mean += sum;
    d->l1 += l1;
    d->l2 += squares;
}

/* Returns the sum of squared distances from the mean, in a second pass over x. The sum of squares minus n
 * mean^2 would need no second pass, but could lose digits by cancellation. */
static double spread(const float *x, size_t n, double mean)
{
    double total = 0;
    for (size_t b = 0; b < blocks_of(n); b++) {
        const float *block = x + b * BLOCK;
        double sum = 0;
        for (size_t i = 0; i < block_size(n, b); i++)
            if (isfinite(block[i]))
                sum += ((double)block[i] - mean) * ((double)block[i] - mean);
        total += sum;
    }
    return total;
}

Description describe(const float *x, size_t n)
{
    Description d = {.n = n, .min = NAN, .max = NAN};
    for (size_t b = 0; b < blocks_of(n); b++)
        add_block(&d, x + b * BLOCK, block_size(n, b));
    const double finite = (double)(n - d.nonfinite);
    d.mean /= finite; /* NaN (0 / 0) if no element is finite */
    d.std = sqrt(spread(x, n, d.mean) / finite);
    d.l2 = sqrt(d.l2);
    d.linf = finite > 0 ? fmax(-d.min, d.max) : 0;
    const bool whole = d.nonfinite == 0 && d.linf > 0;
    d.qsgd_budget = whole ? d.l1 / d.l2 : NAN;
    d.terngrad_budget = whole ? d.l1 / d.linf : NAN;
    return d;
}

double histogram_edge(const Histogram *h, size_t b)
{
    return b == h->bins ? h->max : h->min + (h->max - h->min) * ((double)b / (double)h->bins);
}

/* Returns the bin of v. The division may round v into a neighbouring bin, so v is compared with the printed bin
 * edges. */
static size_t bin_of(const Histogram *h, double v)
{
    const double at = (v - h->min) / (h->max - h->min) * (double)h->bins;
    size_t b = (size_t)fmin(at, (double)(h->bins - 1));
    while (b > 0 && v < histogram_edge(h, b))
        b--;
    while (b + 1 < h->bins && v >= histogram_edge(h, b + 1))
        b++;
    return b;
}

void histogram_fill(Histogram *h, const float *x, size_t n)
{
    size_t finite = 0;
    h->min = h->max = NAN;
    for (size_t i = 0; i < n; i++)
        if (isfinite(x[i])) {
            h->min = fmin(h->min, (double)x[i]);
            h->max = fmax(h->max, (double)x[i]);
            finite++;
        }
    h->bins = finite == 0 ? 0 : h->min == h->max ? 1 : h->bins;
    memset(h->count, 0, h->bins * sizeof *h->count);
    if (h->bins == 1)
        h->count[0] = finite;
    for (size_t i = 0; i < n && h->bins > 1; i++)
        if (isfinite(x[i]))
            h->count[bin_of(h, (double)x[i])]++;
}

/* The range finder takes twice as many directions, as the last ones that it finds are the least accurate. */
static Status take_leading(Spectrum *s, const Tall *a, Arena *scratch, Error *err)
{
    Spectral near;
    const ArenaMark mark = arena_mark(scratch);
    TRY(spectral_open_leading(&near, *a, 2 * SPECTRUM_LEADING, 1, scratch, err));
    s->k = SPECTRUM_LEADING;
    memcpy(s->value, near.lambda, s->k * sizeof *s->value);
    arena_rewind(scratch, mark);
    return OK;
}

Status spectrum_take(Spectrum *s, const float *x, const Shape *shape, Reshape reshape, const Description *d,
                     Arena *a, Error *err)
{
    *s = (Spectrum){.stable_rank = NAN, .nuclear_norm = NAN, .theorem6_left = NAN, .theorem6_right = NAN};
    const bool leads = spectrum_leads(shape, reshape);
    matrix_view(shape, reshape, &s->rows, &s->cols);
    s->k = s->rows < s->cols ? s->rows : s->cols;
    if (d->nonfinite || s->k == 0)
        return OK;
    const Tall tall = tall_of(x, s->rows, s->cols);
    s->value = NEW(a, double, s->k);
    TRY(arena_check(s->value, a, err));
    s->value[0] = d->l2; /* LAPACK's integers cannot hold the length of a very long vector */
    Status status = OK;
    if (leads)
        status = take_leading(s, &tall, a, err);
    else if (s->k > 1)
        status = linalg_svd(&tall, NULL, s->value, NULL, a, err);
    if (status != OK) {
        s->value = NULL;
        return status;
    }
    if (s->value[0] > 0)
        s->stable_rank = (d->l2 / s->value[0]) * (d->l2 / s->value[0]);
    if (leads)
        return OK;
    s->nuclear_norm = 0;
    for (size_t i = s->k; i-- > 0;)
        s->nuclear_norm += s->value[i];
    s->theorem6_left = (double)(s->rows + s->cols) * s->nuclear_norm * s->nuclear_norm;
    s->theorem6_right = d->l1 * d->l1;
    return OK;
}
