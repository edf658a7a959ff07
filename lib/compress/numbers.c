/* numbers.c -- cuts and merges payloads that are lists of numbers (numbers.h). */
#include "compress/compressor.h"
#include "compress/wrapper.h"

Numbers codec_numbers(const Call *c)
{
    Numbers m = {0};
    if (c->self->ops->numbers)
        m = c->self->ops->numbers(c);
    if (!m.codec)
        m.codec = c->self;
    return m;
}

/* ---- numbers in bit planes ---- */

static Status add_planes(const Call *c, const Numbers *m, const uint8_t *const *in, size_t payloads, size_t n,
                         uint8_t *out)
{
    PlaneSet *part = NEW(c->scratch, PlaneSet, payloads);
    TRY(arena_check(part, c->scratch, c->err));
    for (size_t i = 0; i < payloads; i++)
        part[i] = (PlaneSet){in[i], m->bits, m->top};
    return planes_add(part, payloads, n, m->merged_bits, c->threads, out)
               ? OK
               : payload_bad(c, "numbers that no encoder writes, in a segment");
}

Numbers numbers_in_planes(size_t count, int bits, int merged_bits, uint32_t top)
{
    return (Numbers){.count = count,
                     .bits = bits,
                     .merged_bits = merged_bits,
                     .planes = true,
                     .top = top,
                     .add = add_planes};
}

/* ---- segments ---- */

size_t numbers_head(const Numbers *m)
{
    return codec_bare(m->codec) ? 0 : 1;
}

void numbers_merged_head(const Call *c, const Numbers *m, Buf *out)
{
    if (codec_bare(m->codec))
        return;
    buf_u8(out, PAYLOAD_MERGED);
    buf_varint(out, (uint64_t)c->workers);
}

Status numbers_add(const Call *c, const Numbers *m, const uint8_t *const *in, size_t payloads, size_t n,
                   uint8_t *out)
{
    const ArenaMark mark = arena_mark(c->scratch);
    Call call = *c;
    call.self = m->codec;
    const Status status = m->add(&call, m, in, payloads, n, out);
    arena_rewind(c->scratch, mark);
    return status;
}
