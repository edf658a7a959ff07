/* terngrad.c -- TernGrad (Wen, Xu, Yan, Wu, Wang, Chen, Li 2017): each element is rounded at random to -s, 0 or
 * s, where s is the tensor's scale.
 *
 *     share=off   kind:8  scale:32  codes
 *     share=on    round 0: kind:8  scale:32            merged by maximum: kind:8  workers:varint  scale:32
 *                 round 1: kind:8  codes               at the merged scale of round 0
 *
 *     code=trit   five to the byte (planes.h);  2bit: two bit planes;  rans, elias: codes.h with one level
 *
 * This is the payload of buckets.h with one bucket, whose head is the scale. */
#include "compress/levels/buckets.h"
#include "math/blockwise.h"

#include <math.h>

typedef struct {
    double clip;
    int code;
    bool share;
    int rounding;
} Terngrad;

enum { TRIT, TWO_BIT, RANS, ELIAS };
static const char *const code_names[] = {"trit", "2bit", "rans", "elias", NULL};

static const Param schema[] = {
    PARAM(Terngrad, clip, "0", 0, 1e6,
          "scale by this many standard deviations at most, 0: by the largest magnitude"),
    PARAM_OF(Terngrad, code, "trit", code_names, "how signs and zeros travel"),
    PARAM_SWITCH(Terngrad, share, "off", "one scale for all workers, sent in a round of its own"),
    PARAM_OF(Terngrad, rounding, "independent", rounding_names, WORKERS_ROUNDING_HELP),
    {0},
};

static const Terngrad *params_of(const Codec *codec)
{
    return codec->params;
}

static unsigned traits(const Codec *codec)
{
    const bool fixed = params_of(codec)->code == TRIT || params_of(codec)->code == TWO_BIT;
    return (params_of(codec)->clip == 0 ? UNBIASED : 0u) | (fixed ? FIXED_SIZE : 0u) |
           (params_of(codec)->rounding == ROUNDING_CORRELATED ? PART_SHARED : 0u);
}

static int rounds(const Codec *codec)
{
    return params_of(codec)->share ? 2 : 1;
}

/* ---- the scale s of the levels -s, 0 and s, and the codes ---- */

/* Returns the largest magnitude, or with clip > 0 clip times the standard deviation if that is less. The variance is
 * computed as the mean square minus the squared mean, whose rounding errors may give a constant vector a small variance.
 * So a vector whose variance is at most 2^-40 of the mean square counts as constant and is not clipped. */
static float scale_of(const Call *c, const float *x)
{
    const double clip = params_of(c->self)->clip, n = (double)c->shape->n;
    double sum, squares;
    float most;
    if (clip == 0)
        return blockwise_most(x, c->shape->n, c->threads);
    blockwise_moments(x, c->shape->n, c->threads, &sum, &squares, &most);
    const double spread = squares / n - sum / n * (sum / n), scale = clip * sqrt(spread);
    return spread > 0x1p-40 * (squares / n) && scale < (double)most ? (float)scale : most;
}

static Status find_all(const Buckets *b, uint8_t *head)
{
    store_f32(head, scale_of(b->c, b->x));
    return OK;
}

static bool good(const Buckets *b, const uint8_t *head)
{
    (void)b;
    return isfinite(load_f32(head)) && !signbit(load_f32(head));
}

static void quantise(const Buckets *b, const uint8_t *head, const float *x, size_t n, const RngKey *key,
                     uint32_t first, void *code)
{
    (void)b;
    kernels()->toss8(x, n, coin_make(load_f32(head)), *key, first, code);
}

static const char *dequantise(const Buckets *b, const uint8_t *head, const void *code, size_t n, float *x)
{
    (void)b;
    return kernels()->dequantise8(code, n, dequantiser_make(load_f32(head), 1), x) ? NULL : BAD_LEVEL;
}

/* Returns the sum of |x| (s - |x|) = s |x|_1 - |x|^2; NaN if an element is clipped. */
static double variance(const Buckets *b, const uint8_t *head, const float *x, size_t n)
{
    const double scale = (double)load_f32(head);
    double sum = 0;
    if (params_of(b->c->self)->clip > 0 || (double)blockwise_most(x, n, b->c->threads) > scale)
        return NAN;
    for (size_t i = 0; i < n; i++)
        sum += fabs((double)x[i]) * (scale - fabs((double)x[i]));
    return sum;
}

static float scale_in(const uint8_t *head)
{
    return load_f32(head);
}

static void open(Buckets *b, const Call *c)
{
    static const CodeKind kinds[] = {[TRIT] = CODE_TRITS,
                                     [TWO_BIT] = CODE_FIXED,
                                     [RANS] = CODE_RANS,
                                     [ELIAS] = CODE_ELIAS};
    const Terngrad *p = c->self->params;
    buckets_open(b, c, 0, 1, false, kinds[p->code]);
    b->correlated = p->rounding == ROUNDING_CORRELATED;
    b->share = p->share;
}

static const BucketLaw law = {
    .open = open,
    .size = 4,
    .name = "scale",
    .find_all = find_all,
    .good = good,
    .scale = scale_in,
    .quantise = quantise,
    .dequantise = dequantise,
    .variance = variance,
};

const Compressor compressor_terngrad = {
    .name = "terngrad",
    .brief = "each element -s, 0 or s",
    .plain = "Sends each element as the largest magnitude, as minus that, or as zero, at random so that the"
             " mean is the element.",
    .use_when = "about 1.6 bits an element are wanted, encoding must be cheap, and no element is far larger"
                " than the others.",
    .example = "atomo-bench synth -o g.h5\n"
               "atomo-bench compare g.h5 -c terngrad -c qsgd:bits=1",
    .formula =
        "x^_i = s sgn(x_i) b_i,  P(b_i = 1) = min(1, |x_i| / s),\n"
        "s = max |x|, or with clip c > 0: min(c sigma, max |x|), sigma the standard deviation about the\n"
        "mean: clipping is biased (the paper's c is 2.5).\n"
        "E x^ = x and E |x^ - x|^2 = s |x|_1 - |x|^2 without clipping.\n"
        "share=on: a first round finds the largest scale of all workers, and all use it.\n"
        "trit: 1.6 bits an element, 2bit: 2, elias: omega codes of gaps and signs,\n"
        "rans: the entropy of signs and zeros, by their shares in a table.\n"
        "Raw where that is smaller.",
    .paper = "Wen, Xu, Yan, Wu, Wang, Chen, Li: TernGrad: Ternary Gradients to Reduce Communication in\n"
             "Distributed Deep Learning, NIPS 2017",
    .look = {HUE_LEVELS, 3, 0},
    .params = schema,
    .params_size = sizeof(Terngrad),
    .promises = RANDOM | EXACT_BYTES,
    .traits = traits,
    .rounds = rounds,
    .merge = buckets_merge,
    .family = &law,
    BUCKET_HOOKS,
};
