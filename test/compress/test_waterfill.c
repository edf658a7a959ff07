/* test_waterfill.c -- Algorithm 1 of the ATOMO paper: for a budget s and entries lambda, the water level tau at
 * which the probabilities p = min(1, |lambda| / tau) add up to s. */
#include "rig/check.h"
#include "base/rng.h"
#include "compress/atoms/waterfill.h"

static Arena *scratch;

static double unit(uint64_t stream, uint64_t i)
{
    const RngKey key = {.a = (uint32_t)stream, .b = 0x9d2c5680u, .c = 1, .d = 2};
    return (double)rng_word(&key, (uint32_t)i) * 0x1p-32;
}

/* ---- distributions for which the water level is hard to find ---- */

static float wide(size_t i)
{
    return (float)exp(40 * unit(1, i) - 20);
}
static float gaussian(size_t i)
{
    return (float)(sqrt(-2 * log1p(-unit(2, 2 * i))) * cos(2 * M_PI * unit(2, 2 * i + 1)));
}
static float tied(size_t i)
{
    return (float)(1 + (int)(unit(3, i) * 3));
}
static float constant(size_t i)
{
    return i % 2 ? 0.1f : -0.1f;
}
static float zeros_between(size_t i)
{
    return i % 3 ? 0 : gaussian(i);
}
static float spiked(size_t i)
{
    return i ? 1e-6f * (float)(1 + unit(4, i)) : 1e7f;
}
static float geometric(size_t i)
{
    return ldexpf(1, -(int)(i % 140));
}
static float denormal(size_t i)
{
    return (float)(int)(unit(5, i) * 100) * 0x1p-149f;
}

static const struct {
    const char *name;
    float (*at)(size_t i);
} laws[] = {
    {"wide", wide},           {"gaussian", gaussian}, {"tied", tied},           {"constant", constant},
    {"zeros", zeros_between}, {"spiked", spiked},     {"geometric", geometric}, {"denormal", denormal},
};

static float *fill(float (*at)(size_t), size_t n)
{
    float *x = NEW(scratch, float, n);
    for (size_t i = 0; i < n; i++)
        x[i] = at(i);
    return x;
}

static size_t nonzeros(const float *x, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += x[i] != 0;
    return count;
}

/* Returns the probability p of an entry. At tau = 0 every non-zero entry is kept. */
static double keep_chance(double tau, double lambda)
{
    return lambda == 0 ? 0 : tau == 0 ? 1 : fmin(1, fabs(lambda) / tau);
}

/* Returns |sum p - min(s, nnz)| / s, where nnz is the number of non-zero entries. This is the only optimality
 * condition that can be violated, as p = min(1, |lambda| / tau) by definition. */
static double residual(const float *x, size_t n, double s, double tau)
{
    long double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += keep_chance(tau, (double)x[i]);
    return (double)fabsl(sum - fminl(s, nonzeros(x, n))) / s;
}

static double *as_doubles(const float *x, size_t n)
{
    double *d = NEW(scratch, double, n);
    for (size_t i = 0; i < n; i++)
        d[i] = (double)x[i];
    return d;
}

static double float_level(const float *x, size_t n, double s)
{
    Level level;
    check(waterfill_floats(x, n, s, 2, scratch, &level));
    return level.tau;
}

/* ---- references ---- */

static int larger_first(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Returns the water level by Algorithm 1 as in the paper: sorts the magnitudes, and goes from the largest to
 * the smallest. */
static double sorted_ref(const double *lambda, size_t n, double s)
{
    double *v = NEW(scratch, double, n);
    long double *tail = NEW_ZERO(scratch, long double, n + 1);
    for (size_t i = 0; i < n; i++)
        v[i] = fabs(lambda[i]);
    qsort(v, n, sizeof *v, larger_first);
    for (size_t i = n; i-- > 0;)
        tail[i] = tail[i + 1] + v[i];
    for (size_t i = 0; i < n && v[i] > 0; i++, s--)
        if (v[i] * s <= (double)tail[i] * (1 + 4 * 0x1p-52))
            return (double)tail[i] / s;
    return 0;
}

/* Returns the water level by the O(sn) algorithm of appendix B, which searches for the largest remaining entry
 * in each step. */
static double select_ref(const double *lambda, size_t n, double s)
{
    char *taken = NEW_ZERO(scratch, char, n);
    for (;; s--) {
        size_t best = n;
        double tail = 0;
        for (size_t i = 0; i < n; i++) {
            if (taken[i])
                continue;
            tail += fabs(lambda[i]);
            if (best == n || fabs(lambda[i]) > fabs(lambda[best]))
                best = i;
        }
        if (best == n || lambda[best] == 0)
            return 0;
        if (fabs(lambda[best]) * s <= tail * (1 + 1e-14))
            return tail / s;
        taken[best] = 1;
    }
}

static double bisect_ref(const double *lambda, size_t n, double s)
{
    double low = 0, high = 1e300;
    for (int step = 0; step < 3000; step++) {
        const double mid = low > 0 ? sqrt(low) * sqrt(high) : high * 1e-5;
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += keep_chance(mid, lambda[i]);
        if (sum > s)
            low = mid;
        else
            high = mid;
        if (low > 0 && high <= low * (1 + 1e-14))
            break;
        if (high < 1e-200)
            return 0;
    }
    return high;
}

/* ---- tests ---- */

static const size_t sizes[] = {1, 2, 3, 7, 64, 1000, 65535, 65536, 65537, 300000};

TEST(the_probabilities_spend_the_budget_to_1e_10)
{
    for (size_t l = 0; l < countof(laws); l++)
        for (size_t k = 0; k < countof(sizes); k++) {
            const size_t n = sizes[k];
            const ArenaMark mark = arena_mark(scratch);
            const float *x = fill(laws[l].at, n);
            const double *d = as_doubles(x, n), dn = (double)n;
            const double budgets[] = {1e-3, 0.5, 1, 1.5, 0.01 * dn, 0.1 * dn, 0.33 * dn, dn - 0.5, dn};
            Level together[countof(budgets)];
            check(waterfill_budgets(x, n, budgets, countof(budgets), 2, scratch, together));
            for (size_t b = 0; b < countof(budgets); b++) {
                const double s = budgets[b], tau = float_level(x, n, s);
                check(together[b].tau == tau);
                const double wide_tau = waterfill_level(d, n, s, scratch);
                if (residual(x, n, s, tau) > 1e-10 || residual(x, n, s, wide_tau) > 1e-10) {
                    print_error("%s, n %zu, s %g: residual %g, %g\n", laws[l].name, n, s,
                                residual(x, n, s, tau), residual(x, n, s, wide_tau));
                    check(false);
                }
                check_rel(tau, wide_tau, 1e-11);
            }
            arena_rewind(scratch, mark);
        }
}

TEST(sorting_selecting_and_bisecting_give_the_same_level)
{
    for (size_t l = 0; l < countof(laws); l++)
        for (size_t n = 1; n <= 1000; n = n * 3 + 1) {
            const ArenaMark mark = arena_mark(scratch);
            const double *d = as_doubles(fill(laws[l].at, n), n);
            for (double s = 0.3; s < (double)n; s = s * 2.7 + 0.1) {
                const double tau = waterfill_level(d, n, s, scratch);
                check_rel(tau, sorted_ref(d, n, s), 1e-12);
                check_rel(tau, select_ref(d, n, s), 1e-12);
                if (tau > 0)
                    check_rel(tau, bisect_ref(d, n, s), 1e-11);
            }
            arena_rewind(scratch, mark);
        }
}

TEST(a_giant_leaves_the_level_of_the_others_exact)
{
    enum { N = 5000 };
    double d[N], others[N - 1];
    for (size_t i = 1; i < N; i++)
        others[i - 1] = d[i] = 1 + unit(6, i);
    for (double giant = 1e13; giant < 1e250; giant *= 1e59) {
        d[0] = giant;
        check_rel(waterfill_level(d, N, 51, scratch), waterfill_level(others, N - 1, 50, scratch), 1e-14);
    }
    d[0] = 1e30;
    check_rel(waterfill_level(d, N, 1, scratch), 1e30, 1e-12);
}

TEST(balanced_is_decided_with_four_ulps_to_spare)
{
    enum { N = 257 };
    double d[N];
    double sum = 0;
    for (size_t i = 0; i < N; i++)
        sum += d[i] = 0.1 + unit(7, i);
    d[N - 1] = 1.2;
    sum = sum - unit(7, N - 1) - 0.1 + 1.2;
    Level level;
    float x[N];
    for (size_t i = 0; i < N; i++)
        x[i] = 3;
    check(waterfill_floats(x, N, 256.99999, 1, scratch, &level) && level.heavy == 0);
    /* with the budget s = |g|_1 / |g|_inf, only the largest entry has the probability 1 */
    const double tau = waterfill_level(d, N, sum / 1.2, scratch);
    check_rel(tau, 1.2, 1e-14);
}

TEST(nothing_and_zeros_have_no_level)
{
    const float zero[3] = {0, -0.0f, 0};
    const double one = -2;
    check(float_level(zero, 0, 1) == 0 && float_level(zero, 3, 1e-3) == 0);
    check(waterfill_level(&one, 1, 1, scratch) == 0);
    check(waterfill_level(&one, 1, 0.25, scratch) == 8);
}

CHECK_ALL_IN(scratch)
