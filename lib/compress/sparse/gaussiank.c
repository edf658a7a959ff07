/* gaussiank.c -- sends the elements whose magnitudes reach a threshold (Shi, Chu, Cheung, See 2019). The
 * threshold is computed from a normal distribution fitted to the elements. If it selects too few or too many
 * elements, it is multiplied by 0.5 or 1.5, up to ROUNDS times. The payload has the format of sparse.h. */
#include "math/blockwise.h"
#include "compress/sparse/sparse.h"

#include <math.h>

typedef struct {
    double ratio;
} Gaussiank;

static const Param schema[] = {
    PARAM(Gaussiank, ratio, "0.01", 0, 1, "elements aimed at as a share of all", .above = true, .rate = true),
    {0},
};

enum { ROUNDS = 4 };

/* Returns the threshold |mean| + z sigma of the fitted normal distribution, where z satisfies P(|N(0, 1)| > z)
 * = ratio. */
static double fitted_level(const Call *c, const float *x, double ratio)
{
    const double n = (double)c->shape->n;
    double sum, squares;
    blockwise_moments(x, c->shape->n, c->threads, &sum, &squares);
    const double mean = sum / n, variance = fmax(squares / n - mean * mean, 0);
    return fabs(mean) - normal_lower_quantile(0.5 * ratio) * sqrt(variance);
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    const double ratio = ((const Gaussiank *)c->self->params)->ratio;
    const double k = (double)picks_wanted(c->shape->n, ratio);
    double level = k < (double)c->shape->n ? fitted_level(c, x, ratio) : 0;
    Picks s;
    TRY(picks_open(c, x, &s));
    select_from(&s, level);
    for (int round = 0; round < ROUNDS && level > 0; round++) {
        if ((double)s.count >= 2 * k / 3 && (double)s.count <= 4 * k / 3)
            break;
        level *= (double)s.count < k ? 0.5 : 1.5;
        select_from(&s, level);
    }
    return picks_put_some(c, &s, out);
}

const Compressor compressor_gaussiank = {
    .name = "gaussiank",
    .brief = "about k elements, above the threshold of a fitted normal distribution",
    .plain = "Sends about the k largest elements. A normal distribution fitted to the tensor gives the "
             "threshold, so that nothing is sorted.",
    .use_when = "choosing the k largest takes too long, and their number may be inexact: ef+gaussiank.",
    .example = "atomo-bench synth -o g.h5 --steps 4\n"
               "atomo-bench compare g.h5 -c ef+gaussiank:ratio=0.01 -c ef+topk:ratio=0.01",
    .formula = "k = max(1, floor(ratio n + 1/2)); t = |mean| + z sigma, P(|N(0, 1)| > z) = ratio\n"
               "up to four times: t/2 where fewer than 2k/3 elements reach t, 3t/2 where more than 4k/3 do\n"
               "decode g_i where |g_i| >= t, else 0; where none reaches t, the largest magnitude is t.\n"
               "No selection and no sort, but the number of elements is not k on tails that are not normal.\n"
               "Biased: meant for ef+gaussiank.",
    .paper = "Shi, Chu, Cheung, See: Understanding Top-k Sparsification in Distributed Deep Learning, 2019\n"
             "(arXiv:1911.08772)",
    .look = {HUE_SPARSE, 5, 3},
    .params = schema,
    .params_size = sizeof(Gaussiank),
    .promises = EXACT_BYTES | LEAVES_OUT,
    .bound = picks_bound,
    .encode = encode,
    .decode = picks_decode,
};
