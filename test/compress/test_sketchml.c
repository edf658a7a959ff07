/* test_sketchml.c -- the codec sketchml against sorting and plain loops. The codec divides magnitudes into
 * quantile bins, and hashes the elements of each group of bins to the cells of a sketch with several rows. A
 * cell stores the smallest bin. The indices of the elements (keys) are sent, too. */
#include "compress/sketch/sketchml_bins.h"
#include "base/parallel.h"
#include "coder/planes.h"
#include "rig/slow_slices.h"
#include "rig/try.h"

typedef struct {
    const char *spec;
    size_t n, quantiles, rows, per_group;
    double cols, density;
} Case;

static const Case cases[] = {
    {"sketchml", 20000, 256, 2, 32, 0.3, 0.1},
    {"sketchml:keys=delta-adaptive", 70001, 256, 2, 32, 0.3, 1},
    {"sketchml:quantiles=10,groups=3,rows=3,cols=0.7", 66000, 10, 3, 4, 0.7, 0.2},
    {"sketchml:quantiles=2,groups=1,rows=1,cols=0.01", 3000, 2, 1, 2, 0.01, 0.3},
    {"sketchml:quantiles=200,groups=1,rows=8,cols=1", 30000, 200, 8, 200, 1, 0.05},
    {"sketchml:quantiles=16,groups=100,keys=delta-adaptive", 500, 16, 2, 1, 0.3, 0.5},
    {"sketchml:quantiles=8,groups=1", 160000, 8, 2, 8, 0.3, 1}, /* rows of 24,000 cells in two slices */
    {"sketchml:quantiles=8,groups=1,cols=0.15", 160000, 8, 2, 8, 0.15, 1}, /* rows of 12,000 cells in one */
};

static void sparse_laplace(Try *t, uint64_t seed, double density)
{
    const Rng rng = rng_open(seed, 0, 0, 0, 9);
    try_laplace(t, seed);
    for (size_t i = 0; i < t->shape.n; i++)
        if (rng_unit(&rng, USE_TEST, i) >= density)
            t->x[i] = i % 2 ? 0 : -0.0f;
}

/* ---- reference: quantiles by sorting ---- */

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

typedef struct {
    /* the smallest magnitude, then the edges between bins, then the largest magnitude */
    float edge[258];
    size_t bins;
} SlowBins;

static SlowBins slow_bins(const Try *t, float sign, size_t wanted)
{
    SlowBins b = {.bins = 0};
    float *m = NEW(t->scratch, float, t->shape.n);
    size_t k = 0;
    for (size_t i = 0; i < t->shape.n; i++)
        if (sign * t->x[i] > 0)
            m[k++] = sign * t->x[i];
    if (!k)
        return b;
    qsort(m, k, sizeof *m, by_value);
    b.edge[0] = m[0];
    b.bins = 1;
    for (size_t j = 1; j < wanted; j++)
        if (m[k * j / wanted] > b.edge[b.bins - 1])
            b.edge[b.bins++] = m[k * j / wanted];
    b.edge[b.bins] = m[k - 1];
    return b;
}

static size_t slow_bin(const SlowBins *b, float magnitude)
{
    size_t bin = 0;
    while (bin + 1 < b->bins && magnitude >= b->edge[bin + 1])
        bin++;
    return bin;
}

static double slow_value(const SlowBins *b, size_t bin)
{
    return (double)(float)(0.5 * ((double)b->edge[bin] + (double)b->edge[bin + 1]));
}

/* Returns the cell of element i, member m of a group of `count`. */
static size_t slow_cell(const Try *t, size_t row, size_t i, size_t m, size_t count, size_t cols)
{
    const Rng rng = rng_below(&t->call.rng, row);
    const RngKey key = rng_key(&rng, USE_BUCKET, i / BLOCK);
    return row * cols + slow_bucket_of(cols, count, m / BLOCK, rng_word(&key, i % BLOCK));
}

/* Decodes into y the elements of one sign in the group of bins that begins at `first`. Returns their number. */
static size_t slow_group(const Try *t, const Case *k, const SlowBins *b, float sign, size_t first, double *y)
{
    const size_t n = t->shape.n;
    size_t count = 0, *member = NEW(t->scratch, size_t, n);
    for (size_t i = 0; i < n; i++)
        if (sign * t->x[i] > 0 && slow_bin(b, fabsf(t->x[i])) / k->per_group == first / k->per_group)
            member[count++] = i;
    const size_t cols = (size_t)fmax(1, ceil(k->cols * (double)count));
    size_t *cell = NEW(t->scratch, size_t, k->rows * cols);
    for (size_t c = 0; c < k->rows * cols; c++)
        cell[c] = SIZE_MAX;
    for (size_t m = 0; m < count * k->rows; m++) {
        const size_t own = m / k->rows, i = member[own], bin = slow_bin(b, fabsf(t->x[i]));
        size_t *const at = &cell[slow_cell(t, m % k->rows, i, own, count, cols)];
        *at = bin < *at ? bin : *at;
    }
    for (size_t m = 0; m < count; m++) {
        size_t bin = 0;
        for (size_t row = 0; row < k->rows; row++) {
            const size_t c = cell[slow_cell(t, row, member[m], m, count, cols)];
            bin = c > bin ? c : bin;
        }
        y[member[m]] = (double)sign * slow_value(b, bin);
    }
    return count;
}

TEST(estimates_are_those_of_sorting_and_plain_loops)
{
    for (size_t c = 0; c < countof(cases); c++) {
        const Case *k = &cases[c];
        Try *t = try_open(k->spec, k->n);
        double above = 0, below = 0, *y = NEW_ZERO(t->arena, double, k->n);
        sparse_laplace(t, c, k->density);
        try_both(t);
        check(t->out.data[0] == PAYLOAD_METHOD);
        for (size_t i = 0; i < k->n; i++) {
            above += t->x[i] > 0;
            below += t->x[i] < 0;
        }
        const size_t under = (size_t)floor((double)k->quantiles * below / (above + below) + 0.5);
        for (int side = 0; side < 2; side++) {
            const float sign = side ? -1 : 1;
            const SlowBins b = slow_bins(t, sign, side ? under : k->quantiles - under);
            size_t count = 0;
            for (size_t first = 0; first < b.bins; first += k->per_group)
                count += slow_group(t, k, &b, sign, first, y);
            check((double)count == (side ? below : above));
            /* an estimate is never above the value of the element's own bin */
            for (size_t i = 0; i < k->n; i++)
                if (sign * t->x[i] > 0)
                    check(fabs((double)t->y[i]) <= slow_value(&b, slow_bin(&b, fabsf(t->x[i]))));
        }
        for (size_t i = 0; i < k->n; i++)
            check((double)t->y[i] == y[i]);
        try_any_threads(t);
        try_close(t);
    }
}

CHECK_ALL(NULL, NULL)
