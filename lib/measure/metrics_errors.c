/* metrics_errors.c -- standard errors of results over the R repeats. In comments g is the
 * gradient, h the estimate. An atom is a term of the decomposition of g from which a codec draws. */
#include "measure/metrics.h"

#include "math/stats.h"

#include <math.h>

/* ---- standard errors ---- */

bool errors_known(const Tally *t)
{
    bool same = !never_varies(t);
    for (size_t r = 1; r < t->decoded && same; r++)
        same = t->error[r][E_SQUARES] == t->error[0][E_SQUARES];
    return t->spread_known && !same;
}

double sum_se(const Tally *t, int sum)
{
    Moments m = {0};
    for (size_t r = 0; r < t->decoded; r++)
        moments_add(&m, t->error[r][sum]);
    if (!errors_known(t) || (!(m.m2 > 0) && !never_varies(t)))
        return NAN;
    return t->decoded == 1 ? 0 : sqrt(moments_variance(&m) / (double)m.n);
}

/* Returns the standard deviation of the values, multiplied by the factor for their skewness and by a ratio of quantiles of
 * Student's t: callers take the quantile for R - 1 degrees of freedom, but there may be fewer than R values. */
static double widened(const Tally *t, const Moments *m)
{
    if (m->n < 2 || !(m->m2 > 0))
        return 0;
    const double ratio = m->n == t->decoded ? 1 : t_quantile(0.05, (double)(m->n - 1)) / t_quantile(0.05, (double)(t->decoded - 1));
    return sqrt(moments_variance(m)) * skew_factor(moments_skewness(m), (double)m->n) * ratio;
}

double moments_se(const Tally *t, const Moments *m)
{
    if (!errors_known(t) || m->n == 0 || (m->n < 2 && t->decoded > 1))
        return NAN;
    if (!(m->m2 > 0) && !never_varies(t))
        return NAN; /* equal values of all repeats may be chance */
    return t->decoded == 1 ? 0 : widened(t, m) / sqrt((double)m->n);
}

typedef double Value(const Tally *t, size_t r);

/* Of the repeats that have a value and, if `kept` is true, whose estimate is not all zeros. */
static Moments moments_of(const Tally *t, Value *value, bool kept)
{
    Moments m = {0};
    for (size_t r = 0; r < t->decoded; r++)
        if (!isnan(value(t, r)) && (!kept || t->error[r][E_NORM] > 0))
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
    if (!errors_known(t) || t->decoded == 1 || !(none > 0 && none < 1) || isnan(zeros) || kept.n == 0)
        return moments_se(t, &all);
    const double within = widened(t, &kept),
                 apart = (kept.mean - zeros) * normal / t_quantile(0.05, (double)(t->decoded - 1));
    const double se = sqrt((1 - none) * (within * within + none * apart * apart) / (double)t->decoded);
    return se > 0 || never_varies(t) ? se : NAN;
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

/* ---- standard errors of what follows from pairs of repeats ---- */

/* Let e_r = h_r - g be the error of repeat r, and d its mean over all draws but repeat r's. With covariance matrix C and
 * bias b = E e, <e_r, d> of the r - 1 repeats before has the mean |b|^2 and the variance b'Cb (1 + 1/(r-1)) + tr C^2 / (r-1). */
typedef struct {
    double trace2;   /* tr C^2 */
    double bias_var; /* b'Cb */
} Pairs;

/* The sums |e_1 + ... + e_r|^2 follow from |e_r|^2 and the growth of the sum of squared deviations,
 * (r-1)/r |e_r - mean of the e before|^2, so <e_r, sum of the e before> does, too. */
static Pairs pairs_of(const Tally *t)
{
    const double n = (double)t->decoded;
    double sum2 = t->error[0][E_SQUARES], products = 0, squares = 0, scaled = 0, own = 0;
    for (size_t r = 1; r < t->decoded; r++) {
        const double before = (double)r, e2 = t->error[r][E_SQUARES];
        const double product = (before * (e2 - t->grown[r] * (before + 1) / before) + sum2 / before) / 2;
        sum2 += 2 * product + e2;
        products += product;
        squares += product * product / before / before;
        scaled += product * product / before;
        own += 1 / before;
    }
    const double bias2 = 2 * products / (n * (n - 1));
    /* without a closed form, the errors of elements may be dependent */
    const bool independent = t->along_known || t->signs_known;
    Pairs p = {.trace2 = independent ? t->squares : fmax(isnan(t->squares) ? 0 : t->squares, scaled / (n - 1))};
    if (!t->unbiased) {
        const double around = fmax(squares - (n - 1) * bias2 * bias2, 0);
        p.bias_var = fmax(around - p.trace2 * own, 0) / (n - 1 + own);
    }
    return p;
}

double bias2_se(const Tally *t)
{
    const double n = (double)t->decoded;
    const Pairs p = t->decoded > 1 ? pairs_of(t) : (Pairs){0};
    return !errors_known(t) ? NAN : t->decoded == 1 ? 0 : sqrt(4 * p.bias_var / n + 2 * p.trace2 / (n * (n - 1)));
}

/* Estimates Var |h - E h|^2 = K + 2 tr C^2 from the growths of the sum of squared deviations. Each is |sum of c_i h_i|^2 for
 * orthonormal contrasts c, so it has the variance K sum c^4 + 2 tr C^2, and two of them the covariance K sum c^2 c'^2. */
static double own_spread(const Tally *t, double trace2)
{
    const double n = (double)t->decoded;
    Moments grown = {0};
    double fourths = 0;
    for (size_t r = 1; r < t->decoded; r++) {
        moments_add(&grown, t->grown[r]);
        fourths += (double)(r * r - r + 1) / (double)(r * (r + 1)) / (n - 1);
    }
    const double pairs = ((n - 1) / n - fourths) / (n - 2), apart = moments_variance(&grown) - 2 * trace2;
    const double widen = skew_factor(moments_skewness(&grown), n);
    return (fmax(apart, 0) / (fourths - pairs) + 2 * trace2 + fmin(apart, 0)) * widen * widen;
}

/* The variance is the mean of |a - a'|^2 / 2 over the pairs of repeats, with a = h - E h. It has the variance
 * Var |a|^2 / R + 2 tr C^2 / (R (R - 1)). Without bias a = h - g. */
double spread_se(const Tally *t, double mse_se)
{
    const double n = (double)t->decoded;
    if (t->decoded == 1 || !errors_known(t))
        return mse_se;
    const double trace2 = pairs_of(t).trace2;
    const double own = t->unbiased ? mse_se * mse_se : t->decoded > 2 ? own_spread(t, trace2) / n : NAN;
    return sqrt(own + 2 * trace2 / (n * (n - 1)));
}
