/* test_neighbours.c -- closed forms of the variance of codecs that round each element at random to one of the two values next to it.
 * An element v between the values `low` and `up`, rounded without bias, has the variance (up - v) (v - low); the closed form is the
 * sum over all elements. compress/test_unbiased.c compares closed forms with draws. */
#include "rig/try.h"

enum { N = 1024 };

typedef struct {
    double low, up;
} Pair;

/* The values next to the magnitude v; in a bucket of n elements x, and with s levels, if the codec has such. */
typedef Pair Neighbours(double v, const float *x, size_t n, int s);

static Pair on_grid(double v, double from, double step)
{
    const double low = floor((v - from) / step);
    return (Pair){from + low * step, from + (low + 1) * step};
}

static double norm_of(const float *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    return sqrt(sum);
}

static double largest(const float *x, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs((double)x[i]));
    return most;
}

static Pair parts_of_norm(double v, const float *x, size_t n, int s)
{
    return on_grid(v, 0, norm_of(x, n) / s);
}

static Pair parts_of_largest(double v, const float *x, size_t n, int s)
{
    return on_grid(v, 0, largest(x, n) / s);
}

/* The levels are 0 and norm / 2^k, s of them. */
static Pair halves_of_norm(double v, const float *x, size_t n, int s)
{
    const double norm = norm_of(x, n);
    Pair p = {0, ldexp(norm, 1 - s)};
    for (; v >= p.up && p.up < norm; p.up *= 2)
        p.low = p.up;
    return p;
}

/* Binary floats of this least exponent and so many bits of fraction. */
static Pair floats(double v, int least, int fraction)
{
    int exponent;
    frexp(v, &exponent);
    return on_grid(v, 0, ldexp(1, (v == 0 || exponent - 1 < least ? least : exponent - 1) - fraction));
}

static Pair fp16_floats(double v, const float *x, size_t n, int s)
{
    (void)x, (void)n, (void)s;
    return floats(v, -14, 10);
}

static Pair bf16_floats(double v, const float *x, size_t n, int s)
{
    (void)x, (void)n, (void)s;
    return floats(v, -126, 7);
}

static Pair powers_of_two(double v, const float *x, size_t n, int s)
{
    (void)x, (void)n, (void)s;
    return v < 0x1p-126 ? (Pair){0, 0x1p-126} : floats(v, -126, 0);
}

static const struct {
    const char *spec;
    Neighbours *next;
    size_t bucket;
    int s;
} rows[] = {{"qsgd:levels=1", parts_of_norm, 512, 1},
            {"qsgd:levels=15,bucket=100", parts_of_norm, 100, 15},
            {"qsgd:levels=127,bucket=0,code=elias-dense", parts_of_norm, N, 127},
            {"qsgd:levels=7,bucket=64,norm=linf,code=fixed", parts_of_largest, 64, 7},
            {"nuqsgd:bits=4,bucket=512", halves_of_norm, 512, 15},
            {"nuqsgd:bits=2,bucket=100", halves_of_norm, 100, 3},
            {"nuqsgd:bits=3,bucket=0", halves_of_norm, N, 7},
            {"terngrad", parts_of_largest, N, 1},
            {"terngrad:share=on", parts_of_largest, N, 1},
            {"intsgd:bits=4,share=off", parts_of_largest, N, 7},
            {"natural", powers_of_two, 1, 0},
            {"fp16:rounding=stochastic", fp16_floats, 1, 0},
            {"bf16:rounding=stochastic", bf16_floats, 1, 0}};

/* Scales at which natural and bf16 have denormal numbers, too. */
static const double scales[] = {1, 300, 1e-5, 1e-30, 1e-38};

static void fill(Try *t, double scale)
{
    try_laplace(t, 73);
    for (size_t i = 0; i < N; i++)
        t->x[i] *= (float)scale;
}

static double variance_of_row(const Try *t, size_t k)
{
    double sum = 0;
    for (size_t i = 0; i < N; i++) {
        const size_t start = i / rows[k].bucket * rows[k].bucket, left = N - start;
        const double v = fabs((double)t->x[i]);
        const Pair p = rows[k].next(v, t->x + start, left < rows[k].bucket ? left : rows[k].bucket, rows[k].s);
        sum += (p.up - v) * (v - p.low);
    }
    return sum;
}

TEST(the_variance_told_is_that_of_both_neighbours)
{
    for (size_t k = 0; k < countof(rows); k++)
        for (size_t s = 0; s < countof(scales); s++) {
            Try *t = try_open(rows[k].spec, N);
            fill(t, scales[s]);
            print_message("%s at %g\n", rows[k].spec, scales[s]);
            check_rel(codec_variance(&t->call, t->x), variance_of_row(t, k), 2e-5);
            try_close(t);
        }
}

/* Levels between the smallest and the largest value of a bucket, signs included. */
TEST(the_variance_between_the_ends_of_a_range_is_that_of_its_levels)
{
    for (size_t s = 0; s < countof(scales); s++) {
        Try *t = try_open("minmax:bits=4,bucket=100,rounding=stochastic", N);
        double sum = 0;
        fill(t, scales[s]);
        for (size_t i = 0, end; i < N; i = end) {
            double low = INFINITY, high = -INFINITY;
            end = i + 100 < N ? i + 100 : N;
            for (size_t j = i; j < end; j++) {
                low = fmin(low, (double)t->x[j]);
                high = fmax(high, (double)t->x[j]);
            }
            for (size_t j = i; j < end; j++) {
                const Pair p = on_grid((double)t->x[j], low, (high - low) / 15);
                sum += (p.up - (double)t->x[j]) * ((double)t->x[j] - p.low);
            }
        }
        check_rel(codec_variance(&t->call, t->x), sum, 2e-5);
        try_close(t);
    }
}

CHECK_ALL(NULL, NULL)
