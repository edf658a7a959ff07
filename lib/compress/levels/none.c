/* none.c -- sends the gradient uncompressed, as float32, little-endian, without a kind byte. The codec `none`
 * is the baseline of comparisons. */
#include "compress/compressor.h"
#include "compress/lowrank/addends.h"
#include "math/blockwise.h"

#include <float.h>
#include <math.h>

static size_t bound(const Call *c)
{
    return 4 * c->shape->n;
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    buf_floats(out, x, c->shape->n);
    streams_floats(c->streams, c->shape->n);
    return OK;
}

static Status decode(const Call *c, Bytes in, float *x)
{
    if (in.size != 4 * c->shape->n)
        return payload_bad(c, "%zu bytes, want %zu", in.size, 4 * c->shape->n);
    return payload_floats(c, in.data, x);
}

static Status merge(const Call *c, const Bytes *in, size_t count, Buf *out)
{
    const uint8_t **values = NEW(c->scratch, const uint8_t *, count);
    TRY(arena_check(values, c->scratch, c->err));
    for (size_t w = 0; w < count; w++) {
        if (in[w].size != 4 * c->shape->n)
            return payload_bad(c, "%zu bytes, want %zu", in[w].size, 4 * c->shape->n);
        values[w] = in[w].data;
    }
    return addends_sum(c, values, count, c->shape->n, 1, (double)FLT_MAX, "element",
                       buf_room(out, 4 * c->shape->n));
}

static Numbers numbers(const Call *c)
{
    return addends_numbers(c->shape->n, 1, (double)FLT_MAX);
}

static double variance(const Call *c, const float *x)
{
    (void)c, (void)x;
    return 0;
}

const Compressor compressor_none = {
    .name = "none",
    .brief = "raw float32",
    .bare = true,
    .plain = "Sends the gradient as it is, four bytes an element. All other codecs are measured against it.",
    .use_when = "you need the baseline of a comparison, or the link is fast enough without compression.",
    .example = "atomo-bench synth -o g.h5\n"
               "atomo-bench compare g.h5 -c none -c qsgd",
    .formula = "g as it is, 32 bits an element; merging adds",
    .paper = "the baseline",
    .look = {HUE_NONE, 1, 0},
    .promises = UNBIASED | LINEAR | MERGEABLE | EXACT_BYTES,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .merge = merge,
    .numbers = numbers,
    .variance = variance,
};
