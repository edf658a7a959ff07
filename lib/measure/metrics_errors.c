/* metrics_errors.c -- standard errors of results over the R repeats, and tests of bias. In comments g is the
 * gradient, h the estimate. An atom is a term of the decomposition of g from which a codec draws. */
#include "measure/metrics_errors.h"

#include "math/stats.h"

#include <math.h>

/* Estimates are rounded to float32. So even without bias, the mean estimate may differ from g by this
 * fraction of g. */
#define ROUNDING 0x1p-22
/* In fewer repeats than EQUAL_BY_CHANCE, values that are equal but for ROUNDING may be so by chance. */
enum { EQUAL_BY_CHANCE = 10 };

/* ---- standard errors ---- */

bool never_varies(const Tally *t)
{
    return (t->decoded == 1 && t->spread_known) || t->expected == 0;
}

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

/* The factor 1 + 2 G^2 / n allows for the skewness G of the n values. The second term of
 * Edgeworth's expansion of t widens a 95 % interval by 1.08 G^2 / n (Hall, Annals of Probability 15 (1987)
 * 920). The factor has 2 instead of 1.08 because the skewness of a small sample is estimated too small: ten
 * exponential values have half of the true G^2 on average. The symmetric bootstrap-t (Hall, J. R. Statist.
 * Soc. B 50 (1988) 35) covers about as often. */
double skew_factor(double skewness, double n)
{
    return 1 + 2 * skewness * skewness / n;
}

/* Returns the standard deviation of the values, multiplied by the factor for their skewness and by a ratio of quantiles of
 * Student's t: callers take the quantile for R - 1 degrees of freedom, but there may be fewer than R values. */
static double widened(const Tally *t, const Moments *m)
{
    if (m->n < 2 || !(m->m2 > 0))
        return 0;
    const double own = t_quantile(0.05, (double)(m->n - 1)), given = t_quantile(0.05, (double)(t->decoded - 1));
    return sqrt(moments_variance(m)) * skew_factor(moments_skewness(m), (double)m->n) * own / given;
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

/* ---- tests of the estimate along the gradient g, and along the signs of g ---- */

/* A quantity of each repeat, <h, g> or <h, sign g>: the error sum with index `sum` (E_...). Its mean is
 * `unit` if h is unbiased. */
typedef struct {
    int sum;
    double unit;
    double variance; /* of the quantity, from the variances of independent elements or atoms; NaN: unknown */
    double freedom;  /* degrees of freedom of `variance`; INFINITY: it is known, not measured */
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
    const double times = (double)t->repeats - 1, variance = t->spread[S_M2_WEIGHTED] / times;
    const bool known = t->along_known && t->unbiased && t->decoded > 1 && variance > 0;
    const double missing = t->weighted_squares > 0 ? unseen(t) : 1;
    return (Along){E_DOT, t->gradient[G_SQUARES], known ? variance * missing : NAN,
                   t->weighted_squares > 0 ? fmax(1, variance * variance / t->weighted_squares) * times : INFINITY};
}

/* The errors of independent elements, each times 1 or -1, have the sum of their variances. If few of them make most of it,
 * the mean is not normal, and gets the tails of Student's t. */
static Along along_signs(const Tally *t)
{
    const bool known = t->signs_known && t->unbiased && t->decoded > 1 && t->expected > 0;
    const double many = 1e4, freedom = t->expected / t->squares * t->expected * (double)t->repeats;
    return (Along){E_SIGNED, t->gradient[G_MAGNITUDES], known ? t->expected : NAN, freedom < many ? freedom : INFINITY};
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
    if (!(a.unit > 0))
        return NAN;
    if (!isnan(a.variance))
        return sqrt(a.variance / (double)t->repeats) / a.unit;
    return t->decoded == 1 || !(se >= 0) ? se : se * sqrt(unseen(t)) / a.unit;
}

/* Returns the degrees of freedom of the empirical variance of R values: R - 1 for normally distributed
 * values, less for values with longer tails. */
static double freedom_along(const Tally *t, Along a)
{
    const double n = (double)t->decoded, mean = mean_along(t, a);
    double m2 = 0, m4 = 0;
    if (!isnan(a.variance))
        return a.freedom;
    for (size_t r = 0; r < t->decoded; r++) {
        const double d = t->error[r][a.sum] / a.unit - mean;
        m2 += d * d;
        m4 += d * d * d * d;
    }
    const double excess = m2 > 0 ? n * m4 / (m2 * m2) - 3 : 0;
    return 2 * n / (fmax(excess, 0) + 2 * n / (n - 1));
}

/* ---- the distribution of what the tests measure ---- */

#define KNOWN 1e9 /* degrees of freedom of a variance that is known */

/* Returns P(Z > z) for the standardised gamma distribution of this skewness. A mean of few kept atoms, each worth the
 * same share, is such a sum: with the mean 1 and the standard deviation s it has the skewness s (Poisson). */
static double gamma_tail(double z, double skewness)
{
    const double freedom = 8 / (skewness * skewness), beyond = t_tails(z, KNOWN) / 2;
    return freedom < 1e6 ? f_tail(1 + skewness * z / 2, freedom, KNOWN) : z > 0 ? beyond : 1 - beyond;
}

/* Returns the two-sided p-value of a mean that is `off` from 1. */
static double p_of(double off, double se, double freedom)
{
    const double z = off / se, above = gamma_tail(z, se);
    return fmax(t_tails(z, freedom), fmin(1, 2 * fmin(above, 1 - above)));
}

/* Returns the least z > 0 whose p-value is at most `level`. */
static double least_seen(double se, double freedom, double level)
{
    double low = t_quantile(level, freedom), high = low;
    while (2 * gamma_tail(high, se) > level && high < 1e6)
        high *= 2;
    for (int i = 0; i < 50; i++) {
        const double middle = (low + high) / 2;
        *(2 * gamma_tail(middle, se) > level ? &low : &high) = middle;
    }
    return high;
}

/* With fewer degrees of freedom, a standard error that is small by chance makes a small bias seem to show. */
#define FREEDOM_LEAST 6

/* A factor 1 + b also multiplies the deviations, and the standard error if it is measured. An estimate of it deviates by the
 * share 1 / sqrt(2 freedom), and where it is small, a table is likelier to say that a bias would show. */
double bias_detectable(double se, double freedom, SeKind kind, double level)
{
    const double wide = hypot(se, ROUNDING), used = isfinite(freedom) ? freedom : KNOWN;
    /* both tails together have 0.2, so the test misses the bias with probability 0.1 */
    const double miss = t_quantile(0.2, used) * (kind == SE_ESTIMATED ? 1 + 1 / sqrt(2 * used) : 1);
    const double sum = wide * (least_seen(wide, used, level) + miss), left = 1 - (kind == SE_KNOWN ? wide * miss : sum);
    return left > 0 && used >= FREEDOM_LEAST ? sum / left : NAN;
}

static double p_along(const Tally *t, Along a)
{
    const double se = se_along(t, a), off = mean_along(t, a) - 1, wide = hypot(se, ROUNDING);
    if (t->decoded == 1 || !(se >= 0))
        return NAN;
    /* A quantity that the codec holds at 1 in each draw, as eden does the gain, cannot show a bias. One that is the same
     * in few repeats, as the number of drawn atoms, may be so by chance. */
    if (se < ROUNDING && (fabs(off) < 8 * ROUNDING || t->decoded < EQUAL_BY_CHANCE))
        return NAN;
    const double freedom = freedom_along(t, a);
    return p_of(off, wide, isfinite(freedom) ? freedom : KNOWN);
}

static double shown_freedom(const Tally *t, Along a)
{
    const double freedom = t->decoded > 1 ? freedom_along(t, a) : NAN;
    return isfinite(freedom) ? freedom : NAN;
}

double gain_se(const Tally *t)
{
    return se_along(t, along_gradient(t));
}
double gain_p(const Tally *t)
{
    return p_along(t, along_gradient(t));
}
double gain_freedom(const Tally *t)
{
    return shown_freedom(t, along_gradient(t));
}

double gain_l1(const Tally *t)
{
    return mean_along(t, along_signs(t));
}
double gain_l1_se(const Tally *t)
{
    return se_along(t, along_signs(t));
}
/* R draws of few atoms of a transform may miss the one that counts most along the signs: there is no test. */
double gain_l1_p(const Tally *t)
{
    return t->along_known && !t->signs_known ? NAN : p_along(t, along_signs(t));
}
double gain_l1_freedom(const Tally *t)
{
    return shown_freedom(t, along_signs(t));
}

/* ---- test of bias over all elements ---- */

/* R |mean h - g|^2 has the variance 2 sum v^2 + K / R, with K the sum of the atoms' fourth cumulants, which rare atoms make
 * large. nu gives the F distribution this variance. */

double bias_p(const Tally *t)
{
    const double r = (double)t->repeats, v = t->spread[S_M2] / (r - 1);
    const double nu = v * v / (t->squares + fmax(t->fourths, 0) / (2 * r)), bias = t->spread[S_BIAS];
    const double variance = t->expected > v ? t->expected : v;
    if (t->decoded == 1 || !(variance > 0) || !(nu > 0))
        return NAN;
    if (bias <= ROUNDING * ROUNDING * t->gradient[G_SQUARES])
        return 1;
    return f_tail(r * bias / variance, nu, nu * (r - 1));
}
