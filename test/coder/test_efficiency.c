/* test_efficiency.c -- the efficiency of codecs with rANS: the order-0 entropy divided by the size of the
 * payload. It must be at least 0.98 for every payload over 4 KB. A level is the integer 0 .. s to which a codec
 * rounds a scaled magnitude.
 *
 * Most tests take the entropy that the encoder reports (test_symbols.c tests these reports). Two tests compute
 * the entropy without the library: from the histogram of the decoded levels, or from the distribution of the
 * input if a histogram would have too few elements per level. */
#include "rig/try.h"

#include "dump/tensor.h"

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
    (void)state;
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
    (void)state;
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
static void every_width_is_within_two_percent_on_payloads_over_4_kb(void **state)
{
    (void)state;
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
    check(judged > 300);
    assert_int_equal(low, 0);
}

static void so_is_every_codec_that_has_symbols(void **state)
{
    (void)state;
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

/* Only a few thousand of the millions of elements have a level other than 0. */
static void millions_of_elements_with_a_few_kilobytes_to_say_are_no_exception(void **state)
{
    (void)state;
    size_t low = 0;
    low += !near_on("qsgd:bits=1,bucket=0,code=rans", 9000000, NORMAL);
    low += !near_on("qsgd:bits=2,bucket=0,code=rans", 3000000, LAPLACE);
    low += !near_on("qsgd:bits=4,bucket=0,code=rans", 2000000, CUBED);
    low += !near_on("qsgd:bits=4,bucket=0,code=rans", 1000000, SPARSE);
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
static void levels_may_be_as_rare_as_they_like(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        size_t n;
        double every;
    } cases[] = {{"qsgd:bits=16,bucket=0,code=rans", 3000000, 2000},
                 {"qsgd:bits=16,bucket=0,code=rans", 16000000, 10000},
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

/* ---- the entropy, computed from the decoded levels or from the distribution ---- */

/* Returns the bits of a qsgd payload, computed from the decoded elements: the order-0 entropy of the levels 0
 * .. s, 1 bit for the sign of each non-zero level, and 32 bits for the norm of each bucket. */
static double levels_bits(const Try *t, double s, size_t bucket)
{
    const size_t n = t->shape.n, run = bucket ? bucket : n;
    double bits = 0, count[64] = {0};
    for (size_t from = 0; from < n; from += run) {
        double sum = 0;
        const size_t to = n - from < run ? n : from + run;
        for (size_t i = from; i < to; i++)
            sum += (double)t->x[i] * (double)t->x[i];
        for (size_t i = from; i < to; i++) {
            const double level = sum > 0 ? round(fabs((double)t->y[i]) * s / sqrt(sum)) : 0;
            count[(size_t)level]++;
            bits += level > 0;
        }
        bits += 32;
    }
    for (size_t k = 0; k < countof(count); k++)
        bits -= count[k] > 0 ? count[k] * log2(count[k] / (double)n) : 0;
    return bits;
}

static void narrow_levels_take_two_percent_more_than_their_entropy_at_most(void **state)
{
    (void)state;
    char spec[64];
    for (int bits = 1; bits <= 6; bits++)
        for (size_t bucket = 0; bucket <= BUCKET; bucket += BUCKET)
            for (int source = 0; source < SOURCES; source++) {
                snprintf(spec, sizeof spec, "qsgd:bits=%d,bucket=%zu,code=rans", bits, bucket);
                Try *t = try_open(spec, 60000);
                fill(t, (Source)source);
                try_both(t);
                const double entropy = levels_bits(t, (1 << bits) - 1, bucket),
                             sent = 8 * (double)t->out.size;
                check(t->out.size < JUDGED_FROM || entropy >= 0.98 * sent);
                /* In DECADES zero levels come in runs, which a payload can code in less than the order-0
                 * entropy. */
                check(entropy <= sent || source == DECADES);
                try_close(t);
            }
}

/* The spacing of levels is N / s for a bucket of norm N, much less than the standard deviation. So the entropy
 * of a signed level is nearly the differential entropy of the distribution minus log2(N / s). The differential
 * entropy of the Laplace distribution of mean magnitude 1 is 1 + log2 e bits. */
static void fine_levels_of_a_law_cost_its_entropy(void **state)
{
    (void)state;
    static const size_t ns[] = {8000, 16384, 30000, 65536};
    for (int bits = 14; bits <= 16; bits++)
        for (size_t i = 0; i < countof(ns); i++) {
            char spec[64];
            snprintf(spec, sizeof spec, "qsgd:bits=%d,code=rans", bits);
            Try *t = try_open(spec, ns[i]);
            try_laplace(t, ns[i]);
            try_both(t);
            double law = 0;
            for (size_t from = 0; from < ns[i]; from += BUCKET) {
                const size_t n = ns[i] - from < BUCKET ? ns[i] - from : BUCKET;
                double sum = 0;
                for (size_t k = from; k < from + n; k++)
                    sum += (double)t->x[k] * (double)t->x[k];
                law += 32 + (double)n * (1 + M_LOG2E + log2(((1 << bits) - 1) / sqrt(sum)));
            }
            check(law / (8 * (double)t->out.size) > 0.985);
            check(law / (8 * (double)t->out.size) < 1.01);
            try_close(t);
        }
}

/* ---- gradients ---- */

enum { MOST_OF_A_DUMP = 5, LONGEST = 300000 };

static size_t low_of_dump(const char *path, size_t longest)
{
    Arena *a = arena_open(0);
    Error err;
    Dump *d;
    size_t low = 0, tried = 0;
    char spec[64];
    check_ok(dump_open(&d, path, a, &err), &err);
    for (size_t i = 0; i < dump_count(d) && tried < MOST_OF_A_DUMP; i++) {
        const size_t n = dump_tensor(d, i)->shape.n;
        if (n < 2000 || n > longest)
            continue;
        for (int bits = 1 + (int)(tried++ % 2); bits <= 20; bits += 2)
            for (size_t bucket = 0; bucket <= BUCKET; bucket += BUCKET) {
                static const char *const others[] = {"qsgd:levels=100,norm=linf,code=rans",
                                                     "terngrad:code=rans", "natural:code=rans",
                                                     "zipml:levels=16"};
                snprintf(spec, sizeof spec, "qsgd:bits=%d,bucket=%zu,code=rans", bits, bucket);
                const char *tried_spec = bits <= 16 ? spec : others[bits - 17];
                Try *t = try_open(tried_spec, n);
                check_ok(dump_read(d, i, t->x, &err), &err);
                low += !near(t, tried_spec, dump_tensor(d, i)->name);
                try_close(t);
            }
    }
    check(tried > 3);
    dump_close(d);
    arena_close(a);
    return low;
}

static void so_it_is_on_the_dump(void **state)
{
    (void)state;
    assert_int_equal(low_of_dump("datasets/lenet-mnist.h5", SIZE_MAX), 0);
}

static void so_it_is_on_larger_dumps_where_they_are(void **state)
{
    (void)state;
    static const char *const paths[] = {"../shared/data/resnet18-cifar10.h5",
                                        "../shared/data/charlm-shakespeare.h5"};
    for (size_t i = 0; i < countof(paths); i++) {
        FILE *f = fopen(paths[i], "rb");
        if (!f)
            continue;
        fclose(f);
        assert_int_equal(low_of_dump(paths[i], LONGEST), 0);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(fine_levels_of_a_law_cost_its_entropy),
    cmocka_unit_test(narrow_levels_take_two_percent_more_than_their_entropy_at_most),
    cmocka_unit_test(levels_may_be_as_rare_as_they_like),
    cmocka_unit_test(so_it_is_on_the_dump),
    cmocka_unit_test(so_it_is_on_larger_dumps_where_they_are),
    cmocka_unit_test(every_width_is_within_two_percent_on_payloads_over_4_kb),
    cmocka_unit_test(so_is_every_codec_that_has_symbols),
    cmocka_unit_test(millions_of_elements_with_a_few_kilobytes_to_say_are_no_exception),
};

int main(void)
{
    return cmocka_run_group_tests(tests, open_all, close_all) ? 1 : 0;
}
