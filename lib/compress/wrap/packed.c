/* packed.c -- packs an inner codec's payload with a compression library (packed.h). */
#include "compress/wrap/packed.h"

#include <math.h>

enum { STORED, PACKED_FORM };

unsigned packed_traits(const Codec *codec)
{
    return codec_traits(codec->inner) & ~(unsigned)(LINEAR | MERGEABLE | FIXED_SIZE);
}

static const Packer *packer_of(const Call *c)
{
    return c->self->ops->family;
}

static bool is_last(const Call *c)
{
    return c->round == codec_rounds(c->self) - 1;
}

size_t packed_bound(const Call *c)
{
    const Call inner = call_inner(c, 0);
    return codec_bound(&inner) + is_last(c);
}

Status packed_encode(const Call *c, const float *x, Buf *out)
{
    const Call inner = call_inner(c, 0);
    const size_t start = out->size;
    if (!is_last(c))
        return codec_encode(&inner, x, out);
    buf_u8(out, STORED);
    TRY(codec_encode(&inner, x, out));
    if (c->streams)
        c->streams->mean_known = false; /* how far a payload packs depends on the draw */
    const Bytes plain = {out->data + start + 1, out->size - start - 1};
    if (plain.size < 2)
        return OK;
    size_t size;
    uint8_t *packed = NEW(c->scratch, uint8_t, plain.size - 1);
    TRY(arena_check(packed, c->scratch, c->err));
    TRY(packer_of(c)->pack(c, plain, packed, plain.size - 1, &size));
    if (size == 0)
        return OK;
    out->data[start] = PACKED_FORM;
    out->size = start + 1;
    buf_copy(out, packed, size);
    streams_unknown(c->streams);
    return OK;
}

/* Sets *plain to the inner codec's payload: a part of `in` if stored unpacked, else unpacked into scratch
 * memory. */
static Status open_payload(const Call *c, Bytes in, Bytes *plain)
{
    const Packer *packer = packer_of(c);
    const Call inner = call_inner(c, 0);
    if (in.size == 0 || in.data[0] > PACKED_FORM)
        return in.size ? payload_bad(c, "form %d", in.data[0]) : payload_bad(c, "it is empty");
    *plain = (Bytes){in.data + 1, in.size - 1};
    if (in.data[0] == STORED)
        return OK;
    const size_t size = packer->claims(*plain), most = codec_bound(&inner);
    if (size == 0)
        return payload_bad(c, "%zu bytes that are no packed payload", plain->size);
    if (size <= plain->size)
        return payload_bad(c, "%zu bytes packed into %zu, which no encoder does", size, plain->size);
    if (size > most)
        return payload_bad(c, "it unpacks to %zu bytes, want %zu or fewer", size, most);
    uint8_t *room = NEW(c->scratch, uint8_t, size);
    TRY(arena_check(room, c->scratch, c->err));
    if (!packer->unpack(*plain, room, size))
        return payload_bad(c, "%zu bytes that do not unpack", plain->size);
    *plain = (Bytes){room, size};
    return OK;
}

Status packed_decode(const Call *c, Bytes in, float *x)
{
    const Call inner = call_inner(c, 0);
    Bytes plain;
    TRY(open_payload(c, in, &plain));
    return codec_decode(&inner, plain, x);
}

Status packed_merge(const Call *c, const Bytes *in, size_t count, Buf *out)
{
    const Call inner = call_inner(c, 0);
    if (is_last(c))
        return FAIL(c->err, ERR_USAGE, "%s: packed payloads do not merge", c->self->ops->name);
    return codec_merge(&inner, in, count, out);
}

Status packed_settle(const Call *c, const float *x, const Bytes *sent, const float *agreed, void *state)
{
    Call inner = call_inner(c, 0);
    Bytes own[ROUNDS_MAX], heard[ROUNDS_MAX];
    if (!codec_state_size(&inner))
        return OK;
    for (int r = 0; r < c->round; r++) {
        own[r] = sent[r];
        heard[r] = c->heard[r];
    }
    TRY(open_payload(c, sent[c->round], &own[c->round]));
    heard[c->round] = own[c->round];
    inner.heard = heard;
    return codec_settle(&inner, x, own, agreed, state);
}

Status packed_check(const Codec *codec, Error *err)
{
    if (codec_learns_sums(codec->inner))
        return FAIL(err, ERR_USAGE,
                    "%s: %s needs the sum of all workers' payloads, which packed ones do not have",
                    codec->ops->name, codec->inner->ops->name);
    return OK;
}

double packed_variance(const Call *c, const float *x)
{
    const Call inner = call_inner(c, 0);
    return codec_variance(&inner, x);
}

ErrorLaw packed_moments(const Call *c, const float *x, AtomMoments *m)
{
    const Call inner = call_inner(c, 0);
    return codec_moments(&inner, x, m);
}
