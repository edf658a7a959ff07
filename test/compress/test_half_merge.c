/* test_half_merge.c -- merging fp16 and bf16 payloads. A merged payload has the mean of the values of the
 * workers in 16-bit floats, because a sum could overflow. The payload decodes to the mean times the number of
 * workers. */
#include "rig/try.h"

#include <float.h>

enum { WORKERS = 5, N = 3000 };

static const struct {
    const char *spec;
    /* `step`: largest relative distance of neighbouring 16-bit floats; `least`: smallest distance */
    double step, least;
} halves[] = {{"fp16", 0x1p-10, 0x1p-24}, {"bf16", 0x1p-7, 0x1p-133}};

typedef struct {
    Try *t;
    Bytes sent[WORKERS];
    double *sum; /* sum of the decoded payloads, n elements */
} Team;

static Team team_open(const char *spec, size_t n, float scale)
{
    Team team = {.t = try_open(spec, n)};
    Try *t = team.t;
    team.sum = NEW_ZERO(t->arena, double, n + 1);
    for (int w = 0; w < WORKERS; w++) {
        try_normal(t, 80 + (uint64_t)w);
        for (size_t i = 0; i < n; i++)
            t->x[i] *= scale;
        try_both(t);
        uint8_t *copy = NEW(t->arena, uint8_t, t->out.size);
        memcpy(copy, t->out.data, t->out.size);
        team.sent[w] = (Bytes){copy, t->out.size};
        for (size_t i = 0; i < n; i++)
            team.sum[i] += (double)t->y[i];
    }
    return team;
}

static Bytes merge_of(Try *t, const Bytes *in, size_t count)
{
    Buf out = {.cap = 2 * t->shape.n + 16};
    out.data = NEW(t->arena, uint8_t, out.cap);
    check_ok(codec_merge(&t->call, in, count, &out), &t->err);
    return buf_bytes(&out);
}

static void merged_halves_decode_to_the_sum_rounded_once_more(void **state)
{
    (void)state;
    static const float scales[] = {1, 1e-6f, 3e4f};
    for (size_t s = 0; s < countof(halves); s++)
        for (size_t k = 0; k < countof(scales); k++)
            for (size_t n = 0; n <= N; n += N / 2 - 1) {
                Team team = team_open(halves[s].spec, n, scales[k]);
                const Bytes all = merge_of(team.t, team.sent, WORKERS);
                assert_int_equal(all.size, 2 + 2 * n);
                check_ok(try_payload(team.t, all), &team.t->err);
                for (size_t i = 0; i < n; i++)
                    check_near((double)team.t->y[i], team.sum[i],
                               1.001 * halves[s].step / 2 * fabs(team.sum[i]) +
                                   WORKERS * halves[s].least / 2);
                try_close(team.t);
            }
}

/* Four payloads are merged, and then a fifth. Every worker must have the same weight in the mean. */
static void batches_of_unequal_size_merge_to_the_same_mean(void **state)
{
    (void)state;
    for (size_t s = 0; s < countof(halves); s++) {
        Team team = team_open(halves[s].spec, N, 1);
        Bytes batch[2] = {merge_of(team.t, team.sent, 4), team.sent[4]};
        check_ok(try_payload(team.t, merge_of(team.t, batch, 2)), &team.t->err);
        double most = 0;
        for (size_t i = 0; i < N; i++)
            most = fmax(most, fabs(team.sum[i]));
        for (size_t i = 0; i < N; i++)
            check_near((double)team.t->y[i], team.sum[i], 1.001 * halves[s].step * most);
        try_close(team.t);
    }
}

static void one_worker_s_halves_merge_to_themselves(void **state)
{
    (void)state;
    for (size_t s = 0; s < countof(halves); s++) {
        Team team = team_open(halves[s].spec, N, 1);
        const Bytes one = merge_of(team.t, team.sent, 1);
        assert_memory_equal(one.data + 2, team.sent[0].data + 1, 2 * N);
        try_close(team.t);
    }
}

/* The sum of five times 65504, the largest finite fp16 number, exceeds the range of fp16. */
static void sums_beyond_the_largest_half_are_kept(void **state)
{
    (void)state;
    Try *t = try_open("fp16", 2);
    Bytes sent[WORKERS];
    t->x[0] = 65504, t->x[1] = -60000;
    try_both(t);
    for (int w = 0; w < WORKERS; w++)
        sent[w] = t->sent.round[0];
    const Bytes all = merge_of(t, sent, WORKERS);
    check_ok(try_payload(t, all), &t->err);
    check(t->y[0] == WORKERS * 65504.0f && t->y[1] == WORKERS * -60000.0f);
    try_close(t);
}

static void sums_beyond_float32_fail_by_name(void **state)
{
    (void)state;
    Try *t = try_open("bf16", 3);
    uint8_t out[32];
    Buf room = {.data = out, .cap = sizeof out};
    t->x[2] = FLT_MAX;
    try_both(t);
    const Bytes sent[2] = {t->sent.round[0], t->sent.round[0]};
    check(codec_merge(&t->call, sent, 2, &room) == ERR_NUMERIC);
    check(strstr(t->err.text, "bf16") && strstr(t->err.text, "beyond float32"));
    try_close(t);
}

static void damage_is_refused(void **state)
{
    (void)state;
    for (size_t s = 0; s < countof(halves); s++) {
        Team team = team_open(halves[s].spec, 40, 1);
        Try *t = team.t;
        const Bytes all = merge_of(t, team.sent, WORKERS);
        t->sent.round[0] = all;
        check_ok(try_payload(t, all), &t->err);
        try_refuses_other_lengths(t);
        try_survives_flips(t, 1);
        uint8_t *copy = NEW(t->arena, uint8_t, all.size), out[256];
        memcpy(copy, all.data, all.size);
        copy[1] = 0;
        check(try_payload(t, (Bytes){copy, all.size}) == ERR_CORRUPT);
        memcpy(copy, all.data, all.size);
        store_u16(copy + 2 + 2 * 7, s ? 0x7f80 : 0x7c00);
        const Bytes in[2] = {team.sent[0], {copy, all.size}};
        Buf room = {.data = out, .cap = sizeof out};
        check(codec_merge(&t->call, in, 2, &room) == ERR_CORRUPT);
        try_close(t);
    }
}

static void any_number_of_threads_merges_to_the_same_bytes(void **state)
{
    (void)state;
    for (size_t s = 0; s < countof(halves); s++) {
        Team team = team_open(halves[s].spec, 3 * BLOCK + 77, 1);
        const Bytes one = merge_of(team.t, team.sent, WORKERS);
        team.t->call.threads = 8;
        const Bytes eight = merge_of(team.t, team.sent, WORKERS);
        assert_int_equal(one.size, eight.size);
        assert_memory_equal(one.data, eight.data, one.size);
        try_close(team.t);
    }
}

static void what_was_rounded_at_random_does_not_merge(void **state)
{
    (void)state;
    static const char *const specs[] = {"fp16:rounding=stochastic", "bf16:rounding=stochastic"};
    for (size_t s = 0; s < countof(specs); s++) {
        static const uint8_t mean[] = {PAYLOAD_MERGED, 2, 0, 0};
        Try *t = try_open(specs[s], 1);
        try_both(t);
        check(!codec_adds(t->codec) && try_payload(t, (Bytes){mean, sizeof mean}) == ERR_CORRUPT);
        try_close(t);
        t = try_open(halves[s].spec, 1);
        check(codec_adds(t->codec) && !(codec_traits(t->codec) & LINEAR));
        try_close(t);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(merged_halves_decode_to_the_sum_rounded_once_more),
    cmocka_unit_test(batches_of_unequal_size_merge_to_the_same_mean),
    cmocka_unit_test(one_worker_s_halves_merge_to_themselves),
    cmocka_unit_test(sums_beyond_the_largest_half_are_kept),
    cmocka_unit_test(sums_beyond_float32_fail_by_name),
    cmocka_unit_test(damage_is_refused),
    cmocka_unit_test(any_number_of_threads_merges_to_the_same_bytes),
    cmocka_unit_test(what_was_rounded_at_random_does_not_merge),
};

CHECK_MAIN(tests)
