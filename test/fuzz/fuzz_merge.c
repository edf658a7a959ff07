/* fuzz_merge.c -- fuzzes merging. Several workers encode vectors with a codec whose payloads can be merged. Some
 * payloads are then modified. The exchange merges the payloads in batches of two, so a merged payload is merged
 * again. It must refuse a payload, or return finite numbers.
 *
 * Input: spec, shape, workers, seed (one byte each), then edits of four bytes: worker, position, value, round. */
#include "rig/share_training.h"
#include "exchange/exchange.h"
#include "exchange/states.h"
#include "math/blockwise.h"
#include "rig/normal_table.h"
#include "rig/spec_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORKERS_MOST = 5, ELEMENTS_MOST = 1500, HEAD = 4, EDIT = 4 };

static const size_t shapes[][2] = {{1, 1}, {3, 1}, {8, 8}, {30, 20}, {513, 1}, {16, 90}};

static SpecList specs;

typedef struct {
    Exchange x;
    ExchangeWorker worker[WORKERS_MOST];
    size_t workers;
    float *gradient[WORKERS_MOST];
    const uint8_t *edit;
    size_t edits;
} Team;

/* Returns a copy of the payload with this worker's and round's edits, in a block of exactly its size, so that
 * ASan detects reads past its end. The caller frees the block. */
static Bytes edited(const Team *t, size_t w, int round, Bytes sent)
{
    uint8_t *copy = malloc(sent.size + 1);
    if (!copy)
        abort();
    if (sent.size)
        memcpy(copy, sent.data, sent.size);
    for (size_t k = 0; k < t->edits; k++) {
        const uint8_t *e = t->edit + EDIT * k;
        if (e[0] % t->workers != w || e[3] % t->x.rounds != round || !sent.size)
            continue;
        if (e[3] & 0x80)
            sent.size = e[1] % (sent.size + 1);
        else
            copy[(size_t)(e[1] << 3 ^ e[0]) % sent.size] ^= e[2];
    }
    return (Bytes){copy, sent.size};
}

static Status run_round(Team *t, int round, Bytes taken[WORKERS_MOST])
{
    for (size_t w = 0; w < t->workers; w++) {
        Bytes sent;
        TRY(exchange_send(&t->x, &t->worker[w], t->gradient[w], &sent));
        taken[w] = edited(t, w, round, sent);
        TRY(exchange_take(&t->x, &t->worker[w], taken[w]));
    }
    return exchange_end_round(&t->x);
}

/* Runs one step. Copies of payloads are valid until their round ends. */
static Status run_step(Team *t)
{
    Exchange *x = &t->x;
    TRY(exchange_train(x, &t->worker[0], t->gradient[0]));
    for (size_t w = 1; w < t->workers; w++)
        share_training(x, &t->worker[0], &t->worker[w]);
    TRY(exchange_begin(x));
    for (int round = 0; round < x->rounds; round++) {
        Bytes taken[WORKERS_MOST] = {{0}};
        const Status status = run_round(t, round, taken);
        for (size_t w = 0; w < t->workers; w++)
            free((void *)(uintptr_t)taken[w].data);
        TRY(status);
    }
    return exchange_receive(x);
}

static void open_team(Team *t, CodecStates *states, const uint8_t *data, Arena *a)
{
    const size_t n = t->x.call.shape->n;
    for (size_t w = 0; w < t->workers; w++) {
        t->worker[w].index = w;
        if (codec_states_find(states, &t->x.call, (int64_t)w, "w", &t->worker[w].state) != OK)
            abort();
        t->gradient[w] = NEW(a, float, n);
        normal_table_take(t->gradient[w], n, data[3], (uint32_t)w);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD)
        return 0;
    if (!specs.count)
        spec_list_fill(&specs, codec_adds);
    static Arena *a, *payloads;
    a = a ? a : arena_open(0);
    payloads = payloads ? payloads : arena_open(0);
    const ArenaMark mark = arena_mark(a), empty = arena_mark(payloads);
    float y[ELEMENTS_MOST];
    Error err = {0};
    const Codec *codec;
    Shape shape;
    CodecStates states = {0};
    Team t = {
        .workers = 2 + data[2] % (WORKERS_MOST - 1), .edit = data + HEAD, .edits = (size - HEAD) / EDIT};
    if (codec_open(&codec, specs.spec[data[0] % specs.count], a, &err) != OK ||
        !shape_make(&shape, 2, shapes[data[1] % countof(shapes)]))
        abort();
    t.x = (Exchange){.call = {.self = codec,
                              .shape = &shape,
                              .workers = (int)t.workers,
                              .threads = 1,
                              .scratch = a,
                              .err = &err},
                     .seed = data[3],
                     .batch = 2,
                     .y = y,
                     .payloads = payloads};
    open_team(&t, &states, data, a);
    const Status status = run_step(&t);
    /* ERR_USAGE: the payloads come from different parameters */
    if (status != OK && status != ERR_CORRUPT && status != ERR_NUMERIC && status != ERR_USAGE)
        abort();
    if (status != OK && t.edits == 0)
        abort();
    if (status == OK && first_nonfinite(y, shape.n, NULL) != shape.n)
        abort();
    codec_states_forget(&states);
    arena_rewind(payloads, empty);
    arena_rewind(a, mark);
    return 0;
}
