/* speed_merge.c -- checks that merging the payloads of 16 workers, in batches of 8, takes at most twice as long
 * as a memcpy of the payloads. The times are the best CPU times of seven runs on one thread. */
#include "compress/spec.h"
#include "bench/yardstick.h"

#include <stdio.h>
#include <stdlib.h>

enum { WORKERS = 16, BATCH = 8, BEST_OF = 7, SIDE = 2048 };

static const char *const specs[] = {"none",
                                    "randk:ratio=0.25,shared=on",
                                    "intsgd",
                                    "powersgd:rank=32",
                                    "lowrank:rank=32",
                                    "countsketch:bits=8",
                                    "thc",
                                    "sign"};

typedef struct {
    Arena *a, *scratch;
    Error err;
    const Codec *codec;
    Shape shape;
    Call call[WORKERS];
    Bytes sent[WORKERS], heard[ROUNDS_MAX];
    Buf merged[2];
} Team;

static bool ok(Team *t, Status status)
{
    if (status != OK)
        fprintf(stderr, "bench_merge: %s\n", t->err.text);
    return status == OK;
}

/* Merges the payloads of all workers in batches. Each batch after the first begins with the merged payload of
 * the batch before. */
static Status merge(Team *t, int round, Bytes *out)
{
    Bytes in[BATCH];
    size_t held = 0;
    int turn = 0;
    for (int w = 0; w < WORKERS; w++) {
        in[held++] = t->sent[w];
        if (held < BATCH && w < WORKERS - 1)
            continue;
        Buf *b = &t->merged[turn ^= 1];
        Call c = t->call[0];
        c.round = round;
        c.heard = t->heard;
        b->size = 0;
        TRY(codec_merge(&c, in, held, b));
        in[0] = buf_bytes(b);
        held = 1;
    }
    *out = in[0];
    return OK;
}

static bool team_open(Team *t, const char *spec, const float *x)
{
    *t = (Team){.a = arena_open(0), .scratch = arena_open(0)};
    shape_make(&t->shape, 2, (size_t[]){SIDE, SIDE});
    if (!ok(t, codec_open(&t->codec, spec, t->a, &t->err)))
        return false;
    for (int w = 0; w < WORKERS; w++)
        t->call[w] = (Call){.self = t->codec,
                            .shape = &t->shape,
                            .rng = rng_open(1, 0, w, 0, 1),
                            .rng_shared = rng_open(1, 0, RNG_EVERYONE, 0, 1),
                            .worker = w,
                            .workers = WORKERS,
                            .threads = 1,
                            .scratch = t->scratch,
                            .err = &t->err};
    for (int r = 0; r < codec_rounds(t->codec); r++) {
        size_t most = 4096;
        for (int w = 0; w < WORKERS; w++) {
            Call c = t->call[w];
            c.round = r;
            c.heard = t->heard;
            Buf out = {.cap = codec_bound(&c)};
            most += 2 * out.cap / WORKERS + out.cap;
            out.data = NEW(t->a, uint8_t, out.cap);
            if (!ok(t, codec_encode(&c, x, &out)))
                return false;
            t->sent[w] = buf_bytes(&out);
        }
        for (int i = 0; i < 2; i++)
            t->merged[i] = (Buf){.data = NEW(t->a, uint8_t, most), .cap = most};
        if (!ok(t, merge(t, r, &t->heard[r])))
            return false;
    }
    return true;
}

/* Returns the best time in seconds to copy the payloads of all workers. */
static double copying(Team *t, size_t *bytes)
{
    double best = INFINITY;
    uint8_t *all = NEW(t->a, uint8_t, WORKERS * t->merged[0].cap);
    for (int i = 0; i < BEST_OF + 2; i++) {
        const double start = cpu_seconds();
        *bytes = 0;
        for (int w = 0; w < WORKERS; w++) {
            memcpy(all + *bytes, t->sent[w].data, t->sent[w].size);
            __asm__ volatile("" : : "r"(all) : "memory");
            *bytes += t->sent[w].size;
        }
        best = fmin(best, cpu_seconds() - start);
    }
    return best;
}

static bool run_case(const char *spec, const float *x)
{
    Team t;
    bool good = team_open(&t, spec, x);
    size_t bytes = 0;
    double best = INFINITY;
    const double copy = good ? copying(&t, &bytes) : NAN;
    for (int i = 0; good && i < BEST_OF; i++) {
        Bytes all;
        const double start = cpu_seconds();
        good = ok(&t, merge(&t, codec_rounds(t.codec) - 1, &all));
        best = fmin(best, cpu_seconds() - start);
    }
    if (good)
        printf("%-28s %8.2f MB  merge %8.3f ms  memcpy %8.3f ms  ratio %6.2f  %s\n", spec,
               1e-6 * (double)bytes, 1e3 * best, 1e3 * copy, best / copy,
               best <= 2 * copy ? "ok" : "MORE THAN TWICE");
    fflush(stdout);
    arena_close(t.a);
    arena_close(t.scratch);
    return good && best <= 2 * copy;
}

int main(void)
{
    const size_t n = (size_t)SIDE * SIDE;
    float *x = malloc(n * sizeof *x);
    bool good = x != NULL;
    const Rng rng = rng_open(3, 0, 0, 0, 0);
    for (size_t i = 0; good && i < n; i++)
        x[i] = (float)rng_normal(&rng, USE_TEST, i);
    printf("merging %d payloads of %zu elements, one thread\n", WORKERS, n);
    for (size_t i = 0; x && i < countof(specs); i++)
        good &= run_case(specs[i], x);
    free(x);
    return good ? 0 : 1;
}
