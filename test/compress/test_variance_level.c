/* test_variance_level.c -- the water level tau at which the variance is eps |x|^2, if each element x is kept
 * with probability p = min(1, |x| / tau). The level is compared with the closed form on sorted magnitudes. */
#include "rig/check.h"
#include "rig/try.h"
#include "base/coin.h"
#include "base/rng.h"
#include "compress/atoms/waterfill.h"
#include "compress/spec.h"
#include "math/vec/kernels.h"

#include <float.h>

static Arena *scratch;

static const size_t sizes[] = {1, 2, 3, 7, 64, 1000, 65536, 65537, 200000};
static const double epsilons[] = {1e-12, 1e-6, 1e-3, 0.1, 1, 3, 100, 1e6};

static int larger_first(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Magnitudes in descending order, and the sums of them and of their squares from each one on, in long double and from
 * the smallest magnitude. */
typedef struct {
    const double *v;
    const long double *one, *two;
    size_t n;
} Sorted;

static Sorted sorted_of(const float *x, size_t n)
{
    double *v = NEW(scratch, double, n);
    long double *one = NEW_ZERO(scratch, long double, n + 1), *two = NEW_ZERO(scratch, long double, n + 1);
    for (size_t i = 0; i < n; i++)
        v[i] = fabs((double)x[i]);
    qsort(v, n, sizeof *v, larger_first);
    for (size_t i = n; i-- > 0;) {
        one[i] = one[i + 1] + v[i];
        two[i] = two[i + 1] + (long double)v[i] * v[i];
    }
    return (Sorted){v, one, two, n};
}

/* Returns the water level tau by its closed form. The variance must be at most eps sum v^2. Let k be the smallest index
 * with v_(k+1) sum_{i>k} v_i <= eps sum v^2 + sum_{i>k} v_i^2. Then tau = (eps sum v^2 + sum_{i>k} v_i^2) / sum_{i>k}
 * v_i. */
static double sorted_level(const Sorted *s, double eps)
{
    size_t k = 0;
    while (k < s->n && s->v[k] * s->one[k] > eps * s->two[0] + s->two[k])
        k++;
    return s->one[k] > 0 ? (double)((eps * s->two[0] + s->two[k]) / s->one[k]) : 0;
}

/* ---- vectors that are hard for the search for tau ---- */

static float normal(const Rng *rng, size_t i)
{
    return (float)rng_normal(rng, USE_TEST, i);
}
static float wide(const Rng *rng, size_t i)
{
    return (float)exp(40 * rng_unit(rng, USE_TEST, i) - 20);
}
static float tied(const Rng *rng, size_t i)
{
    return (float)(1 + (int)(rng_unit(rng, USE_TEST, i) * 3));
}
static float constant(const Rng *rng, size_t i)
{
    (void)rng;
    return i % 2 ? 0.1f : -0.1f;
}
static float zeros_between(const Rng *rng, size_t i)
{
    return i % 3 ? 0 : normal(rng, i);
}
static float spiked(const Rng *rng, size_t i)
{
    return i ? 1e-6f * (float)(1 + rng_unit(rng, USE_TEST, i)) : 1e7f;
}
static float geometric(const Rng *rng, size_t i)
{
    (void)rng;
    return ldexpf(1, -(int)(i % 140));
}
static float denormal(const Rng *rng, size_t i)
{
    return (float)(int)(rng_unit(rng, USE_TEST, i) * 100) * 0x1p-149f;
}
static float huge(const Rng *rng, size_t i)
{
    return rng_unit(rng, USE_TEST, i) < 0.5 ? -FLT_MAX : FLT_MAX;
}

static const struct {
    const char *name;
    float (*at)(const Rng *rng, size_t i);
} laws[] = {{"normal", normal},     {"wide", wide},           {"tied", tied},
            {"constant", constant}, {"zeros", zeros_between}, {"spiked", spiked},
            {"denormal", denormal}, {"geometric", geometric}, {"huge", huge}};

static float *fill(float (*at)(const Rng *rng, size_t i), size_t n)
{
    const Rng rng = rng_open(3, 0, 0, 0, n);
    float *x = NEW(scratch, float, n + 1);
    for (size_t i = 0; i < n; i++)
        x[i] = at(&rng, i);
    return x;
}

/* Returns a bound on the relative rounding error of a plain sum of n terms. */
static double rounding(size_t n)
{
    return (double)(n + 8) * DBL_EPSILON;
}

TEST(the_level_is_that_of_the_sorted_closed_form)
{
    for (size_t l = 0; l < countof(laws); l++)
        for (size_t k = 0; k < countof(sizes); k++) {
            const ArenaMark mark = arena_mark(scratch);
            const size_t n = sizes[k];
            const float *x = fill(laws[l].at, n);
            const Sorted sorted = sorted_of(x, n);
            for (size_t e = 0; e < countof(epsilons); e++) {
                const double want = sorted_level(&sorted, epsilons[e]);
                const double got = waterfill_of_variance(x, n, epsilons[e], 1, scratch);
                if (fabs(got - want) > rounding(n) * want)
                    print_error("%s, n %zu, eps %g\n", laws[l].name, n, epsilons[e]);
                check_rel(got, want, rounding(n));
                check(waterfill_of_variance(x, n, epsilons[e], 8, scratch) == got);
            }
            arena_rewind(scratch, mark);
        }
}

/* The search for the water level starts in a range from a sample of one element in `stride`. In these vectors
 * the sample gives a wrong range, or a range with too many elements. */
TEST(a_misleading_sample_changes_nothing)
{
    const size_t n = 262144 + 77, stride = n / 16384;
    const ArenaMark mark = arena_mark(scratch);
    float *x = fill(normal, n);
    for (int how = 0; how < 6; how++) {
        for (uint32_t i = 0; i < 16384; i++)
            for (size_t k = 0; k < stride; k++) {
                const bool seen = k == rng_mix(i, RNG_STRIDE) % stride;
                float *v = &x[i * stride + k];
                /* the guess from the sample is far too high */
                *v = copysignf(how == 0   ? (seen ? 100 : 1e-3f)
                               : how == 1 ? (seen ? 1e-3f : 100) /* far too low */
                               : how == 2 ? (seen ? 0 : 1)       /* all sampled elements are zero */
                               /* the range from the sample contains all elements */
                               : how == 3 ? 1 + 1e-3f * (float)(i % 64)
                               : how == 4 ? (i % 5000 || k ? 1e-6f * (float)(1 + k) : 1e7f)
                                          : (float)(1 + i % 1000) * 1e-3f,
                               *v);
            }
        const Sorted sorted = sorted_of(x, n);
        for (size_t e = 0; e < countof(epsilons); e++) {
            const double got = waterfill_of_variance(x, n, epsilons[e], 1, scratch);
            check_rel(got, sorted_level(&sorted, epsilons[e]), rounding(n));
            check(waterfill_of_variance(x, n, epsilons[e], 8, scratch) == got);
        }
    }
    arena_rewind(scratch, mark);
}

TEST(instruction_sets_add_up_the_same_around_a_range)
{
    static const float ranges[][2] = {{0.5f, 1}, {1e-3f, 1e-2f}, {1, 1}, {3, 2}, {1e-30f, FLT_MAX}};
    const ArenaMark mark = arena_mark(scratch);
    const float *x = fill(normal, BLOCK), *spread = fill(wide, BLOCK);
    float *between[2] = {NEW(scratch, float, BLOCK + 16), NEW(scratch, float, BLOCK + 16)};
    for (size_t r = 0; r < countof(ranges); r++)
        for (size_t n = 0; n <= BLOCK; n = n * 5 + 3)
            for (int isa = ISA_BASE; isa < ISA_COUNT; isa++) {
                const Kernels *k = kernels_of((Isa)isa), *base = kernels_of(ISA_BASE);
                const float *v = r % 2 ? spread : x, low = ranges[r][0], high = ranges[r][1];
                double sum[2][3], want[3] = {0};
                size_t count = 0;
                if (!k)
                    continue;
                const size_t first = base->sums_around(v, n, low, high, between[0], sum[0]);
                const size_t got = k->sums_around(v, n, low, high, between[1], sum[1]);
                check(first == got && !memcmp(sum[0], sum[1], sizeof sum[0]));
                check(!memcmp(between[0], between[1], got * sizeof(float)));
                for (size_t i = 0; i < n; i++) {
                    const double m = fabs((double)v[i]);
                    want[0] += fabsf(v[i]) < low ? m : 0;
                    want[1] += fabsf(v[i]) < low ? m * m : 0;
                    want[2] += m * m;
                    if (fabsf(v[i]) >= low && fabsf(v[i]) < high)
                        check(count < got && between[1][count++] == fabsf(v[i]));
                }
                check(count == got);
                for (int s = 0; s < 3; s++)
                    check_rel(sum[1][s], want[s], rounding(n));
            }
    arena_rewind(scratch, mark);
}

TEST(nothing_and_zeros_have_no_level)
{
    const float zero[3] = {0, -0.0f, 0}, one = -2;
    check(waterfill_of_variance(zero, 0, 1, 1, scratch) == 0);
    check(waterfill_of_variance(zero, 3, 1, 1, scratch) == 0);
    check_rel(waterfill_of_variance(&one, 1, 0.5, 1, scratch), 3, 1e-15);
}

/* ---- the codec gspar, with a density (expected share of elements kept) or a variance `eps` ---- */

TEST(density_is_entrys_draw_to_the_byte)
{
    static const char *const pairs[][2] = {{"gspar", "entry"},
                                           {"gspar:density=0.3", "entry:ratio=0.3"},
                                           {"gspar:density=0.001", "entry:ratio=0.001"}};
    for (size_t s = 0; s < countof(pairs); s++)
        for (size_t n = 0; n < 300000; n = n * 7 + 1) {
            Try *g = try_open(pairs[s][0], n), *e = try_open(pairs[s][1], n);
            try_laplace(g, 60), try_laplace(e, 60);
            try_both(g), try_both(e);
            check(g->out.size == e->out.size && !memcmp(g->out.data, e->out.data, g->out.size));
            check(!memcmp(g->y, e->y, n * sizeof *g->y));
            const double v = codec_variance(&e->call, e->x);
            check(codec_variance(&g->call, g->x) == v);
            try_close(g), try_close(e);
        }
}

CHECK_ALL_IN(scratch)
