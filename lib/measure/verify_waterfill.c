/* verify_waterfill.c -- checks Lemma 9 of the ATOMO paper, and the statements about Algorithm 1. Algorithm 1
 * finds the water level tau at which the probabilities p_i = min(1, |lambda_i| / tau) add up to the budget s.
 *
 * The paper's conditions (14) lack a square and a sign in print. They should be: 1 - p_i >= 0, lambda_i^2 /
 * p_i^2 - mu >= 0, and one of these two terms is 0. So tau = sqrt(mu). */
#include "measure/verify_parts.h"

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

const VerifyStatement level_statements[] = {
    {"Algorithm 1: budget",
     "sum p = min(s, number of lambda_i that are not 0), at six budgets, on all elements", EQUAL,
     NEEDS_NONZERO, check_budget},
    {"Algorithm 1: KKT",
     "(14) is met: 0 <= 1 - p_i, perp. to lambda_i^2 / p_i^2 - mu >= 0 (square, sign misprinted)", EQUAL,
     NEEDS_SEVERAL, check_kkt},
    {"Lemma 9",
     "least p_i over s lambda_i^2 / (n |lambda|^2) >= 1 (the proof compares with f(pbar), not f(q))",
     AT_LEAST, NEEDS_SEVERAL, check_lemma_9},
    {0},
};
