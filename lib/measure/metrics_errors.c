/* metrics_errors.c -- see metrics_errors.h. In comments g is the gradient, h the estimate. */
#include "measure/metrics_errors.h"

#include "num/stats.h"

#include <math.h>

/* An estimate is float32, so even without bias the mean estimate may differ from g by this fraction of g. */
#define ROUNDING 0x1p-22

/* ---- standard errors ---- */

static double se_of(const Tally *t, const Moments *m)
{
    if (!t->spread_known)
        return NAN;
    return t->decoded == 1 ? 0 : sqrt(moments_variance(m) / (double)m->n);
}

double sum_se(const Tally *t, int sum)
{
    Moments m = {0};
    for (size_t r = 0; r < t->decoded; r++)
        moments_add(&m, t->error[r][sum]);
    return se_of(t, &m);
}

double values_se(const Tally *t, double (*value)(const Tally *t, size_t r))
{
    Moments m = {0};
    for (size_t r = 0; r < t->decoded; r++) {
        const double v = value(t, r);
        if (!isnan(v))
            moments_add(&m, v);
    }
    if (m.n < 2 || m.n == t->decoded)
        return m.n ? se_of(t, &m) : NAN;
    /* NaN values were left out, so m.n < R: widens the error such that a t interval with R - 1 degrees of freedom
     * is as wide as one with m.n - 1 */
    return se_of(t, &m) * t_quantile(0.05, (double)(m.n - 1)) / t_quantile(0.05, (double)(t->decoded - 1));
}

/* ---- tests of the estimate along the gradient g, and along the signs of g ---- */

/* A result for each repeat: <h, g> or <h, sign g>, where h is the estimate and g the gradient. Its mean is `unit`
 * if h is unbiased. */
typedef struct {
    int sum;
    double unit;
    double known; /* variance of the result in closed form; 0: unknown */
} Along;

/* Returns the codec's closed-form variance divided by the measured variance; 1 if the quotient is below 1 or
 * unknown. */
static double unseen(const Tally *t)
{
    const double measured = t->spread[S_M2] / (double)(t->repeats - 1);
    return t->expected > measured && measured > 0 ? t->expected / measured : 1;
}

static Along along_gradient(const Tally *t)
{
    return (Along){E_DOT, t->gradient[G_SQUARES], t->weighted};
}

static Along along_signs(const Tally *t)
{
    return (Along){E_SIGNED, t->gradient[G_MAGNITUDES], 0};
}

static double mean_along(const Tally *t, Along a)
{
    double total = 0;
    for (size_t r = 0; r < t->decoded; r++)
        total += t->error[r][a.sum];
    return a.unit > 0 ? total / (double)t->decoded / a.unit : NAN;
}

/* Returns the standard error of mean_along, in units of a.unit. */
static double se_along(const Tally *t, Along a)
{
    const double se = sum_se(t, a.sum);
    if (!(a.unit > 0) || !(se >= 0) || t->decoded == 1)
        return a.unit > 0 ? se : NAN;
    return sqrt(fmax(se * se, a.known / (double)t->repeats) * unseen(t)) / a.unit;
}

/* Returns the degrees of freedom of the empirical variance of R values: R - 1 for normal values, fewer if their tails
 * are longer. */
static double freedom_along(const Tally *t, Along a)
{
    const double n = (double)t->decoded, mean = mean_along(t, a);
    double m2 = 0, m4 = 0;
    for (size_t r = 0; r < t->decoded; r++) {
        const double d = t->error[r][a.sum] / a.unit - mean;
        m2 += d * d;
        m4 += d * d * d * d;
    }
    const double excess = m2 > 0 ? n * m4 / (m2 * m2) - 3 : 0;
    return 2 * n / (fmax(excess, 0) + 2 * n / (n - 1));
}

static double p_along(const Tally *t, Along a)
{
    const double se = se_along(t, a);
    if (t->decoded == 1 || !(se >= 0))
        return NAN;
    /* all repeats gave the same estimate, although the codec's variance is not 0: too few repeats to test */
    if (t->spread[S_M2] == 0 && t->expected > 0)
        return NAN;
    return t_tails((mean_along(t, a) - 1) / hypot(se, ROUNDING), freedom_along(t, a));
}

double gain_se(const Tally *t)
{
    return se_along(t, along_gradient(t));
}
double gain_p(const Tally *t)
{
    return p_along(t, along_gradient(t));
}

double gain_l1(const Tally *t)
{
    return mean_along(t, along_signs(t));
}
double gain_l1_se(const Tally *t)
{
    return se_along(t, along_signs(t));
}
double gain_l1_p(const Tally *t)
{
    return p_along(t, along_signs(t));
}

double bias_detectable(double se, size_t repeats, double level)
{
    const double freedom = (double)repeats - 1;
    /* t_quantile's 0.2 counts both tails: 0.1 in the tail where the test misses the bias */
    return hypot(se, ROUNDING) * (t_quantile(level, freedom) + t_quantile(0.2, freedom));
}

double bias_least(double gain_se, double gain_l1_se, size_t repeats, double level)
{
    const double along = bias_detectable(gain_l1_se, repeats, level);
    return gain_se < 1e-3 * gain_l1_se ? along : fmin(bias_detectable(gain_se, repeats, level), along);
}

/* ---- test of bias over all elements ---- */

double bias_p(const Tally *t)
{
    const double r = (double)t->repeats, v = t->spread[S_M2] / (r - 1);
    const double nu = v * v / t->squares, bias = t->spread[S_BIAS];
    const double variance = t->expected > v ? t->expected : v;
    if (t->decoded == 1 || !(variance > 0) || !(nu > 0))
        return NAN;
    if (bias <= ROUNDING * ROUNDING * t->gradient[G_SQUARES])
        return 1;
    return f_tail(r * bias / variance, nu, nu * (r - 1));
}
