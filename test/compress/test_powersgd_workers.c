/* test_powersgd_workers.c -- powersgd with several workers. The merged payloads must decode to the estimate
 * that one worker would make from the sum of all matrices. Q is the matrix of directions with which an
 * iteration begins. */
#include "rig/check.h"
#include "compress/spec.h"

enum { WORKERS = 4, ROWS = 48, COLS = 36, N = ROWS * COLS, ROUNDS = ROUNDS_MAX };

/* Several workers that encode in rounds. The payloads of a round are merged before the next round begins. */
typedef struct {
    Arena *a;
    Error err;
    const Codec *codec;
    Shape shape;
    Call call[WORKERS];
    int workers, rounds;
    Bytes sent[WORKERS][ROUNDS], heard[ROUNDS];
    void *state[WORKERS];
    float x[WORKERS][N], agreed[N];
} Ring;

static void ring_open(Ring *r, const char *spec, int workers)
{
    *r = (Ring){.a = arena_open(0), .workers = workers};
    check(shape_make(&r->shape, 2, (const size_t[]){ROWS, COLS}));
    check_ok(codec_open(&r->codec, spec, r->a, &r->err), &r->err);
    r->rounds = codec_rounds(r->codec);
    for (int w = 0; w < workers; w++) {
        r->call[w] = (Call){.self = r->codec,
                            .shape = &r->shape,
                            .worker = w,
                            .workers = workers,
                            .threads = 1,
                            .heard = r->heard,
                            .scratch = r->a,
                            .err = &r->err};
        r->state[w] = NEW_ZERO(r->a, uint8_t, codec_state_size(&r->call[w]) + 1);
    }
}

static void ring_address(Ring *r, uint64_t step)
{
    for (int w = 0; w < r->workers; w++) {
        r->call[w].rng = rng_open(1, 0, w, (int64_t)step, 9);
        r->call[w].rng_shared = rng_open(1, 0, RNG_EVERYONE, (int64_t)step, 9);
        r->call[w].state = r->state[w];
    }
}

static Buf room(Ring *r, size_t size)
{
    return (Buf){NEW(r->a, uint8_t, size + 32), 0, size + 32};
}

static void ring_merge(Ring *r, int round)
{
    Bytes all[WORKERS];
    for (int w = 0; w < r->workers; w++)
        all[w] = r->sent[w][round];
    Buf merged = room(r, 2 * all[0].size);
    r->call[0].round = round;
    check_ok(codec_merge(&r->call[0], all, (size_t)r->workers, &merged), &r->err);
    r->heard[round] = buf_bytes(&merged);
}

/* Runs all rounds of one step, and decodes the merged payload of the last round to `agreed`. */
static void ring_step(Ring *r, uint64_t step)
{
    ring_address(r, step);
    for (int round = 0; round < r->rounds; round++) {
        for (int w = 0; w < r->workers; w++) {
            Call *c = &r->call[w];
            c->round = round;
            Buf out = room(r, codec_bound(c));
            check_ok(codec_encode(c, r->x[w], &out), &r->err);
            r->sent[w][round] = buf_bytes(&out);
        }
        ring_merge(r, round);
    }
    check_ok(codec_decode(&r->call[r->workers - 1], r->heard[r->rounds - 1], r->agreed), &r->err);
}

static void ring_settle(Ring *r)
{
    for (int w = 0; w < r->workers; w++)
        check_ok(codec_settle(&r->call[w], r->x[w], r->sent[w], r->agreed, r->state[w]), &r->err);
}

static void gradients(Ring *r, uint64_t step)
{
    for (int w = 0; w < r->workers; w++) {
        const Rng rng = rng_open(3, step, w, 0, 0), all = rng_open(3, 0, RNG_EVERYONE, 0, 0);
        for (size_t i = 0; i < N; i++)
            r->x[w][i] = (float)(rng_normal(&all, USE_TEST, i / COLS) * rng_normal(&all, USE_DATA, i % COLS) +
                                 0.5 * rng_normal(&rng, USE_TEST, i));
    }
}

static void mean_of(const Ring *from, float *x)
{
    for (size_t i = 0; i < N; i++) {
        double sum = 0;
        for (int w = 0; w < from->workers; w++)
            sum += (double)from->x[w][i];
        x[i] = (float)(sum / from->workers);
    }
}

static double norm_of(const float *x, const float *less, double times)
{
    double sum = 0;
    for (size_t i = 0; i < N; i++)
        sum += pow((double)x[i] - times * (double)less[i], 2);
    return sqrt(sum);
}

TEST(four_workers_hear_four_times_powersgd_of_their_mean)
{
    static const char *const specs[] = {"powersgd", "powersgd:rank=3,iters=2", "powersgd:warm=off",
                                        "powersgd:rank=1,iters=4,reshape=square"};
    static Ring many, one;
    for (size_t s = 0; s < countof(specs); s++) {
        ring_open(&many, specs[s], WORKERS);
        ring_open(&one, specs[s], 1);
        for (uint64_t step = 0; step < 5; step++) {
            gradients(&many, step);
            mean_of(&many, one.x[0]);
            ring_step(&many, step), ring_step(&one, step);
            check(norm_of(many.agreed, one.agreed, WORKERS) < 3e-5 * norm_of(many.agreed, many.agreed, 0));
            ring_settle(&many), ring_settle(&one);
            for (int w = 1; w < WORKERS && codec_state_size(&many.call[w]); w++)
                check(!memcmp(many.state[0], many.state[w], codec_state_size(&many.call[w])));
        }
        arena_close(many.a), arena_close(one.a);
    }
}

/* Defect 7 of public implementations: a sum over workers was used as a mean. A merged payload must have the
 * number of workers, and must decode to the sum of the estimates of the workers. */
TEST(defect_7_the_merged_estimate_is_the_sum_of_so_many_workers)
{
    static Ring r;
    float one[N], sum[N] = {0};
    ring_open(&r, "powersgd", WORKERS);
    gradients(&r, 0);
    ring_step(&r, 0);
    check(r.heard[0].data[0] == PAYLOAD_MERGED && r.heard[0].data[1] == WORKERS);
    check(r.heard[1].data[0] == PAYLOAD_MERGED && r.heard[1].data[1] == WORKERS);
    for (int w = 0; w < WORKERS; w++) {
        check_ok(codec_decode(&r.call[0], r.sent[w][1], one), &r.err);
        for (size_t i = 0; i < N; i++)
            sum[i] += one[i];
    }
    check(norm_of(sum, r.agreed, 1) < 1e-6 * norm_of(sum, sum, 0));
    for (int w = 1; w < WORKERS; w++)
        memcpy(r.x[w], r.x[0], sizeof r.x[0]);
    ring_step(&r, 0);
    check_ok(codec_decode(&r.call[0], r.sent[0][1], one), &r.err);
    check(norm_of(r.agreed, one, WORKERS) < 1e-6 * norm_of(r.agreed, one, 0));

    Buf twice = room(&r, 4 * N); /* a merged payload can be merged with further payloads */
    const Bytes two[] = {r.heard[1], r.sent[2][1]};
    check_ok(codec_merge(&r.call[0], two, 2, &twice), &r.err);
    check(twice.data[1] == WORKERS + 1);
    arena_close(r.a);
}

/* Defect 7, second part: each worker drew a different random Q. */
TEST(defect_7_all_workers_draw_the_same_directions)
{
    static Ring r;
    ring_open(&r, "powersgd:warm=off", WORKERS);
    gradients(&r, 0);
    for (int w = 1; w < WORKERS; w++)
        memcpy(r.x[w], r.x[0], sizeof r.x[0]);
    ring_step(&r, 0);
    const Bytes first = r.sent[0][0];
    for (int w = 1; w < WORKERS; w++)
        for (int round = 0; round < 2; round++)
            check(!memcmp(r.sent[0][round].data, r.sent[w][round].data, r.sent[0][round].size));
    ring_step(&r, 1); /* the next step draws another Q, so the payloads differ */
    check(memcmp(first.data, r.sent[0][0].data, first.size) != 0);
    arena_close(r.a);
}

/* Defect 7, third part: Q was drawn anew in every step, instead of taken from the merged payload of the
 * previous step. */
TEST(defect_7_a_step_goes_on_from_what_was_heard_in_the_one_before)
{
    static Ring r;
    ring_open(&r, "powersgd", WORKERS);
    gradients(&r, 0);
    ring_step(&r, 0);
    ring_settle(&r);
    check(!memcmp(r.state[0], r.heard[1].data + 2, codec_state_size(&r.call[0])));
    ring_step(&r, 1);
    const Bytes first = r.sent[1][0];
    ring_step(&r, 2); /* a warm start draws no random numbers, so the payloads are the same in another step */
    check(!memcmp(first.data, r.sent[1][0].data, first.size));
    arena_close(r.a);
}

CHECK_ALL(NULL, NULL)
