/* minmax.c -- the quantiser of Suresh, Yu, Kumar, McMahan 2017 and of CGX: each bucket has 2^bits uniform
 * levels, from its smallest to its largest element. The payload (buckets.h) has bit planes of `bits` bits per
 * element, and for each bucket a head:
 *
 *     low:32  high:32 */
#include "compress/levels/buckets.h"

#include <math.h>

typedef struct {
    int64_t bits, bucket;
    int rounding;
} Minmax;

enum { NEAREST, STOCHASTIC, CORRELATED };
static const char *const roundings[] = {"nearest", "stochastic", "correlated", NULL};

static const Param schema[] = {
    PARAM(Minmax, bits, "4", 1, 16, "bits of a level: 2^bits levels, both ends included", .rate = true),
    PARAM(Minmax, bucket, "512", 0, 1 << 24, "elements that share a range, 0: the whole tensor"),
    PARAM_OF(Minmax, rounding, "nearest", roundings, "to the nearest level, or so that the mean is kept; correlated: and the workers' errors cancel"),
    {0},
};

static bool is_random(const Codec *codec)
{
    return ((const Minmax *)codec->params)->rounding != NEAREST;
}

static bool is_correlated(const Codec *codec)
{
    return ((const Minmax *)codec->params)->rounding == CORRELATED;
}

static unsigned traits(const Codec *codec)
{
    return (is_random(codec) ? UNBIASED | RANDOM : 0u) | (is_correlated(codec) ? PART_SHARED : 0u);
}

/* ---- the head (range) and the levels of one bucket ---- */

typedef struct {
    float low, high, width; /* width: high - low in double, rounded to float */
} MinmaxRange;

static MinmaxRange range_load(const uint8_t *at)
{
    const float low = load_f32(at), high = load_f32(at + 4);
    return (MinmaxRange){low, high, (float)((double)high - (double)low)};
}

static void find(const Buckets *b, const float *x, size_t n, uint8_t *head)
{
    float low, high;
    (void)b;
    kernels()->range(x, n, &low, &high);
    store_f32(head, low);
    store_f32(head + 4, high);
}

/* True if low and high are finite, low <= high, neither is -0, and high - low is within float32's range. */
static bool good(const Buckets *b, const uint8_t *head)
{
    const MinmaxRange r = range_load(head);
    (void)b;
    return isfinite(r.low) && isfinite(r.high) && isfinite(r.width) && r.low <= r.high &&
           !(r.low == 0 && signbit(r.low)) && !(r.high == 0 && signbit(r.high));
}

static float width_of(const uint8_t *head)
{
    return range_load(head).width;
}

static void quantise(const Buckets *b, const uint8_t *head, const float *x, size_t n, const RngKey *key,
                     uint32_t first, void *code)
{
    const MinmaxRange r = range_load(head);
    const Quantiser q = quantiser_make(r.width, b->s);
    key = is_random(b->c->self) ? key : NULL;
    if (b->wide)
        kernels()->grade32(x, n, r.low, q, key, first, code);
    else
        kernels()->grade8(x, n, r.low, q, key, first, code);
}

static const char *dequantise(const Buckets *b, const uint8_t *head, const void *code, size_t n, float *x)
{
    const MinmaxRange r = range_load(head);
    const Dequantiser d = dequantiser_make(r.width, b->s);
    if (b->wide)
        kernels()->graded32(code, n, r.low, r.high, d, x);
    else
        kernels()->graded8(code, n, r.low, r.high, d, x);
    return NULL;
}

/* Returns the variance of stochastic rounding: D^2 sum f (1 - f). D = (high - low) / s is the distance between
 * levels, and f is the fractional part of (x - low) / D for an element x. */
static double bucket_variance(const Buckets *b, const uint8_t *head, const float *x, size_t n)
{
    const MinmaxRange r = range_load(head);
    const double width = (double)r.width;
    double sum = 0;
    if (!is_random(b->c->self))
        return NAN;
    for (size_t i = 0; i < n && width > 0; i++)
        sum += rounding_variance((double)x[i] - (double)r.low, width, b->s);
    return width / b->s * (width / b->s) * sum;
}

static void open(Buckets *b, const Call *c)
{
    const Minmax *p = c->self->params;
    buckets_open(b, c, p->bucket, (UINT32_C(1) << p->bits) - 1, true, CODE_FIXED);
    b->correlated = is_correlated(c->self);
}

static const BucketLaw law = {
    .open = open,
    .size = 8,
    .name = "range",
    .find = find,
    .good = good,
    .scale = width_of,
    .quantise = quantise,
    .dequantise = dequantise,
    .variance = bucket_variance,
};

const Compressor compressor_minmax = {
    .name = "minmax",
    .brief = "uniform levels between each bucket's extremes",
    .plain = "Divides the range between the least and the greatest of 512 elements into even levels and "
             "rounds each element to the nearest, or at random so that the mean is kept.",
    .use_when = "elements that stand together are of similar size, or you compare with systems that "
                "quantise so (CGX).",
    .example = "atomo-bench synth -o g.h5 --force\n"
               "atomo-bench compare g.h5 -c minmax:bits=4 -c minmax:bits=4,rounding=stochastic",
    .formula = "Each bucket of consecutive elements has low = min x, high = max x and 2^bits levels, both "
               "ends included:\n"
               "  x^_i = low + D k_i,   D = (high - low) / s,   s = 2^bits - 1,\n"
               "  t = (x_i - low) / D;  nearest: k_i = floor(t + 1/2);  stochastic: k_i = floor(t) + 1 with\n"
               "  probability f = t - floor(t), else floor(t).\n"
               "stochastic: E x^ = x;  E |x^ - x|^2 = sum over buckets D^2 sum f (1 - f), at most D^2 / 4 an "
               "element.\n"
               "nearest: |x^_i - x_i| <= D / 2.\n"
               "bits an element and 64 a bucket. Raw where that would not be smaller.",
    .paper =
        "Suresh, Yu, Kumar, McMahan: Distributed Mean Estimation with Limited Communication, ICML 2017;\n"
        "Markov, Ramezani-Kebrya, Alistarh: CGX: Adaptive System Support for Communication-Efficient\n"
        "Deep Learning, Middleware 2022",
    .look = {HUE_LEVELS, 1, 3},
    .params = schema,
    .promises = EXACT_BYTES | FIXED_SIZE,
    .traits = traits,
    .family = &law,
    BUCKET_HOOKS,
};
