/* verify_lemmas.c -- checks Lemmas 2 and 3 and Theorem 4 of the ATOMO paper, on which sampling
 * probabilities p are best.
 *
 * Let f(p) = sum lambda_i^2 / p_i. The paper's problem (4) is to minimise f(p) with sum p = s. Problem (3)
 * also requires p <= 1. A lemma on all feasible p is checked on many p: near the best p, far from it, and with
 * equal p_i. Values of f are divided by |lambda|^2. */
#include "measure/verify_parts.h"

#include <math.h>

static double f_of(const double *lambda, const double *p, size_t n)
{
    double sum = 0;
    for (size_t i = n; i-- > 0;)
        sum += lambda[i] * (lambda[i] / p[i]);
    return sum;
}

/* Makes random weights, which the caller scales to probabilities: powers of lambda times random factors, from
 * nearly lambda itself (the best p) to weights that hardly depend on lambda. */
enum { TRIES = 24 };
static void random_weights(const VerifySubject *s, size_t try, double *w)
{
    static const double power[] = {1, 1, 0, 0.5, 1.5, 2}, noise[] = {0.01, 0.3, 1, 3};
    const Rng rng = subject_rng(s, FOR_CHANCES);
    const size_t n = s->part.count;
    rng_units(&rng, USE_SAMPLE, try * n, n, w);
    for (size_t i = 0; i < n; i++) {
        w[i] = pow(s->part.lambda[i] / s->part.most, power[try % countof(power)]) *
               exp(noise[try / countof(power)] * (2 * w[i] - 1));
        w[i] = fmax(w[i], 1e-100);
    }
}

/* Scales w to the sum s, so that w is feasible for problem (4). */
static void relaxed_chances(double *w, size_t n, double s)
{
    double sum = 0;
    for (size_t i = n; i-- > 0;)
        sum += w[i];
    for (size_t i = 0; i < n; i++)
        w[i] *= s / sum;
}

/* Replaces w by min(1, w / level), with the level that gives the sum s, so that w is feasible for problem
 * (3). */
static void feasible_chances(double *w, size_t n, double s)
{
    double low = 0, high = 0, sum = 0;
    for (size_t i = n; i-- > 0;)
        high += w[i] / s;
    for (int k = 0; k < 200; k++) {
        const double middle = low + (high - low) / 2;
        sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += chance_at(middle, w[i]);
        *(sum > s ? &low : &high) = middle;
    }
    for (size_t i = 0; i < n; i++)
        w[i] = chance_at(high, w[i]);
}

/* A budget s is balanced if s lambda_i / |lambda|_1 <= 1 for all i. Returns a budget between the largest
 * balanced budget and n, or 0 if the magnitudes are nearly equal, so that there is none. */
static double unbalanced(double l1, double most, size_t count)
{
    const double edge = l1 / most, all = (double)count, s = sqrt(edge * all), ahead = s / edge - 1;
    return count > 1 && ahead * ahead / s > 1e-8 ? s : 0;
}

/* ---- Lemma 2: sum lambda_i^2 / p_i is at least |lambda|_1^2 / s for every p with sum p = s ---- */

static Status check_bound(VerifySubject *s, VerifyVerdict *v)
{
    const VerifyPart *p = &s->part;
    double *w = NEW(s->a, double, p->count);
    const double budget = fmax(0.5, (double)p->count / 10), bound = p->l1 * p->l1 / budget / p->squares;
    TRY(arena_check(w, s->a, s->err));
    for (size_t try = 0; try < TRIES; try++) {
        random_weights(s, try, w);
        relaxed_chances(w, p->count, budget);
        verdict_take(v, f_of(p->lambda, w, p->count) / p->squares, bound, 1e-12 * bound,
                     "s = %.4g, try %zu of %d", budget, try + 1, TRIES);
    }
    return OK;
}

/* Computes the second moment for the p of Algorithm 1 at a balanced budget, where no p is limited to 1. */
static Status balanced_second(VerifySubject *s, double budget, double *second)
{
    Level level;
    TRY(arena_check(s->methods->level(s->part.x, s->part.n, budget, s->threads, s->a, &level), s->a, s->err));
    *second = spend_part(s->part.lambda, s->part.count, budget, level.tau).second / s->part.squares;
    return OK;
}

static Status check_equality(VerifySubject *s, VerifyVerdict *v)
{
    const VerifyPart *p = &s->part;
    for (double share = 0.1; share < 1; share += 0.4) {
        const double budget = share * p->l1 / p->most, bound = p->l1 * p->l1 / budget / p->squares;
        double second = NAN;
        TRY(balanced_second(s, budget, &second));
        verdict_take(v, second, bound, 1e-9 * bound, "s = %.4g", budget);
    }
    return OK;
}

/* ---- Lemma 3: if the budget is unbalanced (some p would exceed 1), the best p has p_0 = 1 ---- */

static Status check_lemma_3(VerifySubject *s, VerifyVerdict *v)
{
    const VerifyPart *p = &s->part;
    const double budget = unbalanced(p->l1, p->most, p->count);
    double *q = NEW(s->a, double, p->count), best;
    Level level;
    TRY(arena_check(q, s->a, s->err));
    if (budget == 0)
        return OK;
    TRY(arena_check(s->methods->level(p->x, p->n, budget, s->threads, s->a, &level), s->a, s->err));
    best = spend_part(p->lambda, p->count, budget, level.tau).second / p->squares;
    if (chance_at(level.tau, p->most) < 1)
        best = NAN;
    for (size_t try = 0; try < TRIES; try++) {
        random_weights(s, try, q);
        feasible_chances(q, p->count, budget);
        const double other = f_of(p->lambda, q, p->count) / p->squares;
        verdict_take(v, best, other, 1e-12 * other, "s = %.4g, try %zu of %d", budget, try + 1, TRIES);
    }
    return OK;
}

/* ---- Theorem 4: second moments at balanced and at unbalanced budgets ---- */

static Status whole_second(VerifySubject *s, double budget, double *second)
{
    const ArenaMark mark = arena_mark(s->a);
    Level level;
    Spent spent;
    TRY(arena_check(s->methods->level(s->x, s->n, budget, s->threads, s->a, &level), s->a, s->err));
    TRY(spend_floats(s, budget, &level, &spent));
    *second = spent.second / s->squares;
    arena_rewind(s->a, mark);
    return OK;
}

static Status check_balanced(VerifySubject *s, VerifyVerdict *v)
{
    const double budget = s->l1 / s->most / 2, bound = s->l1 * s->l1 / budget / s->squares;
    double second = NAN;
    TRY(whole_second(s, budget, &second));
    verdict_take(v, second, bound, 1e-9 * bound, "s = %.4g", budget);
    return OK;
}

static Status check_unbalanced(VerifySubject *s, VerifyVerdict *v)
{
    const double budget = unbalanced(s->l1, s->most, s->nonzero);
    double second = NAN;
    if (budget == 0)
        return OK;
    TRY(whole_second(s, budget, &second));
    const double bound = s->l1 * s->l1 / budget / s->squares;
    verdict_take(v, second, bound, 1e-12 * bound, "s = %.4g", budget);
    return OK;
}

/* Checks Theorem 4 on atoms that are not orthogonal; E |estimate|^2 is computed over all possible draws. */
static Status check_cross(VerifySubject *s, VerifyVerdict *v)
{
    AtomSet set;
    double most = 0;
    TRY(atomset_overlapping(s, &set));
    for (size_t i = 0; i < set.count; i++)
        most = fmax(most, set.lambda[i]);
    if (most == 0)
        return OK;
    TRY(atomset_spend(s, &set, 0.9 * set.l1 / most));
    const double left = atomset_outcomes(&set).mean / set.squares;
    const double right = (set.l1 * set.l1 / set.budget + set.cross) / set.squares;
    verdict_take(v, left, right, 1e-9 * right, "s = %.4g, phi = %.4g", set.budget, set.cross / set.squares);
    return OK;
}

const VerifyStatement lemma_statements[] = {
    {"Lemma 2: bound", "f(p) >= |lambda|_1^2 / s for 24 random feasible p of (4)", AT_LEAST, NEEDS_SEVERAL,
     check_bound},
    {"Lemma 2: equality",
     "f(p) = |lambda|_1^2 / s at p = c |lambda|, c = s / |lambda|_1 (A.1 prints its inverse)", EQUAL,
     NEEDS_NONZERO, check_equality},
    {"Lemma 3", "s-unbalanced: Algorithm 1 has p_1 = 1 and f(p) <= f(q) for 24 random feasible q", AT_MOST,
     NEEDS_SEVERAL, check_lemma_3},
    {"Theorem 4: balanced", "Algorithm 1 on all elements: E|ghat|^2 = |lambda|_1^2 / s", EQUAL, NEEDS_NONZERO,
     check_balanced},
    {"Theorem 4: unbalanced", "Algorithm 1 on all elements: E|ghat|^2 > |lambda|_1^2 / s", ABOVE,
     NEEDS_SEVERAL, check_unbalanced},
    {"Theorem 4: cross terms", "atoms that are not orthogonal: E|ghat|^2 = |lambda|_1^2 / s + phi(g)", EQUAL,
     NEEDS_SEVERAL, check_cross},
    {0},
};
