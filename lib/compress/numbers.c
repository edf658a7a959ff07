/* numbers.c -- cuts and merges payloads that are lists of numbers (numbers.h). */
#include "compress/compressor.h"
#include "compress/wrapper.h"

#include "base/parallel.h"
#include "coder/planes.h"

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

typedef struct {
    const PlaneSet *part;
    size_t payloads, n;
    int width;
    uint8_t *out;
    bool *bad; /* for each block of 2^16 numbers: true if a number is above `top` or an unused bit is set */
} PlanesJob;

static void add_block(void *data, size_t block)
{
    const PlanesJob *job = data;
    const size_t from = block * BLOCK, to = from + block_size(job->n, block);
    job->bad[block] = !planes_add(job->part, job->payloads, from, to, job->width, job->out);
}

static Status add_planes(const Call *c, const Numbers *m, const uint8_t *const *in, size_t payloads, size_t n,
                         uint8_t *out)
{
    PlaneSet *part = NEW(c->scratch, PlaneSet, payloads);
    PlanesJob job = {part, payloads, n, m->merged_bits, out, NEW_ZERO(c->scratch, bool, blocks_of(n))};
    TRY(arena_check(part && job.bad, c->scratch, c->err));
    for (size_t i = 0; i < payloads; i++)
        part[i] = (PlaneSet){in[i], m->bits, m->top};
    parallel_for(c->threads, blocks_of(n), add_block, &job);
    for (size_t b = 0; b < blocks_of(n); b++)
        if (job.bad[b])
            return payload_bad(c, "numbers that no encoder writes, in block %zu of a segment", b);
    return OK;
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

size_t numbers_size(const Numbers *m, size_t n, int bits)
{
    return m->planes ? planes_size(n, bits) : n * (size_t)bits / 8;
}

size_t numbers_cut(const Numbers *m, size_t segments, size_t i)
{
    return i == segments ? m->count : m->count / PLANE_GROUP * i / segments * PLANE_GROUP;
}

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
