/* test_radix.c -- compares the radix sort with qsort. Compares Wasserstein distances and quantiles, which
 * use this sort, with those of scipy and numpy. */
#include "rig/check.h"
#include "math/radix.h"
#include "reference/known.h"
#include "reference/vectors.h"
#include "base/rng.h"
#include "math/stats.h"

typedef struct {
    Arena *a;
    Error err;
} Bench;

static int open_bench(void **state)
{
    static Bench b;
    b.a = arena_open(0);
    *state = &b;
    return 0;
}

static int close_bench(void **state)
{
    arena_close(((Bench *)*state)->a);
    return 0;
}

static int ascending(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    if (x == 0 && y == 0)
        return !!signbit(y) - !!signbit(x);
    return (x > y) - (x < y);
}

typedef float (*Fill)(const Rng *rng, uint64_t i);

static float normal(const Rng *rng, uint64_t i)
{
    return (float)rng_normal(rng, USE_TEST, i);
}
static float ternary(const Rng *rng, uint64_t i)
{
    return (float)(rng_u32(rng, USE_TEST, i) % 3) - 1;
}
static float zeros(const Rng *rng, uint64_t i)
{
    return rng_u32(rng, USE_TEST, i) & 1 ? 0.0f : -0.0f;
}
static float constant(const Rng *rng, uint64_t i)
{
    return (void)rng, (void)i, -2.5f;
}
static float sparse(const Rng *rng, uint64_t i)
{
    return rng_u32(rng, USE_TEST, i) % 50 ? 0 : normal(rng, i);
}
static float narrow(const Rng *rng, uint64_t i)
{
    return 1 + (float)rng_unit(rng, USE_TEST, i) * 0.25f;
}
static float falling(const Rng *rng, uint64_t i)
{
    return (void)rng, -(float)i;
}

/* Returns the float whose bits are a random word: a normal or denormal number of either sign. If it is
 * infinity or NaN, returns 0. */
static float anything(const Rng *rng, uint64_t i)
{
    float f;
    const uint32_t word = rng_u32(rng, USE_TEST, i);
    memcpy(&f, &word, sizeof f);
    return isfinite(f) ? f : 0;
}

static const Fill fills[] = {normal, ternary, zeros, constant, sparse, narrow, falling, anything};

static float *make(Arena *a, Fill fill, size_t n, uint64_t seed)
{
    const Rng rng = rng_open(seed, 0, 0, 0, rng_hash("radix"));
    float *x = NEW(a, float, n + 1);
    for (size_t i = 0; i < n; i++)
        x[i] = fill(&rng, i);
    return x;
}

TEST_BETWEEN(sorted_order_is_qsorts, open_bench, close_bench)
{
    Bench *b = *state;
    static const size_t sizes[] = {0, 1, 2, 47, 48, 49, 50, 1000, 70001};
    for (size_t f = 0; f < countof(fills); f++)
        for (size_t s = 0; s < countof(sizes); s++) {
            const size_t n = sizes[s];
            const ArenaMark mark = arena_mark(b->a);
            float *x = make(b->a, fills[f], n, s), *out = NEW(b->a, float, n + 1);
            uint32_t *spare = NEW(b->a, uint32_t, n + 1);
            check_ok(radix_sort(x, n, out, spare, 1, b->a, &b->err), &b->err);
            qsort(x, n, sizeof *x, ascending);
            assert_memory_equal(x, out, n * sizeof *x);
            arena_rewind(b->a, mark);
        }
}

/* These arrays are so long that the sort cuts them into pieces. The result must be the same on one, two and
 * eight threads, and whether the output overwrites the input or not. */
TEST_BETWEEN(threads_and_place_do_not_matter, open_bench, close_bench)
{
    Bench *b = *state;
    enum { N = 2500000 };
    const ArenaMark mark = arena_mark(b->a);
    float *x = make(b->a, normal, N, 9), *expected = NEW(b->a, float, N), *out = NEW(b->a, float, N);
    uint32_t *spare = NEW(b->a, uint32_t, N);
    memcpy(expected, x, N * sizeof *x);
    qsort(expected, N, sizeof *expected, ascending);
    static const int threads[] = {1, 2, 8};
    for (size_t t = 0; t < countof(threads); t++) {
        memcpy(out, x, N * sizeof *x);
        check_ok(radix_sort(out, N, out, spare, threads[t], b->a, &b->err), &b->err);
        assert_memory_equal(expected, out, N * sizeof *x);
    }
    double once, again;
    float *work = NEW(b->a, float, 2 * N), *y = make(b->a, sparse, N, 10), *z = NEW(b->a, float, N);
    memcpy(z, y, N * sizeof *y);
    check_ok(radix_wasserstein(x, y, N, work, 1, &once, b->a, &b->err), &b->err);
    check_ok(radix_wasserstein(x, z, N, work, 8, &again, b->a, &b->err), &b->err);
    check(once == again && once > 0);
    arena_rewind(b->a, mark);
}

static double distance(Bench *b, const float *x, const float *y, size_t n)
{
    double w1;
    float *sorted = NEW(b->a, float, n);
    memcpy(sorted, y, n * sizeof *y);
    check_ok(radix_wasserstein(x, sorted, n, NEW(b->a, float, 2 * n), 1, &w1, b->a, &b->err), &b->err);
    return w1;
}

TEST_BETWEEN(wasserstein_is_scipys, open_bench, close_bench)
{
    Bench *b = *state;
    float x[1000], y[1000], x_grid[1000], y_grid[1000];
    reference_gradient(x, 1000, 1);
    reference_gradient(y, 1000, 2);
    reference_decoded(x, x_grid, 1000, 0);
    reference_decoded(y, y_grid, 1000, 1);
    check_rel(distance(b, x, y, 1000), known("w1", "crossed"), 1e-12);
    check_rel(distance(b, x_grid, y_grid, 1000), known("w1", "ties"), 1e-12);
    check_rel(distance(b, x, x_grid, 1000), known("small", "wasserstein"), 1e-12);
}

TEST_BETWEEN(magnitude_quantiles_are_numpys, open_bench, close_bench)
{
    Bench *b = *state;
    float *x = NEW(b->a, float, 70003);
    reference_gradient(x, 1000, 1);
    check_rel(radix_magnitude_quantile(x, 1000, 0.95, 1), known("q95", "small"), 1e-15);
    reference_gradient(x, 70003, 2);
    check_rel(radix_magnitude_quantile(x, 70003, 0.95, 1), known("q95", "large"), 1e-15);
}

TEST_BETWEEN(magnitude_quantiles_are_those_of_a_sorted_list, open_bench, close_bench)
{
    Bench *b = *state;
    static const double quantiles[] = {0, 0.03, 0.5, 0.95, 1};
    static const size_t sizes[] = {1, 2, 21, 1000};
    for (size_t f = 0; f < countof(fills); f++)
        for (size_t s = 0; s < countof(sizes); s++) {
            const size_t n = sizes[s];
            const float *x = make(b->a, fills[f], n, 77);
            double v[1000];
            for (size_t i = 0; i < n; i++)
                v[i] = fabs((double)x[i]);
            stats_sort(v, n);
            for (size_t q = 0; q < countof(quantiles); q++)
                check_rel(radix_magnitude_quantile(x, n, quantiles[q], 1), stats_quantile(v, n, quantiles[q]),
                          1e-15);
        }
}

CHECK_ALL(NULL, NULL)
