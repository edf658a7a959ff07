/* qsgd.c -- QSGD (Alistarh, Grubic, Li, Tomioka, Vojnovic 2017): sends a norm for each bucket, and for each
 * element a sign and a level. The level is one of 0 .. s, rounded stochastically. The payload has the format of
 * buckets.h; the head of a bucket is
 *
 *     norm:32 */
#include "compress/levels/buckets.h"

#include <math.h>

typedef struct {
    int64_t bits, levels, bucket;
    int norm, code;
} Qsgd;

enum { NORM_L2, NORM_LINF };
static const char *const norms[] = {"l2", "linf", NULL};
/* names of the values of the key `code`, in the order of CodeKind */
static const char *const code_names[] = {"elias", "elias-sparse", "elias-dense", "fixed", "rans", NULL};

static const Param schema[] = {
    PARAM(Qsgd, bits, "4", 1, 16, "bits of a level: 2^bits - 1 levels above zero", .rate = true, .group = 1),
    PARAM(Qsgd, levels, NULL, 1, LEVELS_MAX, "levels above zero, instead of bits", .fine = true, .group = 1),
    PARAM(Qsgd, bucket, "512", 0, 1 << 24, "elements that share a norm, 0: the whole tensor"),
    PARAM_OF(Qsgd, norm, "l2", norms, "what a bucket is scaled by"),
    PARAM_OF(Qsgd, code, "elias", code_names,
             "how levels travel; elias takes the shorter of sparse and dense"),
    {0},
};

/* ---- the norm and the levels of one bucket ---- */

static void find(const Buckets *b, const float *x, size_t n, uint8_t *head)
{
    const bool largest = ((const Qsgd *)b->c->self->params)->norm == NORM_LINF;
    store_f32(head, largest ? kernels()->abs_max(x, n) : buckets_norm(x, n));
}

/* True if the norm is finite and not negative, and the decoded value of the highest level is finite. */
static bool good(const Buckets *b, const uint8_t *head)
{
    const float norm = load_f32(head);
    const Dequantiser d = dequantiser_make(norm, b->s);
    return isfinite(norm) && !signbit(norm) && isfinite(dequantise_code(&d, b->s));
}

static void quantise(const Buckets *b, const uint8_t *head, const float *x, size_t n, const RngKey *key,
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

static const char *dequantise(const Buckets *b, const uint8_t *head, const void *code, size_t n, float *x)
{
    const Dequantiser d = dequantiser_make(load_f32(head), b->s);
    const bool good =
        b->wide ? kernels()->dequantise32(code, n, d, x) : kernels()->dequantise8(code, n, d, x);
    return good ? NULL : BAD_LEVEL;
}

/* Returns the variance of a bucket: (N/s)^2 sum f (1 - f), where f is the fractional part of s |x| / N, and N
 * is the norm sent as float32. */
static double bucket_variance(const Buckets *b, const uint8_t *head, const float *x, size_t n)
{
    const double norm = (double)load_f32(head);
    double sum = 0;
    for (size_t i = 0; i < n && norm > 0; i++)
        sum += rounding_variance(fabs((double)x[i]), norm, b->s);
    return norm / b->s * (norm / b->s) * sum;
}

static void open(Buckets *b, const Call *c)
{
    const Qsgd *p = c->self->params;
    const uint32_t s = p->levels != PARAM_NONE ? (uint32_t)p->levels : (UINT32_C(1) << p->bits) - 1;
    buckets_open(b, c, p->bucket, s, (CodeKind)p->code);
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
    return ((const Qsgd *)codec->params)->code == CODE_FIXED ? FIXED_SIZE : 0u;
}

const Compressor compressor_qsgd = {
    .name = "qsgd",
    .brief = "a norm for each bucket, stochastically rounded levels",
    .plain = "Divides each run of 512 elements by its norm and rounds each element at random to one of few "
             "evenly spaced levels, so that the mean is the element. Most levels are zero, so that few bits"
             " suffice.",
    .use_when = "you want an unbiased quantiser with a rate that you choose: the usual first try.",
    .example = "atomo-bench synth -o g.h5\n"
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
    .params = schema,
    .params_size = sizeof(Qsgd),
    .promises = UNBIASED | RANDOM | EXACT_BYTES,
    .traits = traits,
    .family = &law,
    BUCKET_HOOKS,
};
