/* test_qsgd.c -- the codec qsgd: decoded elements against the definition (quantise.h), payload sizes against
 * the sum of all code lengths, and the entropy that is told. */
#include "rig/try.h"

#include "rig/coder_rig.h"
#include "coder/planes.h"
#include "math/vec/quantise.h"

static const size_t sizes[] = {0,   1,   2,   3,    7,     8,     63,    64,    65,
                               511, 512, 513, 1000, 65535, 65536, 65537, 200000, 140001};
static const size_t buckets[] = {0, 1, 3, 64, 512, 1000, 65536, 100000};
static const char *const code_names[] = {"elias", "elias-sparse", "elias-dense", "fixed"};

typedef struct {
    size_t n, bucket;
    uint32_t s;
    const char *code, *norm;
} Case;

static Try *open_case(Case k)
{
    char spec[128];
    snprintf(spec, sizeof spec, "qsgd:levels=%u,bucket=%zu,code=%s,norm=%s", k.s, k.bucket, k.code,
             k.norm ? k.norm : "l2");
    return try_open(spec, k.n);
}

/* ---- vectors that are encoded and decoded again ---- */

static double norm_ref(const float *x, size_t n, bool linf)
{
    double sum = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        sum += (double)x[i] * (double)x[i];
        most = fmax(most, fabs((double)x[i]));
    }
    return linf ? most : sqrt(sum);
}

static float value_ref(float x, float norm, uint32_t s, const RngKey *key, uint32_t i)
{
    const Quantiser q = quantiser_make(norm, s);
    const Dequantiser d = dequantiser_make(norm, s);
    return dequantise_code(&d, s == 1 ? coin_code(coin_make(norm), x, key, i) : quantise_code(&q, x, key, i));
}

/* Norms in the payload may differ from plain sums by one unit in the last place. Every decoded element must be
 * exactly the value that quantise.h (coin.h if s = 1) defines for the norm of the bucket. */
static void check_elements(const Try *t, Case k)
{
    const size_t bucket = k.bucket ? k.bucket : k.n;
    const Bytes payload = t->sent.round[0];
    RngKey key = rng_key(&t->call.rng, USE_COIN, 0);
    for (size_t start = 0, b = 0; start < k.n; start += bucket, b++) {
        const size_t n = k.n - start < bucket ? k.n - start : bucket;
        const float norm = load_f32(payload.data + 1 + 4 * b);
        check_rel((double)norm, norm_ref(t->x + start, n, k.norm && !strcmp(k.norm, "linf")), 1.3e-7);
        for (size_t i = start; i < start + n; i++) {
            if (i % BLOCK == 0)
                key = rng_key(&t->call.rng, USE_COIN, i / BLOCK);
            const float want = norm > 0 ? value_ref(t->x[i], norm, k.s, &key, (uint32_t)(i % BLOCK)) : 0;
            check(t->y[i] == want);
            check(t->y[i] != 0 || !signbit(t->y[i]));
        }
    }
}

static void round_trip(Case k)
{
    Try *t = open_case(k);
    try_normal(t, k.n + 1);
    for (size_t i = 0; i < k.n / 7; i++) /* zeros of both signs fill the first buckets */
        t->x[i] = i % 2 ? -0.0f : 0;
    try_both(t);
    check(t->out.size <= raw_size(&t->call));
    if (t->out.data[0] == PAYLOAD_RAW)
        assert_memory_equal(t->x, t->y, k.n * sizeof(float));
    else
        check_elements(t, k);
    try_close(t);
}

/* The sizes from 65535 on have every second pair of bucket and code, in turn; one pair has 140001 elements, which are three
 * blocks, the next has 200000, which are four. */
TEST(every_size_bucket_and_code_comes_back_as_defined)
{
    static const uint32_t levels[] = {15, 1, 255, 7, 100, 65535, 3};
    size_t turn = 0;
    for (size_t n = 0; n < countof(sizes); n++)
        for (size_t b = 0; b < countof(buckets); b++)
            for (size_t c = 0; c < countof(code_names); c++, turn++)
                if (sizes[n] < 65535 || (n + b + c) % 2)
                    round_trip((Case){sizes[n], buckets[b], levels[turn % countof(levels)], code_names[c],
                                      turn % 3 ? "l2" : "linf"});
}

/* ---- sizes ---- */

/* Returns the sum of the code lengths of all values of a block, in bits. */
static uint64_t stream_ref(const Try *t, Case k, size_t start, bool dense)
{
    const size_t end = start + block_size(k.n, start / BLOCK);
    uint64_t bits = 0;
    for (size_t i = start, to; i < end; i = to) {
        const size_t left = k.bucket - i % k.bucket;
        to = left < end - i ? i + left : end;
        const double unit = (double)load_f32(t->sent.round[0].data + 1 + 4 * (i / k.bucket)) / k.s;
        size_t count = 0, before = i - 1;
        for (size_t j = i; j < to; j++) {
            const uint64_t level = unit > 0 ? (uint64_t)llround(fabs((double)t->y[j]) / unit) : 0;
            if (dense)
                bits += omega_bits(level + 1) + (level > 0);
            else if (level)
                bits += omega_bits(j - before) + 1 + (k.s > 1 ? omega_bits(level) : 0);
            if (level)
                before = j, count++;
        }
        bits += dense ? 0 : omega_bits(count + 1);
    }
    return bits;
}

static size_t size_ref(const Try *t, Case k, bool dense)
{
    size_t bytes = 1 + 4 * ((k.n + k.bucket - 1) / k.bucket) + (k.n > BLOCK ? 4 * blocks_of(k.n) : 0);
    for (size_t start = 0; start < k.n; start += BLOCK)
        bytes += (size_t)((stream_ref(t, k, start, dense) + 7) / 8);
    return bytes;
}

TEST(streams_have_the_lengths_of_their_codes_and_elias_the_shorter)
{
    static const uint32_t levels[] = {1, 7, 15, 127, 255};
    static const size_t ns[] = {1000, 65536, 70000};
    for (size_t v = 0; v < countof(levels) * countof(ns); v++) {
        Case k = {ns[v % 3], v % 2 ? 512 : 300, levels[v / 3], "elias-sparse", "l2"};
        size_t size[4];
        for (size_t c = 0; c < 4; c++) {
            k.code = code_names[c];
            Try *t = open_case(k);
            try_normal(t, 5);
            try_both(t);
            size[c] = t->out.size;
            if (c == 1 || c == 2)
                assert_int_equal(size[c], size_ref(t, k, c == 2));
            try_close(t);
        }
        assert_int_equal(size[0], 1 + (size[1] < size[2] ? size[1] : size[2]));
        const size_t heads = 1 + 4 * ((k.n + k.bucket - 1) / k.bucket);
        assert_int_equal(size[3], heads + planes_size(k.n, level_bits(k.s) + 1));
    }
}

TEST(entropy_is_told_and_stands_below_the_bytes)
{
    for (size_t c = 0; c < countof(code_names); c++) {
        Try *t = open_case((Case){65536, 512, 15, code_names[c], "l2"});
        Streams streams = {0};
        try_normal(t, 20);
        t->call.streams = &streams;
        try_both(t);
        check(streams.reported && !streams.raw);
        /* norms, levels and signs together have an entropy of 1.75 bits per element */
        check_rel(streams.entropy_bits / 65536, 1.75, 0.01);
        check(streams.entropy_bits < 8 * (double)t->out.size);
        try_close(t);
    }
}

CHECK_ALL(NULL, NULL)
