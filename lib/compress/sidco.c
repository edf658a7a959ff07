/* sidco.c -- the threshold of exponential tails, fitted to what passed the one before (Abdelmoniem et al. 2021). The
 * payload is sparse.h's.
 *
 * The paper counts how many elements went in past steps and adds or drops a stage; here each number of stages is
 * tried on the tensor itself, so there is no state. */
#include "../sparse.h"

#include <math.h>

typedef struct {
    double ratio;
} Sidco;

static const Param schema[] = {
    PARAM(Sidco, ratio, "0.01", 0, 1, "elements aimed at as a share of all", .above = true, .rate = true),
    {0},
};

static unsigned traits(const Codec *codec)
{
    (void)codec;
    return EXACT_BYTES;
}

enum { STAGES = 4 };
#define FIRST_SHARE 0.25 /* of all elements, meant to pass the first of several stages */

/* The level that a share of those selected should reach, where what they have above `from` is exponential. */
static double next_level(const Picks *s, double from, double share)
{
    return from - (select_sum(s) / (double)s->count - from) * log(share);
}

/* Leaves the selection of the last stage; returns its level. No stage follows one that nothing passes. */
static double run_stages(Picks *s, double mean, double ratio, int stages)
{
    const double first = stages > 1 ? FIRST_SHARE : ratio;
    const double share = stages > 1 ? pow(ratio / first, 1.0 / (stages - 1)) : 1;
    double level = -mean * log(first);
    select_from(s, level);
    for (int stage = 1; stage < stages && s->count > 0; stage++) {
        level = next_level(s, level, share);
        select_from(s, level);
    }
    return level;
}

/* How far from k, as a factor. */
static double miss(size_t count, double k)
{
    return count == 0 ? INFINITY : fmax((double)count / k, k / (double)count);
}

static double best_level(Picks *s, double ratio, double k)
{
    const double mean = select_total(s) / (double)s->n;
    double best = INFINITY, least = INFINITY;
    for (int stages = 1; stages <= (ratio < FIRST_SHARE ? STAGES : 1); stages++) {
        const double level = run_stages(s, mean, ratio, stages);
        if (miss(s->count, k) < least) {
            least = miss(s->count, k);
            best = level;
        }
    }
    return best;
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    const double ratio = ((const Sidco *)c->self->params)->ratio;
    const size_t k = picks_wanted(c, ratio);
    Picks s;
    TRY(picks_open(c, x, &s));
    select_from(&s, k < c->shape->n ? best_level(&s, ratio, (double)k) : 0);
    if (s.count == 0)
        select_from(&s, select_largest(&s));
    return picks_put(c, &s, out);
}

static Status decode(const Call *c, Bytes in, float *x)
{
    PicksRead read;
    return picks_get(c, in, x, &read);
}

const Compressor compressor_sidco = {
    .name = "sidco",
    .brief = "about k elements, above the threshold of fitted exponential tails",
    .formula = "k = max(1, floor(ratio n + 1/2)). With M stages t_0 = 0 and\n"
               "t_m = t_(m-1) + b ln(1/d_m), b = the mean of |g_i| - t_(m-1) over all |g_i| >= t_(m-1)\n"
               "d = ratio for M = 1; else d_1 = 1/4 and (4 ratio)^(1/(M-1)) for the others.\n"
               "M is the one of 1 to 4 whose number of elements comes nearest to k (the paper's\n"
               "adapts from step to step; this one has no state).\n"
               "decode g_i where |g_i| >= t_M, else 0; where none reaches it, the largest magnitude is t_M.\n"
               "Biased: meant for ef+sidco.",
    .paper = "Abdelmoniem, Elzanaty, Alouini, Canini: An Efficient Statistical-based Gradient Compression\n"
             "Technique for Distributed Training Systems (SIDCo), MLSys 2021",
    .params = schema,
    .params_size = sizeof(Sidco),
    .traits = traits,
    .bound = picks_bound,
    .encode = encode,
    .decode = decode,
};
