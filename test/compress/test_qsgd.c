/* test_qsgd.c -- the codec qsgd: decoded elements against the definition (quantise.h), payload sizes against
 * the sum of all code lengths, and bad payloads. */
#include "rig/try.h"

#include "rig/coder_rig.h"
#include "coder/planes.h"
#include "vec/quantise.h"

#include <float.h>

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
    if (k.n < 2000 || (k.bucket == 512 && k.n > 65536)) {
        try_refuses_other_lengths(t);
        try_survives_flips(t, k.n < 65 ? 1 : t->out.size * 8 / 200 + 1);
    }
    try_close(t);
}

/* The sizes from 65535 on have every second pair of bucket and code, in turn; one pair has 140001 elements, which are three
 * blocks, the next has 200000, which are four. */
static void every_size_bucket_and_code_comes_back_as_defined(void **state)
{
    (void)state;
    static const uint32_t levels[] = {15, 1, 255, 7, 100, 65535, 3};
    size_t turn = 0;
    for (size_t n = 0; n < countof(sizes); n++)
        for (size_t b = 0; b < countof(buckets); b++)
            for (size_t c = 0; c < countof(code_names); c++, turn++)
                if (sizes[n] < 65535 || (n + b + c) % 2)
                    round_trip((Case){sizes[n], buckets[b], levels[turn % countof(levels)], code_names[c],
                                      turn % 3 ? "l2" : "linf"});
}

static void every_count_of_levels_works(void **state)
{
    (void)state;
    static const uint32_t levels[] = {1,  2,   3,   4,   5,    15,   16,   31,   63,
                                      64, 127, 128, 129, 1000, 1023, 1024, 4095, 65535};
    for (size_t v = 0; v < countof(levels); v++)
        for (size_t c = 0; c < countof(code_names); c++)
            round_trip((Case){3000, 512, levels[v], code_names[c], v % 2 ? "l2" : "linf"});
}

static void any_number_of_threads_gives_the_same_bytes(void **state)
{
    (void)state;
    static const char *const specs[] = {"qsgd", "qsgd:code=fixed,bucket=1000", "qsgd:bits=8,code=elias-dense",
                                        "qsgd:bits=1,bucket=0", "qsgd:bucket=100000,norm=linf"};
    for (size_t s = 0; s < countof(specs); s++) {
        Try *t = try_open(specs[s], 5 * BLOCK + 123);
        try_normal(t, 3);
        try_any_threads(t);
        try_close(t);
    }
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

static void streams_have_the_lengths_of_their_codes_and_elias_the_shorter(void **state)
{
    (void)state;
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

/* ---- refused payloads ---- */

static void norms_that_no_encoder_writes_are_refused(void **state)
{
    (void)state;
    static const float bad[] = {-1, -0.0f, INFINITY, NAN};
    for (size_t c = 0; c < countof(code_names); c++) {
        Try *t = open_case((Case){200, 64, 15, code_names[c], "l2"});
        try_normal(t, 9);
        try_both(t);
        for (size_t i = 0; i < countof(bad); i++) {
            const float good = load_f32(t->out.data + 5);
            char why[64];
            store_f32(t->out.data + 5, bad[i]);
            check(try_payload(t, buf_bytes(&t->out)) == ERR_CORRUPT);
            snprintf(why, sizeof why, "bucket 1 has the norm %g", (double)bad[i]);
            check(strstr(t->err.text, why));
            store_f32(t->out.data + 5, good);
        }
        store_f32(t->out.data + 5, 0); /* a norm of zero in a bucket with levels above zero */
        check(try_payload(t, buf_bytes(&t->out)) == ERR_CORRUPT);
        try_close(t);
    }
}

static void levels_above_the_highest_and_signs_of_zero_are_refused(void **state)
{
    (void)state;
    for (uint32_t bits = 1; bits <= 9; bits += 4) {
        const uint32_t s = bits == 1 ? 1 : (1u << bits) - 2; /* with bits = 1, every code is a valid level */
        Try *t = open_case((Case){64, 64, s, "fixed", "l2"});
        try_normal(t, 10);
        try_both(t);
        uint32_t code[64];
        uint8_t *plane = t->out.data + 5;
        const int width = (int)bits + 1;
        for (uint32_t c = 0; c < 2u << bits; c++) {
            const uint32_t level = c & ((1u << bits) - 1);
            check(planes_get32(plane, 64, width, code));
            const uint32_t was = code[40];
            code[40] = c;
            planes_put32(code, 64, width, plane);
            const bool good = level <= s && (level || c == 0);
            check((try_payload(t, buf_bytes(&t->out)) == OK) == good);
            code[40] = was;
            planes_put32(code, 64, width, plane);
        }
        try_close(t);
    }
}

static void gaps_and_counts_beyond_a_run_are_refused(void **state)
{
    (void)state;
    Try *t = open_case((Case){64, 32, 3, "elias-sparse", "linf"});
    t->x[31] = t->x[63] = 1;
    try_both(t);
    static const struct {
        uint64_t count, gap, level, count2, gap2, level2;
        bool good;
    } rows[] = {
        {1, 32, 3, 1, 32, 3, true},
        {1, 33, 3, 1, 32, 3, false},
        {1, 32, 4, 1, 32, 3, false},
        {0, 0, 0, 1, 32, 3, true},
        {33, 32, 3, 1, 32, 3, false},
        {1, 1, 1, 1, 1, 1, true},
        {1, 32, 257, 1, 32, 3, false},
        {1, 32, UINT64_C(1) << 40 | 1, 1, 32, 3, false},
        {1, UINT64_C(1) << 32 | 32, 3, 1, 32, 3, false},
    };
    for (size_t i = 0; i < countof(rows); i++) {
        uint8_t data[64];
        memcpy(data, t->out.data, 9);
        BitWriter w = bits_writer(data + 9, sizeof data - 9);
        omega_put(&w, rows[i].count + 1);
        if (rows[i].count)
            omega_put(&w, rows[i].gap), bits_put(&w, 0, 1), omega_put(&w, rows[i].level);
        omega_put(&w, rows[i].count2 + 1);
        omega_put(&w, rows[i].gap2), bits_put(&w, 1, 1), omega_put(&w, rows[i].level2);
        bits_close(&w);
        check((try_payload(t, (Bytes){data, (size_t)(w.at - data)}) == OK) == rows[i].good);
        if (rows[i].good)
            check(t->y[31 + rows[i].gap2] < 0);
    }
    try_close(t);
}

static void a_wrong_table_of_lengths_is_refused(void **state)
{
    (void)state;
    Try *t = open_case((Case){2 * BLOCK, 512, 15, "elias-sparse", "l2"});
    try_normal(t, 11);
    try_both(t);
    uint8_t *table = t->out.data + 1 + 4 * 256;
    const uint32_t a = load_u32(table), b = load_u32(table + 4);
    const struct {
        uint32_t a, b;
    } rows[] = {{a + 1, b - 1}, {a - 1, b + 1}, {a + 1, b}, {0, a + b}, {a + b, 0}, {UINT32_MAX, a + b + 1}};
    for (size_t i = 0; i < countof(rows); i++) {
        store_u32(table, rows[i].a);
        store_u32(table + 4, rows[i].b);
        check(try_payload(t, buf_bytes(&t->out)) == ERR_CORRUPT);
    }
    try_close(t);
}

/* ---- special vectors ---- */

static void zeros_constants_and_denormals_are_right_or_close(void **state)
{
    (void)state;
    static const float values[] = {0, -0.0f, 1, -3e-20f, 0x1p-149f, 0x1.8p-140f, -0x1p-126f, 1e30f};
    for (size_t v = 0; v < countof(values); v++)
        for (size_t c = 0; c < countof(code_names); c++)
            for (uint32_t s = 1; s < 300; s = 4 * s + 3) {
                Try *t = open_case((Case){600, 64, s, code_names[c], "linf"});
                for (size_t i = 0; i < 600; i++)
                    t->x[i] = values[v];
                try_both(t);
                /* each element has the magnitude of the norm, so it decodes to the highest level */
                for (size_t i = 0; i < 600; i++)
                    check_near((double)t->y[i], (double)values[v],
                               fabs((double)values[v]) * 1e-6 / s + 0x1p-149);
                try_close(t);
            }
}

static void values_near_the_top_of_float32_are_right_or_an_error(void **state)
{
    (void)state;
    static const char *const which[] = {"l2", "linf"};
    for (int i = 0; i < 2; i++)
        for (uint32_t s = 1; s < 70; s++) {
            Try *t = open_case((Case){512, 512, s, "elias", which[i]});
            for (size_t j = 0; j < 512; j++)
                t->x[j] = j % 2 ? FLT_MAX : -FLT_MAX;
            const Status status = try_send(t);
            check(status == OK || status == ERR_NUMERIC);
            check(i == 1 || status == ERR_NUMERIC);
            if (status == OK) {
                check_ok(codec_receive(&t->call, &t->sent, t->y), &t->err);
                for (size_t j = 0; j < 512; j++)
                    check_rel((double)t->y[j], (double)t->x[j], 1e-6);
            }
            try_close(t);
        }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_size_bucket_and_code_comes_back_as_defined),
    cmocka_unit_test(every_count_of_levels_works),
    cmocka_unit_test(any_number_of_threads_gives_the_same_bytes),
    cmocka_unit_test(streams_have_the_lengths_of_their_codes_and_elias_the_shorter),
    cmocka_unit_test(norms_that_no_encoder_writes_are_refused),
    cmocka_unit_test(levels_above_the_highest_and_signs_of_zero_are_refused),
    cmocka_unit_test(gaps_and_counts_beyond_a_run_are_refused),
    cmocka_unit_test(a_wrong_table_of_lengths_is_refused),
    cmocka_unit_test(zeros_constants_and_denormals_are_right_or_close),
    cmocka_unit_test(values_near_the_top_of_float32_are_right_or_an_error),
};

CHECK_MAIN(tests)
