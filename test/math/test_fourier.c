/* test_fourier.c -- tests the Fourier and cosine transforms against their defining sums, at lengths with
 * large and small prime factors. Tests the order of Fourier atoms (the pairs of coefficients that codecs
 * send). Tests that rounded phases are unbiased. */
#include "rig/check.h"
#include "math/fourier_transform.h"
#include "compress/atoms/fourier.c"
#include "base/rng.h"

#include <fftw3.h>
#include <float.h>

static Arena *a;
static Error err;

static float *normal(size_t n)
{
    const Rng rng = rng_open(3, 0, 0, 0, n);
    float *x = NEW(a, float, n + 1);
    rng_normals(&rng, USE_TEST, 0, n, 1, x);
    return x;
}

static float gauge_of(float re, float im)
{
    float gauge, z[2] = {re, im};
    phase_gauges(z, 1, 1, &gauge);
    return gauge;
}

static double norm(const float *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    return sqrt(sum);
}

static double distance(const float *x, const float *y, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += ((double)x[i] - (double)y[i]) * ((double)x[i] - (double)y[i]);
    return sqrt(sum);
}

/* The limit of a transform's error divided by |x|. A transform of n floats has an error of about 2^-24
 * sqrt(log2 n); prime lengths have a little more (Rader's algorithm). */
#define ROUNDING 6e-7

/* The last three are long lines: a square number of pairs, one that is not a multiple of a strip, and twice a prime. */
static const struct {
    size_t rows, cols;
} sides[] = {{1, 1},      {1, 2},     {1, 3},       {1, 4},      {1, 5},     {1, 7},      {1, 8},
             {1, 16},     {1, 31},    {1, 100},     {1, 101},    {1, 255},   {1, 256},    {1, 257},
             {1, 514},    {1, 1000},  {1, 1024},    {1, 4096},   {1, 4097},  {1, 4098},   {1, 6006},
             {2, 1},      {7, 1},     {2, 2},       {2, 3},      {3, 2},     {3, 3},      {4, 4},
             {4, 5},      {5, 4},     {40, 30},     {31, 33},    {18, 96},   {513, 18},   {300, 2},
             {16, 257},   {33, 64},   {64, 33},     {1, 65536},  {1, 65537}, {1, 100003}, {2, 50000},
             {1000, 100}, {65536, 2}, {1, 1 << 19}, {1, 300300}, {1, 262202}};

/* ---- cosines ---- */

static double cosine_at(size_t n, size_t k, size_t i)
{
    return sqrt((1 + (k > 0)) / (double)n) *
           cos(M_PI * (double)((2 * i + 1) * k % (4 * n)) / (2 * (double)n));
}

static double coefficient_ref(const float *x, size_t rows, size_t cols, size_t j, size_t k)
{
    double sum = 0;
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < cols; c++)
            sum += (double)x[r * cols + c] * cosine_at(rows, j, r) * cosine_at(cols, k, c);
    return sum;
}

/* Only every stride-th coefficient is checked; for small n the stride is 1. */
static size_t stride_for(size_t n)
{
    return n <= 1300 ? 1 : n / (n < 20000 ? 61 : 7) | 1;
}

TEST(cosines_are_their_sums_and_come_back)
{
    for (size_t s = 0; s < countof(sides); s++) {
        const size_t rows = sides[s].rows, cols = sides[s].cols, n = rows * cols;
        const ArenaMark mark = arena_mark(a);
        const float *x = normal(n);
        const double size = norm(x, n);
        float *y = NEW(a, float, n), *z = NEW(a, float, n);
        check_ok(cosine_forward(x, rows, cols, y, 1, a, &err), &err);
        check_rel(norm(y, n), size, 1e-6);
        for (size_t i = 0; i < n; i += stride_for(n))
            check_near((double)y[i], coefficient_ref(x, rows, cols, i / cols, i % cols),
                       4 * ROUNDING * size / sqrt((double)n));
        check_ok(cosine_back(y, rows, cols, z, 1, a, &err), &err);
        check(distance(x, z, n) <= 2 * ROUNDING * size);
        float *back = NEW(a, float, n);
        check_ok(cosine_back(y, rows, cols, back, 8, a, &err), &err);
        assert_memory_equal(back, z, n * sizeof *z);
        check_ok(cosine_forward(x, rows, cols, z, 8, a, &err), &err);
        /* y and z must be the same bytes, although they were computed with different numbers of threads */
        assert_memory_equal(y, z, n * sizeof *y);
        arena_rewind(a, mark);
    }
}

/* ---- frequencies ---- */

static Call call_for(const Shape *shape)
{
    return (Call){.shape = shape, .threads = 1, .scratch = a, .err = &err};
}

/* Computes z = sqrt(n) X[j, k], the unnormalised Fourier coefficient (j, k), by its defining sum. */
static void frequency_ref(const float *x, size_t rows, size_t cols, size_t j, size_t k, double z[2])
{
    z[0] = z[1] = 0;
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < cols; c++) {
            const double turn = (double)(r * j % rows) / (double)rows + (double)(c * k % cols) / (double)cols;
            z[0] += (double)x[r * cols + c] * cos(2 * M_PI * turn);
            z[1] -= (double)x[r * cols + c] * sin(2 * M_PI * turn);
        }
}

/* Compares the Fourier atoms of a matrix with their defining sums, in the order given in docs/FORMAT.md. */
static void check_frequencies(const FourierSpectrum *s, const float *x, size_t rows, size_t cols)
{
    const bool turned = rows > cols;
    const size_t m = turned ? cols : rows, n = turned ? rows : cols;
    const double count = (double)(rows * cols), size = norm(x, rows * cols);
    size_t atom = 0;
    for (int part = 0; part < (n % 2 ? 2 : 3); part++) {
        const size_t last_j = part == 1 ? m - 1 : m / 2, from = part == 0 ? 0 : part == 1 ? 1 : n / 2;
        const size_t to = part == 0 ? 0 : part == 1 ? (n - 1) / 2 : n / 2;
        for (size_t j = 0; j <= last_j; j++)
            for (size_t k = from; k <= to; k++, atom++) {
                const Frequency f = spectrum_frequency(s, atom);
                const bool real = 2 * j % m == 0 && 2 * k % n == 0;
                double z[2];
                check(f.real == real);
                if (atom % stride_for(rows * cols))
                    continue;
                frequency_ref(x, rows, cols, turned ? k : j, turned ? j : k, z);
                for (int i = 0; i < 2; i++)
                    check_near((double)s->data[f.at + (size_t)i], z[i] * sqrt((real ? 1 : 2) / count),
                               4 * ROUNDING * size / sqrt(count));
            }
    }
    check(atom == s->atoms);
}

TEST(frequencies_are_their_sums_and_come_back)
{
    for (size_t s = 0; s < countof(sides); s++) {
        const size_t rows = sides[s].rows, cols = sides[s].cols, n = rows * cols;
        const ArenaMark mark = arena_mark(a);
        const Shape shape = shape_vector(n);
        const Call c = call_for(&shape);
        const float *x = normal(n);
        FourierSpectrum own = spectrum_shape(rows, cols), again = own, shared = own;
        float *gauge = NEW(a, float, own.atoms), *y = NEW(a, float, n);
        Call several = c;
        size_t real = 0;
        double sum = 0;
        bool in;
        check_ok(spectrum_of(&c, x, &own, gauge), &err);
        check_frequencies(&own, x, rows, cols);
        several.threads = 8;
        check_ok(spectrum_of(&several, x, &shared, y), &err);
        assert_memory_equal(shared.data, own.data, own.rows * own.room * sizeof *y);
        again.data = NEW_ZERO(c.scratch, float, again.rows * again.room);
        check(again.data);
        for (size_t i = 0; i < own.atoms; i++) {
            const Frequency f = spectrum_frequency(&own, i);
            const float *z = own.data + f.at;
            real += f.real;
            sum += (double)z[0] * (double)z[0] + (double)z[1] * (double)z[1];
            check(gauge[i] == gauge_of(z[0], z[1]));
            for (size_t part = 0; part < (f.real ? 1 : 2); part++)
                again.data[f.at + part] = (float)((double)z[part] * spectrum_factor(&own, f, 1));
        }
        /* an atom of a real coefficient is one real number; every other atom is two */
        check(2 * own.atoms - real == n);
        check_rel(sqrt(sum), norm(x, n), 1e-6);
        const size_t room = own.rows * own.room;
        float *kept = NEW(a, float, room), *z8 = NEW(a, float, n);
        memcpy(kept, again.data, room * sizeof *kept);
        check_ok(spectrum_back(&c, &again, 1, y, &in), &err);
        again.data = kept;
        check_ok(spectrum_back(&several, &again, 1, z8, &in), &err);
        assert_memory_equal(z8, y, n * sizeof *y);
        check(in && distance(x, y, n) <= 2 * ROUNDING * norm(x, n));
        arena_rewind(a, mark);
    }
}

/* ---- phases ---- */

/* Returns the probability that phase_draw returns the corner `first` of an edge, not the edge's other
 * corner. Finds by bisection the uniform number u at which the result changes. */
static double chance_of_first(float re, float im, float gauge, unsigned first)
{
    double low = 0, high = 1;
    for (int i = 0; i < 60; i++) {
        const double u = (low + high) / 2;
        if (phase_draw(re, im, gauge, u) == first)
            low = u;
        else
            high = u;
    }
    return low;
}

/* phase_draw rounds a complex number z to a random corner of a regular 64-gon (fourier.c). `gauge` is the
 * radius of the 64-gon that has z on an edge. `gauge` times the mean of the drawn corner must be z, up to
 * float32 rounding. The test uses z of all angles. */
TEST(rounded_phases_have_the_right_mean)
{
    enum { STEPS = 20000 };
    for (int i = 0; i < STEPS; i++) {
        const double angle = 2 * M_PI * i / STEPS, size = i % 3 ? 1.7 : 3e-20;
        const float re = (float)(size * cos(angle)), im = (float)(size * sin(angle));
        const float gauge = gauge_of(re, im);
        const unsigned first = phase_draw(re, im, gauge, 1 - 0x1p-53), other = phase_draw(re, im, gauge, 0);
        double f[2], o[2];
        check(first < PHASES && other < PHASES);
        const unsigned apart = (first - other) % PHASES;
        check(apart <= 1 || apart == PHASES - 1);
        const double p = apart ? 1 - chance_of_first(re, im, gauge, other) : 1;
        phase_corner(first, f);
        phase_corner(other, o);
        check_near((double)gauge * (p * f[0] + (1 - p) * o[0]), (double)re, 3e-7 * size);
        check_near((double)gauge * (p * f[1] + (1 - p) * o[1]), (double)im, 3e-7 * size);
        check((double)gauge >= size * (1 - 2e-7) && size >= PHASE_LEAST_RHO * (double)gauge);
    }
}

TEST(real_numbers_keep_their_sign)
{
    static const float sizes[] = {FLT_TRUE_MIN, 1e-30f, 0.3f, 7, FLT_MAX};
    for (size_t i = 0; i < countof(sizes); i++)
        for (double u = 0; u < 1; u += 0.0625) {
            check(gauge_of(sizes[i], 0) == sizes[i] && gauge_of(-sizes[i], 0) == sizes[i]);
            check(phase_draw(sizes[i], 0, sizes[i], u) == 0);
            check(phase_draw(-sizes[i], 0, sizes[i], u) == PHASES / 2);
        }
}

/* The gauge of z is the radius of the regular 64-gon that has z on an edge. It is the maximum over all edges of
 * <z, unit vector to the middle of the edge> / cos(pi / 64). */
TEST(gauges_are_distances_to_the_farthest_edge)
{
    const float *z = normal(4000);
    float *scaled = NEW(a, float, 4000), gauge[2000];
    memcpy(scaled, z, 4000 * sizeof *z);
    phase_gauges(scaled, 2000, 0.25f, gauge);
    for (size_t i = 0; i < 2000; i++) {
        double most = 0;
        for (int k = 0; k < PHASES; k++) {
            const double middle = 2 * M_PI * (k + 0.5) / PHASES;
            most = fmax(most, (double)z[2 * i] * cos(middle) + (double)z[2 * i + 1] * sin(middle));
        }
        check_rel((double)gauge[i], 0.25 * most / cos(M_PI / PHASES), 3e-7);
        check(scaled[2 * i] == 0.25f * z[2 * i]);
    }
}

CHECK_ALL_IN(a)
