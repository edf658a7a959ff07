/* test_float.c -- block floats: the kernels against plain tables of values, the codecs against formulas written plainly, and
 * their errors on normal and Laplace numbers against figures that two independent programs computed. */
#include "math/vec/kernels.h"
#include "rig/try.h"

#include <math.h>

/* The formats as the OCP specifications state them: exponent bits, fraction bits, bias, largest magnitude. */
typedef struct {
    const char *name;
    int exponent, fraction, bias;
    uint32_t top;
} Stated;
static const Stated stated[] = {{"e4m3", 4, 3, 7, 0x7e}, {"e5m2", 5, 2, 15, 0x7b}, {"e2m3", 2, 3, 1, 31},
                                {"e3m2", 3, 2, 3, 31},   {"e2m1", 2, 1, 1, 7},     {"e3m0", 3, 0, 3, 7}};

static Minifloat format_of(const Stated *s)
{
    return (Minifloat){.fraction = s->fraction, .bias = s->bias, .width = 1 + s->exponent + s->fraction, .top = s->top};
}
static double value_of(const Stated *s, uint32_t magnitude)
{
    const int exponent = (int)(magnitude >> s->fraction);
    const double part = (double)(magnitude & ((1u << s->fraction) - 1)) / (1 << s->fraction);
    return exponent ? ldexp(1 + part, exponent - s->bias) : ldexp(part, 1 - s->bias);
}
static uint32_t below(const Stated *s, double v)
{
    uint32_t low = 0;
    while (low < s->top && value_of(s, low + 1) <= v)
        low++;
    return low;
}

enum { N = 3000 };
static const RngKey key = {.a = 0x1234567, .b = 0x89abcdef, .c = 0xdeadbeef, .d = 0x55aa55aa};

#define EACH_ISA(k)                                                                                          \
    for (int isa = 0; isa < ISA_COUNT; isa++)                                                                \
        for (const Kernels *k = kernels_of((Isa)isa); k; k = NULL)

/* Numbers over the format's range: its values, middles between them, and their neighbours in float. */
static void fill(const Stated *s, float *x)
{
    const Rng rng = rng_open(5, 0, 0, 0, 0);
    for (uint32_t i = 0; i < N; i++) {
        const uint32_t m = i % (s->top + 1), next = m < s->top ? m + 1 : m;
        const double low = value_of(s, m), middle = (low + value_of(s, next)) / 2, u = rng_unit(&rng, USE_TEST, i);
        const float v = (float)(i % 5 == 0   ? low
                                : i % 5 == 1 ? middle
                                             : low + u * (value_of(s, next) - low));
        x[i] = i % 5 == 4 ? nextafterf((float)middle, i % 2 ? INFINITY : 0) : v;
        x[i] = i % 3 ? x[i] : -x[i];
    }
    x[7] = -0.0f, x[8] = 1e30f, x[9] = -1e30f, x[10] = 1e-30f;
}

TEST(codes_are_the_nearest_values_ties_to_even)
{
    for (size_t f = 0; f < countof(stated); f++) {
        const Stated *s = &stated[f];
        Minifloat format = format_of(s);
        float x[N], y[N];
        uint8_t code[N];
        format.most = (float)value_of(s, s->top);
        fill(s, x);
        EACH_ISA(k)
        for (size_t n = N - 9; n <= N; n += 3) {
            static const float one[N / 16 + 1] = {[0 ... N / 16] = 1};
            const ScaledBlocks b = {16, one, false};
            k->minify(x, n, &b, &format, NULL, 0, code);
            check(k->unminify(code, n, &b, &format, y));
            for (size_t i = 0; i < n; i++) {
                const double v = fmin(fabs((double)x[i]), value_of(s, s->top));
                const uint32_t low = below(s, v), high = low < s->top ? low + 1 : low;
                const double down = v - value_of(s, low), up = value_of(s, high) - v;
                const uint32_t want = down < up || (down == up && low % 2 == 0) ? low : high;
                const uint32_t sign = signbit(x[i]) != 0;
                assert_int_equal(code[i], want | sign << (s->exponent + s->fraction));
                check((double)fabsf(y[i]) == value_of(s, want) && (signbit(y[i]) != 0) == (int)sign);
            }
        }
    }
}

/* Rounded up iff a random number is below the place between two neighbours: to 2^-22 of their distance. */
TEST(random_codes_equal_their_definition)
{
    for (size_t f = 0; f < countof(stated); f++) {
        const Stated *s = &stated[f];
        Minifloat format = format_of(s);
        float x[N];
        uint8_t code[N], first[N];
        size_t ups = 0;
        format.most = (float)value_of(s, s->top);
        fill(s, x);
        EACH_ISA(k)
        {
            k->minify(x, N, &(ScaledBlocks){N, (float[]){1}, false}, &format, &key, 100, code);
            if (k == kernels_of(ISA_BASE))
                memcpy(first, code, sizeof code);
            assert_memory_equal(code, first, sizeof code);
        }
        for (uint32_t i = 0; i < N; i++) {
            const double v = fmin(fabs((double)x[i]), value_of(s, s->top));
            const uint32_t low = below(s, v), got = first[i] & ((1u << (s->exponent + s->fraction)) - 1);
            const double place = low < s->top ? (v - value_of(s, low)) / (value_of(s, low + 1) - value_of(s, low)) : 0,
                         u = (double)rng_word(&key, 100 + i) * 0x1p-32;
            if (fabs(u - place) > 0x1p-22)
                assert_int_equal(got, low + (u < place));
            ups += got > low;
            const uint32_t word = rng_word(&key, 100 + i);
            assert_int_equal(got, minifloat_round(&format, (float)v, &word));
        }
        check(ups > N / 8 && ups < N / 2);
    }
}

TEST(codes_that_no_value_has_are_refused)
{
    for (size_t f = 0; f < countof(stated); f++) {
        const Stated *s = &stated[f];
        const Minifloat format = format_of(s);
        EACH_ISA(k)
        for (unsigned c = 0; c < 1u << format.width; c++) {
            uint8_t code[21] = {0};
            float y[21];
            code[20] = (uint8_t)c;
            check(k->unminify(code, 21, &(ScaledBlocks){16, (float[]){1, 2}, false}, &format, y) ==
                  ((c & ((1u << (format.width - 1)) - 1)) <= s->top));
        }
    }
}

/* ---- codecs: the scales, by their formulas ---- */

static double scale_of(const char *spec, const float *x, size_t n, int emax, double largest)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs((double)x[i]));
    if (strstr(spec, "rceil"))
        return exp2(ceil(log2((double)((float)most * (1 / (float)largest)))));
    if (strstr(spec, "stochastic"))
        return exp2(ceil(log2(most / largest)));
    return exp2(floor(log2(most)) - emax);
}

TEST(powers_of_two_are_those_of_the_formula)
{
    static const struct {
        const char *spec;
        int emax;
        double largest;
    } cases[] = {{"mxfp4", 2, 6},          {"mxfp4:scale=rceil", 2, 6},       {"mxfp4:rounding=stochastic", 2, 6},
                 {"mxfp6", 2, 7.5},        {"mxfp8", 8, 448},                 {"mxfp8:scale=rceil", 8, 448},
                 {"float:format=e5m2", 15, 57344}, {"float:format=e3m0", 4, 16}, {"float:format=int8", 0, 127.0 / 64}};
    const Rng rng = rng_open(3, 0, 0, 0, 0);
    for (size_t c = 0; c < countof(cases); c++) {
        enum { BLOCKS = 40, SIZE = 32 };
        Try *t = try_open(cases[c].spec, BLOCKS * SIZE - 5);
        for (size_t i = 0; i < t->shape.n; i++)
            t->x[i] = (float)(rng_normal(&rng, USE_TEST, i) * exp2((double)(i / SIZE) * 5 - 100));
        try_both(t);
        for (size_t b = 0; b < BLOCKS; b++) {
            const size_t left = t->shape.n - b * SIZE;
            const double want = scale_of(cases[c].spec, t->x + b * SIZE, left < SIZE ? left : SIZE, cases[c].emax,
                                         cases[c].largest);
            check(exp2(t->sent.round[0].data[1 + b] - 127.0) == want);
        }
        try_close(t);
    }
}

/* ---- errors ---- */

typedef struct {
    const char *spec;
    double normal, laplace; /* |x^ - x|^2 / |x|^2; 0: not known */
} Known;

enum { ROWS = 64, COLUMNS = 2048, SEEDS = 4 };
static float drawn[2][SEEDS][ROWS * COLUMNS]; /* normal numbers, and Laplace's */

static void draw_all(void)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const Rng rng = rng_open(seed + 1, 0, 0, 0, 0);
        for (size_t i = 0; i < ROWS * COLUMNS; i++) {
            const double u = rng_unit(&rng, USE_TEST, i) - 0.5;
            drawn[0][seed][i] = (float)rng_normal(&rng, USE_TEST, i);
            drawn[1][seed][i] = (float)copysign(log(1 - 2 * fabs(u)), u);
        }
    }
}

static double error_on(const char *spec, bool laplace)
{
    double error = 0, norm = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        Try *t = try_open(spec, ROWS * COLUMNS);
        t->shape = (Shape){2, {ROWS, COLUMNS}, ROWS * COLUMNS}; /* rows matter to fp8 */
        memcpy(t->x, drawn[laplace][seed], sizeof drawn[laplace][seed]);
        t->call.rng = rng_open(seed + 1, 0, 0, 0, 0);
        try_both(t);
        for (size_t i = 0; i < t->shape.n; i++) {
            const double d = (double)t->y[i] - (double)t->x[i];
            error += d * d;
            norm += (double)t->x[i] * (double)t->x[i];
        }
        try_close(t);
    }
    return error / norm;
}

/* To 1 %, and the half of a unit in the last of two or three digits. */
TEST(errors_are_those_of_other_programs)
{
    static const Known known[] = {
        {"mxfp4", .0132, .0161},
        {"mxfp4:rounding=clipped", .0252, .0295},
        {"mxfp4:rounding=stochastic", .0271, .0354},
        {"mxfp6", .00081, .00094},
        {"float:format=e3m2", .00291, .00302},
        {"mxfp8", .00086, .00101},
        {"float:format=e5m2", .0029, .0030},
        {"nvfp4", .0090, .0086},
        {"nvfp4:rounding=clipped", .0189, .0183},
        {"nvfp4:rounding=stochastic", .0222, .0229},
        {"nvfp4:best=fourover6", .0076, 0},
        {"nvfp4:rounding=eden", .0098, 0},
        {"fp8", .00070, .00069},
    };
    draw_all();
    for (size_t i = 0; i < countof(known); i++)
        for (int laplace = 0; laplace < 2; laplace++) {
            const double want = laplace ? known[i].laplace : known[i].normal,
                         got = want > 0 ? error_on(known[i].spec, laplace) : 0;
            if (fabs(got - want) > 0.015 * want)
                print_error("%s: %g, want %g\n", known[i].spec, got, want);
            check(fabs(got - want) <= 0.015 * want);
        }
}

CHECK_ALL(NULL, NULL)
