/* library_tensor.c -- the functions of atomo.h that apply a codec to one tensor. */
#include "library/library_parts.h"

#include "base/checksum.h"
#include "base/text.h"
#include "exchange/exchange.h"
#include "math/blockwise.h"

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
    if (!l || !l->name)
        return FAIL(err, ERR_USAGE, l ? "the tensor has no name" : "the tensor has no layout");
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

/* Computes the sizes here, as some take floating-point numbers, and the functions that return them set none of the host's
 * settings aside. A codec may write other payloads for one worker than for several. */
static void measure_sizes(atomo_tensor *t)
{
    Call call = t->exchange.call;
    const size_t together = codec_message_bound(&call);
    t->state = codec_keeps_state(call.self) ? codec_state_size(&call) : 0;
    call.workers = 1;
    t->bound = codec_message_bound(&call);
    t->bound = t->bound > together ? t->bound : together;
    while (call.self->inner)
        call.self = call.self->inner;
    t->learned = t->state && codec_trains(t->codec->codec) ? codec_state_size(&call) : 0;
}

static Status make_workers(atomo_tensor *t, Error *err)
{
    t->worker = NEW_ZERO(t->arena, ExchangeWorker, t->workers);
    t->sent = arena_zeroed(t->arena, t->workers, sizeof *t->sent);
    t->took = NEW_ZERO(t->arena, uint8_t, t->workers);
    if (!t->worker || !t->sent || !t->took)
        return arena_fail(t->arena, err);
    for (size_t w = 0; w < t->workers; w++) {
        t->worker[w].index = w;
        if (!t->state || !holds_state(t, w))
            continue;
        t->worker[w].state = NEW_ZERO(t->arena, uint8_t, (t->state + 63) & ~(size_t)63);
        if (!t->worker[w].state)
            return arena_fail(t->arena, err);
    }
    t->worker[t->self].kept = t->state ? &t->kept : NULL;
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
    measure_sizes(t);
    return make_workers(t, err);
}

typedef struct {
    atomo_tensor **out;
    const atomo_codec *codec;
    const atomo_layout *layout;
} Opening;

static Status new_tensor(void *arg, Visit *v)
{
    const Opening *o = arg;
    *o->out = NULL;
    if (!o->codec)
        return FAIL(v->err, ERR_USAGE, "the codec is NULL");
    atomo_tensor *t = calloc(1, sizeof *t);
    if (!t)
        return FAIL(v->err, ERR_MEMORY, "out of memory");
    t->codec = o->codec;
    const Status status = open_tensor(t, o->layout, v->err);
    if (status == OK)
        *o->out = t;
    else
        atomo_tensor_close(t);
    return status;
}

atomo_status atomo_tensor_open(atomo_tensor **out, const atomo_codec *codec, const atomo_layout *layout,
                               atomo_error *err)
{
    return library_call(new_tensor, &(Opening){out, codec, layout}, err);
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
    if (!x && t->shape.n)
        return FAIL(err, ERR_USAGE, "%s: x is NULL", t->name);
    const size_t bad = t->unchecked ? t->shape.n : first_nonfinite(x, t->shape.n, NULL);
    return bad == t->shape.n ? OK
                             : FAIL(err, ERR_NUMERIC, "%s: element %zu is NaN or infinite", t->name, bad);
}

Status library_check_state(const atomo_tensor *t, Error *err)
{
    return t->lost ? FAIL(err, ERR_USAGE, "%s: a failed step has lost its state: load a saved one", t->name) : OK;
}

Status library_check_bytes(const atomo_tensor *t, Bytes b, Error *err)
{
    return b.data || !b.size ? OK : FAIL(err, ERR_USAGE, "%s: %zu bytes at NULL", t->name, b.size);
}

/* Returns a Call outside the steps of several workers, and leaves an open step unchanged. */
static Call call_of(const atomo_tensor *t, int64_t step, size_t worker)
{
    Exchange x = t->exchange;
    x.step = step;
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
    return t->bound + (rounds - 1) * VARINT_MAX;
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

/* Sets `*to` to `out` if it has room for `most` bytes, else to scratch memory of `most` bytes. */
static Status output(atomo_tensor *t, void *out, size_t room, size_t most, Buf *to, Error *err)
{
    const bool fits = out && room >= most;
    *to = (Buf){.data = fits ? out : NEW(t->scratch, uint8_t, most), .cap = most};
    return to->data ? OK : arena_fail(t->scratch, err);
}

/* Copies the bytes made to the caller's memory, unless they were made there. */
static Status copy_out(const atomo_tensor *t, const Buf *made, const Order *o, Error *err)
{
    *o->size = made->size;
    if (made->data == o->out)
        return OK;
    if (!o->out || made->size > o->room)
        return FAIL(err, ERR_USAGE, "%s: the output wants %zu bytes, and has room for %zu", t->name, made->size,
                    o->out ? o->room : 0);
    memcpy(o->out, made->data, made->size);
    return OK;
}

static Status encode(atomo_tensor *t, const Order *o, Error *err)
{
    Call call = call_of(t, o->step, t->self);
    Buf payload;
    TRY(library_check_state(t, err));
    TRY(library_check(t, o->x, err));
    TRY(output(t, o->out, o->room, atomo_encode_bound(t), &payload, err));
    TRY(send_rounds(&call, o->x, &payload));
    return copy_out(t, &payload, o, err);
}

atomo_status atomo_encode(atomo_tensor *t, int64_t step, const float *x, void *out, size_t room, size_t *size,
                          atomo_error *err)
{
    *size = 0;
    return library_call_tensor(encode, t,
                               &(Order){.step = step, .x = x, .out = out, .room = room, .size = size}, err);
}

static Status receive(const atomo_tensor *t, const Call *call, Bytes in, float *x, Message *m)
{
    TRY(library_check_bytes(t, in, call->err));
    TRY(read_rounds(call, in, m));
    return codec_receive(call, m, x) == OK ? OK : error_at(call->err, "%s", t->name);
}

static Status decode(atomo_tensor *t, const Order *o, Error *err)
{
    const Call call = call_of(t, o->step, (size_t)o->worker);
    Message m;
    if (o->worker < 0)
        return FAIL(err, ERR_USAGE, "worker=%d: want 0 or more", o->worker);
    if (!o->y && t->shape.n)
        return FAIL(err, ERR_USAGE, "%s: x is NULL", t->name);
    TRY(library_check_state(t, err));
    return receive(t, &call, o->in, o->y, &m);
}

atomo_status atomo_decode(atomo_tensor *t, int64_t step, int worker, const void *in, size_t size, float *x,
                          atomo_error *err)
{
    return library_call_tensor(decode, t,
                               &(Order){.step = step, .worker = worker, .in = {in, size}, .y = x}, err);
}

static Status advance(atomo_tensor *t, const Order *o, Error *err)
{
    Call call = call_of(t, o->step, t->self);
    void *state = t->worker[t->self].state;
    Message m;
    if (t->at != STEP_NONE)
        return FAIL(err, ERR_USAGE, "%s: atomo_advance inside a step: finish the step first", t->name);
    if (!state)
        return OK;
    float *agreed = NEW(t->scratch, float, t->shape.n);
    TRY(arena_check(agreed, t->scratch, err));
    TRY(library_check_state(t, err));
    TRY(library_check(t, o->x, err));
    TRY(receive(t, &call, o->in, agreed, &m));
    call.heard = m.round;
    t->lost = codec_settle(&call, o->x, m.round, agreed, state) != OK;
    return t->lost ? error_at(err, "%s", t->name) : OK;
}

atomo_status atomo_advance(atomo_tensor *t, int64_t step, const float *x, const void *in, size_t size,
                           atomo_error *err)
{
    return library_call_tensor(advance, t, &(Order){.step = step, .x = x, .in = {in, size}}, err);
}

/* ---- merging ---- */

/* Returns an upper bound on the bytes of a merged payload. A merged payload may be longer than one worker's,
 * so the bound is twice that of one payload. 4096 bytes more serve the header, which may be longer than two
 * very small payloads. */
size_t atomo_merge_bound(const atomo_tensor *t, size_t count)
{
    (void)count;
    return 2 * t->bound + 4096;
}

/* True if one of the payloads lies in the memory to which their merge would be written. */
static bool overlap(const Order *o, size_t most)
{
    const uintptr_t out = (uintptr_t)o->out;
    for (size_t i = 0; i < o->parts; i++) {
        const uintptr_t in = (uintptr_t)o->part[i];
        if (in < out + most && out < in + o->part_size[i])
            return true;
    }
    return false;
}

Status library_merge(atomo_tensor *t, const Call *call, const Order *o)
{
    const size_t most = atomo_merge_bound(t, o->parts);
    Bytes *payload = NEW(t->scratch, Bytes, o->parts);
    Buf merged;
    if (!codec_adds(call->self))
        return FAIL(call->err, ERR_USAGE, "payloads of %s do not merge", t->codec->spec);
    if (!o->parts)
        return FAIL(call->err, ERR_USAGE, "no payload to merge");
    TRY(arena_check(payload, t->scratch, call->err));
    for (size_t i = 0; i < o->parts; i++) {
        payload[i] = (Bytes){o->part[i], o->part_size[i]};
        TRY(library_check_bytes(t, payload[i], call->err));
    }
    TRY(output(t, overlap(o, most) ? NULL : o->out, o->room, most, &merged, call->err));
    TRY(codec_merge(call, payload, o->parts, &merged));
    return copy_out(t, &merged, o, call->err);
}

static Status merge_alone(atomo_tensor *t, const Order *o, Error *err)
{
    Call call = call_of(t, o->step, t->self);
    if (codec_adds(call.self) && codec_rounds(call.self) > 1) {
        FAIL(err, ERR_USAGE, "%s sends %d payloads a step, and a merge outside a step takes one",
             t->codec->spec, codec_rounds(call.self));
        return error_hint(err, "merge the payloads of each round by themselves: atomo_step_merge");
    }
    call.workers = (int)t->workers;
    return library_merge(t, &call, o);
}

atomo_status atomo_merge(atomo_tensor *t, int64_t step, const void *const *in, const size_t *in_size,
                         size_t count, void *out, size_t room, size_t *size, atomo_error *err)
{
    const Order o = {.step = step,
                     .part = in,
                     .part_size = in_size,
                     .parts = count,
                     .out = out,
                     .room = room,
                     .size = size};
    *size = 0;
    return library_call_tensor(merge_alone, t, &o, err);
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

static uint64_t kind_of_state(const atomo_tensor *t, size_t worker)
{
    const Bytes spec = {(const uint8_t *)t->codec->canonical, strlen(t->codec->canonical)};
    uint8_t number[8 * (3 + RANK_MAX)];
    Buf numbers = {.data = number, .cap = sizeof number};
    buf_u64(&numbers, worker);
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
    buf_u64(out, kind_of_state(t, t->self));
    buf_u64(out, t->workers);
    buf_u64(out, held_states(t) * t->state);
}

static Status save_state(atomo_tensor *t, const Order *o, Error *err)
{
    Buf out = {.data = o->out, .cap = atomo_state_size(t)};
    TRY(library_check_state(t, err));
    if (!o->out || o->room < out.cap)
        return FAIL(err, ERR_USAGE, "%s: the state wants %zu bytes, and has room for %zu", t->name, out.cap,
                    o->out ? o->room : 0);
    put_head(t, &out);
    for (size_t w = 0; w < t->workers; w++)
        if (t->worker[w].state)
            buf_copy(&out, t->worker[w].state, t->state);
    buf_u64(&out, checksum(buf_bytes(&out), 0));
    return OK;
}

atomo_status atomo_state_save(atomo_tensor *t, void *out, size_t room, atomo_error *err)
{
    return library_call_tensor(save_state, t, &(Order){.out = out, .room = room}, err);
}

/* Checks a saved state. Sets *shared if it has one state for all workers, as another worker has saved it. */
static Status check_saved(const atomo_tensor *t, Bytes in, bool *shared, Error *e)
{
    if (in.size < STATE_HEAD + STATE_TAIL || memcmp(in.data, "atomosta", 8))
        return FAIL(e, ERR_CORRUPT, "%s: not a state", t->name);
    const size_t end = in.size - STATE_TAIL, size = end - STATE_HEAD;
    if (load_u64(in.data + end) != checksum((Bytes){in.data, end}, 0) || load_u64(in.data + 24) != size)
        return FAIL(e, ERR_CORRUPT, "%s: the state is damaged: its checksum differs", t->name);
    const uint64_t kind = load_u64(in.data + 8), workers = load_u64(in.data + 16);
    size_t worker = 0;
    while (worker < workers && worker < WORKERS_MAX && kind_of_state(t, worker) != kind)
        worker++;
    if (kind_of_state(t, worker) != kind)
        return FAIL(e, ERR_USAGE, "%s: the state is not that of %s with this shape, name and seed", t->name,
                    t->codec->spec);
    *shared = codec_shares_state(t->codec->codec) && size >= t->state;
    if (*shared || (worker == t->self && workers == t->workers && in.size == atomo_state_size(t)))
        return OK;
    FAIL(e, ERR_USAGE, "%s: the state is that of worker %zu of %zu, want worker %zu of %zu", t->name, worker,
         (size_t)workers, t->self, t->workers);
    return error_hint(e, "every worker loads the state that it saved");
}

static Status load_state(atomo_tensor *t, const Order *o, Error *e)
{
    bool shared;
    TRY(library_check_bytes(t, o->in, e));
    TRY(check_saved(t, o->in, &shared, e));
    const uint8_t *from = o->in.data + STATE_HEAD;
    for (size_t w = 0; w < t->workers; w++)
        if (t->worker[w].state) {
            memcpy(t->worker[w].state, from, t->state);
            from += shared ? 0 : t->state;
        }
    t->at = STEP_NONE;
    t->lost = false;
    return OK;
}

atomo_status atomo_state_load(atomo_tensor *t, const void *in, size_t size, atomo_error *err)
{
    return library_call_tensor(load_state, t, &(Order){.in = {in, size}}, err);
}
