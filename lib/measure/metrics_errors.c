/* metrics_errors.c -- standard errors of results over the R repeats, and tests of bias. In comments g is the
 * gradient, h the estimate. An atom is a term of the decomposition of g from which a codec draws. */
#include "measure/metrics_errors.h"

#include "num/stats.h"

#include <math.h>

/* Estimates are rounded to float32. So even without bias, the mean estimate may differ from g by this
 * fraction of g. */
#define ROUNDING 0x1p-22
/* In fewer repeats than EQUAL_BY_CHANCE, values that are equal but for ROUNDING may be so by chance. */
enum { EQUAL_BY_CHANCE = 10 };

/* ---- standard errors ---- */

bool errors_known(const Tally *t)
{
    bool same = t->decoded > 1;
    for (size_t r = 1; r < t->decoded && same; r++)
        same = t->error[r][E_SQUARES] == t->error[0][E_SQUARES];
    return t->spread_known && !(same && t->expected > 0);
}

double sum_se(const Tally *t, int sum)
{
    Moments m = {0};
    for (size_t r = 0; r < t->decoded; r++)
        moments_add(&m, t->error[r][sum]);
    if (!errors_known(t))
        return NAN;
    return t->decoded == 1 ? 0 : sqrt(moments_variance(&m) / (double)m.n);
}

/* Returns the standard deviation of the values, multiplied by two factors. The first is a ratio of quantiles
 * of Student's t: callers take the quantile for R - 1 degrees of freedom, but there may be fewer than R
 * values.
 *
 * The second factor, 1 + 2 G^2 / n, allows for the skewness G of the n values. The second term of
 * Edgeworth's expansion of t widens a 95 % interval by 1.08 G^2 / n (Hall, Annals of Probability 15 (1987)
 * 920). The factor has 2 instead of 1.08 because the skewness of a small sample is estimated too small: ten
 * exponential values have half of the true G^2 on average. The symmetric bootstrap-t (Hall, J. R. Statist.
 * Soc. B 50 (1988) 35) covers about as often. */
static double widened(const Tally *t, const Moments *m)
{
    if (m->n < 2 || !(m->m2 > 0))
        return 0;
    const double own = t_quantile(0.05, (double)(m->n - 1)),
                 given = t_quantile(0.05, (double)(t->decoded - 1)), skewness = moments_skewness(m);
    return sqrt(moments_variance(m)) * (1 + 2 * skewness * skewness / (double)m->n) * own / given;
}

double moments_se(const Tally *t, const Moments *m)
{
    if (!errors_known(t) || m->n == 0 || (m->n < 2 && t->decoded > 1))
        return NAN;
    return t->decoded == 1 ? 0 : widened(t, m) / sqrt((double)m->n);
}

typedef double Value(const Tally *t, size_t r);

/* Returns true if repeat r has a value and, if `kept` is true, its estimate is not all zeros. */
static bool counts(const Tally *t, Value *value, size_t r, bool kept)
{
    return !isnan(value(t, r)) && (!kept || t->error[r][E_NORM] > 0);
}

static Moments moments_of(const Tally *t, Value *value, bool kept)
{
    Moments m = {0};
    for (size_t r = 0; r < t->decoded; r++)
        if (counts(t, value, r, kept))
            moments_add(&m, value(t, r));
    return m;
}

static double value_of_zeros(const Tally *t, Value *value)
{
    double row[1][E_SUMS] = {{0}};
    Tally zeros = *t;
    zeros.error = row;
    row[0][E_SQUARES] = t->gradient[G_SQUARES];
    row[0][E_ERRORS] = t->gradient[G_MAGNITUDES];
    for (int i = 0; i < THRESHOLDS; i++)
        row[0][E_ABOVE + i] = t->gradient[G_ABOVE + i];
    /* Positive elements of g are estimated too low and negative ones too high, each by its own magnitude.
     * The number of positive ones does not matter, so each class gets half of the elements. */
    row[0][E_UNDER] = row[0][E_UNDERS] = t->gradient[G_NONZERO] / 2;
    row[0][E_OVER] = row[0][E_OVERS] = t->gradient[G_NONZERO] / 2;
    return value(&zeros, 0);
}

/* The codec knows the probability of an all-zero estimate, even if no repeat drew one. So the squared
 * standard error is a sum of two parts (law of total variance). The first is the variance among the values
 * of the other estimates. The second is the variance due to whether an estimate is all zeros. As its
 * probability is known, the second part is scaled for an interval of the normal distribution. */
double values_se(const Tally *t, Value *value)
{
    const double normal = 1.959963984540054, none = t->none, zeros = value_of_zeros(t, value);
    const Moments all = moments_of(t, value, false), kept = moments_of(t, value, true);
    const double se = moments_se(t, &all);
    if (isnan(se) || t->decoded == 1 || !(none > 0 && none < 1) || isnan(zeros) || kept.n == 0)
        return se;
    const double within = widened(t, &kept),
                 apart = (kept.mean - zeros) * normal / t_quantile(0.05, (double)(t->decoded - 1));
    return sqrt((1 - none) * (within * within + none * apart * apart) / (double)t->decoded);
}

/* If no repeat keeps a rare atom, the measured variance of <h, g> is less than its closed form. The measured
 * variance of the cosine is then too small in about the same proportion. So the cosine's standard error is
 * multiplied by the ratio of the closed-form to the measured standard error of <h, g>. The ratio is limited
 * to 1 .. 2, because the proportion is only approximate. */
double cosine_se(const Tally *t, Value *cosine)
{
    enum { MOST = 2 };
    const double se = values_se(t, cosine), measured = sum_se(t, E_DOT),
                 known = sqrt(t->weighted / (double)t->repeats);
    return measured > 0 && known > measured ? se * fmin(MOST, known / measured) : se;
}

/* ---- tests of the estimate along the gradient g, and along the signs of g ---- */

/* A quantity of each repeat, <h, g> or <h, sign g>: the error sum with index `sum` (E_...). Its mean is
 * `unit` if h is unbiased. */
typedef struct {
    int sum;
    double unit;
    double known; /* variance of the quantity in closed form; 0: unknown */
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

/* Returns the standard error of `mean_along` that the tests of bias use. */
static double se_along(const Tally *t, Along a)
{
    const double se = sum_se(t, a.sum);
    if (!(a.unit > 0) || !(se >= 0) || t->decoded == 1)
        return a.unit > 0 ? se : NAN;
    return sqrt(fmax(se * se, a.known / (double)t->repeats) * unseen(t)) / a.unit;
}

/* Returns the degrees of freedom of the empirical variance of R values: R - 1 for normally distributed
 * values, less for values with longer tails. */
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
    /* All repeats gave the same estimate although the codec's variance is not 0: there are too few repeats
     * for a test. */
    if (t->spread[S_M2] == 0 && t->expected > 0)
        return NAN;
    /* A quantity with few values, such as one that only counts the drawn atoms, may be the same in few repeats by
     * chance. */
    if (t->decoded < EQUAL_BY_CHANCE && t->spread[S_M2] > 0 && se < ROUNDING)
        return NAN;
    return t_tails((mean_along(t, a) - 1) / hypot(se, ROUNDING), freedom_along(t, a));
}

double gain_se(const Tally *t)
{
    const Along a = along_gradient(t);
    return t->unbiased && a.known > 0 && a.unit > 0 && t->decoded > 1
               ? sqrt(a.known / (double)t->repeats) / a.unit
               : se_along(t, a);
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
    /* both tails together have 0.2, so the test misses the bias with probability 0.1 */
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
