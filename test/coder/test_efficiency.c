/* test_efficiency.c -- the efficiency of codecs with rANS: the order-0 entropy divided by the size of the
 * payload. It must be at least 0.98 for every payload over 4 KB. A level is the integer 0 .. s to which a codec
 * rounds a scaled magnitude.
 *
 * The entropy is what the encoder reports; test_symbols.c tests these reports. */
#include "rig/try.h"

enum { JUDGED_FROM = 4097, BUCKET = 512 };

typedef enum { NORMAL, LAPLACE, UNIFORM, DECADES, SPARSE, CUBED, SOURCES } Source;
static const char *const names[] = {"normal", "laplace", "uniform", "decades", "sparse", "cubed"};

static Rng rng;
static size_t judged;

/* Numbers that are drawn once, for vectors of up to DRAWN elements. */
enum { DRAWN = 1000000 };
static Try *normals, *laplaces;
static double *units;

static int open_all(void **state)
{
    rng = rng_open(5, 0, 0, 0, rng_hash("coders"));
    try_normal(normals = try_open("none", DRAWN), 1);
    try_laplace(laplaces = try_open("none", DRAWN), 1);
    units = NEW(normals->arena, double, DRAWN);
    for (size_t i = 0; i < DRAWN; i++)
        units[i] = rng_unit(&rng, USE_TEST, i);
    return 0;
}

static int close_all(void **state)
{
    try_close(laplaces);
    try_close(normals);
    return 0;
}

static void fill(Try *t, Source source)
{
    const size_t n = t->shape.n;
    if (n <= DRAWN)
        memcpy(t->x, (source == NORMAL ? normals : laplaces)->x, n * sizeof *t->x);
    else if (source == NORMAL)
        try_normal(t, n);
    else
        try_laplace(t, n);
    for (size_t i = 0; i < n; i++) {
        float *x = &t->x[i];
        if (source == UNIFORM)
            *x = (float)(units[i % DRAWN] - 0.5);
        /* 64 consecutive elements share a scale between 1e-5 and 1; every third element is 0 */
        if (source == DECADES)
            *x *= i % 3 ? (float)pow(10, -5 * units[i / 64]) : 0;
        if (source == SPARSE)
            *x *= units[i % DRAWN] < 0.1;
        if (source == CUBED)
            *x *= *x * *x;
    }
}

/* True if the payload has an efficiency of at least 0.98, or at most 4 KB. */
static bool near(Try *t, const char *spec, const char *what)
{
    Streams streams = {0};
    t->call.streams = &streams;
    try_both(t);
    check(streams.reported && !streams.raw);
    if (t->out.size < JUDGED_FROM)
        return true;
    judged++;
    const double e = streams.entropy_bits / (8 * (double)t->out.size);
    if (e < 0.98)
        print_error("%s, %zu elements, %s: %zu bytes, efficiency %.4f\n", spec, t->shape.n, what, t->out.size,
                    e);
    check(e < 1);
    return e >= 0.98;
}

static bool near_on(const char *spec, size_t n, Source source)
{
    Try *t = try_open(spec, n);
    fill(t, source);
    const bool good = near(t, spec, names[source]);
    try_close(t);
    return good;
}

/* The smaller numbers of elements give payloads just above 4 KB. Each source has every second number, in turn. */
TEST(every_width_is_within_two_percent_on_payloads_over_4_kb)
{
    size_t low = 0;
    char spec[64];
    for (int bits = 1; bits <= 16; bits++)
        for (size_t bucket = 0; bucket <= BUCKET; bucket += BUCKET) {
            const size_t n = 4300 * 8 / ((size_t)bits + 1), ns[] = {n, 3 * n / 2, 2 * n, 4 * n, 9 * n, 70000};
            snprintf(spec, sizeof spec, "qsgd:bits=%d,bucket=%zu,code=rans", bits, bucket);
            for (int source = 0; source < SOURCES; source++)
                for (size_t i = ((size_t)bits + (size_t)source) % 2; i < countof(ns); i += 2)
                    low += !near_on(spec, ns[i], (Source)source);
            low += !near_on(spec, 1000000, (Source)(((size_t)bits + bucket / BUCKET) % SOURCES));
        }
    check(judged > 200);
    assert_int_equal(low, 0);
}

TEST(so_is_every_codec_that_has_symbols)
{
    static const char *const specs[] = {"qsgd:levels=5,norm=linf,code=rans",
                                        "qsgd:levels=100,norm=linf,code=rans",
                                        "qsgd:levels=1000,bucket=100,code=rans",
                                        "terngrad:code=rans",
                                        "terngrad:clip=2.5,code=rans",
                                        "natural:code=rans",
                                        "zipml:levels=8",
                                        "zipml:levels=200,bucket=65536",
                                        "zipml:levels=256,bucket=65536"};
    static const size_t ns[] = {3000, 4300, 6000, 8000, 12000, 17000, 30000, 65536, 70000, 200000};
    size_t low = 0;
    for (size_t s = 0; s < countof(specs); s++)
        for (size_t i = 0; i < countof(ns); i++)
            for (int source = (int)(s + i) % 2; source < SOURCES; source += 2)
                low += !near_on(specs[s], ns[i], (Source)source);
    assert_int_equal(low, 0);
}

/* ---- inputs for which few levels differ from 0 ---- */

/* True if `near` accepts the payload of n numbers, of which about one in `every` is a Laplace number and the rest are
 * 0. The distances between those that are not 0 have a geometric distribution. */
static bool near_on_rare(const char *spec, size_t n, double every)
{
    char what[32];
    Try *t = try_open(spec, n);
    double at = floor(log(units[0]) / log1p(-1 / every));
    for (size_t k = 1; at < (double)n; k++) {
        t->x[(size_t)at] = laplaces->x[k];
        at += 1 + floor(log(units[k]) / log1p(-1 / every));
    }
    snprintf(what, sizeof what, "one in %g", every);
    const size_t before = judged;
    const bool good = near(t, spec, what);
    check(judged == before + 1);
    try_close(t);
    return good;
}

/* Each non-zero level is rarer than the smallest probability that a rANS table can hold. */
TEST(levels_may_be_as_rare_as_they_like)
{
    static const struct {
        const char *spec;
        size_t n;
        double every;
    } cases[] = {{"qsgd:bits=16,bucket=0,code=rans", 3000000, 2000},
                 {"qsgd:bits=16,bucket=0,code=rans", 10000000, 8000},
                 {"qsgd:bits=16,bucket=0,code=rans", 400000, 100},
                 {"qsgd:bits=13,bucket=0,code=rans", 1000000, 500},
                 {"qsgd:bits=11,bucket=0,code=rans", 3000000, 1500},
                 {"qsgd:bits=8,bucket=0,code=rans", 1000000, 300},
                 {"qsgd:bits=8,norm=linf,code=rans", 1000000, 400},
                 {"qsgd:bits=7,norm=linf,bucket=0,code=rans", 1000000, 450},
                 {"qsgd:bits=7,bucket=65536,code=rans", 2000000, 1000},
                 {"qsgd:bits=6,norm=linf,bucket=0,code=rans", 2000000, 800},
                 {"qsgd:bits=4,norm=linf,bucket=0,code=rans", 3000000, 1000},
                 {"qsgd:bits=2,norm=linf,bucket=0,code=rans", 3000000, 200},
                 {"natural:code=rans", 3000000, 1200},
                 {"natural:code=rans", 200000, 60}};
    size_t low = 0;
    for (size_t k = 0; k < countof(cases); k++)
        low += !near_on_rare(cases[k].spec, cases[k].n, cases[k].every);
    assert_int_equal(low, 0);
}

CHECK_ALL(open_all, close_all)
