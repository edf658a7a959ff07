/* qsgd.c -- qsgd, nuqsgd and terngrad: a norm for each bucket, and for each element a sign and a level. The payload has the
 * format of buckets.h; the head of a bucket is norm:32. */
#include "compress/levels/buckets.h"
#include "math/blockwise.h"

#include <math.h>

static const char *const code_names[] = {"elias", "elias-sparse", "elias-dense", "fixed", "rans", NULL};

/* ---- heads of buckets that are one float32, the norm ---- */

static void find_norm(const Buckets *b, const float *x, size_t n, uint8_t *head)
{
    (void)b;
    store_f32(head, (float)sqrt(blockwise_squares(x, n, 1)));
}

static float norm_scale(const uint8_t *head)
{
    return load_f32(head);
}

static bool good_norm(const Buckets *b, const uint8_t *head)
{
    (void)b;
    return isfinite(load_f32(head)) && !signbit(load_f32(head));
}

/* ---- qsgd: QSGD (Alistarh, Grubic, Li, Tomioka, Vojnovic 2017): a level is one of 0 .. s, rounded stochastically ---- */

typedef struct {
    int64_t bits, levels, bucket;
    int norm, code, rounding;
} Qsgd;

enum { NORM_L2, NORM_LINF };
static const char *const norms[] = {"l2", "linf", NULL};

static const Param qsgd_schema[] = {
    PARAM(Qsgd, bits, "4", 1, 16, "bits of a level: 2^bits - 1 levels above zero", .rate = true, .group = 1),
    PARAM(Qsgd, levels, NULL, 1, LEVELS_MAX, "levels above zero, instead of bits", .fine = true, .group = 1),
    PARAM(Qsgd, bucket, "512", 0, 1 << 24, "elements that share a norm, 0: the whole tensor"),
    PARAM_OF(Qsgd, norm, "l2", norms, "what a bucket is scaled by"),
    PARAM_OF(Qsgd, code, "elias", code_names,
             "how levels travel; elias takes the shorter of sparse and dense"),
    PARAM_OF(Qsgd, rounding, "independent", rounding_names, WORKERS_ROUNDING_HELP),
    {0},
};

/* ---- the norm and the levels of one bucket ---- */

static void qsgd_find(const Buckets *b, const float *x, size_t n, uint8_t *head)
{
    if (((const Qsgd *)b->c->self->params)->norm == NORM_LINF)
        store_f32(head, kernels()->abs_max(x, n));
    else
        find_norm(b, x, n, head);
}

/* True if the norm is finite and not negative, and the decoded value of the highest level is finite. */
static bool qsgd_good(const Buckets *b, const uint8_t *head)
{
    const float norm = load_f32(head);
    const Dequantiser d = dequantiser_make(norm, b->s);
    return good_norm(b, head) && isfinite(dequantise_code(&d, b->s));
}

static void qsgd_quantise(const Buckets *b, const uint8_t *head, const float *x, size_t n, const RngKey *key,
                     uint32_t first, void *code)
{
    const float norm = load_f32(head);
    if (b->s == 1)
        kernels()->toss8(x, n, coin_make(norm), *key, first, code);
    else if (b->wide)
        kernels()->quantise32(x, n, quantiser_make(norm, b->s), *key, first, code);
    else
        kernels()->quantise8(x, n, quantiser_make(norm, b->s), *key, first, code);
}

static const char *qsgd_dequantise(const Buckets *b, const uint8_t *head, const void *code, size_t n, float *x)
{
    const Dequantiser d = dequantiser_make(load_f32(head), b->s);
    const bool good =
        b->wide ? kernels()->dequantise32(code, n, d, x) : kernels()->dequantise8(code, n, d, x);
    return good ? NULL : BAD_LEVEL;
}

/* Returns the variance of a bucket: (N/s)^2 sum f (1 - f), where f is the fractional part of s |x| / N, and N
 * is the norm sent as float32. */
static double qsgd_bucket_variance(const Buckets *b, const uint8_t *head, const float *x, size_t n)
{
    const double norm = (double)load_f32(head);
    double sum = 0;
    for (size_t i = 0; i < n && norm > 0; i++)
        sum += rounding_variance(fabs((double)x[i]), norm, b->s);
    return norm / b->s * (norm / b->s) * sum;
}

static void qsgd_open(Buckets *b, const Call *c)
{
    const Qsgd *p = c->self->params;
    const uint32_t s = p->levels != PARAM_NONE ? (uint32_t)p->levels : (UINT32_C(1) << p->bits) - 1;
    buckets_open(b, c, p->bucket, s, false, (CodeKind)p->code);
    b->correlated = p->rounding == ROUNDING_CORRELATED;
}

static const BucketLaw qsgd_law = {
    .open = qsgd_open,
    .size = 4,
    .name = "norm",
    .find = qsgd_find,
    .good = qsgd_good,
    .scale = norm_scale,
    .quantise = qsgd_quantise,
    .dequantise = qsgd_dequantise,
    .variance = qsgd_bucket_variance,
};

static unsigned qsgd_traits(const Codec *codec)
{
    const Qsgd *p = codec->params;
    return (p->code == CODE_FIXED ? FIXED_SIZE : 0u) | (p->rounding == ROUNDING_CORRELATED ? PART_SHARED : 0u);
}

static const Compressor compressor_qsgd = {
    .name = "qsgd",
    .brief = "a norm for each bucket, stochastically rounded levels",
    .plain = "Divides each run of 512 elements by its norm and rounds each element at random to one of few "
             "evenly spaced levels, so that the mean is the element. Most levels are zero, so that few bits"
             " suffice.",
    .use_when = "you want an unbiased quantiser with a rate that you choose: the usual first try.",
    .example = "atomo-bench synth -o g.h5 --force\n"
               "atomo-bench compare g.h5 -c qsgd:bits=1/2/4/8",
    .formula =
        "Each bucket of consecutive elements has a norm N (l2, or the largest magnitude) and s levels:\n"
        "  x^_i = N/s sgn(x_i) k_i,   k_i = l + 1 with probability f, else l,\n"
        "  l = floor(s |x_i| / N),    f = s |x_i| / N - l,    s = 2^bits - 1 or levels.\n"
        "E x^ = x;  E |x^ - x|^2 = sum over buckets (N/s)^2 sum f (1 - f)\n"
        "        <= min(d/s^2, sqrt(d)/s) |x|^2 for l2 norms and buckets of d.\n"
        "elias codes: omega(gap) sign omega(k) for levels that are not zero, with a count for each\n"
        "bucket (sparse), or omega(k + 1) and a sign unless k = 0 (dense), whichever is shorter;\n"
        "fixed: bits + 1 bits an element; rans: a symbol for level and sign, its share in\n"
        "a table of the tensor or of each 2^16 elements, whichever is shorter. Norms take 32 bits a bucket.\n"
        "Raw where the worst case of spec and shape would not be smaller.",
    .paper = "Alistarh, Grubic, Li, Tomioka, Vojnovic: QSGD: Communication-Efficient SGD via Gradient\n"
             "Quantization and Encoding, NIPS 2017",
    .look = {HUE_LEVELS, 4, 0},
    .params = qsgd_schema,
    .promises = UNBIASED | RANDOM | EXACT_BYTES,
    .traits = qsgd_traits,
    .family = &qsgd_law,
    BUCKET_HOOKS,
};

/* ---- nuqsgd: NUQSGD (Ramezani-Kebrya, Faghri, Markov, Aksenov, Alistarh, Roy 2021): a level is 0 or one of s levels, each
 * twice the level below, rounded stochastically (quantise.h) ---- */

typedef struct {
    int64_t bits, bucket;
    int code;
} Nuqsgd;

static const Param nuqsgd_schema[] = {
    PARAM(Nuqsgd, bits, "4", 1, LADDER_BITS_MAX, "bits of a level: 2^bits - 1 levels above zero",
          .rate = true),
    PARAM(Nuqsgd, bucket, "8192", 0, 1 << 24, "elements that share a norm, 0: the whole tensor"),
    PARAM_OF(Nuqsgd, code, "fixed", code_names,
             "how levels travel, as in qsgd; the paper's are Elias and Huffman codes"),
    {0},
};

/* ---- the norm and the levels of one bucket ---- */

static int bits_of(const Buckets *b)
{
    return (int)((const Nuqsgd *)b->c->self->params)->bits;
}

static void nuqsgd_quantise(const Buckets *b, const uint8_t *head, const float *x, size_t n, const RngKey *key,
                     uint32_t first, void *code)
{
    const float norm = load_f32(head);
    if (b->s == 1)
        kernels()->toss8(x, n, coin_make(norm), *key, first, code);
    else
        kernels()->climb(x, n, ladder_make(norm, bits_of(b)), *key, first, code);
}

static const char *nuqsgd_dequantise(const Buckets *b, const uint8_t *head, const void *code, size_t n, float *x)
{
    return kernels()->descend(code, n, ladder_make(load_f32(head), bits_of(b)), x) ? NULL : BAD_LEVEL;
}

/* Returns the sum of (up - |x|)(|x| - low), where `up` and `low` are the neighbouring levels above and below
 * |x|. The levels are computed from the payload's float32 norm. */
static double nuqsgd_bucket_variance(const Buckets *b, const uint8_t *head, const float *x, size_t n)
{
    const double norm = (double)load_f32(head), lowest = ldexp(norm, 1 - (int)b->s);
    double sum = 0;
    for (size_t i = 0; i < n && norm > 0; i++) {
        const double v = fmin(fabs((double)x[i]), norm);
        const double low = v < lowest ? 0 : ldexp(lowest, ilogb(v / lowest));
        sum += ((low > 0 ? 2 * low : lowest) - v) * (v - low);
    }
    return sum;
}

static void nuqsgd_open(Buckets *b, const Call *c)
{
    const Nuqsgd *p = c->self->params;
    buckets_open(b, c, p->bucket, (UINT32_C(1) << p->bits) - 1, false, (CodeKind)p->code);
}

static const BucketLaw nuqsgd_law = {
    .open = nuqsgd_open,
    .size = 4,
    .name = "norm",
    .find = find_norm,
    .good = good_norm,
    .scale = norm_scale,
    .quantise = nuqsgd_quantise,
    .dequantise = nuqsgd_dequantise,
    .variance = nuqsgd_bucket_variance,
};

static unsigned nuqsgd_traits(const Codec *codec)
{
    return ((const Nuqsgd *)codec->params)->code == CODE_FIXED ? FIXED_SIZE : 0u;
}

static const Compressor compressor_nuqsgd = {
    .name = "nuqsgd",
    .brief = "a norm for each bucket, levels that double",
    .plain = "Rounds each element at random to a level, where each level is half the one above it, from the"
             " norm of each bucket down. Small elements have closer levels than in qsgd.",
    .use_when = "most elements are far smaller than the norm of their run, and few levels are affordable.",
    .example = "atomo-bench synth -o g.h5 --force --law laplace\n"
               "atomo-bench compare g.h5 -c nuqsgd:bits=3 -c qsgd:bits=3",
    .formula =
        "Each bucket of consecutive elements has the norm N = |x|_2 and levels above zero that double:\n"
        "  l_k = N 2^(k - s),  k = 1 ... s,  s = 2^bits - 1;  l_0 = 0.\n"
        "For l_k <= |x_i| <= l_(k+1): x^_i = sgn(x_i) l_(k+1) with probability (|x_i| - l_k) / (l_(k+1) - "
        "l_k),\n"
        "else sgn(x_i) l_k.\n"
        "E x^ = x;  E |x^ - x|^2 = sum (l_(k+1) - |x_i|)(|x_i| - l_k): at most |x_i|^2 / 8 above l_1.\n"
        "fixed: bits + 1 bits an element. The paper codes levels by their entropy (Elias or Huffman): elias\n"
        "and rans are as in qsgd. On LeNet's gradients rans takes 15 % fewer bytes than fixed.\n"
        "Norms take 32 bits a bucket. Raw where the worst case of spec and shape would not be smaller.",
    .paper =
        "Ramezani-Kebrya, Faghri, Markov, Aksenov, Alistarh, Roy: NUQSGD: Provably Communication-Efficient\n"
        "Data-Parallel SGD via Nonuniform Quantization, JMLR 22, 2021",
    .look = {HUE_LEVELS, 5, 1},
    .params = nuqsgd_schema,
    .promises = UNBIASED | RANDOM | EXACT_BYTES,
    .traits = nuqsgd_traits,
    .family = &nuqsgd_law,
    BUCKET_HOOKS,
};

/* ---- terngrad: TernGrad (Wen, Xu, Yan, Wu, Wang, Chen, Li 2017): each element is rounded at random to -s, 0 or
 * s, where s is the tensor's scale.
 *
 *     share=off   kind:8  scale:32  codes
 *     share=on    round 0: kind:8  scale:32            merged by maximum: kind:8  workers:varint  scale:32
 *                 round 1: kind:8  codes               at the merged scale of round 0
 *
 *     code=trit   five to the byte (planes.h);  2bit: two bit planes;  rans, elias: codes.h with one level
 *
 * This is the payload of buckets.h with one bucket, whose head is the scale; elements are rounded as by qsgd with one level. ---- */

typedef struct {
    double clip;
    int code;
    bool share;
    int rounding;
} Terngrad;

enum { TRIT, TWO_BIT, RANS, ELIAS };
static const char *const terngrad_codes[] = {"trit", "2bit", "rans", "elias", NULL};

static const Param terngrad_schema[] = {
    PARAM(Terngrad, clip, "0", 0, 1e6,
          "scale by this many standard deviations at most, 0: by the largest magnitude"),
    PARAM_OF(Terngrad, code, "trit", terngrad_codes, "how signs and zeros travel"),
    PARAM_SWITCH(Terngrad, share, "off", "one scale for all workers, sent in a round of its own"),
    PARAM_OF(Terngrad, rounding, "independent", rounding_names, WORKERS_ROUNDING_HELP),
    {0},
};

static const Terngrad *terngrad_of(const Codec *codec)
{
    return codec->params;
}

static unsigned terngrad_traits(const Codec *codec)
{
    const bool fixed = terngrad_of(codec)->code == TRIT || terngrad_of(codec)->code == TWO_BIT;
    return (terngrad_of(codec)->clip == 0 ? UNBIASED : 0u) | (fixed ? FIXED_SIZE : 0u) |
           (terngrad_of(codec)->rounding == ROUNDING_CORRELATED ? PART_SHARED : 0u);
}

static int terngrad_rounds(const Codec *codec)
{
    return terngrad_of(codec)->share ? 2 : 1;
}

/* ---- the scale s of the levels -s, 0 and s, and the codes ---- */

/* Returns the largest magnitude, or with clip > 0 clip times the standard deviation if that is less. The variance is
 * computed as the mean square minus the squared mean, whose rounding errors may give a constant vector a small variance.
 * So a vector whose variance is at most 2^-40 of the mean square counts as constant and is not clipped. */
static float terngrad_scale_of(const Call *c, const float *x)
{
    const double clip = terngrad_of(c->self)->clip, n = (double)c->shape->n;
    double sum, squares;
    float most;
    if (clip == 0)
        return blockwise_most(x, c->shape->n, c->threads);
    blockwise_moments(x, c->shape->n, c->threads, &sum, &squares, &most);
    const double spread = squares / n - sum / n * (sum / n), scale = clip * sqrt(spread);
    return spread > 0x1p-40 * (squares / n) && scale < (double)most ? (float)scale : most;
}

static Status terngrad_find_all(const Buckets *b, uint8_t *head)
{
    store_f32(head, terngrad_scale_of(b->c, b->x));
    return OK;
}

/* Returns the sum of |x| (s - |x|) = s |x|_1 - |x|^2; NaN if an element is clipped. */
static double terngrad_variance(const Buckets *b, const uint8_t *head, const float *x, size_t n)
{
    const double scale = (double)load_f32(head);
    double sum = 0;
    if (terngrad_of(b->c->self)->clip > 0 || (double)blockwise_most(x, n, b->c->threads) > scale)
        return NAN;
    for (size_t i = 0; i < n; i++)
        sum += fabs((double)x[i]) * (scale - fabs((double)x[i]));
    return sum;
}

static void terngrad_open(Buckets *b, const Call *c)
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

static const BucketLaw terngrad_law = {
    .open = terngrad_open,
    .size = 4,
    .name = "scale",
    .find_all = terngrad_find_all,
    .good = good_norm,
    .scale = norm_scale,
    .quantise = qsgd_quantise,
    .dequantise = qsgd_dequantise,
    .variance = terngrad_variance,
};

static const Compressor compressor_terngrad = {
    .name = "terngrad",
    .brief = "each element -s, 0 or s",
    .plain = "Sends each element as the largest magnitude, as minus that, or as zero, at random so that the"
             " mean is the element.",
    .use_when = "about 1.6 bits an element are wanted, encoding must be cheap, and no element is far larger"
                " than the others.",
    .example = "atomo-bench synth -o g.h5 --force\n"
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
    .params = terngrad_schema,
    .promises = RANDOM | EXACT_BYTES | NEEDS_ALL,
    .traits = terngrad_traits,
    .rounds = terngrad_rounds,
    .merge = buckets_merge,
    .family = &terngrad_law,
    BUCKET_HOOKS,
};

const Compressor *const compressors_norms[] = {&compressor_qsgd, &compressor_terngrad, &compressor_nuqsgd, NULL};
