/* compressor.c -- the checks that would otherwise stand in every codec, and what a spec's stages promise together. */
#include "codec/compressor.h"
#include "num/finite.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

const Compressor *compressor_find(const char *name)
{
    for (size_t i = 0; compressors[i]; i++)
        if (!strcmp(compressors[i]->name, name))
            return compressors[i];
    return NULL;
}

unsigned codec_traits(const Codec *codec)
{
    return codec->ops->traits(codec);
}

int codec_rounds(const Codec *codec)
{
    return codec->ops->rounds ? codec->ops->rounds(codec) : 1;
}

bool codec_adds(const Codec *codec)
{
    return codec_traits(codec) & (LINEAR | MERGEABLE) && codec->ops->merge;
}

bool codec_keeps_state(const Codec *codec)
{
    for (; codec; codec = codec->inner)
        if (codec->ops->state_size)
            return true;
    return false;
}

/* As that of a method that agrees in one round on what the next one needs. */
bool codec_learns_sums(const Codec *codec)
{
    while (codec->ops->wraps)
        codec = codec->inner;
    return codec->ops->state_size && codec_rounds(codec) > 1;
}

const char *codec_caution(const Codec *codec)
{
    for (; codec; codec = codec->inner)
        if (codec->ops->caution && codec->ops->caution(codec))
            return codec->ops->caution(codec);
    return NULL;
}

/* ---- running ---- */

/* Its payload is the inner codec's, kind byte and all. */
static bool passes_on(const Codec *codec)
{
    return codec->ops->wraps && !codec->other;
}

bool codec_bare(const Codec *codec)
{
    while (passes_on(codec) && !codec->ops->marks)
        codec = codec->inner;
    return codec->ops->bare;
}

size_t codec_bound(const Call *c)
{
    const size_t method = c->self->ops->bound(c);
    return method > raw_size(c) ? method : raw_size(c);
}

Status raw_put(const Call *c, const float *x, Buf *out)
{
    buf_u8(out, PAYLOAD_RAW);
    buf_copy(out, x, 4 * c->shape->n);
    streams_floats(c->streams, c->shape->n);
    if (c->streams)
        c->streams->raw = true;
    return OK;
}

static Status raw_get(const Call *c, Bytes in, float *x)
{
    if (in.size != raw_size(c))
        return payload_bad(c, "%zu bytes of raw floats, want %zu", in.size, raw_size(c));
    memcpy(x, in.data + 1, in.size - 1);
    const size_t bad = first_nonfinite(x, c->shape->n, NULL);
    return bad == c->shape->n ? OK : payload_bad(c, "element %zu is not finite", bad);
}

Status payload_bad(const Call *c, const char *format, ...)
{
    char why[300];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    return FAIL(c->err, ERR_CORRUPT, "%s payload: %s", c->self->ops->name, why);
}

Status payload_kind(const Call *c, unsigned kind, unsigned want)
{
    return kind == want ? OK : payload_bad(c, "kind %u, want %u", kind, want);
}

Status payload_kind_or_merged(const Call *c, unsigned kind, unsigned want)
{
    if (kind == want || kind == PAYLOAD_MERGED)
        return OK;
    return payload_bad(c, "kind %u, want %u or %d", kind, want, PAYLOAD_MERGED);
}

Status payload_add_workers(const Call *c, uint64_t more, uint64_t *total)
{
    return __builtin_add_overflow(*total, more, total) ? payload_bad(c, "more workers than there are numbers")
                                                       : OK;
}

Status payload_last_round(const Call *c)
{
    if (c->round == codec_rounds(c->self) - 1)
        return OK;
    return payload_bad(c, "round %d is not the last", c->round);
}

/* A draw that came out larger than raw: what it decodes to travels as floats (never x, or the choice would bias). */
static Status send_drawn(const Call *c, Buf *out, size_t start, const Streams *before)
{
    float *drawn = NEW(c->scratch, float, c->shape->n);
    if (!drawn)
        return arena_fail(c->scratch, c->err);
    TRY(c->self->ops->decode(c, (Bytes){out->data + start, out->size - start}, drawn));
    out->size = start;
    if (c->streams)
        *c->streams = *before; /* what the method reported does not travel */
    return raw_put(c, drawn, out);
}

Status codec_encode(const Call *c, const float *x, Buf *out)
{
    const ArenaMark mark = arena_mark(c->scratch);
    const size_t start = out->size, bound = codec_bound(c);
    const Streams before = c->streams ? *c->streams : (Streams){0};
    assert(out->cap - start >= bound);
    const bool last = c->round == codec_rounds(c->self) - 1;
    Status status = c->self->ops->encode(c, x, out);
    assert(out->size - start <= bound);
    arena_rewind(c->scratch, mark); /* the method's, before a drawn estimate takes its own */
    if (status == OK && last && !passes_on(c->self) && out->size - start > raw_size(c))
        status = send_drawn(c, out, start, &before);
    arena_rewind(c->scratch, mark);
    return status;
}

/* Kind 0 is the same for every codec, so it is read here, and refused where the method's form is always
 * shorter; so is a longer form of kind 1, which codec_encode never lets through. */
static Status decode_kind(const Call *c, Bytes in, float *x)
{
    if (in.size == 0)
        return payload_bad(c, "it is empty");
    if (in.data[0] != PAYLOAD_RAW) {
        TRY(c->self->ops->decode(c, in, x));
        if (in.data[0] == PAYLOAD_METHOD && in.size > raw_size(c))
            return payload_bad(c, "%zu bytes, and raw floats take %zu", in.size, raw_size(c));
        return OK;
    }
    if (c->self->ops->bound(c) < raw_size(c))
        return payload_bad(c, "kind %d, which no tensor of %zu elements needs", PAYLOAD_RAW, c->shape->n);
    for (int round = 0; c->heard && round < c->round; round++)
        if (c->heard[round].size &&
            !c->self->inner) /* a wrapper's is what it wraps sent before the sum was drawn */
            return payload_bad(c, "floats, after %zu bytes in round %d", c->heard[round].size, round);
    return raw_get(c, in, x);
}

Status codec_decode(const Call *c, Bytes in, float *x)
{
    const ArenaMark mark = arena_mark(c->scratch);
    const bool kinds = !passes_on(c->self) && !c->self->ops->bare;
    const Status status = kinds ? decode_kind(c, in, x) : c->self->ops->decode(c, in, x);
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

double codec_variance(const Call *c, const float *x)
{
    if (!c->self->ops->variance)
        return NAN;
    const ArenaMark mark = arena_mark(c->scratch);
    const double v = c->self->ops->variance(c, x);
    arena_rewind(c->scratch, mark);
    return v;
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

/* A wrapper without a state of its own has that of what it wraps. */
size_t codec_state_size(const Call *c)
{
    if (c->self->ops->state_size)
        return c->self->ops->state_size(c);
    if (!c->self->inner)
        return 0;
    Call inner = *c;
    inner.self = c->self->inner;
    return codec_state_size(&inner);
}

double codec_residual(const Call *c)
{
    if (c->self->ops->residual)
        return c->state ? c->self->ops->residual(c) : NAN;
    if (!c->self->inner || c->self->ops->state_size)
        return NAN;
    const Call inner = call_inner(c, 0);
    return codec_residual(&inner);
}

/* Wrappers only pass training on. */
static bool trains(const Codec *codec)
{
    while (codec->inner)
        codec = codec->inner;
    return codec->ops->train;
}

Status codec_train(const Call *c, const float *x, void *state)
{
    if (!c->self->ops->train || !trains(c->self))
        return OK;
    const ArenaMark mark = arena_mark(c->scratch);
    const Status status = c->self->ops->train(c, x, state);
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

size_t state_round(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

Call call_inner(const Call *c, size_t own_state)
{
    Call inner = *c;
    inner.self = c->self->inner;
    const size_t own = state_round(own_state);
    inner.state = NULL;
    if (c->state && codec_state_size(&inner))
        inner.state = (const char *)c->state + own;
    return inner;
}

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

/* ---- streams ---- */

void streams_bits(Streams *s, double bits)
{
    if (!s)
        return;
    s->entropy_bits += bits;
    s->reported = true;
}

void streams_symbols(Streams *s, const uint64_t *count, size_t symbols)
{
    double total = 0, sum = 0; /* n H = n log2 n - sum c log2 c */
    for (size_t i = 0; s && i < symbols; i++)
        if (count[i]) {
            total += (double)count[i];
            sum += (double)count[i] * log2((double)count[i]);
        }
    streams_bits(s, total > 0 ? total * log2(total) - sum : 0);
}

void streams_floats(Streams *s, size_t count)
{
    streams_bits(s, 32.0 * (double)count);
}

void streams_subset(Streams *s, uint64_t n, uint64_t k)
{
    const double dn = (double)n, dk = (double)k;
    if (s)
        streams_bits(s, (lgamma(dn + 1) - lgamma(dk + 1) - lgamma(dn - dk + 1)) * M_LOG2E);
}
