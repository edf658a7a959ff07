/* adaq.c -- adaptive quantisation (Dryden, Moon, Jacobs, Van Essen 2016). Of the positive elements, sends the
 * share `ratio` of largest magnitude, each as their common mean; likewise of the negative elements. The payload
 * has the format of sparse.h with two magnitudes. */
#include "base/parallel.h"
#include "compress/sparse/sparse.h"

#include <math.h>

typedef struct {
    double ratio;
} Adaq;

static const Param schema[] = {
    PARAM(Adaq, ratio, "0.01", 0, 1, "elements sent as a share of each sign's", .above = true, .rate = true),
    {0},
};

static double ratio_of(const Call *c)
{
    return ((const Adaq *)c->self->params)->ratio;
}

/* ---- number of positive and of negative elements ---- */

typedef struct {
    const float *x;
    size_t n, (*of)[SIDES]; /* of: for each block, the numbers of positive and of negative elements */
} AdaqSides;

static void count_block(void *data, size_t block)
{
    const AdaqSides *s = data;
    const float *x = s->x + block * BLOCK;
    uint32_t above = 0, below = 0;
    for (size_t i = 0; i < block_size(s->n, block); i++) {
        above += x[i] > 0;
        below += x[i] < 0;
    }
    s->of[block][PLUS] = above;
    s->of[block][MINUS] = below;
}

static Status count_sides(const Call *c, const float *x, size_t of[SIDES])
{
    const size_t n = c->shape->n, blocks = blocks_of(n);
    AdaqSides s = {x, n, arena_take(c->scratch, blocks + 1, sizeof *s.of)};
    TRY(arena_check(s.of, c->scratch, c->err));
    parallel_for(c->threads, blocks, count_block, &s);
    for (int side = 0; side < SIDES; side++) {
        of[side] = 0;
        for (size_t b = 0; b < blocks; b++)
            of[side] += s.of[b][side];
    }
    return OK;
}

/* ---- the hooks of the codec ---- */

static Status encode(const Call *c, const float *x, Buf *out)
{
    float mean[SIDES] = {0};
    size_t of[SIDES] = {0, 0};
    SignedSet s;
    TRY(count_sides(c, x, of));
    TRY(signed_set_open(&s, c, x));
    TRY(arena_check(select_sides(&s.picks, (const size_t[SIDES]){picks_wanted(of[PLUS], ratio_of(c)),
                                                                 picks_wanted(of[MINUS], ratio_of(c))}),
                    c->scratch, c->err));
    TRY(signed_set_count(&s));
    for (int side = 0; side < SIDES; side++)
        if (s.count[side])
            mean[side] = (float)(s.sum[side] / (double)s.count[side]);
    return signed_set_put(&s, mean, SIDES, out);
}

/* Of m elements of a sign, an encoder sends picks_wanted(m, ratio), which is at most ratio m + 1. */
static Status decode(const Call *c, Bytes in, float *x)
{
    const size_t n = c->shape->n, most = (size_t)(ratio_of(c) * (double)n) + 2;
    float magnitude[SIDES];
    return signed_set_get(c, in, SIDES, most, x, magnitude);
}

const Compressor compressor_adaq = {
    .name = "adaq",
    .brief = "the largest of each sign, at that sign's mean",
    .plain = "Sends the largest positive elements as their mean and the largest negative elements as "
             "theirs. An element costs a gap between indices and one bit.",
    .use_when = "positive and negative elements are distributed differently, and floats take too many "
                "bytes: ef+adaq.",
    .example = "atomo-bench synth -o g.h5 --steps 4\n"
               "atomo-bench compare g.h5 -c ef+adaq:ratio=0.01 -c ef+stc:ratio=0.01",
    .formula =
        "S+ = the max(1, floor(ratio n+ + 1/2)) largest of the n+ positive elements, S- alike;\n"
        "of equal ones the first. decode mean of S+ for i in S+, mean of S- for i in S-, else 0.\n"
        "Both thresholds adapt to the gradient; zeros never travel. An element costs its gap and its sign.\n"
        "Biased: meant for ef+adaq.",
    .paper =
        "Dryden, Moon, Jacobs, Van Essen: Communication Quantization for Data-Parallel Training of Deep\n"
        "Neural Networks, MLHPC 2016",
    .look = {HUE_SPARSE, 3, 2},
    .params = schema,
    .params_size = sizeof(Adaq),
    .promises = EXACT_BYTES | LEAVES_OUT,
    .bound = signed_set_bound,
    .encode = encode,
    .decode = decode,
};
