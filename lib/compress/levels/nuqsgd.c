/* nuqsgd.c -- NUQSGD (Ramezani-Kebrya, Faghri, Markov, Aksenov, Alistarh, Roy 2021): sends a norm for each
 * bucket, and for each element a sign and a level: 0 or one of s levels, each twice the level below, rounded
 * stochastically (quantise.h). The payload has the format of buckets.h; a head is
 *
 *     norm:32 */
#include "compress/levels/buckets.h"

#include <math.h>

typedef struct {
    int64_t bits, bucket;
    int code;
} Nuqsgd;

/* names of the values of the key `code`, in the order of CodeKind */
static const char *const code_names[] = {"elias", "elias-sparse", "elias-dense", "fixed", "rans", NULL};

static const Param schema[] = {
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

static void find(const Buckets *b, const float *x, size_t n, uint8_t *head)
{
    (void)b;
    store_f32(head, buckets_norm(x, n));
}

static bool good(const Buckets *b, const uint8_t *head)
{
    (void)b;
    return isfinite(load_f32(head)) && !signbit(load_f32(head));
}

static void quantise(const Buckets *b, const uint8_t *head, const float *x, size_t n, const RngKey *key,
                     uint32_t first, void *code)
{
    const float norm = load_f32(head);
    if (b->s == 1)
        kernels()->toss8(x, n, coin_make(norm), *key, first, code);
    else
        kernels()->climb(x, n, ladder_make(norm, bits_of(b)), *key, first, code);
}

static const char *dequantise(const Buckets *b, const uint8_t *head, const void *code, size_t n, float *x)
{
    return kernels()->descend(code, n, ladder_make(load_f32(head), bits_of(b)), x) ? NULL : BAD_LEVEL;
}

/* Returns the sum of (up - |x|)(|x| - low), where `up` and `low` are the neighbouring levels above and below
 * |x|. The levels are computed from the payload's float32 norm. */
static double bucket_variance(const Buckets *b, const uint8_t *head, const float *x, size_t n)
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

static void open(Buckets *b, const Call *c)
{
    const Nuqsgd *p = c->self->params;
    buckets_open(b, c, p->bucket, (UINT32_C(1) << p->bits) - 1, (CodeKind)p->code);
}

static const BucketLaw law = {
    .open = open,
    .size = 4,
    .name = "norm",
    .find = find,
    .good = good,
    .refuse = buckets_refuse_norm,
    .scale = buckets_norm_scale,
    .quantise = quantise,
    .dequantise = dequantise,
    .variance = bucket_variance,
};

static unsigned traits(const Codec *codec)
{
    return ((const Nuqsgd *)codec->params)->code == CODE_FIXED ? FIXED_SIZE : 0u;
}

const Compressor compressor_nuqsgd = {
    .name = "nuqsgd",
    .brief = "a norm for each bucket, levels that double",
    .plain = "Rounds each element at random to a level, where each level is half the one above it, from the"
             " norm of each bucket down. Small elements have closer levels than in qsgd.",
    .use_when = "most elements are far smaller than the norm of their run, and few levels are affordable.",
    .example = "atomo-bench synth -o g.h5 --law laplace\n"
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
    .params = schema,
    .params_size = sizeof(Nuqsgd),
    .promises = UNBIASED | RANDOM | EXACT_BYTES,
    .traits = traits,
    .family = &law,
    BUCKET_HOOKS,
};
