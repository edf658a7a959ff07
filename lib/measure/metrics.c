/* metrics.c -- the table of metrics; each is a function of the sums in a tally. metrics_errors.c has the standard errors.
 *
 * In comments g is the gradient, R the number of repeats, v_i the empirical variance of element i over
 * repeats, and bar the mean estimate over repeats. A metric that does not exist (a ratio to a zero vector, a
 * class without elements) is NaN. */
#include "measure/metrics.h"

#include <math.h>
#include <string.h>

static double ratio(double a, double b)
{
    return b != 0 ? a / b : NAN;
}

/* Returns the mean over repeats, without those that have no value, as a class of elements that is empty in them. */
static double mean_of(const Tally *t, double (*value)(const Tally *t, size_t r))
{
    double total = 0, repeats = 0;
    for (size_t r = 0; r < t->decoded; r++)
        if (!isnan(value(t, r))) {
            total += value(t, r);
            repeats++;
        }
    return ratio(total, repeats);
}

static double norm2(const Tally *t)
{
    return t->gradient[G_SQUARES];
}

/* ---- sizes and times ---- */

static double raw_total(const Tally *t)
{
    return 4 * t->n;
}
static double raw_bytes(const Tally *t)
{
    return raw_total(t) / t->cells;
}
static double compression(const Tally *t)
{
    return ratio(raw_total(t), t->bytes);
}
static double bytes_of(const Tally *t, size_t r)
{
    return t->sent[r] / t->cells;
}
static double bits_of(const Tally *t, size_t r)
{
    return ratio(8 * t->sent[r], t->n);
}
/* Returns the standard error of a mean size that has this variance and third central moment over repeats; 0 if no draw changes
 * it. Equal sizes of all repeats may be chance, so they show no error. */
static double size_se(const Tally *t, double spread, double third, bool known)
{
    const double n = (double)t->repeats, skewness = third / (spread * sqrt(spread));
    return known ? 0 : errors_known(t) && spread > 0 ? sqrt(spread / n) * skew_factor(skewness, n) / t->cells : NAN;
}
static double bytes_expected_se(const Tally *t)
{
    return size_se(t, t->size_spread, t->size_third, t->size_known);
}
static double ratio_expected(const Tally *t)
{
    return ratio(raw_total(t), t->size);
}
static double bytes_se(const Tally *t)
{
    return size_se(t, t->sizes, t->sizes_third, t->fixed_size);
}
static double ratio_se(const Tally *t)
{
    return compression(t) * ratio(bytes_se(t) * t->cells, t->bytes);
}
static double ratio_expected_se(const Tally *t)
{
    return ratio_expected(t) * ratio(bytes_expected_se(t) * t->cells, t->size);
}
/* ---- squared error and bias ---- */

static double mse_of(const Tally *t, size_t r)
{
    return t->error[r][E_SQUARES];
}
static double mse(const Tally *t)
{
    return mean_of(t, mse_of);
}
static double second_moment_expected(const Tally *t)
{
    return t->unbiased || t->expected == 0 ? t->expected + norm2(t) : NAN;
}
/* Returns the standard error of the closed-form variance; 0 unless that is a mean over random draws. */
static double expected_se(const Tally *t)
{
    return isnan(t->expected) ? NAN : sqrt(t->expected_spread / (double)t->repeats);
}
static double second_moment_expected_se(const Tally *t)
{
    return isnan(second_moment_expected(t)) ? NAN : expected_se(t);
}
static double second_moment_of(const Tally *t, size_t r)
{
    return t->error[r][E_NORM];
}

/* Returns R - 1, the degrees of freedom of a variance over R repeats; the sum S_M2 is R - 1 times the
 * variance. */
static double freedom(const Tally *t)
{
    return t->repeats > 1 ? (double)(t->repeats - 1) : 1;
}

static double variance(const Tally *t)
{
    return t->spread_known ? t->spread[S_M2] / freedom(t) : NAN;
}

static double bias_ratio(const Tally *t)
{
    return ratio((double)t->repeats * t->spread[S_BIAS], variance(t));
}

/* Returns the deviation of `bias_ratio` from 1, in standard deviations. Without bias the ratio has the
 * distribution F(nu, nu (R - 1)) with nu = (sum v_i)^2 / sum v_i^2. Its mean is about 1, its variance about
 * 2 R / ((R - 1) nu). */
static double bias_z(const Tally *t)
{
    const double nu = t->spread[S_M2] / t->spread[S_M2_SQUARES] * t->spread[S_M2];
    return (bias_ratio(t) - 1) / sqrt(2 * (double)t->repeats / (freedom(t) * nu));
}

/* Returns <bar - g, g> / |g|^2: the gain <bar, g> / |g|^2 minus 1, computed without cancellation. */
static double gain_excess(const Tally *t)
{
    return ratio(t->spread[S_BIAS_DOT], norm2(t));
}
static double gain(const Tally *t)
{
    return 1 + gain_excess(t);
}

static double gain_z(const Tally *t)
{
    const double v1 = t->spread[S_M2_WEIGHTED] / freedom(t) / norm2(t) / norm2(t);
    return t->spread_known ? ratio(gain_excess(t), sqrt(v1 / (double)t->repeats)) : NAN;
}

/* ---- relative errors ---- */

static double relative_error_of(const Tally *t, size_t r)
{
    return ratio(mse_of(t, r), norm2(t));
}

static double mse_se(const Tally *t)
{
    return values_se(t, mse_of);
}
static double variance_se(const Tally *t)
{
    return spread_se(t, mse_se(t));
}

/* Returns the part of the variance that is left out of the error of the mean of P workers' estimates of the same
 * gradient: (1 - 1/P), if each worker draws its own random numbers. */
static double averaged(const Tally *t, double workers)
{
    return t->own_draws * (1 - 1 / workers);
}
static bool error_expected(const Tally *t)
{
    return t->unbiased && !isnan(t->expected);
}

/* Returns the relative error of the mean of P workers' estimates. */
static double error_of_mean(const Tally *t, double workers)
{
    const double error = error_expected(t) ? t->expected : mse(t), spread = t->unbiased ? error : variance(t);
    const double kept = error - averaged(t, workers) * spread;
    return kept < 0 ? 0 : ratio(kept, norm2(t));
}
static double error_of_mean_se(const Tally *t, double workers)
{
    const double left = 1 - averaged(t, workers);
    const double se = error_expected(t)                                ? left * expected_se(t)
                      : t->unbiased || left == 1 || t->decoded == 1 ? left * mse_se(t)
                                                                    : hypot(left * variance_se(t), bias2_se(t));
    return ratio(se, norm2(t));
}
static double rel_l2(const Tally *t)
{
    return sqrt(ratio(mse(t), norm2(t)));
}
static double rel_l2_se(const Tally *t)
{
    return mse_se(t) == 0 ? 0 : ratio(ratio(mse_se(t), norm2(t)), 2 * rel_l2(t));
}
static double rel_l1_of(const Tally *t, size_t r)
{
    return ratio(t->error[r][E_ERRORS], t->gradient[G_MAGNITUDES]);
}

/* ---- errors of single elements ---- */

static double elem_error_of(const Tally *t, size_t r)
{
    return ratio(t->error[r][E_UNDER] + t->error[r][E_OVER], t->gradient[G_NONZERO]);
}
static double elem_error_big_of(const Tally *t, size_t r)
{
    const int own = (int)t->level;
    return t->percentile_known ? ratio(t->error[r][E_ABOVE + own], t->gradient[G_ABOVE + own]) : NAN;
}
static double elem_error_small_of(const Tally *t, size_t r)
{
    const int own = (int)t->level;
    const double all = t->error[r][E_UNDER] + t->error[r][E_OVER], left = all - t->error[r][E_ABOVE + own];
    const double rest = left > 1e-13 * all ? left : 0; /* a smaller difference is rounding error */
    return t->percentile_known ? ratio(rest, t->gradient[G_NONZERO] - t->gradient[G_ABOVE + own]) : NAN;
}
static double elem_error_pos_of(const Tally *t, size_t r)
{
    return ratio(t->error[r][E_UNDER], t->error[r][E_UNDERS]);
}
static double elem_error_neg_of(const Tally *t, size_t r)
{
    return ratio(t->error[r][E_OVER], t->error[r][E_OVERS]);
}

/* ---- distances and sums that the tally holds ---- */

static double wasserstein_mean(const Tally *t)
{
    return t->distances.n ? t->distances.mean : NAN;
}
static double distance_of(const Tally *t, size_t r)
{
    return t->distance[r];
}
static double wasserstein_mean_se(const Tally *t)
{
    return moments_se(t, &t->distances);
}

static double cosine_of(const Tally *t, size_t r)
{
    const double norms = sqrt(norm2(t) * t->error[r][E_NORM]);
    return norms > 0 ? fmax(-1, fmin(1, t->error[r][E_DOT] / norms)) : NAN;
}

static double mean_cosine_se(const Tally *t)
{
    return cosine_se(t, cosine_of);
}
static double sign_agreement_of(const Tally *t, size_t r)
{
    return ratio(t->error[r][E_AGREE], t->gradient[G_NONZERO]);
}
static double density_of(const Tally *t, size_t r)
{
    return ratio(t->error[r][E_NONZERO], t->n);
}
static double max_abs_error(const Tally *t)
{
    return t->n > 0 ? t->largest : NAN;
}
static double coding_efficiency(const Tally *t)
{
    return ratio(t->entropy, 8 * t->bytes);
}
static double entropy_se(const Tally *t)
{
    return isnan(t->entropy) ? NAN
                             : size_se(t, t->entropies, t->entropies_third, never_varies(t));
}
/* Returns the standard error of entropy / bytes by the delta method, with the covariance of the two over
 * repeats, and the skewness of the entropy. */
static double efficiency_se(const Tally *t)
{
    const double share = ratio(t->entropy, t->bytes);
    const double spread = fmax(t->entropies - 2 * share * t->entropy_sizes + share * share * t->sizes, 0);
    const double third = t->entropies > 0 ? t->entropies_third * pow(spread / t->entropies, 1.5) : 0;
    return isnan(share) ? NAN : ratio(size_se(t, spread, third, never_varies(t)) * t->cells, 8 * t->bytes);
}
/* ==== tests of bias ====
 *
 * Three tests ask whether E h = g, for the estimate h of the gradient g. They give p-values; NaN: the test
 * does not apply.
 *
 *     bias    R |mean h - g|^2 / sum v has the distribution F(nu, nu (R - 1)), where v are the elements'
 *             variances and nu = (sum v)^2 / sum v^2. Finds a bias in any direction, also one that is spread
 *             over all elements.
 *     gain    <h, g> / |g|^2 has mean 1. Finds a bias along g, to which the large elements contribute most.
 *     l1      <h, sign g> / |g|_1 has mean 1. Finds a factor common to all elements.
 *
 * Where the variance along g or sign g is known, the mean has a gamma distribution. Where it is measured, element by element
 * or over the repeats, the test is Student's t. If the variance is known (errors of independent atoms, or of independent elements
 * with a closed form), the standard error is no estimate, the freedom NaN, and the interval that of the normal distribution.
 *
 * The tests use the codec's closed-form variance if it is larger than the measured one, because R repeats
 * may miss rare draws. An atom is a term of the decomposition of g from which a codec draws. */

/* Estimates are rounded to float32. So even without bias, the mean estimate may differ from g by this
 * fraction of g. */
#define ROUNDING 0x1p-22
/* In fewer repeats than EQUAL_BY_CHANCE, values that are equal but for ROUNDING may be so by chance. */
enum { EQUAL_BY_CHANCE = 10 };

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
double bias_detectable(double se, double freedom, bool known, double level)
{
    const double wide = hypot(se, ROUNDING), used = isfinite(freedom) ? freedom : KNOWN;
    /* both tails together have 0.2, so the test misses the bias with probability 0.1 */
    const double miss = t_quantile(0.2, used) * (known ? 1 : 1 + 1 / sqrt(2 * used));
    const double sum = wide * (least_seen(wide, used, level) + miss), left = 1 - (known ? wide * miss : sum);
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

static double gain_se(const Tally *t)
{
    return se_along(t, along_gradient(t));
}
static double gain_p(const Tally *t)
{
    return p_along(t, along_gradient(t));
}
static double gain_freedom(const Tally *t)
{
    return shown_freedom(t, along_gradient(t));
}

static double gain_l1(const Tally *t)
{
    return mean_along(t, along_signs(t));
}
static double gain_l1_se(const Tally *t)
{
    return se_along(t, along_signs(t));
}
/* R draws of few atoms of a transform may miss the one that counts most along the signs: there is no test. */
static double gain_l1_p(const Tally *t)
{
    return t->along_known && !t->signs_known ? NAN : p_along(t, along_signs(t));
}
static double gain_l1_freedom(const Tally *t)
{
    return shown_freedom(t, along_signs(t));
}

/* ---- test of bias over all elements ---- */

/* R |mean h - g|^2 has the variance 2 sum v^2 + K / R, with K the sum of the atoms' fourth cumulants, which rare atoms make
 * large. nu gives the F distribution this variance. */

static double bias_p(const Tally *t)
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

/* ==== the table ==== */

#define MEMBER(member)   .at = offsetof(Tally, member)
#define PER_CELL(member) MEMBER(member), .per_cell = true
#define MEAN(value)      .draw = value, .mean = true

/* An element near 0 that is kept in one draw of hundreds makes a large part of the mean, and R draws do not show it. In small
 * classes of elements such rare jumps decide, so there is no standard error. Large elements are seldom left out. */
enum { CLASS_LEAST = 256, BIG_LEAST = 16 };

const Metric metrics[] = {
    {"raw_bytes", FORM_COUNT, .of = raw_bytes},
    {"bytes", FORM_COUNT, PER_CELL(bytes), .draw = bytes_of},
    {"bytes_min", FORM_COUNT, PER_CELL(bytes_min)},
    {"bytes_max", FORM_COUNT, PER_CELL(bytes_max)},
    {"ratio", FORM_REAL, .of = compression},
    {"ratio16", FORM_REAL, .of = compression, .share = HALF},
    {"bits_per_element", FORM_REAL, MEMBER(bytes), .share = BITS_AN_ELEMENT, .draw = bits_of},
    {"encode_ms", FORM_TIME, PER_CELL(encode)},
    {"encode_ms_min", FORM_TIME, PER_CELL(encode_min)},
    {"decode_ms", FORM_TIME, PER_CELL(decode)},
    {"decode_ms_min", FORM_TIME, PER_CELL(decode_min)},
    {"encode_gbps", FORM_TIME, MEMBER(encode), .rate = true},
    {"decode_gbps", FORM_TIME, MEMBER(decode), .rate = true},
    {"mse", FORM_REAL, .of = mse, .draw = mse_of},
    {"variance", FORM_REAL, .of = variance},
    {"second_moment", FORM_REAL, MEAN(second_moment_of)},
    {"variance_expected", FORM_REAL, MEMBER(expected)},
    {"bias_ratio", FORM_REAL, .of = bias_ratio},
    {"bias_z", FORM_REAL, .of = bias_z},
    {"gain", FORM_REAL, .of = gain},
    {"gain_z", FORM_REAL, .of = gain_z},
    {"relative_error", FORM_REAL, .of = mse, .share = OF_NORM, .draw = relative_error_of},
    {"mean_error_4", FORM_REAL, .among = error_of_mean, .workers = 4},
    {"mean_error_16", FORM_REAL, .among = error_of_mean, .workers = 16},
    {"rel_l2", FORM_REAL, .of = rel_l2},
    {"rel_l1", FORM_REAL, MEAN(rel_l1_of)},
    {"elem_error", FORM_REAL, MEAN(elem_error_of)},
    {"elem_error_big", FORM_REAL, MEAN(elem_error_big_of)},
    {"elem_error_small", FORM_REAL, MEAN(elem_error_small_of)},
    {"elem_error_pos", FORM_REAL, MEAN(elem_error_pos_of)},
    {"elem_error_neg", FORM_REAL, MEAN(elem_error_neg_of)},
    {"wasserstein", FORM_REAL, MEMBER(wasserstein)},
    {"cosine", FORM_REAL, MEAN(cosine_of)},
    {"sign_agreement", FORM_REAL, MEAN(sign_agreement_of)},
    {"max_abs_error", FORM_REAL, .of = max_abs_error},
    {"density", FORM_REAL, MEAN(density_of)},
    {"entropy_bits", FORM_REAL, PER_CELL(entropy)},
    {"coding_efficiency", FORM_REAL, .of = coding_efficiency},
    {"raw_fallbacks", FORM_COUNT, PER_CELL(raw)},
    {"residual_norm", FORM_REAL, MEMBER(residual2), .root = true},
    {"peak_scratch_bytes", FORM_COUNT, MEMBER(scratch)},
    {"bytes_se", FORM_REAL, .of = bytes_se},
    {"bits_per_element_se", FORM_REAL, .of = bytes_se, .share = BITS_AN_ELEMENT},
    {"encode_ms_se", FORM_TIME, PER_CELL(encode_spread), .root = true},
    {"decode_ms_se", FORM_TIME, PER_CELL(decode_spread), .root = true},
    {"mse_se", FORM_REAL, .of = mse_se},
    {"relative_error_se", FORM_REAL, .of = mse_se, .share = OF_NORM},
    {"relative_error_expected", FORM_REAL, MEMBER(expected), .share = OF_NORM},
    {"cosine_se", FORM_REAL, .of = mean_cosine_se},
    {"bias_p", FORM_REAL, .of = bias_p},
    {"gain_se", FORM_REAL, .of = gain_se},
    {"gain_p", FORM_REAL, .of = gain_p},
    {"gain_l1", FORM_REAL, .of = gain_l1},
    {"gain_l1_se", FORM_REAL, .of = gain_l1_se},
    {"gain_l1_p", FORM_REAL, .of = gain_l1_p},
    {"bytes_expected", FORM_REAL, PER_CELL(size)},
    {"bits_per_element_expected", FORM_REAL, MEMBER(size), .share = BITS_AN_ELEMENT},
    {"bytes_expected_se", FORM_REAL, .of = bytes_expected_se},
    {"bits_per_element_expected_se", FORM_REAL, .of = bytes_expected_se, .share = BITS_AN_ELEMENT},
    {"ratio_expected", FORM_REAL, .of = ratio_expected},
    {"ratio_expected_se", FORM_REAL, .of = ratio_expected_se},
    {"ratio_se", FORM_REAL, .of = ratio_se},
    {"ratio16_expected", FORM_REAL, .of = ratio_expected, .share = HALF},
    {"second_moment_expected", FORM_REAL, .of = second_moment_expected},
    {"second_moment_se", FORM_REAL, .each = second_moment_of},
    {"variance_se", FORM_REAL, .of = variance_se},
    {"rel_l2_se", FORM_REAL, .of = rel_l2_se},
    {"rel_l1_se", FORM_REAL, .each = rel_l1_of},
    {"elem_error_se", FORM_REAL, .each = elem_error_of, .least = CLASS_LEAST},
    {"elem_error_big_se", FORM_REAL, .each = elem_error_big_of, .least = BIG_LEAST, .big = true},
    {"elem_error_small_se", FORM_REAL, .each = elem_error_small_of, .least = CLASS_LEAST},
    {"elem_error_pos_se", FORM_REAL, .each = elem_error_pos_of, .least = CLASS_LEAST},
    {"elem_error_neg_se", FORM_REAL, .each = elem_error_neg_of, .least = CLASS_LEAST},
    {"wasserstein_mean", FORM_REAL, .of = wasserstein_mean, .draw = distance_of},
    {"wasserstein_mean_se", FORM_REAL, .of = wasserstein_mean_se},
    {"entropy_bits_se", FORM_REAL, .of = entropy_se},
    {"coding_efficiency_se", FORM_REAL, .of = efficiency_se},
    {"sign_agreement_se", FORM_REAL, .each = sign_agreement_of},
    {"density_se", FORM_REAL, .each = density_of},
    {"gain_freedom", FORM_REAL, .of = gain_freedom},
    {"gain_l1_freedom", FORM_REAL, .of = gain_l1_freedom},
    {"ratio16_se", FORM_REAL, .of = ratio_se, .share = HALF},
    {"ratio16_expected_se", FORM_REAL, .of = ratio_expected_se, .share = HALF},
    {"variance_expected_se", FORM_REAL, .of = expected_se},
    {"relative_error_expected_se", FORM_REAL, .of = expected_se, .share = OF_NORM},
    {"second_moment_expected_se", FORM_REAL, .of = second_moment_expected_se},
    {"mean_error_4_se", FORM_REAL, .among = error_of_mean_se, .workers = 4},
    {"mean_error_16_se", FORM_REAL, .among = error_of_mean_se, .workers = 16},
    {0},
};

static double se_of(const Metric *m, const Tally *t)
{
    const double se = values_se(t, m->each), elements = t->gradient[m->big ? G_ABOVE + (int)t->level : G_NONZERO];
    return elements < m->least && errors_known(t) && se != 0 ? NAN : se;
}

static double member_of(const Metric *m, const Tally *t)
{
    const double held = *(const double *)((const char *)t + m->at), v = m->root ? sqrt(held) : held;
    if (m->rate)
        return 1e-9 * ratio(raw_total(t), held);
    return v * (m->form == FORM_TIME ? 1e3 : 1) / (m->per_cell ? t->cells : 1);
}

double metric_value(const Metric *m, const Tally *t)
{
    const double v = m->of      ? m->of(t)
                     : m->among ? m->among(t, m->workers)
                     : m->each  ? se_of(m, t)
                     : m->mean  ? mean_of(t, m->draw)
                                : member_of(m, t);
    return m->share == HALF              ? v / 2
           : m->share == OF_NORM         ? ratio(v, norm2(t))
           : m->share == BITS_AN_ELEMENT ? ratio(8 * v * (m->of ? t->cells : 1), t->n) /* a standard error is that of a cell */
                                         : v;
}

const char *metric_name(const void *data, size_t i)
{
    (void)data;
    return metrics[i].name;
}

const Metric *metric_find(const char *name)
{
    for (const Metric *m = metrics; m->name; m++)
        if (!strcmp(m->name, name))
            return m;
    return NULL;
}
