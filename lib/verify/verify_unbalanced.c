/* verify_unbalanced.c -- checks the variance of the codecs entry and svd at large budgets s, where s
 * |lambda|_inf > |lambda|_1. There Algorithm 1 of the ATOMO paper sets some probabilities p to 1 and raises
 * the others. A faulty codec could use the clipped p = min(1, s |lambda_i| / |lambda|_1) instead. It would
 * keep fewer than s atoms on average, and have another variance. At smaller budgets the two p are equal, so no
 * other statement finds this fault.
 *
 * Let ghat be the estimate of g, and t_i = 1 if atom i is kept, else 0. For orthogonal atoms |ghat - g|^2 =
 * sum lambda_i^2 (t_i / p_i - 1)^2, a sum of independent bounded terms. Of 12 budgets, the check uses the one
 * where the fewest draws detect the fault. */
#include "verify/verify_parts.h"

#include <math.h>
#include <stdio.h>

enum { CANDIDATES = 12, DRAWS_LEAST = 200 };

typedef struct {
    const double *lambda; /* (n) sorted, largest first, no zeros */
    size_t n;
    double budget, tau;
    /* the variance E |ghat - g|^2 with Algorithm 1's p, and with clipped p */
    double variance, clipped;
    /* `spread`: the variance of |ghat - g|^2 in one draw; `most`: the largest deviation of an atom's
     * term lambda_i^2 (t_i / p_i - 1)^2 from its mean */
    double spread, most;
} Regime;

static double variance_at(const Regime *r, double tau)
{
    double sum = 0;
    for (size_t i = r->n; i-- > 0;) {
        const double p = chance_at(tau, r->lambda[i]);
        sum += r->lambda[i] * r->lambda[i] * (1 / p - 1);
    }
    return sum;
}

static void set_spread(Regime *r)
{
    r->spread = r->most = 0;
    for (size_t i = r->n; i-- > 0;) {
        const double p = chance_at(r->tau, r->lambda[i]), square = r->lambda[i] * r->lambda[i];
        /* difference of the atom's squared error between a draw that keeps the atom and one that does not */
        const double range = square * fabs((1 / p - 1) * (1 / p - 1) - 1);
        if (p >= 1)
            continue;
        r->spread += range * range * p * (1 - p);
        r->most = fmax(r->most, range * fmax(p, 1 - p));
    }
}

/* Chooses among 12 budgets, up to `high`, the one where the fewest draws tell the variance of Algorithm 1
 * from that of clipped p, and sets *r for it. Returns false if these variances are equal at all budgets. */
static bool choose_budget(Regime *r, double high, Arena *scratch)
{
    Regime best = *r;
    double l1 = 0, score = 0;
    for (size_t i = r->n; i-- > 0;)
        l1 += r->lambda[i];
    const double low = r->n ? l1 / r->lambda[0] : INFINITY;
    for (int k = 1; k <= CANDIDATES && low < high; k++) {
        r->budget = low + (high - low) * k / CANDIDATES;
        r->tau = level_sorted(r->lambda, r->n, r->budget, scratch);
        if (!(r->tau > 0))
            continue;
        r->variance = variance_at(r, r->tau);
        r->clipped = variance_at(r, l1 / r->budget);
        set_spread(r);
        const double apart = r->clipped - r->variance;
        if (r->spread > 0 && apart * apart / r->spread > score) {
            score = apart * apart / r->spread;
            best = *r;
        }
    }
    *r = best;
    return score > 0;
}

static double tolerance_of(const Regime *r, double draws)
{
    return bernstein(r->spread / draws, r->most / draws, VERIFY_ALARM) + 1e-5 * r->variance;
}

/* Returns how many draws, at most `most`, make the tolerance half of the difference between the variances of
 * Algorithm 1 and of clipped p. */
static size_t draws_of(const Regime *r, size_t most)
{
    size_t draws = DRAWS_LEAST;
    while (draws < most && tolerance_of(r, (double)draws) > (r->clipped - r->variance) / 2)
        draws += draws / 8;
    return draws < most ? draws : most;
}

static Status hold(VerifySubject *s, const Regime *r, const char *spec, const float *x, const Shape *shape,
                   size_t draws, VerifyVerdict *v)
{
    double sum = 0, squares = 0;
    Coded coded;
    TRY(coded_open(&coded, s, spec, shape));
    for (size_t k = 0; k < draws; k++) {
        TRY(coded_draw(&coded, x, k));
        if (coded_plain(&coded, x))
            return OK;
        for (size_t i = 0; i < shape->n; i++)
            sum += ((double)coded.y[i] - (double)x[i]) * ((double)coded.y[i] - (double)x[i]) / (double)draws;
    }
    for (size_t i = 0; i < shape->n; i++)
        squares += (double)x[i] * (double)x[i];
    verdict_take(v, sum / squares, r->variance / squares, tolerance_of(r, (double)draws) / squares,
                 "s = %.4g of %zu, %zu draws; clipped p would give %.5g", r->budget, r->n, draws,
                 r->clipped / squares);
    return OK;
}

/* ---- the two statements, about the codecs entry and svd ---- */

/* Budgets are at most half the number of entries: at larger budgets the payload would be raw floats. */
static Status check_entries(VerifySubject *s, VerifyVerdict *v)
{
    const VerifyPart *p = &s->part;
    const Shape shape = shape_vector(p->n);
    Regime r = {.lambda = p->lambda, .n = p->count};
    char spec[64];
    if (!choose_budget(&r, (double)p->count / 2, s->a))
        return OK;
    snprintf(spec, sizeof spec, "entry:budget=%.17g", r.budget);
    return hold(s, &r, spec, p->x, &shape, draws_of(&r, 2 + 20000000 / (p->n + 1)), v);
}

/* Does nothing if a singular value is below a thousandth of the largest, as it may be rounding error. The
 * budget is limited: if many atoms are kept, the payload would be raw floats. */
static Status check_svd(VerifySubject *s, VerifyVerdict *v)
{
    VerifyMatrix m;
    char spec[64];
    TRY(matrix_cut(s, 128, 24, FOR_UNBALANCED, &m));
    if (m.most == 0)
        return OK;
    Regime r = {.lambda = m.sigma};
    while (r.n < m.k && m.sigma[r.n] > 1e-3 * m.sigma[0])
        r.n++;
    const double sides = (double)(m.rows + m.cols);
    if (r.n < m.k || !choose_budget(&r, fmin(0.9 * (double)r.n, 0.9 * (double)m.shape.n / sides), s->a))
        return OK;
    snprintf(spec, sizeof spec, "svd:rank=%.17g", r.budget);
    return hold(s, &r, spec, m.x, &m.shape, draws_of(&r, 4000), v);
}

const VerifyStatement unbalanced_statements[] = {
    {"Algorithm 1: variance of entry, unbalanced",
     "E|ghat - g|^2 where some p are 1, drawn by the codec entry", EQUAL, NEEDS_SEVERAL, check_entries},
    {"Algorithm 1: variance of svd, unbalanced",
     "the same on at most 128 rows and 24 columns, drawn by the codec svd", EQUAL, NEEDS_MATRIX, check_svd},
    {0},
};
