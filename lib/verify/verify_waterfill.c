/* verify_waterfill.c -- checks Lemma 9 of the ATOMO paper, and the statements about Algorithm 1. Algorithm 1
 * finds the water level tau at which the probabilities p_i = min(1, |lambda_i| / tau) add up to the budget s.
 *
 * The paper's conditions (14) lack a square and a sign in print. They should be: 1 - p_i >= 0, lambda_i^2 /
 * p_i^2 - mu >= 0, and one of these two terms is 0. So tau = sqrt(mu). */
#include "verify/verify_parts.h"

#include <math.h>

/* Writes the budgets to test for `count` non-zero elements, each below `count`, and returns their number. */
enum { BUDGETS = 6 };
static size_t budgets_of(double l1, double most, size_t count, double budget[BUDGETS])
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

/* ---- statements checked on all elements ---- */

/* The water levels of Algorithm 1 at `count` budgets, and sums over the probabilities at each water level. */
typedef struct Spendings {
    size_t count;
    double budget[BUDGETS];
    Level level[BUDGETS];
    Spent spent[BUDGETS];
} Spendings;

static Status make_spendings(VerifySubject *s)
{
    if (s->spendings)
        return OK;
    Spendings *all = NEW_ZERO(s->a, Spendings, 1);
    TRY(arena_check(all, s->a, s->err));
    all->count = budgets_of(s->l1, s->most, s->nonzero, all->budget);
    for (size_t i = 0; i < all->count; i++) {
        const ArenaMark mark = arena_mark(s->a);
        TRY(arena_check(s->methods->level(s->x, s->n, all->budget[i], s->threads, s->a, &all->level[i]), s->a,
                        s->err));
        TRY(spend_floats(s, all->budget[i], &all->level[i], &all->spent[i]));
        arena_rewind(s->a, mark);
    }
    s->spendings = all;
    return OK;
}

static Status check_budget(VerifySubject *s, VerifyVerdict *v)
{
    const double all = (double)s->nonzero, plenty = 2 * all + 1;
    Level level;
    TRY(make_spendings(s));
    for (size_t i = 0; i < s->spendings->count; i++) {
        const double budget = s->spendings->budget[i];
        verdict_take(v, s->spendings->spent[i].sum, budget, 1e-9 * budget, "s = %.4g", budget);
    }
    TRY(arena_check(s->methods->level(s->x, s->n, plenty, s->threads, s->a, &level), s->a, s->err));
    verdict_take(v, level.tau > 0 ? 0 : (double)level.heavy, all, 0, "s = %.4g", plenty);
    return OK;
}

static Status check_kkt(VerifySubject *s, VerifyVerdict *v)
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

static Status check_lemma_9(VerifySubject *s, VerifyVerdict *v)
{
    TRY(make_spendings(s));
    for (size_t i = 0; i < s->spendings->count; i++)
        verdict_take(v, s->spendings->spent[i].least, 1, 1e-9, "s = %.4g", s->spendings->budget[i]);
    return OK;
}

/* ---- statements checked on a part of the elements, against reference solvers of the water level ---- */

static Status part_level(VerifySubject *s, const float *x, double budget, double *tau)
{
    Level level;
    TRY(arena_check(s->methods->level(x, s->part.n, budget, s->threads, s->a, &level), s->a, s->err));
    *tau = level.tau;
    return OK;
}

/* Returns the tolerance of the water level. The less of the budget the elements with p < 1 get, the more a
 * rounding error in the budget changes the water level. */
static double rounding(const double *lambda, size_t n, double budget, double tau)
{
    double light = 0;
    for (size_t i = n; i-- > 0 && lambda[i] < tau;)
        light += lambda[i] / tau;
    return 1e-11 * fmax(1, budget / fmax(light, 1e-300)) * tau;
}

static Status against(VerifySubject *s, VerifyVerdict *v,
                      double (*way)(const double *, size_t, double, Arena *))
{
    const VerifyPart *p = &s->part;
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

static Status check_sorted(VerifySubject *s, VerifyVerdict *v)
{
    return against(s, v, level_sorted);
}

static Status check_bisection(VerifySubject *s, VerifyVerdict *v)
{
    return against(s, v, level_bisected);
}

static Status check_selection(VerifySubject *s, VerifyVerdict *v)
{
    return against(s, v, level_selected);
}

/* The codec gspar (Wangni et al.) solves the dual problem: the smallest expected number of elements at a given
 * variance. At the variance of Algorithm 1, both methods must have the same water level. */
static Status check_gspar(VerifySubject *s, VerifyVerdict *v)
{
    const VerifyPart *p = &s->part;
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

static Status check_descent(VerifySubject *s, VerifyVerdict *v)
{
    enum { SLICE = 32 };
    const VerifyPart *p = &s->part;
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
        TRY(arena_check(s->methods->level(x, n, budget[i], 1, s->a, &level), s->a, s->err));
        const double found = spend_part(slice, n, budget[i], level.tau).second / squares;
        const double least = least_by_descent(slice, n, budget[i]) / squares;
        verdict_take(v, found, least, 1e-7 * least, "%zu elements, s = %.4g", n, budget[i]);
    }
    return OK;
}

/* Reverses x, flips some signs, and multiplies x by 4 or 1/4. The water level must be multiplied by the same
 * factor. */
static Status check_invariance(VerifySubject *s, VerifyVerdict *v)
{
    const VerifyPart *p = &s->part;
    const double scale = p->most < 0x1p100 ? 4 : 0.25;
    double budget[BUDGETS], tau = 0, turned = 0;
    const size_t count = budgets_of(p->l1, p->most, p->count, budget);
    float *x = NEW(s->a, float, p->n);
    TRY(arena_check(x, s->a, s->err));
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

static Status check_spectrum(VerifySubject *s, VerifyVerdict *v)
{
    TRY(subject_matrix(s));
    const VerifyMatrix *m = s->matrix;
    size_t count = m->k;
    while (count && m->sigma[count - 1] == 0)
        count--;
    for (double budget = 0.5; budget < (double)count; budget = budget < 1 ? 1 : 2 * budget) {
        const double tau = s->methods->level_of(m->sigma, m->k, budget, s->a);
        const double right = level_sorted(m->sigma, count, budget, s->a);
        if (isnan(tau) || isnan(right))
            return arena_fail(s->a, s->err);
        verdict_take(v, tau / m->most, right / m->most, rounding(m->sigma, count, budget, right) / m->most,
                     "s = %.4g of %zu", budget, count);
    }
    return OK;
}

const VerifyStatement level_statements[] = {
    {"Algorithm 1: budget",
     "sum p = min(s, number of lambda_i that are not 0), at six budgets, on all elements", EQUAL,
     NEEDS_NONZERO, check_budget},
    {"Algorithm 1: KKT",
     "(14) is met: 0 <= 1 - p_i, perp. to lambda_i^2 / p_i^2 - mu >= 0 (square, sign misprinted)", EQUAL,
     NEEDS_SEVERAL, check_kkt},
    {"Algorithm 1: sorted",
     "its level is that of the paper's form, with sums of |lambda_j| (printed |lambda_i|)", EQUAL,
     NEEDS_SEVERAL, check_sorted},
    {"Algorithm 1: bisection", "its level is where bisection finds sum min(1, |lambda_i| / level) = s", EQUAL,
     NEEDS_SEVERAL, check_bisection},
    {"Algorithm 1: descent", "f(p) is the least that projected descent finds, on 32 elements", EQUAL,
     NEEDS_SEVERAL, check_descent},
    {"Algorithm 1: gspar",
     "its level is that of the dual's closed form (Wangni et al.) at the variance it reaches", EQUAL,
     NEEDS_SEVERAL, check_gspar},
    {"Algorithm 1: O(sn)", "its level is that of Appendix B's variant, which selects instead of sorting",
     EQUAL, NEEDS_SEVERAL, check_selection},
    {"Algorithm 1: invariance",
     "another order, other signs and another unit: the level only changes its unit", EQUAL, NEEDS_SEVERAL,
     check_invariance},
    {"Algorithm 1: spectrum", "the level of the singular values is that of the paper's form", EQUAL,
     NEEDS_MATRIX, check_spectrum},
    {"Lemma 9",
     "least p_i over s lambda_i^2 / (n |lambda|^2) >= 1 (the proof compares with f(pbar), not f(q))",
     AT_LEAST, NEEDS_SEVERAL, check_lemma_9},
    {0},
};
