/* fuzz_steps.c -- fuzzes the replay of a codec's states over several steps. A sender encodes a vector in each
 * step. Some payloads are modified, and a receiver decodes all of them with a state of its own. Up to the first
 * modified payload, the receiver's estimates must equal the sender's. Later the receiver must refuse a payload or
 * return finite numbers.
 *
 * Input: spec, shape, seed (one byte each), then three bytes for each step: the vector, position, value. A value
 * of 0 leaves the payload as it is. */
#include "math/blockwise.h"
#include "rig/normal_table.h"
#include "rig/spec_list.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS_MOST = 8, HEAD = 3, STEP = 3 };

static const size_t shapes[][2] = {{1, 1}, {3, 1}, {8, 8}, {30, 20}, {513, 1}};

static SpecList specs;

/* Collects the specs that keep a state. */
static void collect_specs(void)
{
    static const char *const wrapped[] = {"ef+qsgd",       "ef+topk",     "ef+powersgd", "ef+ef+onebit",
                                          "ef21+topk",     "diana+qsgd",  "ef+strom",    "zstd+ef21+topk",
                                          "ef21+powersgd", "diana+entry", "dgc",         "cas"};
    for (size_t i = 0; i < countof(wrapped); i++)
        spec_list_add(&specs, wrapped[i], codec_keeps_state);
    spec_list_fill(&specs, codec_keeps_state);
}

/* Makes a vector of normal numbers, of zeros, of tiny or large numbers, or with one large entry. */
static void make_vector(float *x, size_t n, uint8_t which, uint32_t seed, uint32_t step)
{
    static const float scale[] = {1, 0, 1e-42f, 1e15f, 1};
    normal_table_take(x, n, seed, step);
    for (size_t i = 0; i < n; i++)
        x[i] *= scale[which % 5];
    if (which % 5 == 4)
        x[which % n] = 1e12f;
}

typedef struct {
    Call call;
    void *state;
    float *y; /* (n) the estimate */
} Side;

static Status receive(Side *s, const Message *m, const float *x)
{
    s->call.state = s->state;
    s->call.heard = NULL;
    s->call.round = 0;
    TRY(codec_receive(&s->call, m, s->y));
    s->call.heard = m->round;
    s->call.round = m->rounds - 1;
    return s->state ? codec_settle(&s->call, x, m->round, s->y, s->state) : OK;
}

static void set_step(Side *s, uint8_t seed, int64_t step)
{
    s->call.rng = rng_open(seed, 0, 0, step, 1);
    s->call.rng_shared = rng_open(seed, 0, RNG_EVERYONE, step, 1);
}

/* Copies the message and modifies one byte of the copy, in a block of exactly its size. The caller frees the
 * block. */
static uint8_t *edited(Message *m, const Message *from, const uint8_t *edit)
{
    size_t size = 0;
    for (int i = 0; i < from->rounds; i++)
        size += from->round[i].size;
    uint8_t *copy = malloc(size + 1), *at = copy;
    if (!copy)
        abort();
    *m = *from;
    for (int i = 0; i < from->rounds; at += from->round[i++].size) {
        if (from->round[i].size)
            memcpy(at, from->round[i].data, from->round[i].size);
        m->round[i].data = at;
    }
    if (size)
        copy[((size_t)edit[0] << 3 | (edit[1] & 7)) % size] ^= edit[1];
    return copy;
}

/* Runs one step on both sides. Returns false if a side refuses the vector or the payload. */
static bool run_step(Side *sender, Side *receiver, const float *x, const uint8_t *step, bool *same, Buf *out)
{
    const size_t n = sender->call.shape->n;
    Message m, got;
    out->size = 0;
    sender->call.state = sender->state;
    sender->call.heard = NULL;
    sender->call.round = 0;
    if (codec_trains(sender->call.self) && sender->state &&
        codec_train(&sender->call, x, sender->state) != OK)
        return false;
    Status status = codec_send(&sender->call, x, out, &m);
    if (status == OK)
        status = receive(sender, &m, x);
    if (status == ERR_NUMERIC)
        return false;
    if (status != OK || first_nonfinite(sender->y, n, NULL) != n)
        abort();
    uint8_t *copy = edited(&got, &m, step + 1);
    *same = *same && !step[2];
    status = receive(receiver, &got, NULL);
    free(copy);
    if (status != OK && (*same || (status != ERR_CORRUPT && status != ERR_NUMERIC)))
        abort();
    if (status == OK && first_nonfinite(receiver->y, n, NULL) != n)
        abort();
    if (*same && memcmp(sender->y, receiver->y, n * sizeof *sender->y) != 0)
        abort();
    return status == OK;
}

static void open_side(Side *s, const Codec *codec, const Shape *shape, Error *err, bool keeps, Arena *a)
{
    s->call = (Call){.self = codec, .shape = shape, .workers = 1, .threads = 1, .scratch = a, .err = err};
    const size_t bytes = keeps ? codec_state_size(&s->call) : 0;
    s->state = bytes ? arena_take(a, 1, bytes) : NULL;
    s->y = NEW(a, float, shape->n);
    if (s->state)
        memset(s->state, 0, bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD)
        return 0;
    if (!specs.count)
        collect_specs();
    static Arena *a;
    a = a ? a : arena_open(0);
    const ArenaMark mark = arena_mark(a);
    Error err = {0};
    const Codec *codec;
    Shape shape;
    Side sender, receiver;
    if (codec_open(&codec, specs.spec[data[0] % specs.count], a, &err) != OK ||
        !shape_make(&shape, 2, shapes[data[1] % countof(shapes)]))
        abort();
    const bool replays = codec_traits(codec) & DECODES_STATE;
    open_side(&sender, codec, &shape, &err, true, a);
    open_side(&receiver, codec, &shape, &err, replays, a);
    Buf out = {.cap = codec_message_bound(&sender.call)};
    out.data = NEW(a, uint8_t, out.cap);
    float *x = NEW(a, float, shape.n);
    bool same = true, more = true;
    for (size_t k = 0; more && k < STEPS_MOST && HEAD + (k + 1) * STEP <= size; k++) {
        const uint8_t *step = data + HEAD + k * STEP;
        set_step(&sender, data[2], (int64_t)k);
        set_step(&receiver, data[2], (int64_t)k);
        make_vector(x, shape.n, step[0], data[2], (uint32_t)k);
        more = run_step(&sender, &receiver, x, step, &same, &out);
    }
    arena_rewind(a, mark);
    return 0;
}
