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
