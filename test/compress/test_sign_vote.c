/* test_sign_vote.c -- merged payloads of the codec sign, which decode to the majority vote of the signs of the
 * workers, times the number of workers. */
#include "rig/try.h"

enum { WORKERS = 300 };

static Buf merge_room(Try *t)
{
    const size_t cap = 1 + VARINT_MAX + 17 * 8 * (t->shape.n / 64 + 3);
    return (Buf){NEW(t->arena, uint8_t, cap), 0, cap};
}

/* Sets `in` to the payloads of all workers, and minus[i] to the number of workers whose element i is
 * negative. */
static void gather(Try *t, Bytes *in, int workers, uint32_t *minus)
{
    for (int w = 0; w < workers; w++) {
        try_normal(t, 500 + (uint64_t)w);
        check_ok(try_send(t), &t->err);
        uint8_t *copy = NEW(t->arena, uint8_t, t->out.size);
        memcpy(copy, t->out.data, t->out.size);
        in[w] = (Bytes){copy, t->out.size};
        for (size_t i = 0; i < t->shape.n; i++)
            minus[i] += t->x[i] < 0;
    }
}

static void is_the_vote(Try *t, const uint32_t *minus, int workers)
{
    for (size_t i = 0; i < t->shape.n; i++) {
        const int total = workers - 2 * (int)minus[i];
        check(t->y[i] == (float)(workers * ((total > 0) - (total < 0))));
    }
}

TEST(merged_signs_decode_to_the_majority_times_the_workers_and_ties_to_zero)
{
    static const int counts[] = {1, 2, 3, 4, 7, 255, 256, WORKERS};
    static const size_t ns[] = {0, 1, 63, 64, 65, 1000};
    for (size_t k = 0; k < countof(counts) * countof(ns); k++) {
        const int workers = counts[k / countof(ns)];
        Try *t = try_open("sign", ns[k % countof(ns)]);
        Bytes in[WORKERS];
        uint32_t *minus = NEW_ZERO(t->arena, uint32_t, t->shape.n);
        gather(t, in, workers, minus);
        Buf merged = merge_room(t);
        check_ok(codec_merge(&t->call, in, (size_t)workers, &merged), &t->err);
        check_ok(try_payload(t, buf_bytes(&merged)), &t->err);
        is_the_vote(t, minus, workers);
        try_close(t);
    }
}

TEST(more_voters_than_a_vote_can_count_are_refused)
{
    const uint8_t most[] = {2, 0xff, 0xff, 7, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                  one[] = {1, 0};
    const Bytes in[] = {{most, sizeof most}, {one, sizeof one}};
    Try *t = try_open("sign", 1);
    Buf merged = merge_room(t);
    try_both(t);
    check_ok(try_payload(t, in[0]), &t->err);
    check(t->y[0] == 131071);
    check_ok(codec_merge(&t->call, in, 1, &merged), &t->err);
    assert_memory_equal(merged.data, most, sizeof most);
    merged.size = 0;
    check(codec_merge(&t->call, in, 2, &merged) == ERR_NUMERIC);
    try_close(t);
}

CHECK_ALL(NULL, NULL)
