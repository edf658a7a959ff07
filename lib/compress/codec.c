/* codec.c -- calls a compressor's hooks and makes the checks that every codec needs. Also combines the
 * properties that a codec promises with those of the codecs inside it. */
#include "compress/wrapper.h"
#include "math/blockwise.h"

#include <assert.h>
#include <math.h>

unsigned codec_traits(const Codec *codec)
{
    return codec->ops->promises | (codec->ops->traits ? codec->ops->traits(codec) : 0);
}

int codec_rounds(const Codec *codec)
{
    while (!codec->ops->rounds && codec->inner)
        codec = codec->inner;
    return codec->ops->rounds ? codec->ops->rounds(codec) : 1;
}

bool codec_adds(const Codec *codec)
{
    return codec_traits(codec) & (LINEAR | MERGEABLE) && codec->ops->merge;
}

const char *codec_travels(const Codec *codec)
{
    return codec_adds(codec) ? "as sums" : "to each worker";
}

bool codec_keeps_state(const Codec *codec)
{
    for (; codec; codec = codec->inner)
        if (codec->ops->state_size)
            return true;
    return false;
}

/* True if the codec or a codec inside it starts with an empty state. The train hook of a codec that is no
 * wrapper fills the codec's state before the first step. The train hook of a wrapper trains only the inner
 * codec, so the wrapper's own state starts empty. */
bool codec_starts_cold(const Codec *codec)
{
    for (; codec; codec = codec->inner)
        if (codec->ops->state_size && (codec->ops->wraps || !codec->ops->train))
            return true;
    return false;
}

/* True if the innermost codec has a state and several rounds, as powersgd has. Such a codec keeps a round's
 * merged payload (a sum over workers) in its state. */
bool codec_learns_sums(const Codec *codec)
{
    while (codec->ops->wraps)
        codec = codec->inner;
    return codec->ops->state_size && codec_rounds(codec) > 1;
}

bool codec_shares_state(const Codec *codec)
{
    for (; codec->inner; codec = codec->inner)
        if (codec->ops->state_size)
            return false;
    return codec_learns_sums(codec) || (codec->ops->state_size && codec->ops->train);
}

bool codec_trains(const Codec *codec)
{
    while (codec->inner)
        codec = codec->inner;
    return codec->ops->train;
}

const char *codec_caution(const Codec *codec)
{
    for (; codec; codec = codec->inner)
        if (codec->ops->caution && codec->ops->caution(codec))
            return codec->ops->caution(codec);
    return NULL;
}

/* ---- encoding and decoding ---- */

/* True for a wrapper of a single codec. The wrapper's payload contains the inner codec's payload, which
 * already is raw floats if the inner codec's own format would be longer. */
static bool passes_on(const Codec *codec)
{
    return codec->ops->wraps && !codec->other;
}

bool codec_bare(const Codec *codec)
{
    while (passes_on(codec) && !codec->ops->marks)
        codec = codec->inner;
    return !codec->ops->wraps && codec_traits(codec) & BARE; /* a wrapper may have its inner codec's traits */
}

size_t codec_bound(const Call *c)
{
    const size_t method = c->self->ops->bound(c);
    return method > raw_size(c) ? method : raw_size(c);
}

/* Replaces a payload that is longer than raw floats: decodes it, and sends the decoded values as raw floats.
 * Sending x itself would bias the estimate, because the payload's length depends on the random draws. */
static Status send_drawn(const Call *c, Buf *out, size_t start, const Streams *before)
{
    float *drawn = NEW(c->scratch, float, c->shape->n);
    TRY(arena_check(drawn, c->scratch, c->err));
    TRY(c->self->ops->decode(c, (Bytes){out->data + start, out->size - start}, drawn));
    out->size = start;
    /* the codec's own payload is not sent, so the entropy of its streams is removed. `excess` (the bits by
     * which this draw is longer than the mean draw) stays, because its mean over all draws must be 0. */
    const Streams own = c->streams ? *c->streams : (Streams){0};
    if (c->streams)
        *c->streams = *before;
    TRY(raw_put(c, drawn, out));
    if (c->streams) {
        c->streams->excess = own.excess;
        c->streams->mean_known = own.mean_known;
    }
    return OK;
}

Status codec_encode(const Call *c, const float *x, Buf *out)
{
    const ArenaMark mark = arena_mark(c->scratch);
    const size_t start = out->size, bound = codec_bound(c);
    const Streams before = c->streams ? *c->streams : (Streams){0};
    assert(out->cap - start >= bound);
    Status status = c->self->ops->encode(c, x, out);
    assert(out->size - start <= bound);
    arena_rewind(c->scratch, mark); /* frees the encoder's memory before send_drawn allocates */
    if (status == OK && is_last_round(c) && !passes_on(c->self) && out->size - start > raw_size(c))
        status = send_drawn(c, out, start, &before);
    arena_rewind(c->scratch, mark);
    return status;
}

/* Decodes raw floats for every codec, and all other payloads by the codec's hook. Refuses three kinds of
 * payload that codec_encode never writes: raw floats although the codec's own format is always shorter, raw
 * floats although an earlier round's payload is not empty, and the codec's own format although raw floats are
 * shorter. */
static Status decode_kind(const Call *c, Bytes in, float *x)
{
    if (in.size == 0)
        return payload_bad(c, "it is empty");
    const uint8_t kind = in.data[0];
    if (kind != PAYLOAD_RAW) {
        TRY(c->self->ops->decode(c, in, x));
        if (kind == PAYLOAD_METHOD && in.size > raw_size(c))
            return payload_bad(c, "%zu bytes, and raw floats take %zu", in.size, raw_size(c));
        return OK;
    }
    if (!sends_raw(c))
        return payload_bad(c, "kind %d, which no tensor of %zu elements needs", PAYLOAD_RAW, c->shape->n);
    /* Raw floats are sent in the last round; the payloads of all earlier rounds are then empty. This does not
     * hold for wrappers, whose earlier rounds carry the inner codec's payloads. */
    for (int round = 0; c->heard && !c->self->inner && round < c->round; round++)
        if (c->heard[round].size)
            return payload_bad(c, "floats, after %zu bytes in round %d", c->heard[round].size, round);
    if (in.size != raw_size(c))
        return payload_bad(c, "%zu bytes of raw floats, want %zu", in.size, raw_size(c));
    TRY(payload_floats(c, in.data + 1, x));
    return c->terms && c->self->ops->to_terms ? c->self->ops->to_terms(c, x) : OK;
}

Status codec_decode(const Call *c, Bytes in, float *x)
{
    const ArenaMark mark = arena_mark(c->scratch);
    const bool kinds = !passes_on(c->self) && !codec_bare(c->self);
    const Status status = kinds ? decode_kind(c, in, x) : c->self->ops->decode(c, in, x);
    arena_rewind(c->scratch, mark);
    return status;
}

Status codec_from_terms(const Call *c, float *x)
{
    const ArenaMark mark = arena_mark(c->scratch);
    Call inner = *c;
    while (inner.self->inner)
        inner.self = inner.self->inner;
    const Status status = inner.self->ops->from_terms ? inner.self->ops->from_terms(&inner, x) : OK;
    arena_rewind(c->scratch, mark);
    return status;
}

Status codec_merge(const Call *c, const Bytes *in, size_t count, Buf *out)
{
    const ArenaMark mark = arena_mark(c->scratch);
    const Status status = c->self->ops->merge(c, in, count, out);
    arena_rewind(c->scratch, mark);
    return status;
}

/* ---- expected error, plans that divide a bit budget over tensors, and curves of variance against payload bits
 * ---- */

/* The smallest expected squared error per element for which closed forms are used: about 2^20 times the square
 * of the smallest float. For smaller errors, the rounding of decoded values to float32 matters, which no closed
 * form includes. */
#define UNDERFLOW 0x1p-278

double codec_variance(const Call *c, const float *x)
{
    if (!c->self->ops->variance)
        return NAN;
    const ArenaMark mark = arena_mark(c->scratch);
    const double v = c->self->ops->variance(c, x);
    arena_rewind(c->scratch, mark);
    return v > 0 && v < UNDERFLOW * (double)c->shape->n ? NAN : v;
}

ErrorLaw codec_moments(const Call *c, const float *x, AtomMoments *m)
{
    if (!c->self->ops->moments)
        return ELEMENTWISE;
    const ArenaMark mark = arena_mark(c->scratch);
    const ErrorLaw law = c->self->ops->moments(c, x, m);
    arena_rewind(c->scratch, mark);
    return law;
}

size_t codec_plan_size(const Codec *codec)
{
    for (; codec; codec = codec->inner)
        if (codec->ops->plan_size)
            return codec->ops->plan_size;
    return 0;
}

/* The data of load_input, by which the inner codec's plan gets the vectors that the wrapper passes to the inner codec. */
typedef struct {
    const Step *step;
    float *t; /* room for the values of the largest tensor with a state */
} InnerStep;

static const float *load_input(void *data, size_t j, Error *err)
{
    const InnerStep *s = data;
    const Call *c = &s->step->call[j];
    const float *x = s->step->load(s->step->data, j, err);
    if (!x || !c->state || !c->self->ops->input)
        return x;
    return c->self->ops->input(c, x, s->t, err) == OK ? s->t : NULL;
}

/* Writes the inner codec's records for the wrapper's `step`. */
static Status plan_inner(const Step *step, void *records)
{
    const Call *c = step->call;
    size_t largest = 0;
    Call *call = NEW(c->scratch, Call, step->count);
    TRY(arena_check(call, c->scratch, c->err));
    for (size_t j = 0; j < step->count; j++) {
        call[j] = call_inner(&c[j]);
        if (c->self->ops->input && c[j].state && c[j].shape->n > largest)
            largest = c[j].shape->n;
    }
    InnerStep changed = {step, NEW(c->scratch, float, largest)};
    TRY(arena_check(changed.t, c->scratch, c->err));
    return codec_plan(&(Step){step->count, call, load_input, &changed}, records);
}

Status codec_plan(const Step *step, void *plan)
{
    const Call *c = step->call;
    const ArenaMark mark = arena_mark(c->scratch);
    const Status status = c->self->ops->plan ? c->self->ops->plan(step, plan) : plan_inner(step, plan);
    arena_rewind(c->scratch, mark);
    return status;
}

/* ---- state ---- */

static size_t own_state(const Call *c)
{
    return c->self->ops->state_size ? c->self->ops->state_size(c) : 0;
}

size_t codec_state_size(const Call *c)
{
    if (!c->self->inner)
        return own_state(c);
    Call inner = *c;
    inner.self = c->self->inner;
    return state_round(own_state(c)) + codec_state_size(&inner);
}

double codec_residual(const Call *c)
{
    if (c->self->ops->residual)
        return c->state ? c->self->ops->residual(c) : NAN;
    if (!c->self->inner || c->self->ops->state_size)
        return NAN;
    const Call inner = call_inner(c);
    return codec_residual(&inner);
}

Status codec_train(const Call *c, const float *x, void *state)
{
    if (!codec_trains(c->self))
        return OK;
    const ArenaMark mark = arena_mark(c->scratch);
    Status status = OK;
    if (c->self->ops->train) {
        status = c->self->ops->train(c, x, state);
    } else {
        const Call inner = call_inner(c);
        const float *t = x;
        if (c->self->ops->input)
            status = state_input(c, x, &t);
        if (status == OK)
            status = codec_train(&inner, t, state_inner(c, state));
    }
    arena_rewind(c->scratch, mark);
    return status;
}

Status codec_settle(const Call *c, const float *x, const Bytes *sent, const float *agreed, void *state)
{
    if (!c->self->ops->settle)
        return OK;
    const ArenaMark mark = arena_mark(c->scratch);
    Call last = *c;
    last.round = codec_rounds(c->self) - 1;
    last.heard = c->heard ? c->heard : sent;
    const Status status = c->self->ops->settle(&last, x, sent, agreed, state);
    arena_rewind(c->scratch, mark);
    return status;
}

/* ---- functions for wrappers ---- */

void *state_inner(const Call *c, void *state)
{
    return (char *)state + state_round(own_state(c));
}

Call call_inner(const Call *c)
{
    Call inner = *c;
    inner.self = c->self->inner;
    inner.state = NULL;
    inner.kept = NULL; /* `kept` belongs to the outer codec */
    if (c->state && codec_state_size(&inner))
        inner.state = (const char *)c->state + state_round(own_state(c));
    return inner;
}

Status state_input(const Call *c, const float *x, const float **t)
{
    Arena *a = c->kept ? c->kept->arena : c->scratch;
    *t = x;
    if (!c->state)
        return OK;
    if (c->kept && c->kept->found && c->kept->x == x) {
        *t = c->kept->found;
        return OK;
    }
    float *own = NEW(a, float, c->shape->n);
    TRY(arena_check(own, a, c->err));
    TRY(c->self->ops->input(c, x, own, c->err));
    *t = own;
    if (c->kept)
        *c->kept = (Kept){a, own, x};
    return OK;
}

/* ---- one worker alone, which receives only its own payloads ---- */

size_t codec_message_bound(const Call *c)
{
    size_t total = 0;
    Call round = *c;
    for (round.round = 0; round.round < codec_rounds(c->self); round.round++)
        total += codec_bound(&round);
    return total;
}

Status codec_send(const Call *c, const float *x, Buf *out, Message *m)
{
    Call call = *c;
    m->rounds = codec_rounds(c->self);
    assert(m->rounds <= ROUNDS_MAX);
    call.heard = m->round;
    for (call.round = 0; call.round < m->rounds; call.round++) {
        const size_t start = out->size;
        TRY(codec_encode(&call, x, out));
        m->round[call.round] = (Bytes){out->data + start, out->size - start};
    }
    return OK;
}

Status codec_receive(const Call *c, const Message *m, float *x)
{
    Call call = *c;
    call.heard = m->round;
    call.round = m->rounds - 1;
    return codec_decode(&call, m->round[m->rounds - 1], x);
}
