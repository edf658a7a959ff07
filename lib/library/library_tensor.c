/* library_tensor.c -- the functions of atomo.h that apply a codec to one tensor. */
#include "library/library_parts.h"

#include "base/checksum.h"
#include "exchange/average.h"
#include "num/finite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS_MAX = 1 << 20 };

Status library_shape(Shape *shape, const char *name, int rank, const size_t *dim, Error *err)
{
    char dims[RANK_MAX * 24] = "";
    if (rank < 0 || rank > RANK_MAX)
        return FAIL(err, ERR_USAGE, "%s: rank %d: want 0 to %d", name, rank, RANK_MAX);
    if (rank && !dim)
        return FAIL(err, ERR_USAGE, "%s: rank %d, and dim is NULL", name, rank);
    if (shape_make(shape, rank, dim))
        return OK;
    for (int i = 0, at = 0; i < rank; i++)
        at += snprintf(dims + at, sizeof dims - (size_t)at, "%s%zu", i ? " x " : "", dim[i]);
    return FAIL(err, ERR_USAGE, "%s: %s: too many elements", name, dims);
}

static const char *shown(const char *name)
{
    return *name ? name : "tensor";
}

static Status check_layout(const atomo_layout *l, Shape *shape, Error *err)
{
    if (!l->name)
        return FAIL(err, ERR_USAGE, "the tensor has no name");
    TRY(library_shape(shape, shown(l->name), l->rank, l->dim, err));
    if (l->workers < 1 || l->workers > WORKERS_MAX)
        return FAIL(err, ERR_USAGE, "workers=%d: want 1 to %d", l->workers, WORKERS_MAX);
    if (l->worker < 0 || l->worker >= l->workers)
        return FAIL(err, ERR_USAGE, "worker=%d: want 0 to %d", l->worker, l->workers - 1);
    return OK;
}

/* Returns true if `t` has a state for `worker`: always for its own worker, and for all workers if decoding
 * needs their states. */
static bool holds_state(const atomo_tensor *t, size_t worker)
{
    const Codec *codec = t->codec->codec;
    return worker == t->self || (codec_traits(codec) & DECODES_STATE && !codec_adds(codec));
}

static Status make_workers(atomo_tensor *t, Error *err)
{
    t->worker = NEW_ZERO(t->arena, ExchangeWorker, t->workers);
    t->sent = arena_zeroed(t->arena, t->workers, sizeof *t->sent);
    t->took = NEW_ZERO(t->arena, bool, t->workers);
    if (!t->worker || !t->sent || !t->took)
        return arena_fail(t->arena, err);
    t->state = codec_keeps_state(t->codec->codec) ? codec_state_size(&t->exchange.call) : 0;
    for (size_t w = 0; w < t->workers; w++) {
        t->worker[w].index = w;
        if (!t->state || !holds_state(t, w))
            continue;
        t->worker[w].state = NEW_ZERO(t->arena, uint8_t, (t->state + 63) & ~(size_t)63);
        if (!t->worker[w].state)
            return arena_fail(t->arena, err);
    }
    t->worker[t->self].kept = &t->kept;
    return OK;
}

static Status open_tensor(atomo_tensor *t, const atomo_layout *l, Error *err)
{
    TRY(check_layout(l, &t->shape, err));
    t->arena = arena_open(0);
    t->scratch = arena_open(0);
    t->name = text_copy(t->arena, shown(l->name));
    if (!t->name)
        return arena_fail(t->arena, err);
    t->self = (size_t)l->worker;
    t->workers = (size_t)l->workers;
    t->unchecked = l->unchecked;
    t->exchange = (Exchange){.call = {.self = t->codec->codec,
                                      .shape = &t->shape,
                                      .workers = l->workers,
                                      .threads = l->threads > 0 ? l->threads : parallel_cores(),
                                      .scratch = t->scratch,
                                      .err = err},
                             .seed = l->seed,
                             .tensor = rng_hash(l->name),
                             .keep = true,
                             .senders = average_over_senders(AVERAGE_AUTO, t->codec->codec),
                             .payloads = arena_open(0)};
    t->kept.arena = t->exchange.payloads;
    return make_workers(t, err);
}

atomo_status atomo_tensor_open(atomo_tensor **out, const atomo_codec *codec, const atomo_layout *layout,
                               atomo_error *err)
{
    Error own = {0}, *e = error_of(err, &own);
    atomo_tensor *t = calloc(1, sizeof *t);
    *out = NULL;
    if (!t)
        return status_of(FAIL(e, ERR_MEMORY, "out of memory"));
    t->codec = codec;
    const Status status = open_tensor(t, layout, e);
    if (status == OK)
        *out = t;
    else
        atomo_tensor_close(t);
    return status_of(status);
}

void atomo_tensor_close(atomo_tensor *t)
{
    if (!t)
        return;
    arena_close(t->arena);
    arena_close(t->scratch);
    arena_close(t->exchange.payloads);
    free(t);
}

/* ---- calls of one worker outside a step of several workers ---- */

Status library_check(const atomo_tensor *t, const float *x, Error *err)
{
    const size_t bad = t->unchecked ? t->shape.n : first_nonfinite(x, t->shape.n, NULL);
    return bad == t->shape.n ? OK
                             : FAIL(err, ERR_NUMERIC, "%s: element %zu is NaN or infinite", t->name, bad);
}

/* Returns a Call outside the steps of several workers, and leaves an open step unchanged. */
static Call call_of(const atomo_tensor *t, int64_t step, size_t worker, Error *err)
{
    Exchange x = t->exchange;
    x.step = step;
    x.call.err = err;
    x.call.round = 0;
    const ExchangeWorker stranger = {.index = worker};
    Call call = exchange_call(&x, worker < t->workers ? &t->worker[worker] : &stranger);
    call.workers = 1;
    call.heard = NULL;
    call.kept = NULL;
    return call;
}

size_t atomo_encode_bound(const atomo_tensor *t)
{
    const size_t rounds = (size_t)codec_rounds(t->codec->codec);
    return codec_message_bound(&t->exchange.call) + (rounds - 1) * VARINT_MAX;
}

/* Encodes the payloads of all rounds into `out`, one after another. The size of a payload stands in front of it,
 * except for the last. */
static Status send_rounds(Call *c, const float *x, Buf *out)
{
    const int rounds = codec_rounds(c->self);
    Bytes sent[ROUNDS_MAX];
    c->heard = sent;
    for (c->round = 0; c->round < rounds; c->round++) {
        const size_t start = out->size;
        uint8_t head[VARINT_MAX];
        Buf front = {.data = head, .cap = sizeof head};
        TRY(codec_encode(c, x, out));
        const size_t size = out->size - start;
        if (c->round + 1 < rounds) {
            buf_varint(&front, size);
            memmove(out->data + start + front.size, out->data + start, size);
            memcpy(out->data + start, head, front.size);
            out->size += front.size;
        }
        sent[c->round] = (Bytes){out->data + start + front.size, size};
    }
    return OK;
}

static Status read_rounds(const Call *c, Bytes in, Message *m)
{
    Reader r = reader_open(in);
    m->rounds = codec_rounds(c->self);
    for (int round = 0; round + 1 < m->rounds; round++) {
        const uint64_t size = take_varint(&r);
        const uint8_t *data = size <= reader_left(&r) ? take_bytes(&r, (size_t)size) : NULL;
        if (r.bad || !data)
            return FAIL(c->err, ERR_CORRUPT, "%zu bytes end inside round %d", in.size, round);
        m->round[round] = (Bytes){data, (size_t)size};
    }
    m->round[m->rounds - 1] = (Bytes){r.at, reader_left(&r)};
    return OK;
}

atomo_status atomo_encode(atomo_tensor *t, int64_t step, const float *x, void *out, size_t *size,
                          atomo_error *err)
{
    Error own = {0}, *e = error_of(err, &own);
    Call call = call_of(t, step, t->self, e);
    Buf payload = {.data = out, .cap = atomo_encode_bound(t)};
    Status status = library_check(t, x, e);
    if (status == OK) {
        library_enter(call.self);
        status = send_rounds(&call, x, &payload);
        library_leave(call.self);
    }
    *size = payload.size;
    return status_of(status);
}

static Status decode(atomo_tensor *t, const Call *call, const void *in, size_t size, float *x, Message *m)
{
    TRY(read_rounds(call, (Bytes){in, size}, m));
    library_enter(call->self);
    const Status status = codec_receive(call, m, x);
    library_leave(call->self);
    return status == OK ? OK : error_at(call->err, "%s", t->name);
}

atomo_status atomo_decode(atomo_tensor *t, int64_t step, int worker, const void *in, size_t size, float *x,
                          atomo_error *err)
{
    Error own = {0}, *e = error_of(err, &own);
    const Call call = call_of(t, step, (size_t)worker, e);
    Message m;
    if (worker < 0)
        return status_of(FAIL(e, ERR_USAGE, "worker=%d: want 0 or more", worker));
    return status_of(decode(t, &call, in, size, x, &m));
}

atomo_status atomo_advance(atomo_tensor *t, int64_t step, const float *x, const void *in, size_t size,
                           atomo_error *err)
{
    Error own = {0}, *e = error_of(err, &own);
    Call call = call_of(t, step, t->self, e);
    const ArenaMark mark = arena_mark(t->scratch);
    void *state = t->worker[t->self].state;
    Message m;
    if (t->at != STEP_NONE)
        return status_of(
            FAIL(e, ERR_USAGE, "%s: atomo_advance inside a step: finish the step first", t->name));
    if (!state)
        return ATOMO_OK;
    float *agreed = NEW(t->scratch, float, t->shape.n);
    Status status = agreed ? library_check(t, x, e) : arena_fail(t->scratch, e);
    if (status == OK)
        status = decode(t, &call, in, size, agreed, &m);
    if (status == OK) {
        call.heard = m.round;
        library_enter(call.self);
        status = codec_settle(&call, x, m.round, agreed, state);
        library_leave(call.self);
    }
    arena_rewind(t->scratch, mark);
    return status_of(status);
}

/* ---- merging ---- */

/* Returns an upper bound on the bytes of a merged payload. A merged payload may be longer than one worker's,
 * so the bound is twice that of one payload. 4096 bytes more serve the header, which may be longer than two
 * very small payloads. */
size_t atomo_merge_bound(const atomo_tensor *t, size_t count)
{
    (void)count;
    return 2 * codec_message_bound(&t->exchange.call) + 4096;
}

static Status merge_alone(const atomo_tensor *t, const Call *call, const Bytes *in, size_t count, Buf *out)
{
    if (!codec_adds(call->self))
        return FAIL(call->err, ERR_USAGE, "payloads of %s do not merge", t->codec->spec);
    if (codec_rounds(call->self) > 1) {
        FAIL(call->err, ERR_USAGE, "%s sends %d payloads a step, and a merge outside a step takes one",
             t->codec->spec, codec_rounds(call->self));
        return error_hint(call->err, "merge the payloads of each round by themselves: atomo_step_merge");
    }
    if (!count)
        return FAIL(call->err, ERR_USAGE, "no payload to merge");
    return codec_merge(call, in, count, out);
}

atomo_status atomo_merge(atomo_tensor *t, int64_t step, const void *const *in, const size_t *in_size,
                         size_t count, void *out, size_t *size, atomo_error *err)
{
    Error own = {0}, *e = error_of(err, &own);
    Call call = call_of(t, step, t->self, e);
    const ArenaMark mark = arena_mark(t->scratch);
    Buf merged = {.data = out, .cap = atomo_merge_bound(t, count)};
    Bytes *payload = NEW(t->scratch, Bytes, count);
    if (!payload)
        return status_of(arena_fail(t->scratch, e));
    for (size_t i = 0; i < count; i++)
        payload[i] = (Bytes){in[i], in_size[i]};
    call.workers = (int)t->workers;
    library_enter(call.self);
    const Status status = merge_alone(t, &call, payload, count, &merged);
    library_leave(call.self);
    arena_rewind(t->scratch, mark);
    *size = merged.size;
    return status_of(status);
}

/* ---- saved states ----
 *
 * A saved state is magic:8 ("atomosta"), kind:u64 (checksum of spec, shape, name, seed and worker),
 * workers:u64, size:u64 (bytes of all states), the states in the order of the workers, and checksum:u64 of all
 * bytes before it. */

enum { STATE_HEAD = 32, STATE_TAIL = 8 };

static size_t held_states(const atomo_tensor *t)
{
    size_t held = 0;
    for (size_t w = 0; w < t->workers; w++)
        held += t->worker[w].state != NULL;
    return held;
}

static uint64_t kind_of_state(const atomo_tensor *t)
{
    const Bytes spec = {(const uint8_t *)t->codec->canonical, strlen(t->codec->canonical)};
    uint8_t number[8 * (3 + RANK_MAX)];
    Buf numbers = {.data = number, .cap = sizeof number};
    buf_u64(&numbers, t->self);
    buf_u64(&numbers, t->exchange.seed);
    buf_u64(&numbers, t->exchange.tensor);
    for (int i = 0; i < t->shape.rank; i++)
        buf_u64(&numbers, t->shape.dim[i]);
    return checksum(buf_bytes(&numbers), checksum(spec, 0));
}

size_t atomo_state_size(const atomo_tensor *t)
{
    return STATE_HEAD + held_states(t) * t->state + STATE_TAIL;
}

static void put_head(const atomo_tensor *t, Buf *out)
{
    buf_copy(out, "atomosta", 8);
    buf_u64(out, kind_of_state(t));
    buf_u64(out, t->workers);
    buf_u64(out, held_states(t) * t->state);
}

void atomo_state_save(const atomo_tensor *t, void *to)
{
    Buf out = {.data = to, .cap = atomo_state_size(t)};
    put_head(t, &out);
    for (size_t w = 0; w < t->workers; w++)
        if (t->worker[w].state)
            buf_copy(&out, t->worker[w].state, t->state);
    buf_u64(&out, checksum(buf_bytes(&out), 0));
}

atomo_status atomo_state_load(atomo_tensor *t, const void *in, size_t size, atomo_error *err)
{
    Error own = {0}, *e = error_of(err, &own);
    uint8_t head[STATE_HEAD];
    const uint8_t *from = in;
    put_head(t, &(Buf){.data = head, .cap = sizeof head});
    if (size < sizeof head || memcmp(from, head, 8))
        return status_of(FAIL(e, ERR_CORRUPT, "%s: not a state", t->name));
    if (size != atomo_state_size(t) || memcmp(from, head, sizeof head))
        return status_of(
            FAIL(e, ERR_CORRUPT,
                 "%s: the state is not that of %s, worker %zu of %zu, with this shape, name and seed",
                 t->name, t->codec->spec, t->self, t->workers));
    if (load_u64(from + size - STATE_TAIL) != checksum((Bytes){from, size - STATE_TAIL}, 0))
        return status_of(FAIL(e, ERR_CORRUPT, "%s: the state is damaged: its checksum differs", t->name));
    from += STATE_HEAD;
    for (size_t w = 0; w < t->workers; w++)
        if (t->worker[w].state) {
            memcpy(t->worker[w].state, from, t->state);
            from += t->state;
        }
    t->at = STEP_NONE;
    return ATOMO_OK;
}
