/* adaq.c -- adaptive quantisation (Dryden, Moon, Jacobs, Van Essen 2016): of the positive and of the negative
 * elements the same share of largest ones, each side at its own mean. The payload is signed_set.h's with two
 * magnitudes. */
#include "../radix.h"
#include "../signed_set.h"

#include <math.h>

typedef struct {
    double ratio;
} Adaq;

static const Param schema[] = {
    PARAM(Adaq, ratio, "0.01", 0, 1, "elements sent as a share of each sign's", .above = true, .rate = true),
    {0},
};

static unsigned traits(const Codec *codec)
{
    (void)codec;
    return EXACT_BYTES;
}

static double ratio_of(const Call *c)
{
    return ((const Adaq *)c->self->params)->ratio;
}

/* max(1, floor(ratio of + 1/2)) of a side that has any, `of` at most */
static size_t wanted(const Call *c, size_t of)
{
    const double share = floor(ratio_of(c) * (double)of + 0.5);
    const size_t k = share < 1 ? 1 : (size_t)share;
    return k < of ? k : of;
}

/* One side's elements in order; `value` has room for all. */
static size_t gather(const float *x, size_t n, int side, float *value)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        value[count] = x[i];
        count += side == PLUS ? x[i] > 0 : x[i] < 0;
    }
    return count;
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    const size_t n = c->shape->n;
    float least[SIDES] = {0}, mean[SIDES] = {0}, *value = NEW(c->scratch, float, n + 1);
    size_t k[SIDES], upto;
    SignedSet s;
    if (!value)
        return arena_fail(c->scratch, c->err);
    for (int side = 0; side < SIDES; side++) {
        const size_t of = gather(x, n, side, value);
        k[side] = wanted(c, of);
        if (of)
            least[side] = radix_magnitude(value, of, of - k[side], &upto);
    }
    TRY(signed_set_open(&s, c, x, least));
    signed_set_keep(&s, least, k);
    for (int side = 0; side < SIDES; side++)
        if (s.count[side])
            mean[side] = (float)(s.sum[side] / (double)s.count[side]);
    return signed_set_put(&s, mean, SIDES, out);
}

/* Each side has at most ratio times its elements and one more. */
static Status decode(const Call *c, Bytes in, float *x)
{
    const size_t n = c->shape->n, most = (size_t)(ratio_of(c) * (double)n) + 2;
    float magnitude[SIDES];
    return signed_set_get(c, in, SIDES, most, x, magnitude);
}

const Compressor compressor_adaq = {
    .name = "adaq",
    .brief = "the largest of each sign, at that sign's mean",
    .formula =
        "S+ = the max(1, floor(ratio n+ + 1/2)) largest of the n+ positive elements, S- alike;\n"
        "of equal ones the first. decode mean of S+ for i in S+, mean of S- for i in S-, else 0.\n"
        "Both thresholds adapt to the gradient; zeros never travel. An element costs its gap and its sign.\n"
        "Biased: meant for ef+adaq.",
    .paper =
        "Dryden, Moon, Jacobs, Van Essen: Communication Quantization for Data-Parallel Training of Deep\n"
        "Neural Networks, MLHPC 2016",
    .params = schema,
    .params_size = sizeof(Adaq),
    .traits = traits,
    .bound = signed_set_bound,
    .encode = encode,
    .decode = decode,
};
