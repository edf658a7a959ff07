/* test_optimum.c -- the probabilities of Algorithm 1 of the ATOMO paper have the least second moment: that which projected
 * descent finds, which does not use water levels. The construction in the proof of Lemma 8 lowers the second moment. */
#include "rig/verify_rig.h"

enum { MOST = 40, STEPS = 500, HALVINGS = 120 };

/* f(p) = sum lambda^2 / p */
static double f_of(const double *lambda, const double *p, size_t n)
{
    double sum = 0;
    for (size_t i = n; i-- > 0;)
        sum += lambda[i] * lambda[i] / p[i];
    return sum;
}

/* Sets p to y - t / w, limited to low .. 1, with the t at which p adds up to `budget`. */
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
            sum += p[i] = fmin(1, fmax(low[i], y[i] - t / w[i]));
        *(sum > budget ? &least : &most) = t;
    }
}

/* Minimises f(p) over 0 < p <= 1 with sum p = budget by projected Newton steps: the second derivative is w = 2 lambda^2 /
 * p^3, so a step goes to p + p / 2. `low` is half of Lemma 9's lower bound. */
static double least_by_descent(const double *lambda, size_t n, double budget)
{
    double p[MOST], y[MOST], w[MOST], low[MOST], next[MOST], squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += lambda[i] * lambda[i];
    for (size_t i = 0; i < n; i++) {
        p[i] = budget / (double)n;
        low[i] = budget * lambda[i] * lambda[i] / ((double)n * squares) / 2;
    }
    for (int k = 0; k < STEPS; k++) {
        for (size_t i = 0; i < n; i++) {
            w[i] = 2 * lambda[i] * lambda[i] / (p[i] * p[i] * p[i]);
            y[i] = 1.5 * p[i];
        }
        project(y, w, low, n, budget, next);
        for (int halves = 0; f_of(lambda, next, n) > f_of(lambda, p, n) && halves < 40; halves++)
            for (size_t i = 0; i < n; i++)
                next[i] = p[i] + (next[i] - p[i]) / 2;
        if (!(f_of(lambda, next, n) < f_of(lambda, p, n)))
            break;
        memcpy(p, next, sizeof p);
    }
    return f_of(lambda, p, n);
}

/* Fills lambda with magnitudes in descending order that fall by a factor from 0.4 to 1 each. */
static size_t fill(double *lambda, uint32_t round)
{
    const size_t n = 2 + round % (MOST - 1);
    lambda[0] = 1;
    for (size_t i = 1; i < n; i++)
        lambda[i] = lambda[i - 1] * (0.4 + 0.6 * (double)rng_mix((uint32_t)i, round) * 0x1p-32);
    return n;
}

TEST(algorithm_1_has_the_second_moment_that_descent_finds)
{
    for (uint32_t round = 0; round < 40; round++) {
        double lambda[MOST], p[MOST];
        const size_t n = fill(lambda, round);
        for (double budget = 0.3; budget < (double)n; budget *= 2.1) {
            const double tau = waterfill_level(lambda, n, budget, scratch);
            for (size_t i = 0; i < n; i++)
                p[i] = chance_at(tau, lambda[i]);
            check_rel(f_of(lambda, p, n), least_by_descent(lambda, n, budget), 1e-7);
        }
    }
}

/* Constructs p from q as Appendix A.2 does. p_0 becomes 1. The set A is first .. n - 1, where `first` is the smallest
 * index such that these elements are balanced at the remaining budget; the others keep their q. */
static void raise_first(const double *lambda, const double *q, size_t n, double *p)
{
    double sum = 0, l1 = 0, share = 0;
    size_t first = n;
    for (size_t i = n; i-- > 1;) {
        sum += q[i];
        l1 += lambda[i];
        if (lambda[i] * (sum + q[0] - 1) <= l1) {
            first = i;
            share = (sum + q[0] - 1) / l1;
        }
    }
    memcpy(p, q, n * sizeof *p);
    p[0] = 1;
    for (size_t i = first; i < n; i++)
        p[i] = lambda[i] * share;
}

TEST(the_construction_of_lemma_8_raises_p_1_and_lowers_the_second_moment)
{
    size_t tried = 0;
    for (uint32_t round = 0; round < 400; round++) {
        double lambda[MOST], q[MOST], p[MOST], l1 = 0, budget = 0, sum = 0;
        const size_t n = fill(lambda, round);
        for (size_t i = 0; i < n; i++) {
            q[i] = fmin(1, lambda[i] * (0.2 + 3 * (double)rng_mix((uint32_t)i, round + 1000) * 0x1p-32));
            q[0] = fmin(q[0], 0.9);
            l1 += lambda[i];
            budget += q[i];
        }
        if (budget * lambda[0] <= l1) /* balanced */
            continue;
        raise_first(lambda, q, n, p);
        for (size_t i = 0; i < n; i++) {
            check(p[i] > 0 && p[i] <= 1 + 1e-12);
            sum += p[i];
        }
        check_rel(sum, budget, 1e-12);
        check(p[0] == 1 && f_of(lambda, p, n) <= f_of(lambda, q, n) * (1 + 1e-12));
        tried++;
    }
    check(tried > 50);
}

CHECK_ALL_IN(scratch)
