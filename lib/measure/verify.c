/* verify.c -- lists the statements of the ATOMO paper, and checks one (verify.h). Statements on means of draws
 * and on matrices are in verify_subject.c. */
#include "measure/verify_parts.h"
#include "base/parallel.h"
#include "dump/describe.h"

#include <math.h>
#include <stdio.h>
#include <float.h>

/* ---- Lemmas 2 and 3 and Theorem 4: which sampling probabilities p are best ----
 *
 * Let f(p) = sum lambda_i^2 / p_i. The paper's problem (4) is to minimise f(p) with sum p = s. Problem (3)
 * also requires p <= 1. Values of f are divided by |lambda|^2. */

/* A budget s is balanced if s lambda_i / |lambda|_1 <= 1 for all i. Returns a budget between the largest
 * balanced budget and n, or 0 if the magnitudes are nearly equal, so that there is none. */
static double unbalanced(double l1, double most, size_t count)
{
    const double edge = l1 / most, all = (double)count, s = sqrt(edge * all), ahead = s / edge - 1;
    return count > 1 && ahead * ahead / s > 1e-8 ? s : 0;
}

/* ---- Lemma 2: at a balanced budget sum lambda_i^2 / p_i is least, |lambda|_1^2 / s, at p = c |lambda| ---- */

static Status check_equality(VerifySubject *s, VerifyVerdict *v)
{
    const VerifyPart *p = &s->part;
    for (double share = 0.1; share < 1; share += 0.4) {
        const double budget = share * p->l1 / p->most, bound = p->l1 * p->l1 / budget / p->squares;
        double second = NAN;
        TRY(second_moment(s, p->x, p->n, p->squares, budget, &second));
        verdict_take(v, second, bound, 1e-9 * bound, "s = %.4g", budget);
    }
    return OK;
}

/* ---- Lemma 3: if the budget is unbalanced (some p would exceed 1), the best p has p_0 = 1 ---- */

static Status check_lemma_3(VerifySubject *s, VerifyVerdict *v)
{
    const VerifyPart *p = &s->part;
    const double budget = unbalanced(p->l1, p->most, p->count);
    Level level;
    if (budget == 0)
        return OK;
    TRY(arena_check(waterfill_floats(p->x, p->n, budget, s->threads, s->a, &level), s->a, s->err));
    verdict_take(v, chance_at(level.tau, p->most), 1, 0, "s = %.4g", budget);
    return OK;
}

/* ---- Theorem 4: second moments at balanced and at unbalanced budgets ---- */

static Status check_whole(VerifySubject *s, VerifyVerdict *v, double budget, double tolerance)
{
    const double bound = s->l1 * s->l1 / budget / s->squares;
    double second = NAN;
    TRY(second_moment(s, s->x, s->n, s->squares, budget, &second));
    verdict_take(v, second, bound, tolerance * bound, "s = %.4g", budget);
    return OK;
}

static Status check_balanced(VerifySubject *s, VerifyVerdict *v)
{
    return check_whole(s, v, s->l1 / s->most / 2, 1e-9);
}

static Status check_unbalanced(VerifySubject *s, VerifyVerdict *v)
{
    const double budget = unbalanced(s->l1, s->most, s->nonzero);
    return budget > 0 ? check_whole(s, v, budget, 1e-12) : OK;
}

static const VerifyStatement lemma_statements[] = {
    {"Lemma 2: equality",
     "f(p) = |lambda|_1^2 / s at p = c |lambda|, c = s / |lambda|_1 (A.1 prints its inverse)", EQUAL,
     NEEDS_NONZERO, check_equality},
    {"Lemma 3", "s-unbalanced: Algorithm 1 has p_1 = 1; that its p is best is what (14) says", EQUAL,
     NEEDS_SEVERAL, check_lemma_3},
    {"Theorem 4: balanced", "Algorithm 1 on all elements: E|ghat|^2 = |lambda|_1^2 / s", EQUAL, NEEDS_NONZERO,
     check_balanced},
    {"Theorem 4: unbalanced", "Algorithm 1 on all elements: E|ghat|^2 > |lambda|_1^2 / s", ABOVE,
     NEEDS_SEVERAL, check_unbalanced},
    {0},
};

/* ---- Lemma 9, and the statements about Algorithm 1 ----
 *
 * Algorithm 1 finds the water level tau at which the probabilities p_i = min(1, |lambda_i| / tau) add up to the budget s.
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
    TRY(arena_check(waterfill_budgets(s->x, s->n, all->budget, all->count, s->threads, s->a, all->level), s->a, s->err));
    for (size_t i = 0; i < all->count; i++)
        all->spent[i] = spend(s->x, s->n, all->budget[i] / ((double)s->nonzero * s->squares), all->budget[i], &all->level[i]);
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
    TRY(arena_check(waterfill_floats(s->x, s->n, plenty, s->threads, s->a, &level), s->a, s->err));
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

static const VerifyStatement level_statements[] = {
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

/* ---- Theorem 5 ----
 *
 * The l_q-quantisation L_q(g)_i = |g|_q
 * sign(g_i) zeta_i, where zeta_i is 1 with probability |g_i| / |g|_q and else 0, equals Algorithm 1 with the
 * budget |g|_1 / |g|_q. q = 2 is 1-bit QSGD; q = infinity is TernGrad. Two misprints of the paper are
 * corrected here: it prints Q(q) instead of Q(g), and L_q(v) instead of L_q(g). */

static const double powers[] = {0.5, 1, 1.5, 2, 3, 4, INFINITY};
enum { POWERS = countof(powers), SQUARE = 3, LARGEST = 6 };

/* ---- norms ---- */

/* Adds to sum[k] the powers[k] of |x| / most; the last one stays 0. */
static void add_powers(const float *x, size_t n, double most, double sum[POWERS])
{
    double part[POWERS] = {0};
    for (size_t i = 0; i < n; i++) {
        const double v = fabs((double)x[i]) / most, root = sqrt(v), square = v * v;
        part[0] += root;
        part[1] += v;
        part[2] += v * root;
        part[SQUARE] += square;
        part[4] += square * v;
        part[5] += square * square;
    }
    for (size_t k = 0; k < POWERS; k++)
        sum[k] += part[k];
}

static Status need_norms(VerifySubject *s)
{
    double sum[POWERS] = {0};
    if (s->norm)
        return OK;
    s->norm = NEW_ZERO(s->a, double, POWERS);
    TRY(arena_check(s->norm, s->a, s->err));
    for (size_t block = 0; block < blocks_of(s->n) && s->most > 0; block++)
        add_powers(s->x + block * BLOCK, block_size(s->n, block), s->most, sum);
    for (size_t k = 0; k < POWERS; k++)
        s->norm[k] = fmax(s->most, s->most * pow(sum[k], 1 / powers[k]));
    return OK;
}

/* ---- probabilities ---- */

static Status check_probabilities(VerifySubject *s, VerifyVerdict *v)
{
    double budget[POWERS];
    Level level[POWERS];
    TRY(need_norms(s));
    for (size_t k = 0; k < POWERS; k++)
        budget[k] = s->l1 / s->norm[k];
    TRY(arena_check(waterfill_budgets(s->x, s->n, budget, POWERS, s->threads, s->a, level), s->a, s->err));
    for (size_t k = 0; k < POWERS; k++) {
        /* tau must be |g|_q, because p_i = |g_i| / tau must be |g_i| / |g|_q. If tau = 0, Algorithm 1 has
         * p_i = 1 for all non-zero g_i. That is right only if all these |g_i| are |g|_q, so their mean takes
         * the place of tau. */
        const double scale = level[k].tau > 0 ? level[k].tau : s->l1 / (double)s->nonzero,
                     right = s->norm[k] / s->most;
        verdict_take(v, scale / s->most, right, 1e-9 * right, "q = %g, s = %.4g", powers[k], budget[k]);
    }
    return OK;
}

static const char *lq_spec(double q, char spec[32])
{
    snprintf(spec, 32, "lq:q=%g", q);
    return spec;
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
    size_t count;
    bool raw;
    TRY(need_norms(s));
    if (s->most == 0 || s->norm[k] > (double)FLT_MAX) /* the scale is sent in float32 */
        return OK;
    /* taken after the norms are stored, which a rewind must not free */
    const ArenaMark mark = arena_mark(s->a);
    const size_t draws = s->n < BLOCK ? 4 : 1;
    const double budget = s->l1 / s->norm[k];
    TRY(count_different(s, spec, s->n, budget, draws, &count, &raw));
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

static const VerifyStatement quantiser_statements[] = {
    {"Theorem 5: probabilities",
     "at s = |g|_1 / |g|_q the level is |g|_q: p_i = |g_i| / |g|_q; q = 0.5 1 1.5 2 3 4 inf", EQUAL,
     NEEDS_NONZERO, check_probabilities},
    {"Theorem 5: qsgd", "elements where 1-bit QSGD and entry, with the same coins, decode differently: none",
     EQUAL, NEEDS_NONZERO, check_qsgd},
    {"Theorem 5: terngrad", "elements where TernGrad and entry decode differently: none", EQUAL,
     NEEDS_NONZERO, check_terngrad},
    {"Theorem 5: lq", "elements where lq and entry decode differently, for each q: none", EQUAL,
     NEEDS_NONZERO, check_lq},
    {0},
};

/* ---- the list ---- */

static const VerifyStatement *const groups[] = {moment_statements, lemma_statements, level_statements, quantiser_statements,
                                                matrix_statements};

size_t statement_count(void)
{
    size_t count = 0;
    for (size_t g = 0; g < countof(groups); g++)
        for (const VerifyStatement *st = groups[g]; st->name; st++)
            count++;
    return count;
}

const VerifyStatement *statement_at(size_t i)
{
    for (size_t g = 0; g < countof(groups); g++)
        for (const VerifyStatement *st = groups[g]; st->name; st++)
            if (i-- == 0)
                return st;
    return NULL;
}

static bool is_matrix(const VerifySubject *s)
{
    size_t rows, cols;
    if (s->vector->joined || s->vector->shape.rank < 2)
        return false;
    matrix_view(&s->vector->shape, RESHAPE_PAPER, &rows, &cols);
    return rows > 1 && cols > 1 && s->nonzero > 0;
}

static bool may_apply(const VerifyStatement *st, const VerifySubject *s)
{
    switch (st->needs) {
    case NEEDS_NOTHING:
        return true;
    case NEEDS_NONZERO:
        return s->part.count > 0;
    case NEEDS_SEVERAL:
        return s->part.count > 1;
    case NEEDS_MATRIX:
        return is_matrix(s);
    }
    return false;
}

Status statement_check(const VerifyStatement *st, VerifySubject *s, VerifyVerdict *v)
{
    *v = (VerifyVerdict){.relation = st->relation, .left = NAN, .right = NAN};
    if (!may_apply(st, s))
        return OK;
    const Status status = st->check(s, v);
    if (status == ERR_NUMERIC) {
        *v = (VerifyVerdict){.applies = true, .relation = st->relation, .left = NAN, .right = NAN};
        snprintf(v->note, sizeof v->note, "%.127s", s->err->text);
        return OK;
    }
    return status;
}
