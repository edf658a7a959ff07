/* test_sketch.c -- the codecs countsketch and countmin. A sketch is a table of several rows; in each row, the
 * elements are hashed to columns (buckets) and added up. The codecs are compared with plain loops. */
#include "rig/slow_slices.h"
#include "rig/try.h"

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static double median_of(float *v, size_t rows)
{
    qsort(v, rows, sizeof *v, by_value);
    return rows % 2 ? (double)v[rows / 2] : 0.5 * ((double)v[rows / 2 - 1] + (double)v[rows / 2]);
}

/* ---- cells of the sketch (sums of buckets), and estimates ---- */

typedef struct {
    size_t rows, cols, tables;
    bool is_signed;
    const char *spec;
    size_t n;
} Case;

static const Case cases[] = {
    {5, 7, 1, true, "countsketch:cols=7", 1000},
    {1, 50, 1, true, "countsketch:rows=1,cols=50", 70001},
    {4, 3, 1, true, "countsketch:rows=4,cols=3", 513},
    {31, 2, 1, true, "countsketch:rows=31,cols=2", 700},
    {5, 1, 1, true, "countsketch", 100},
    {5, 40, 2, false, "countmin:cols=40", 3000},
    {2, 9, 2, false, "countmin:rows=2,cols=9", 66000},
    {5, 40, 1, false, "countmin:cols=40,estimate=median", 3000},
    {3, 104, 1, false, "countmin:rows=3,bits=2,estimate=median", 5000},
    {3, 52, 2, false, "countmin:rows=3,bits=2", 5000},
    /* two slices: of one and two blocks, and of a whole block and a short one */
    {2, 17000, 1, true, "countsketch:rows=2,cols=17000", 140000},
    {1, 20000, 2, false, "countmin:rows=1,cols=20000", 66000},
    /* seven slices would have less than a block each */
    {1, 60000, 1, false, "countmin:rows=1,cols=60000,estimate=median", 3 * BLOCK - 1},
};

static size_t slow_bucket(const Call *c, const Case *k, size_t row, size_t i, double *sign)
{
    const Rng rng = rng_below(&c->rng_shared, row);
    const RngKey bucket = rng_key(&rng, USE_BUCKET, i / BLOCK), flips = rng_key(&rng, USE_SIGN, i / BLOCK);
    const uint32_t at = (uint32_t)(i % BLOCK);
    *sign = k->is_signed && rng_word(&flips, at / 32) >> at % 32 & 1 ? -1 : 1;
    return slow_bucket_of(k->cols, k->n, i / BLOCK, rng_word(&bucket, at));
}

static void slow_cells(const Try *t, const Case *k, double *cell)
{
    const size_t width = k->tables * k->cols;
    memset(cell, 0, k->rows * width * sizeof *cell);
    for (size_t row = 0; row < k->rows; row++)
        for (size_t i = 0; i < k->n; i++) {
            double sign, x = (double)t->x[i];
            double *const at = cell + row * width + slow_bucket(&t->call, k, row, i, &sign);
            if (k->tables == 1)
                *at += sign * x;
            else
                at[x < 0 ? k->cols : 0] += fabs(x);
        }
}

static double slow_estimate(const Try *t, const Case *k, const double *cell, size_t i)
{
    const size_t width = k->tables * k->cols;
    float v[64], plus = INFINITY, minus = INFINITY;
    for (size_t row = 0; row < k->rows; row++) {
        double sign;
        const double *const at = cell + row * width + slow_bucket(&t->call, k, row, i, &sign);
        v[row] = (float)sign * (float)at[0];
        plus = fminf(plus, (float)at[0]);
        minus = k->tables == 2 ? fminf(minus, (float)at[k->cols]) : minus;
    }
    return k->tables == 2 ? (double)(plus - minus) : (double)(float)median_of(v, k->rows);
}

TEST(cells_and_estimates_are_those_of_plain_loops)
{
    for (size_t c = 0; c < countof(cases); c++) {
        const Case *k = &cases[c];
        const size_t cells = k->rows * k->tables * k->cols;
        Try *t = try_open(k->spec, k->n);
        t->call.rng_shared = rng_open(9, c, RNG_EVERYONE, 0, 0);
        try_laplace(t, c);
        try_both(t);
        assert_int_equal(t->out.size, 1 + 4 * cells);
        double *cell = NEW(t->arena, double, cells);
        slow_cells(t, k, cell);
        for (size_t i = 0; i < cells; i++)
            check(load_f32(t->out.data + 1 + 4 * i) == (float)cell[i]);
        for (size_t i = 0; i < k->n; i++)
            check_near((double)t->y[i], slow_estimate(t, k, cell, i), 1e-7 * fabs((double)t->y[i]));
        try_any_threads(t);
        try_close(t);
    }
}

/* ---- errors against theory ---- */

TEST(heavy_hitters_are_found_and_all_else_is_zero)
{
    enum { N = 20000, HEAVY = 12 };
    /* the decoder lists 12 selected elements, but marks 5000 in a bit mask */
    static const size_t ks[] = {HEAVY, 5000};
    for (size_t k = 0; k < countof(ks); k++) {
        char spec[64];
        snprintf(spec, sizeof spec, "countsketch:cols=500,topk=%zu", ks[k]);
        Try *t = try_open(spec, N), *all = try_open("countsketch:cols=500", N);
        try_normal(t, 5);
        for (size_t i = 0; i < N; i++)
            t->x[i] *= 0.01f;
        for (size_t h = 0; h < HEAVY; h++)
            t->x[1601 * h + 3] = h % 2 ? -5.0f : 4.0f;
        memcpy(all->x, t->x, N * sizeof *t->x);
        try_both(t), try_both(all);
        size_t kept = 0, larger = 0;
        float least = INFINITY;
        for (size_t i = 0; i < N; i++)
            if (t->y[i] != 0) {
                check(t->y[i] == all->y[i]);
                least = fminf(least, fabsf(t->y[i]));
                kept++;
            }
        for (size_t i = 0; i < N; i++)
            larger += fabsf(all->y[i]) > least;
        check(kept == ks[k] && larger < kept);
        for (size_t h = 0; h < HEAVY; h++)
            check_near((double)t->y[1601 * h + 3], (double)t->x[1601 * h + 3], 0.5);
        try_any_threads(t);
        try_close(t), try_close(all);
    }
}

/* If all elements have the same sign, the estimate of countmin is the smallest bucket of the element, which is
 * never below its magnitude. */
TEST(counts_of_one_sign_are_never_too_small)
{
    for (int minus = 0; minus < 2; minus++) {
        Try *t = try_open("countmin:cols=300", 4000);
        try_laplace(t, 8);
        for (size_t i = 0; i < t->shape.n; i++)
            t->x[i] = minus ? -fabsf(t->x[i]) : fabsf(t->x[i]);
        try_both(t);
        for (size_t i = 0; i < t->shape.n; i++) {
            check(fabs((double)t->y[i]) >= fabs((double)t->x[i]) * (1 - 1e-7));
            check((t->y[i] < 0) == minus);
        }
        try_close(t);
    }
}

CHECK_ALL(NULL, NULL)
