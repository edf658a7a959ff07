/* verify_levels.c -- reference solvers of the water level tau of the probabilities min(1, lambda_i / tau).
 * The solvers find tau for a given sum of the probabilities (the budget), or for a given second moment
 * (gspar). They share no code with the codecs' solver (waterfill.h). Also computes sums over these
 * probabilities. */
#include "verify/verify_parts.h"

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

double level_bisected(const double *lambda, size_t n, double budget, Arena *scratch)
{
    double low = 0, high = 0;
    (void)scratch;
    if (budget >= (double)n)
        return 0;
    for (size_t i = 0; i < n; i++)
        high += lambda[i] / budget;
    for (double middle = high / 2; middle > low && middle < high; middle = low + (high - low) / 2) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += chance_at(middle, lambda[i]);
        *(sum > budget ? &low : &high) = middle;
    }
    return high;
}

/* The variant of Appendix B, in O(sn): instead of sorting, it selects the largest remaining element again and
 * again. */
double level_selected(const double *lambda, size_t n, double budget, Arena *scratch)
{
    const ArenaMark mark = arena_mark(scratch);
    double *left = NEW(scratch, double, n), level = left ? 0 : NAN;
    for (size_t i = 0; left && i < n; i++)
        left[i] = lambda[n - 1 - i];
    for (size_t count = n; left && budget < (double)n;) {
        size_t top = 0;
        double under = 0;
        for (size_t i = 1; i < count; i++)
            top = left[i] > left[top] ? i : top;
        for (size_t i = 0; i < count; i++)
            under += i == top ? 0 : left[i];
        const double spare = budget - (double)(n - count);
        if (left[top] * spare <= under + left[top] || count == 1) {
            level = (under + left[top]) / spare;
            break;
        }
        left[top] = left[--count];
    }
    arena_rewind(scratch, mark);
    return level;
}

/* Solves Wangni et al.'s dual problem: the least expected number of kept elements, with a second moment of at
 * most (1 + eps) |lambda|^2. Element k is always kept iff lambda_k (lambda_(k+1) + lambda_(k+2) + ..) > eps
 * |lambda|^2 + lambda_(k+1)^2 + lambda_(k+2)^2 + .. */
double level_gspar(const double *lambda, size_t n, double eps)
{
    double all = 0, rest1 = 0, rest2 = 0;
    size_t k = n;
    for (size_t i = n; i-- > 0;)
        all += lambda[i] * lambda[i];
    for (; k > 0 && lambda[k - 1] * rest1 <= eps * all + rest2; k--) {
        rest1 += lambda[k - 1];
        rest2 += lambda[k - 1] * lambda[k - 1];
    }
    return rest1 > 0 ? (eps * all + rest2) / rest1 : 0;
}

/* ---- minimum of sum lambda^2 / p by projected descent ---- */

enum { STEPS = 500, HALVINGS = 120, SMALL_MOST = 64 };

static double second_moment(const double *lambda, const double *p, size_t n)
{
    double sum = 0;
    for (size_t i = n; i-- > 0;)
        sum += lambda[i] * lambda[i] / p[i];
    return sum;
}

/* Returns in p the point nearest to y with low_i <= p_i <= 1 and sum p = budget, where the squared distance
 * has the weights w_i. The solution is y_i - t / w_i, clamped to [low_i, 1]; t is found by bisection. */
static void project(const double *y, const double *w, const double *low, size_t n, double budget, double *p)
{
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        least = fmin(least, (y[i] - 1) * w[i]);
        most = fmax(most, (y[i] - low[i]) * w[i]);
    }
    for (int k = 0; k < HALVINGS; k++) {
        const double t = least + (most - least) / 2;
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += fmin(1, fmax(low[i], y[i] - t / w[i]));
        *(sum > budget ? &least : &most) = t;
    }
    for (size_t i = 0; i < n; i++)
        p[i] = fmin(1, fmax(low[i], y[i] - most / w[i]));
}

/* A projected Newton step. The second derivative with respect to p_i is w_i = 2 lambda_i^2 / p_i^3. */
static void step(const double *lambda, const double *p, const double *low, size_t n, double budget,
                 double *next)
{
    double y[SMALL_MOST], w[SMALL_MOST];
    for (size_t i = 0; i < n; i++) {
        w[i] = 2 * (lambda[i] / p[i]) * (lambda[i] / p[i]) / p[i];
        /* p - gradient / w, with the gradient -lambda^2 / p^2 */
        y[i] = p[i] + p[i] / 2;
    }
    project(y, w, low, n, budget, next);
}

double least_by_descent(const double *lambda, size_t n, double budget)
{
    double p[SMALL_MOST], next[SMALL_MOST], low[SMALL_MOST], squares = 0;
    assert(n <= SMALL_MOST && budget < (double)n);
    for (size_t i = n; i-- > 0;)
        squares += lambda[i] * lambda[i];
    for (size_t i = 0; i < n; i++) {
        p[i] = budget / (double)n;
        /* half of Lemma 9's lower bound on p */
        low[i] = budget * lambda[i] * lambda[i] / ((double)n * squares) / 2;
    }
    double best = second_moment(lambda, p, n);
    for (int k = 0; k < STEPS; k++) {
        step(lambda, p, low, n, budget, next);
        double value = second_moment(lambda, next, n);
        for (int halves = 0; value > best && halves < 40; halves++) {
            for (size_t i = 0; i < n; i++)
                next[i] = p[i] + (next[i] - p[i]) / 2;
            value = second_moment(lambda, next, n);
        }
        if (!(value < best))
            break;
        memcpy(p, next, n * sizeof *p);
        best = value;
    }
    return best;
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
