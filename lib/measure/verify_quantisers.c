/* verify_quantisers.c -- checks Theorem 5 of the ATOMO paper: the l_q-quantisation L_q(g)_i = |g|_q
 * sign(g_i) zeta_i, where zeta_i is 1 with probability |g_i| / |g|_q and else 0, equals Algorithm 1 with the
 * budget |g|_1 / |g|_q. q = 2 is 1-bit QSGD; q = infinity is TernGrad. Two misprints of the paper are
 * corrected here: it prints Q(q) instead of Q(g), and L_q(v) instead of L_q(g). */
#include "measure/verify_parts.h"

#include "dump/describe.h"
#include "base/parallel.h"

#include <stdio.h>
#include <float.h>
#include <math.h>

static const double powers[] = {0.5, 1, 1.5, 2, 3, 4, INFINITY};
enum { POWERS = countof(powers), SQUARE = 3, LARGEST = 6 };

/* ---- norms ---- */

static double power(double v, double q)
{
    const double square = v * v;
    return q == 0.5   ? sqrt(v)
           : q == 1   ? v
           : q == 1.5 ? v * sqrt(v)
           : q == 2   ? square
           : q == 3   ? square * v
                      : square * square;
}

typedef struct {
    const float *x;
    size_t n;
    double most, (*part)[POWERS]; /* for each block: the sum of (|x| / most)^q for each finite q */
} Norming;

static void norm_block(void *data, size_t block)
{
    const Norming *s = data;
    const float *x = s->x + block * BLOCK;
    for (size_t k = 0; k < LARGEST; k++) {
        double sum = 0;
        for (size_t i = 0; i < block_size(s->n, block); i++)
            sum += power(fabs((double)x[i]) / s->most, powers[k]);
        s->part[block][k] = sum;
    }
}

static Status norms_of(VerifySubject *s, const float *x, size_t n, double most, double norm[POWERS])
{
    const ArenaMark mark = arena_mark(s->a);
    Norming job = {x, n, most, arena_take(s->a, blocks_of(n), sizeof(double[POWERS]))};
    TRY(arena_check(job.part, s->a, s->err));
    parallel_for(s->threads, blocks_of(n), norm_block, &job);
    for (size_t k = 0; k < LARGEST; k++) {
        double sum = 0;
        for (size_t b = 0; b < blocks_of(n); b++)
            sum += job.part[b][k];
        norm[k] = fmax(most, most * pow(sum, 1 / powers[k]));
    }
    norm[LARGEST] = most;
    arena_rewind(s->a, mark);
    return OK;
}

/* The first VERIFY_CODED elements of the vector, usually all of them, and their norms. */
typedef struct Leading {
    size_t n, nonzero;
    double l1, squares, most, norm[POWERS];
} Leading;

static void sum_leading(const VerifySubject *s, Leading *l)
{
    const Description d = describe(s->x, l->n);
    l->nonzero = l->n - d.zeros;
    l->l1 = d.l1;
    l->squares = d.l2 * d.l2;
    l->most = d.linf;
}

static Status leading(VerifySubject *s, const Leading **out)
{
    Leading *l = s->leading ? s->leading : NEW_ZERO(s->a, Leading, 1);
    TRY(arena_check(l, s->a, s->err));
    *out = l;
    if (s->leading)
        return OK;
    *l = (Leading){s->n, s->nonzero, s->l1, s->squares, s->most, {0}};
    if (s->n > VERIFY_CODED) {
        l->n = VERIFY_CODED;
        sum_leading(s, l);
    }
    if (l->most > 0)
        TRY(norms_of(s, s->x, l->n, l->most, l->norm));
    s->leading = l;
    return OK;
}

/* True if float32, in which the scale is sent, can represent it. */
static bool in_range(double norm)
{
    return norm <= (double)FLT_MAX;
}

static double rounding(double norm)
{
    return 1e-6 + (double)FLT_TRUE_MIN / norm;
}

/* ---- probabilities ---- */

static Status check_probabilities(VerifySubject *s, VerifyVerdict *v)
{
    const Leading *l = NULL;
    TRY(leading(s, &l));
    for (size_t k = 0; k < POWERS && l->most > 0; k++) {
        const ArenaMark mark = arena_mark(s->a);
        const double budget = l->l1 / l->norm[k];
        Level level;
        TRY(arena_check(s->methods->level(s->x, l->n, budget, s->threads, s->a, &level), s->a, s->err));
        /* tau must be |g|_q, because p_i = |g_i| / tau must be |g_i| / |g|_q. If tau = 0, Algorithm 1 has
         * p_i = 1 for all non-zero g_i. That is right only if all these |g_i| are |g|_q, so their mean takes
         * the place of tau. */
        const double scale = level.tau > 0 ? level.tau : l->l1 / (double)l->nonzero,
                     right = l->norm[k] / l->most;
        verdict_take(v, scale / l->most, right, 1e-9 * right, "q = %g, s = %.4g", powers[k], budget);
        arena_rewind(s->a, mark);
    }
    return OK;
}

/* ---- second moments of quantised vectors ---- */

/* Sets *raw to whether the codec sends x as raw floats, as it does for short vectors only. */
static Status travels_raw(Coded *c, const float *x, bool *raw)
{
    *raw = false;
    if (c->shape.n > VERIFY_PART)
        return OK;
    TRY(coded_draw(c, x, 0));
    *raw = coded_plain(c, x);
    return OK;
}

static const char *lq_spec(double q, char spec[32])
{
    snprintf(spec, 32, "lq:q=%g", q);
    return spec;
}

static Status check_second(VerifySubject *s, VerifyVerdict *v)
{
    const Leading *l = NULL;
    TRY(leading(s, &l));
    const Shape shape = shape_vector(l->n);
    for (size_t k = 0; k < POWERS && l->most > 0; k++) {
        const ArenaMark mark = arena_mark(s->a);
        Coded coded;
        char spec[32];
        bool raw;
        if (!in_range(l->norm[k]))
            continue;
        TRY(coded_open(&coded, s, lq_spec(powers[k], spec), &shape));
        TRY(travels_raw(&coded, s->x, &raw));
        coded.call.shape = &coded.shape;
        const double left = codec_variance(&coded.call, s->x) / l->squares + 1;
        const double right = l->l1 / l->squares * l->norm[k];
        if (!raw && !isnan(left)) /* left is NaN where float32's range leaves no closed form */
            verdict_take(v, left, right, rounding(l->norm[k]) * right, "q = %g", powers[k]);
        arena_rewind(s->a, mark);
    }
    return OK;
}

/* ---- with equal random numbers, the codecs decode to equal vectors ---- */

/* Decodes draws of `entry` and of the codec `spec` with equal random numbers, and counts the elements that
 * differ by more than the rounding of the scale. */
static Status count_different(VerifySubject *s, const char *spec, size_t n, double budget, size_t draws,
                              size_t *count, bool *raw)
{
    const Shape shape = shape_vector(n);
    Coded ours, theirs;
    char entry[64];
    *count = 0;
    *raw = false;
    snprintf(entry, sizeof entry, "entry:budget=%.17g", budget);
    TRY(coded_open(&ours, s, entry, &shape));
    TRY(coded_open(&theirs, s, spec, &shape));
    for (size_t r = 0; r < draws && !*raw; r++) {
        TRY(coded_draw(&ours, s->x, r));
        TRY(coded_draw(&theirs, s->x, r));
        *raw = coded_plain(&ours, s->x) != coded_plain(&theirs, s->x);
        for (size_t i = 0; i < n; i++)
            *count += !(fabsf(ours.y[i] - theirs.y[i]) <= FLT_EPSILON * fabsf(theirs.y[i]));
    }
    return OK;
}

static Status same_vectors(VerifySubject *s, VerifyVerdict *v, const char *spec, size_t k)
{
    const Leading *l = NULL;
    size_t count;
    bool raw;
    TRY(leading(s, &l));
    if (l->most == 0 || !in_range(l->norm[k]))
        return OK;
    /* taken after `leading` has stored its result, which a rewind must not free */
    const ArenaMark mark = arena_mark(s->a);
    const size_t draws = l->n < BLOCK ? 4 : 1;
    const double budget = l->l1 / l->norm[k];
    TRY(count_different(s, spec, l->n, budget, draws, &count, &raw));
    arena_rewind(s->a, mark);
    if (!raw)
        verdict_take(v, (double)count, 0, 0, "%s, s = %.4g, %zu draws", spec, budget, draws);
    return OK;
}

static Status check_qsgd(VerifySubject *s, VerifyVerdict *v)
{
    return same_vectors(s, v, "qsgd:bits=1,bucket=0", SQUARE);
}

static Status check_terngrad(VerifySubject *s, VerifyVerdict *v)
{
    return same_vectors(s, v, "terngrad", LARGEST);
}

static Status check_lq(VerifySubject *s, VerifyVerdict *v)
{
    char spec[32];
    for (size_t k = 0; k < POWERS; k++)
        TRY(same_vectors(s, v, lq_spec(powers[k], spec), k));
    return OK;
}

const VerifyStatement quantiser_statements[] = {
    {"Theorem 5: probabilities",
     "at s = |g|_1 / |g|_q the level is |g|_q: p_i = |g_i| / |g|_q; q = 0.5 1 1.5 2 3 4 inf", EQUAL,
     NEEDS_NONZERO, check_probabilities},
    {"Theorem 5: second moment", "E|L_q(g)|^2 = |g|_1 |g|_q, by the closed form of the codec lq", EQUAL,
     NEEDS_NONZERO, check_second},
    {"Theorem 5: qsgd", "elements where 1-bit QSGD and entry, with the same coins, decode differently: none",
     EQUAL, NEEDS_NONZERO, check_qsgd},
    {"Theorem 5: terngrad", "elements where TernGrad and entry decode differently: none", EQUAL,
     NEEDS_NONZERO, check_terngrad},
    {"Theorem 5: lq", "elements where lq and entry decode differently, for each q: none", EQUAL,
     NEEDS_NONZERO, check_lq},
    {0},
};
