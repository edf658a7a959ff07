/* verify_waterfill.c -- what Algorithm 1 promises, and Lemma 9.
 *
 * The conditions (14) read, once the square and the sign that the print lost are back, 0 <= 1 - p_i
 * perpendicular to lambda_i^2 / p_i^2 - mu >= 0. So p_i = 1 if lambda_i^2 >= mu, else lambda_i / sqrt(mu). */
#include "verify/verify_parts.h"

#include "base/parallel.h"

#include <float.h>
#include <math.h>

size_t budgets_of(double l1, double most, size_t count, double budget[BUDGETS])
{
    const double all = (double)count;
    const double wish[BUDGETS] = {fmin(0.5, all / 2), fmax(1, all / 100), l1 / most, all / 10, all / 2,
                                  0.9 * all};
    size_t kept = 0;
    for (size_t i = 0; i < BUDGETS; i++)
        if (wish[i] > 0 && wish[i] < all)
            budget[kept++] = wish[i];
    return kept;
}

/* ---- what a level spends on all elements ---- */

/* waterfill.h counts an element as light up to here. */
#define BALANCED (1 + 4 * DBL_EPSILON)

typedef struct {
    const float *x;
    size_t n;
    double tau, root; /* root: sqrt(mu) by (16), from the heavy ones' number and the others' sum */
    double bound;     /* Lemma 9's, over lambda^2 */
    Spent *part;      /* (blocks) */
} Spending;

static void spend_block(void *data, size_t block)
{
    const Spending *s = data;
    const float *x = s->x + block * BLOCK;
    const double tau = s->tau, root = s->root;
    Spent out = {.least = INFINITY};
    for (size_t i = 0; i < block_size(s->n, block); i++) {
        const double v = fabs((double)x[i]);
        if (v == 0)
            continue;
        const bool heavy = v > tau * BALANCED;
        const double p = heavy ? 1 : v / tau, slack = (heavy ? v : tau) / root;
        out.heavy += heavy;
        out.sum += p;
        out.second += heavy ? v * v : v * tau;
        out.violation = fmax(out.violation, heavy ? 1 - slack * slack : fmax(p - 1, fabs(slack * slack - 1)));
        out.least = fmin(out.least, p / (s->bound * v * v));
    }
    s->part[block] = out;
}

Status spend_floats(Subject *subject, double budget, const Level *level, Spent *out)
{
    const size_t blocks = blocks_of(subject->n);
    Spending s = {.x = subject->x,
                  .n = subject->n,
                  .tau = level->tau,
                  .root = level->tail / (budget - (double)level->heavy),
                  .bound = budget / ((double)subject->nonzero * subject->squares),
                  .part = NEW(subject->a, Spent, blocks)};
    if (!s.part)
        return arena_fail(subject->a, subject->err);
    parallel_for(subject->threads, blocks, spend_block, &s);
    *out = (Spent){.least = INFINITY};
    for (size_t b = 0; b < blocks; b++) {
        out->sum += s.part[b].sum;
        out->second += s.part[b].second;
        out->heavy += s.part[b].heavy;
        out->violation = fmax(out->violation, s.part[b].violation);
        out->least = fmin(out->least, s.part[b].least);
    }
    if (!(s.root > 0 && isfinite(s.root)))
        out->violation = INFINITY;
    if (!(fabs(out->sum - budget) <= 1e-9 * budget)) /* not feasible: nothing that it reaches counts */
        out->second = out->least = NAN;
    return OK;
}

Spent spend_part(const double *lambda, size_t n, double budget, double tau)
{
    Spent s = {.least = INFINITY};
    for (size_t i = n; i-- > 0;) {
        const double p = chance_at(tau, lambda[i]);
        s.heavy += p == 1;
        s.sum += p;
        s.second += lambda[i] * (lambda[i] / p);
    }
    if (!(fabs(s.sum - budget) <= 1e-9 * budget))
        s.second = NAN;
    return s;
}

/* ---- on all elements ---- */

/* What Algorithm 1 does at each budget. */
typedef struct Spendings {
    size_t count;
    double budget[BUDGETS];
    Level level[BUDGETS];
    Spent spent[BUDGETS];
} Spendings;

static Status make_spendings(Subject *s)
{
    if (s->spendings)
        return OK;
    Spendings *all = NEW_ZERO(s->a, Spendings, 1);
    if (!all)
        return arena_fail(s->a, s->err);
    all->count = budgets_of(s->l1, s->most, s->nonzero, all->budget);
    for (size_t i = 0; i < all->count; i++) {
        const ArenaMark mark = arena_mark(s->a);
        if (!s->tested->level(s->x, s->n, all->budget[i], s->threads, s->a, &all->level[i]))
            return arena_fail(s->a, s->err);
        TRY(spend_floats(s, all->budget[i], &all->level[i], &all->spent[i]));
        arena_rewind(s->a, mark);
    }
    s->spendings = all;
    return OK;
}

/* Budgets above the number of non-zero elements keep each of them. */
static Status check_budget(Subject *s, Verdict *v)
{
    const double all = (double)s->nonzero, plenty = 2 * all + 1;
    Level level;
    TRY(make_spendings(s));
    for (size_t i = 0; i < s->spendings->count; i++) {
        const double budget = s->spendings->budget[i];
        verdict_take(v, s->spendings->spent[i].sum, budget, 1e-9 * budget, "s = %.4g", budget);
    }
    if (!s->tested->level(s->x, s->n, plenty, s->threads, s->a, &level))
        return arena_fail(s->a, s->err);
    verdict_take(v, level.tau > 0 ? 0 : (double)level.heavy, all, 0, "s = %.4g", plenty);
    return OK;
}

static Status check_kkt(Subject *s, Verdict *v)
{
    TRY(make_spendings(s));
    for (size_t i = 0; i < s->spendings->count; i++) {
        const Spent *spent = &s->spendings->spent[i];
        const double stated = spent->heavy == s->spendings->level[i].heavy ? 0 : 1;
        verdict_take(v, fmax(spent->violation, stated), 0, 1e-9, "s = %.4g, %zu of them always kept",
                     s->spendings->budget[i], spent->heavy);
    }
    return OK;
}

static Status check_lemma_9(Subject *s, Verdict *v)
{
    TRY(make_spendings(s));
    for (size_t i = 0; i < s->spendings->count; i++)
        verdict_take(v, s->spendings->spent[i].least, 1, 1e-9, "s = %.4g", s->spendings->budget[i]);
    return OK;
}

/* ---- on a part, against other ways ---- */

static Status part_level(Subject *s, const float *x, double budget, double *tau)
{
    Level level;
    if (!s->tested->level(x, s->part.n, budget, s->threads, s->a, &level))
        return arena_fail(s->a, s->err);
    *tau = level.tau;
    return OK;
}

/* What a rounding error of the budget moves the level by: much, where little is left for the light ones. */
static double rounding(const double *lambda, size_t n, double budget, double tau)
{
    double light = 0;
    for (size_t i = n; i-- > 0 && lambda[i] < tau;)
        light += lambda[i] / tau;
    return 1e-11 * fmax(1, budget / fmax(light, 1e-300)) * tau;
}

static Status against(Subject *s, Verdict *v, double (*way)(const double *, size_t, double, Arena *))
{
    const Part *p = &s->part;
    double budget[BUDGETS], tau = 0;
    const size_t count = budgets_of(p->l1, p->most, p->count, budget);
    for (size_t i = 0; i < count; i++) {
        const double other = way(p->lambda, p->count, budget[i], s->a);
        if (isnan(other))
            return arena_fail(s->a, s->err);
        TRY(part_level(s, p->x, budget[i], &tau));
        verdict_take(v, tau / p->most, other / p->most,
                     rounding(p->lambda, p->count, budget[i], fmax(tau, other)) / p->most, "s = %.4g",
                     budget[i]);
    }
    return OK;
}

static Status check_sorted(Subject *s, Verdict *v)
{
    return against(s, v, level_sorted);
}

static Status check_bisection(Subject *s, Verdict *v)
{
    return against(s, v, level_bisected);
}

static Status check_selection(Subject *s, Verdict *v)
{
    return against(s, v, level_selected);
}

/* At the variance that Algorithm 1 reached, gspar's answer to the dual problem has the same level. */
static Status check_gspar(Subject *s, Verdict *v)
{
    const Part *p = &s->part;
    double budget[BUDGETS], tau = 0;
    const size_t count = budgets_of(p->l1, p->most, p->count, budget);
    for (size_t i = 0; i < count; i++) {
        double variance = 0;
        const double right = level_sorted(p->lambda, p->count, budget[i], s->a);
        TRY(part_level(s, p->x, budget[i], &tau));
        for (size_t k = p->count; k-- > 0;)
            variance += p->lambda[k] < right ? p->lambda[k] * (right - p->lambda[k]) : 0;
        const double dual = level_gspar(p->lambda, p->count, variance / p->squares);
        verdict_take(v, tau / p->most, dual / p->most, 1e-8 * dual / p->most, "s = %.4g, eps = %.4g",
                     budget[i], variance / p->squares);
    }
    return OK;
}

static Status check_descent(Subject *s, Verdict *v)
{
    enum { SLICE = 32 };
    const Part *p = &s->part;
    double slice[SLICE] = {0}, l1 = 0, squares = 0, budget[BUDGETS];
    float x[SLICE];
    const size_t n = p->count < SLICE ? p->count : SLICE;
    for (size_t i = n; i-- > 0;) {
        slice[i] = p->lambda[i * p->count / n];
        x[i] = (float)slice[i];
        l1 += slice[i];
        squares += slice[i] * slice[i];
    }
    const size_t count = budgets_of(l1, slice[0], n, budget);
    for (size_t i = 0; i < count; i++) {
        Level level;
        if (!s->tested->level(x, n, budget[i], 1, s->a, &level))
            return arena_fail(s->a, s->err);
        const double found = spend_part(slice, n, budget[i], level.tau).second / squares;
        const double least = least_by_descent(slice, n, budget[i]) / squares;
        verdict_take(v, found, least, 1e-7 * least, "%zu elements, s = %.4g", n, budget[i]);
    }
    return OK;
}

/* The order is turned round and every number made four times as large, or as small. */
static Status check_invariance(Subject *s, Verdict *v)
{
    const Part *p = &s->part;
    const double scale = p->most < 0x1p100 ? 4 : 0.25;
    double budget[BUDGETS], tau = 0, turned = 0;
    const size_t count = budgets_of(p->l1, p->most, p->count, budget);
    float *x = NEW(s->a, float, p->n);
    if (!x)
        return arena_fail(s->a, s->err);
    for (size_t i = 0; i < p->n; i++)
        x[i] = (float)((i % 2 ? -scale : scale) * (double)p->x[p->n - 1 - i]);
    for (size_t i = 0; i < count; i++) {
        TRY(part_level(s, p->x, budget[i], &tau));
        TRY(part_level(s, x, budget[i], &turned));
        verdict_take(v, turned / scale / p->most, tau / p->most,
                     rounding(p->lambda, p->count, budget[i], tau) / p->most, "s = %.4g", budget[i]);
    }
    return OK;
}

/* The same on singular values: the other solver. */
static Status check_spectrum(Subject *s, Verdict *v)
{
    TRY(subject_matrix(s));
    const Matrix *m = s->matrix;
    size_t count = m->k;
    while (count && m->sigma[count - 1] == 0)
        count--;
    for (double budget = 0.5; budget < (double)count; budget = budget < 1 ? 1 : 2 * budget) {
        const double tau = s->tested->level_of(m->sigma, m->k, budget, s->a);
        const double right = level_sorted(m->sigma, count, budget, s->a);
        if (isnan(tau) || isnan(right))
            return arena_fail(s->a, s->err);
        verdict_take(v, tau / m->most, right / m->most, rounding(m->sigma, count, budget, right) / m->most,
                     "s = %.4g of %zu", budget, count);
    }
    return OK;
}

const Statement level_statements[] = {
    {"Algorithm 1: budget",
     "sum p = min(s, number of lambda_i that are not 0), at six budgets, on all elements", EQUAL,
     NEEDS_NONZERO, check_budget},
    {"Algorithm 1: KKT",
     "(14) is met: 0 <= 1 - p_i, perp. to lambda_i^2 / p_i^2 - mu >= 0 (square, sign misprinted)", EQUAL,
     NEEDS_SEVERAL, check_kkt},
    {"Algorithm 1: sorted",
     "its level is that of the paper's form, with sums of |lambda_j| (printed |lambda_i|)", EQUAL,
     NEEDS_SEVERAL, check_sorted},
    {"Algorithm 1: bisection", "its level is where halving finds sum min(1, |lambda_i| / level) = s", EQUAL,
     NEEDS_SEVERAL, check_bisection},
    {"Algorithm 1: descent", "f(p) is the least that projected descent finds, on 32 elements", EQUAL,
     NEEDS_SEVERAL, check_descent},
    {"Algorithm 1: gspar",
     "its level is that of the dual's closed form (Wangni et al.) at the variance it reaches", EQUAL,
     NEEDS_SEVERAL, check_gspar},
    {"Algorithm 1: O(sn)", "its level is that of Appendix B's variant, which selects instead of sorting",
     EQUAL, NEEDS_SEVERAL, check_selection},
    {"Algorithm 1: invariance", "another order, other signs and another unit: the level goes along", EQUAL,
     NEEDS_SEVERAL, check_invariance},
    {"Algorithm 1: spectrum", "the level of the singular values is that of the paper's form", EQUAL,
     NEEDS_MATRIX, check_spectrum},
    {"Lemma 9",
     "least p_i over s lambda_i^2 / (n |lambda|^2) >= 1 (the proof compares with f(pbar), not f(q))",
     AT_LEAST, NEEDS_SEVERAL, check_lemma_9},
    {0},
};
