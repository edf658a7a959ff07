/* test_randk.c -- the codec randk, which sends k of n elements, chosen at random: the elements sent, merged
 * payloads, refused payloads, mean and variance. */
#include "rig/try.h"

#include "num/subset.h"

#include <float.h>

/* Returns the random number generator that all workers share in repeat r. */
static Rng address(uint64_t r)
{
    return rng_open(11, r, RNG_EVERYONE, 0, 5);
}

static const size_t sizes[] = {0, 1, 2, 3, 7, 49, 50, 51, 149, 150, 1000, 65535, 65536, 65537, 300000};

static size_t kept_ref(double ratio, size_t n)
{
    const size_t k = (size_t)(ratio * (double)n + 0.5);
    return n == 0 ? 0 : k < 1 ? 1 : k;
}

/* The payload must have the values of a random subset, in order of the indices. A value must decode to n / k
 * times the value. */
static void values_of_the_subset_travel_and_come_back_scaled(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        double ratio;
        bool shared;
    } rows[] = {{"randk", 0.01, true},
                {"randk:ratio=0.37", 0.37, true},
                {"randk:ratio=0.9,shared=off", 0.9, false},
                {"randk:ratio=1", 1, true}};
    for (size_t row = 0; row < countof(rows); row++)
        for (size_t z = 0; z < countof(sizes); z++) {
            const size_t n = sizes[z], k = kept_ref(rows[row].ratio, n);
            Try *t = try_open(rows[row].spec, n);
            t->call.rng_shared = address(z);
            try_normal(t, 70 + z);
            try_both(t);
            check(t->out.size == 1 + 4 * k && t->out.data[0] == (k < n ? PAYLOAD_METHOD : PAYLOAD_RAW));
            Subset s;
            uint64_t member[BLOCK / 64];
            check(subset_open(&s, rows[row].shared ? &t->call.rng_shared : &t->call.rng, n, k, t->arena));
            size_t next = 0;
            for (size_t i = 0; i < n; i++) {
                if (i % BLOCK == 0)
                    subset_mark(&s, i / BLOCK, member);
                const bool in = member[i % BLOCK / 64] >> i % 64 & 1;
                check(t->y[i] == (in ? (float)((double)t->x[i] * ((double)n / (double)k)) : 0));
                check(!in || load_f32(t->out.data + 1 + 4 * next) == t->x[i]);
                next += in;
            }
            check(next == k);
            if (n <= 1000)
                try_refuses_other_lengths(t);
            try_close(t);
        }
}

static void any_number_of_threads_gives_the_same_bytes(void **state)
{
    (void)state;
    static const char *const specs[] = {"randk", "randk:ratio=0.4", "randk:ratio=0.8,shared=off"};
    for (size_t s = 0; s < countof(specs); s++) {
        Try *t = try_open(specs[s], 5 * BLOCK + 123);
        try_normal(t, 71);
        try_any_threads(t);
        try_close(t);
    }
}

static void workers_share_a_subset_or_have_their_own(void **state)
{
    (void)state;
    for (int off = 0; off < 2; off++) {
        Try *t[2];
        for (int w = 0; w < 2; w++) {
            t[w] = try_open(off ? "randk:shared=off" : "randk", 20000);
            try_normal(t[w], 72);
            t[w]->call.rng = rng_open(1, 0, w, 0, 0);
            t[w]->call.rng_shared = address(1);
            try_both(t[w]);
        }
        check(!memcmp(t[0]->y, t[1]->y, 20000 * sizeof(float)) == !off);
        t[1]->call.rng_shared = address(2);
        try_both(t[1]);
        check(memcmp(t[0]->y, t[1]->y, 20000 * sizeof(float)) != 0);
        check((codec_traits(t[0]->codec) & LINEAR) == (off ? 0 : LINEAR));
        try_close(t[0]), try_close(t[1]);
    }
}

/* ---- merging ---- */

enum { WORKERS = 5 };

static void open_workers(Try *t[WORKERS], const char *spec, size_t n)
{
    for (int w = 0; w < WORKERS; w++) {
        t[w] = try_open(spec, n);
        try_normal(t[w], 80 + (uint64_t)w);
        t[w]->call.rng = rng_open(1, 0, w, 0, 0);
        t[w]->call.rng_shared = address(4);
        try_both(t[w]);
    }
}

static void merged_payloads_decode_to_the_sum_in_any_grouping(void **state)
{
    (void)state;
    static const char *const specs[] = {"randk", "randk:ratio=0.3", "randk:ratio=1"};
    for (size_t s = 0; s < countof(specs); s++)
        for (size_t z = 0; z < countof(sizes); z++) {
            Try *t[WORKERS];
            Bytes in[WORKERS];
            const size_t n = sizes[z];
            open_workers(t, specs[s], n);
            for (int w = 0; w < WORKERS; w++)
                in[w] = buf_bytes(&t[w]->out);
            const size_t cap = t[0]->out.cap + VARINT_MAX;
            Buf three = {NEW(t[0]->arena, uint8_t, cap), 0, cap},
                all = {NEW(t[0]->arena, uint8_t, cap), 0, cap};
            check_ok(codec_merge(&t[0]->call, in, 3, &three), &t[0]->err);
            const Bytes rest[] = {buf_bytes(&three), in[3], in[4]};
            check_ok(codec_merge(&t[0]->call, rest, 3, &all), &t[0]->err);
            check(all.data[0] == PAYLOAD_MERGED && all.data[1] == WORKERS && all.size == in[0].size + 1);
            double *sum = NEW_ZERO(t[0]->arena, double, n + 1), *size = NEW_ZERO(t[0]->arena, double, n + 1);
            for (int w = 0; w < WORKERS; w++)
                for (size_t i = 0; i < n; i++) {
                    sum[i] += (double)t[w]->y[i];
                    size[i] += fabs((double)t[w]->y[i]);
                }
            check_ok(try_payload(t[0], buf_bytes(&all)), &t[0]->err);
            for (size_t i = 0; i < n; i++)
                check_near((double)t[0]->y[i], sum[i], 4e-7 * size[i]);
            for (int w = 0; w < WORKERS; w++)
                try_close(t[w]);
        }
}

static void payloads_that_do_not_add_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        uint8_t byte[16];
        size_t size;
        Status want;
    } rows[] = {
        {"randk:ratio=0.5", {1, 0, 0, 0x80, 0x3f}, 5, OK},
        {"randk:ratio=0.5", {2, 7, 0, 0, 0x80, 0x3f}, 6, OK},
        /* a sum over 0 workers */
        {"randk:ratio=0.5", {2, 0, 0, 0, 0x80, 0x3f}, 6, ERR_CORRUPT},
        /* the number of workers, 7, in two bytes instead of one */
        {"randk:ratio=0.5", {2, 0x87, 0, 0, 0, 0x80, 0x3f}, 7, ERR_CORRUPT},
        {"randk:ratio=0.5", {1, 0, 0, 0x80}, 4, ERR_CORRUPT},
        {"randk:ratio=0.5", {1, 0, 0, 0x80, 0x3f, 0}, 6, ERR_CORRUPT},
        {"randk:ratio=0.5", {1, 0, 0, 0x80, 0x7f}, 5, ERR_CORRUPT}, /* a value of infinity */
        {"randk:ratio=0.5", {1, 0, 0, 0xc0, 0x7f}, 5, ERR_CORRUPT}, /* a value of NaN */
        /* the value 2^127, which overflows when multiplied by n / k = 2 */
        {"randk:ratio=0.5", {1, 0, 0, 0, 0x7f}, 5, ERR_CORRUPT},
        {"randk:ratio=0.5", {3, 0, 0, 0x80, 0x3f}, 5, ERR_CORRUPT},
        {"randk:ratio=0.5", {0, 0, 0, 0x80, 0x3f}, 5, ERR_CORRUPT},
        /* a raw payload, where the format of the codec is shorter */
        {"randk:ratio=0.5", {0, 0, 0, 0x80, 0x3f, 0, 0, 0x80, 0x3f}, 9, ERR_CORRUPT},
        {"randk:ratio=1", {0, 0, 0, 0x80, 0x3f, 0, 0, 0x80, 0x3f}, 9, OK},
        {"randk:ratio=1", {1, 0, 0, 0x80, 0x3f, 0, 0, 0x80, 0x3f}, 9, ERR_CORRUPT},
        {"randk:ratio=1", {2, 2, 0, 0, 0x80, 0x3f, 0, 0, 0x80, 0x3f}, 10, OK},
        {"randk:ratio=0.5", {0}, 0, ERR_CORRUPT},
    };
    for (size_t i = 0; i < countof(rows); i++) {
        uint8_t out[64];
        Buf merged = {out, 0, sizeof out};
        Try *t = try_open(rows[i].spec, 2);
        try_both(t);
        const Bytes in = {rows[i].byte, rows[i].size};
        check(try_payload(t, in) == rows[i].want);
        check(codec_merge(&t->call, &in, 1, &merged) == rows[i].want);
        try_close(t);
    }
}

static void sums_beyond_float32_and_subsets_of_their_own_do_not_merge(void **state)
{
    (void)state;
    uint8_t out[64], large[5] = {1, 0, 0, 0x60, 0x7e}; /* the value 7/8 of 2^126 */
    Buf merged = {out, 0, sizeof out};
    Try *t = try_open("randk:ratio=0.5", 2), *own = try_open("randk:ratio=0.5,shared=off", 2);
    const Bytes in[] = {{large, 5}, {large, 5}, {large, 5}};
    try_both(t), try_both(own);
    check_ok(codec_merge(&t->call, in, 2, &merged), &t->err);
    check_ok(try_payload(t, buf_bytes(&merged)), &t->err);
    merged.size = 0;
    check(codec_merge(&t->call, in, 3, &merged) == ERR_NUMERIC);
    check(codec_merge(&own->call, in, 2, &merged) == ERR_USAGE);
    const uint8_t sum[6] = {2, 2, 0, 0, 0x80, 0x3f};
    check(try_payload(own, (Bytes){sum, 6}) == ERR_CORRUPT);
    for (size_t i = 0; i < 2; i++)
        t->x[i] = FLT_MAX;
    check(try_send(t) == ERR_NUMERIC);
    try_close(t), try_close(own);
}

/* ---- closed forms ---- */

/* The closed forms of variance and moments must be those of the covariance matrix of the error over all
 * subsets. */
static void the_moments_are_those_of_all_subsets_together(void **state)
{
    (void)state;
    enum { N = 6 };
    static const float vectors[][N] = {
        {1, -2, 3, 0.5f, 0, -1.5f}, {1, 1, -1, 1, -1, 1}, {4, 0, 0, 0, 0, 0}, {1, 1, 1, 1, 1, 1.5f}};
    for (size_t row = 0; row < countof(vectors); row++)
        for (size_t k = 1; k < N; k++) {
            char spec[48];
            const float *x = vectors[row];
            double C[N][N] = {{0}}, trace = 0, squares = 0, weighted = 0, count = 0;
            AtomMoments m;
            snprintf(spec, sizeof spec, "randk:ratio=%.17g", (double)k / N);
            Try *t = try_open(spec, N);
            memcpy(t->x, x, sizeof vectors[row]);
            for (unsigned mask = 0; mask < 1u << N; mask++) {
                double e[N];
                if ((size_t)__builtin_popcount(mask) != k)
                    continue;
                count++;
                for (size_t i = 0; i < N; i++)
                    e[i] = (double)x[i] * ((mask >> i & 1 ? (double)N / (double)k : 0) - 1);
                for (size_t i = 0; i < N; i++)
                    for (size_t j = 0; j < N; j++)
                        C[i][j] += e[i] * e[j];
            }
            for (size_t i = 0; i < N; i++)
                for (size_t j = 0; j < N; j++) {
                    trace += i == j ? C[i][j] / count : 0;
                    squares += C[i][j] * C[i][j] / count / count;
                    weighted += (double)x[i] * C[i][j] / count * (double)x[j];
                }
            check(codec_moments(&t->call, x, &m) == ATOMWISE);
            check_rel(codec_variance(&t->call, x), trace, 1e-12);
            check_rel(m.squares, squares, 1e-12);
            check_near(m.weighted, weighted, 1e-12 * squares + 1e-12);
            try_close(t);
        }
}

/* All limits are six standard errors. */
static void draws_spread_as_the_moments_say(void **state)
{
    (void)state;
    enum { N = 3000, DRAWS = 4000 };
    Try *t = try_open("randk:ratio=0.2", N);
    try_laplace(t, 73);
    AtomMoments m;
    double norm2 = 0, gain = 0, gain2 = 0, mse = 0, mse2 = 0;
    for (size_t i = 0; i < N; i++)
        norm2 += (double)t->x[i] * (double)t->x[i];
    for (uint64_t r = 0; r < DRAWS; r++) {
        double dot = 0, error = 0;
        t->call.rng_shared = address(r);
        try_both(t);
        for (size_t i = 0; i < N; i++) {
            const double e = (double)t->y[i] - (double)t->x[i];
            dot += e * (double)t->x[i] / norm2;
            error += e * e;
        }
        gain += dot / DRAWS;
        gain2 += dot * dot / DRAWS;
        mse += error / DRAWS;
        mse2 += error * error / DRAWS;
    }
    check(codec_moments(&t->call, t->x, &m) == ATOMWISE);
    const double v1 = m.weighted / norm2 / norm2;
    check_near(gain, 0, 6 * sqrt(v1 / DRAWS));
    check_rel(gain2, v1, 6 * sqrt(2.0 / DRAWS));
    check_near(mse, codec_variance(&t->call, t->x), 6 * sqrt((mse2 - mse * mse) / DRAWS));
    try_close(t);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(values_of_the_subset_travel_and_come_back_scaled),
    cmocka_unit_test(any_number_of_threads_gives_the_same_bytes),
    cmocka_unit_test(workers_share_a_subset_or_have_their_own),
    cmocka_unit_test(merged_payloads_decode_to_the_sum_in_any_grouping),
    cmocka_unit_test(payloads_that_do_not_add_are_refused),
    cmocka_unit_test(sums_beyond_float32_and_subsets_of_their_own_do_not_merge),
    cmocka_unit_test(the_moments_are_those_of_all_subsets_together),
    cmocka_unit_test(draws_spread_as_the_moments_say),
};

CHECK_MAIN(tests)
