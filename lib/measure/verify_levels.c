/* verify_levels.c -- the water level tau of the probabilities min(1, lambda_i / tau) by the paper's Algorithm 1, which
 * shares no code with the codecs' solver (waterfill.h), and sums over these probabilities. */
#include "measure/verify_parts.h"
#include "base/parallel.h"

#include <float.h>
#include <math.h>

/* Returns tail[i] = lambda_i + ... + lambda_(n-1), added from the smallest. */
static double *tails(const double *lambda, size_t n, Arena *scratch)
{
    double *tail = NEW(scratch, double, n + 1);
    if (!tail)
        return NULL;
    tail[n] = 0;
    for (size_t i = n; i-- > 0;)
        tail[i] = tail[i + 1] + lambda[i];
    return tail;
}

/* The paper's Algorithm 1 with a misprint corrected: the sums are over |lambda_j|, where the paper prints
 * |lambda_i|. */
double level_sorted(const double *lambda, size_t n, double budget, Arena *scratch)
{
    const ArenaMark mark = arena_mark(scratch);
    const double *tail = tails(lambda, n, scratch);
    double level = tail ? 0 : NAN;
    for (size_t i = 0; tail && i < n && budget < (double)n; i++)
        if (lambda[i] * (budget - (double)i) <= tail[i] || i + 1 == n) {
            level = tail[i] / (budget - (double)i);
            break;
        }
    arena_rewind(scratch, mark);
    return level;
}

/* ---- sums over the probabilities at a level ---- */

/* waterfill.h counts an element as light (kept with p < 1) if its magnitude is at most tau * BALANCED. */
#define BALANCED (1 + 4 * DBL_EPSILON)

typedef struct {
    const float *x;
    size_t n;
    /* `root`: the water level sqrt(mu) by the paper's equation (16), from the number of heavy elements (p =
     * 1) and the sum of the light ones (p < 1) */
    double tau, root;
    double bound; /* Lemma 9's lower bound on p, divided by lambda^2 */
    Spent *part;  /* the sums of each block */
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

Status spend_floats(VerifySubject *subject, double budget, const Level *level, Spent *out)
{
    const size_t blocks = blocks_of(subject->n);
    Spending s = {.x = subject->x,
                  .n = subject->n,
                  .tau = level->tau,
                  .root = level->tail / (budget - (double)level->heavy),
                  .bound = budget / ((double)subject->nonzero * subject->squares),
                  .part = NEW(subject->a, Spent, blocks)};
    TRY(arena_check(s.part, subject->a, subject->err));
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
    if (!(fabs(out->sum - budget) <= 1e-9 * budget)) /* true also if the sum is NaN; p is not feasible then */
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

/* ---- statements ---- */

/* Checks Lemma 9 of the ATOMO paper, and the statements about Algorithm 1. Algorithm 1
 * finds the water level tau at which the probabilities p_i = min(1, |lambda_i| / tau) add up to the budget s.
 *
 * The paper's conditions (14) lack a square and a sign in print. They should be: 1 - p_i >= 0, lambda_i^2 /
 * p_i^2 - mu >= 0, and one of these two terms is 0. So tau = sqrt(mu). */

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
