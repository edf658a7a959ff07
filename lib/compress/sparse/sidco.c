/* sidco.c -- sends the elements above a threshold that is found in stages (Abdelmoniem et al. 2021). Each stage
 * fits an exponential distribution to the magnitudes above the threshold of the previous stage, and so finds a
 * higher threshold. The payload has the format of sparse.h.
 *
 * The paper adapts the number of stages to the number of elements sent in past steps. The codec here has no
 * state: it tries every number of stages (1 to 4) on the tensor itself. */
#include "math/vec/kernels.h"
#include "base/parallel.h"
#include "compress/sparse/sparse.h"

#include <math.h>

typedef struct {
    double ratio;
} Sidco;

static const Param schema[] = {
    PARAM(Sidco, ratio, "0.01", 0, 1, "elements aimed at as a share of all", .above = true, .rate = true),
    {0},
};

enum { STAGES = 4 };
/* With several stages, the first stage's threshold is set to select about the share FIRST_SHARE of all
 * elements. */
#define FIRST_SHARE 0.25

/* The magnitudes above the first stage's threshold, for each block; later stages read no others. */
typedef struct {
    const Picks *s;
    float level;
    float *value;      /* magnitudes; those of block b begin at b (BLOCK + ROOM_BEHIND) */
    size_t *listed;    /* for each block: number of magnitudes in `value` */
    size_t *count;     /* for each block: number of magnitudes that reach `level` */
    double *magnitude; /* for each block: sum of the magnitudes that reach `level` */
} Tail;

static float *listed_of(const Tail *t, size_t block)
{
    return t->value + block * (BLOCK + ROOM_BEHIND);
}

static void list_block(void *data, size_t block)
{
    const Tail *t = data;
    double sum[3];
    t->listed[block] = kernels()->sums_around(t->s->x + block * BLOCK, block_size(t->s->n, block), t->level,
                                              INFINITY, listed_of(t, block), sum);
}

static void reach_block(void *data, size_t block)
{
    const Tail *t = data;
    float above[BLOCK + ROOM_BEHIND];
    double sum[3];
    t->count[block] =
        kernels()->sums_around(listed_of(t, block), t->listed[block], t->level, INFINITY, above, sum);
    t->magnitude[block] = kernels()->sum_magnitudes(above, t->count[block]);
}

static bool tail_open(Tail *t, const Picks *s, double level)
{
    const size_t blocks = blocks_of(s->n);
    *t = (Tail){.s = s, .level = select_level(level)};
    t->value = NEW(s->scratch, float, s->n + blocks * ROOM_BEHIND);
    t->listed = NEW(s->scratch, size_t, blocks);
    t->count = NEW(s->scratch, size_t, blocks);
    t->magnitude = NEW(s->scratch, double, blocks);
    if (!t->value || !t->listed || !t->count || !t->magnitude)
        return false;
    parallel_for(s->threads, blocks, list_block, t);
    return true;
}

/* Returns how many magnitudes are at least `level`, and sets *mean to their mean. */
static size_t reach(Tail *t, double level, double *mean)
{
    const size_t blocks = blocks_of(t->s->n);
    size_t count = 0;
    double sum = 0;
    t->level = select_level(level);
    parallel_for(t->s->threads, blocks, reach_block, t);
    for (size_t b = 0; b < blocks; b++) {
        count += t->count[b];
        sum += t->magnitude[b];
    }
    *mean = sum / (double)count;
    return count;
}

/* Returns the threshold of the last stage, and sets *count to the number of magnitudes that reach that
 * threshold. `first` is the threshold of the first stage. Each later stage fits an exponential distribution to
 * the magnitudes above the previous threshold, and selects the same share of them. Ends early if no magnitude
 * reaches a threshold. */
static double run_stages(Tail *t, double first, double ratio, int stages, size_t *count)
{
    const double share = pow(ratio / FIRST_SHARE, 1.0 / (stages - 1));
    double level = first, mean;
    *count = reach(t, level, &mean);
    for (int stage = 1; stage<stages && * count> 0; stage++) {
        level -= fmax(mean - level, 0) * log(share);
        *count = reach(t, level, &mean);
    }
    return level;
}

/* Returns the factor, 1 or more, by which `count` differs from the desired count k. */
static double miss(size_t count, double k)
{
    return count == 0 ? INFINITY : fmax((double)count / k, k / (double)count);
}

/* Tries all numbers of stages, or one stage alone if `ratio` is FIRST_SHARE or more. Returns the threshold
 * for which the number of selected elements is nearest to k, or NaN if memory runs out. */
static double best_level(Picks *s, double ratio, double k)
{
    const double mean = select_total(s) / (double)s->n, first = -mean * log(FIRST_SHARE);
    double best = -mean * log(ratio);
    Tail t;
    select_from(s, best);
    double least = miss(s->count, k);
    if (!(least < INFINITY))
        best = INFINITY;
    if (ratio >= FIRST_SHARE)
        return best;
    if (!tail_open(&t, s, first))
        return NAN;
    for (int stages = 2; stages <= STAGES; stages++) {
        size_t count;
        const double level = run_stages(&t, first, ratio, stages, &count);
        if (miss(count, k) < least) {
            least = miss(count, k);
            best = level;
        }
    }
    return best;
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    const double ratio = ((const Sidco *)c->self->params)->ratio;
    const size_t k = picks_wanted(c->shape->n, ratio);
    Picks s;
    TRY(picks_open(c, x, &s));
    const double level = k < c->shape->n ? best_level(&s, ratio, (double)k) : 0;
    if (isnan(level))
        return arena_fail(c->scratch, c->err);
    select_from(&s, level);
    return picks_put_some(c, &s, out);
}

const Compressor compressor_sidco = {
    .name = "sidco",
    .brief = "about k elements, above the threshold of fitted exponential tails",
    .plain = "Sends about the k largest elements. Exponential distributions fitted to the tails give the "
             "threshold, so that nothing is sorted.",
    .use_when = "choosing the k largest takes too long, and large elements are more frequent than in a "
                "normal distribution: ef+sidco.",
    .example = "atomo-bench synth -o g.h5 --law laplace --steps 4\n"
               "atomo-bench compare g.h5 -c ef+sidco:ratio=0.01 -c ef+topk:ratio=0.01",
    .formula =
        "k = max(1, floor(ratio n + 1/2)). With M stages t_0 = 0 and\n"
        "t_m = t_(m-1) + b ln(1/d_m), b = the mean of |g_i| - t_(m-1) over all |g_i| >= t_(m-1)\n"
        "d = ratio for M = 1; else d_1 = 1/4 and (4 ratio)^(1/(M-1)) for the others.\n"
        "M is the one of 1 to 4 whose number of elements comes nearest to k.\n"
        "decode g_i where |g_i| >= t_M, else 0; where none reaches it, the largest magnitude is t_M.\n"
        "Biased: meant for ef+sidco.\n"
        "Differs from the paper: its M adapts from step to step, this one has no state; of its three laws\n"
        "(exponential, gamma, generalised Pareto) this is the exponential one, SIDCo-E.",
    .paper = "Abdelmoniem, Elzanaty, Alouini, Canini: An Efficient Statistical-based Gradient Compression\n"
             "Technique for Distributed Training Systems (SIDCo), MLSys 2021",
    .look = {HUE_SPARSE, 0, 4},
    .params = schema,
    .params_size = sizeof(Sidco),
    .promises = EXACT_BYTES | LEAVES_OUT,
    .bound = picks_bound,
    .encode = encode,
    .decode = picks_decode,
};
