/* test_topk_share.c -- topk with share: the workers' payloads add, and the mean is that of the elements that the leader selects,
 * or of the rows that a sketch of the sum selects. */
#include "rig/check.h"

#include "compress/spec.h"
#include "exchange/exchange.h"
#include "exchange/states.h"

enum { WORKERS = 5, ROWS = 40, COLS = 25, N = ROWS * COLS, MANY = 66000, FEW = 8, MOST = MANY * FEW };

static float x[WORKERS][MOST], y[MOST];
static Arena *a;
static Error err;

/* Runs a step of the workers that `sends` names, and sets y to the mean. Fails if the leader does not send. */
static Status run_step(const char *spec, size_t rows, size_t cols, size_t leader, uint32_t sends)
{
    Bytes sent;
    const Codec *codec;
    Shape shape;
    check(shape_make(&shape, 2, (const size_t[]){rows, cols}));
    check_ok(codec_open(&codec, spec, a, &err), &err);
    Exchange e = {.call = {.self = codec, .shape = &shape, .threads = 1, .scratch = a, .err = &err,
                           .workers = __builtin_popcount(sends), .leader = leader},
                  .seed = 1, .step = 7, .keep = true, .y = y, .payloads = arena_open(0)};
    check_ok(exchange_begin(&e), &err);
    check(e.adds && e.rounds == 2);
    Status status = OK;
    for (int round = 0; round < e.rounds && status == OK; round++) {
        for (size_t w = 0; w < WORKERS && status == OK; w++)
            if (sends >> w & 1) {
                const ExchangeWorker worker = {.index = w};
                if ((status = exchange_send(&e, &worker, x[w], &sent)) != OK)
                    break;
                check(round || !strstr(spec, "leader") || (sent.size == 0) == (w != leader));
                check_ok(exchange_take(&e, &worker, sent), &err);
            }
        if (status == OK)
            check_ok(exchange_end_round(&e), &err);
    }
    if (status == OK)
        check_ok(exchange_receive(&e), &err);
    arena_close(e.payloads);
    return status;
}

static float mean_at(uint32_t sends, size_t i)
{
    double sum = 0;
    for (size_t w = 0; w < WORKERS; w++)
        sum += sends >> w & 1 ? (double)x[w][i] : 0;
    return (float)(sum / __builtin_popcount(sends));
}

/* Those elements travel than which fewer than k of the leader's are larger. */
TEST(the_mean_is_that_of_the_leaders_elements)
{
    for (size_t leader = 0; leader < WORKERS; leader++) {
        const uint32_t sends = 0x1f & ~(1u << (leader + 1) % WORKERS);
        check_ok(run_step("topk:ratio=0.03,share=leader", ROWS, COLS, leader, sends), &err);
        for (size_t i = 0; i < N; i++) {
            size_t larger = 0;
            for (size_t j = 0; j < N; j++)
                larger += fabsf(x[leader][j]) > fabsf(x[leader][i]);
            check_rel(y[i], larger < 30 ? mean_at(sends, i) : 0, 1e-6);
        }
    }
}

TEST(a_step_whose_leader_is_away_is_refused)
{
    check(run_step("topk:ratio=0.03,share=leader", ROWS, COLS, 2, 0x1b) == ERR_CORRUPT && strstr(err.text, "leads"));
}

/* Whole rows travel. With 5 of 40 rows ten times as large in the mean, though not at every worker, it is they. */
TEST(the_mean_is_that_of_the_rows_that_are_largest_in_the_sum)
{
    for (size_t w = 0; w < WORKERS; w++)
        for (size_t i = 0; i < N; i++)
            x[w][i] *= i / COLS % 8 == 3 ? 30 : w < 2 ? (w ? -90.0f : 90.0f) * (i / COLS == 6) + 1 : 1;
    for (size_t i = 0; i < COLS; i++)
        x[1][6 * COLS + i] = -x[0][6 * COLS + i]; /* large at two workers, and not in their sum */
    check_ok(run_step("topk:ratio=0.125,share=sketch", ROWS, COLS, 0, 0x1f), &err);
    for (size_t i = 0; i < N; i++)
        check_rel(y[i], i / COLS % 8 == 3 ? mean_at(0x1f, i) : 0, 1e-5);
}

/* So few of so many rows are selected from a list (select.h). */
TEST(few_of_many_rows_travel)
{
    for (size_t w = 0; w < WORKERS; w++)
        for (size_t i = 0; i < MOST; i++)
            x[w][i] *= i / FEW % 1000 == 3 ? 1e5f : 1;
    check_ok(run_step("topk:ratio=0.001,share=sketch", MANY, FEW, 0, 0x1f), &err);
    for (size_t i = 0; i < MOST; i++)
        check_rel(y[i], i / FEW % 1000 == 3 ? mean_at(0x1f, i) : 0, 1e-5);
}

int main(void)
{
    const Rng rng = {{1, 2, 3, 4}};
    a = arena_open(0);
    for (size_t w = 0; w < WORKERS; w++)
        rng_normals(&rng, USE_TEST, w * MOST, MOST, 1, x[w]);
    const int failed = check_run(NULL, NULL);
    arena_close(a);
    return failed ? 1 : 0;
}
