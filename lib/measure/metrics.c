/* metrics.c -- the table of metrics; each is a function of the sums in a tally.
 *
 * In comments g is the gradient, R the number of repeats, v_i the empirical variance of element i over
 * repeats, and bar the mean estimate over repeats. A metric that does not exist (a ratio to a zero vector, a
 * class without elements) is NaN. */
#include "measure/metrics.h"

#include "measure/metrics_errors.h"

#include <math.h>
#include <string.h>

static double ratio(double a, double b)
{
    return b != 0 ? a / b : NAN;
}

/* Returns a sum over the estimate's elements (E_...), averaged over repeats. */
static double mean_sum(const Tally *t, int sum)
{
    double total = 0;
    for (size_t r = 0; r < t->decoded; r++)
        total += t->error[r][sum];
    return total / (double)t->decoded;
}

/* Returns a mean over a class of elements, such as those whose estimate is too low. The class differs
 * between repeats; repeats in which it is empty are left out. */
static double mean_of_class(const Tally *t, int sum, int count)
{
    double total = 0, repeats = 0;
    for (size_t r = 0; r < t->decoded; r++)
        if (t->error[r][count] > 0) {
            total += t->error[r][sum] / t->error[r][count];
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
static double bits_per_element(const Tally *t)
{
    return ratio(8 * t->bytes, t->n);
}
static double bytes_of(const Tally *t, size_t r)
{
    return t->sent[r] / t->cells;
}
static double bits_of(const Tally *t, size_t r)
{
    return ratio(8 * t->sent[r], t->n);
}
static double encode_gbps(const Tally *t)
{
    return 1e-9 * ratio(raw_total(t), t->encode);
}
static double decode_gbps(const Tally *t)
{
    return 1e-9 * ratio(raw_total(t), t->decode);
}

static double bytes_expected(const Tally *t)
{
    return t->size / t->cells;
}
static double bits_expected(const Tally *t)
{
    return ratio(8 * t->size, t->n);
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
static double bits_expected_se(const Tally *t)
{
    return ratio(8 * bytes_expected_se(t) * t->cells, t->n);
}
static double ratio_expected(const Tally *t)
{
    return ratio(raw_total(t), t->size);
}
static double bytes_se(const Tally *t)
{
    return size_se(t, t->sizes, t->sizes_third, t->fixed_size);
}
static double bits_se(const Tally *t)
{
    return ratio(8 * bytes_se(t) * t->cells, t->n);
}
static double ratio_se(const Tally *t)
{
    return compression(t) * ratio(bytes_se(t) * t->cells, t->bytes);
}
static double ratio_expected_se(const Tally *t)
{
    return ratio_expected(t) * ratio(bytes_expected_se(t), bytes_expected(t));
}
static double encode_ms_se(const Tally *t)
{
    return 1e3 * sqrt(t->encode_spread) / t->cells;
}
static double decode_ms_se(const Tally *t)
{
    return 1e3 * sqrt(t->decode_spread) / t->cells;
}

/* ---- squared error and bias ---- */

static double mse(const Tally *t)
{
    return mean_sum(t, E_SQUARES);
}
static double mse_of(const Tally *t, size_t r)
{
    return t->error[r][E_SQUARES];
}
static double second_moment(const Tally *t)
{
    return mean_sum(t, E_NORM);
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

static double relative_error(const Tally *t)
{
    return ratio(mse(t), norm2(t));
}
static double relative_error_of(const Tally *t, size_t r)
{
    return ratio(mse_of(t, r), norm2(t));
}
static double relative_error_expected(const Tally *t)
{
    return ratio(t->expected, norm2(t));
}
static double relative_error_expected_se(const Tally *t)
{
    return ratio(expected_se(t), norm2(t));
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
static double error_of_mean_4(const Tally *t)
{
    return error_of_mean(t, 4);
}
static double error_of_mean_4_se(const Tally *t)
{
    return error_of_mean_se(t, 4);
}
static double error_of_mean_16(const Tally *t)
{
    return error_of_mean(t, 16);
}
static double error_of_mean_16_se(const Tally *t)
{
    return error_of_mean_se(t, 16);
}

static double relative_error_se(const Tally *t)
{
    return ratio(mse_se(t), norm2(t));
}
static double rel_l2(const Tally *t)
{
    return sqrt(relative_error(t));
}
static double rel_l2_se(const Tally *t)
{
    return mse_se(t) == 0 ? 0 : ratio(relative_error_se(t), 2 * rel_l2(t));
}
static double rel_l1(const Tally *t)
{
    return ratio(mean_sum(t, E_ERRORS), t->gradient[G_MAGNITUDES]);
}
static double rel_l1_of(const Tally *t, size_t r)
{
    return ratio(t->error[r][E_ERRORS], t->gradient[G_MAGNITUDES]);
}

/* An element near 0 that is kept in one draw of hundreds makes a large part of the mean, and R draws do not show it. In small
 * classes of elements such rare jumps decide, so there is no standard error. Large elements are seldom left out. */
enum { CLASS_LEAST = 256, BIG_LEAST = 16 };
static double class_se(const Tally *t, double elements, double least, double (*value)(const Tally *t, size_t r))
{
    return elements < least && errors_known(t) && values_se(t, value) != 0 ? NAN : values_se(t, value);
}

static double elem_total(const Tally *t)
{
    return mean_sum(t, E_UNDER) + mean_sum(t, E_OVER);
}
static double elem_error(const Tally *t)
{
    return ratio(elem_total(t), t->gradient[G_NONZERO]);
}

static double elem_error_of(const Tally *t, size_t r)
{
    return ratio(t->error[r][E_UNDER] + t->error[r][E_OVER], t->gradient[G_NONZERO]);
}

static double elem_error_se(const Tally *t)
{
    return class_se(t, t->gradient[G_NONZERO], CLASS_LEAST, elem_error_of);
}

static double elem_error_big(const Tally *t)
{
    const int own = (int)t->level;
    return t->percentile_known ? ratio(mean_sum(t, E_ABOVE + own), t->gradient[G_ABOVE + own]) : NAN;
}

static double elem_error_big_of(const Tally *t, size_t r)
{
    const int own = (int)t->level;
    return t->percentile_known ? ratio(t->error[r][E_ABOVE + own], t->gradient[G_ABOVE + own]) : NAN;
}

static double elem_error_big_se(const Tally *t)
{
    return class_se(t, t->gradient[G_ABOVE + (int)t->level], BIG_LEAST, elem_error_big_of);
}

static double elem_error_small(const Tally *t)
{
    const int own = (int)t->level;
    const double all = elem_total(t), left = all - mean_sum(t, E_ABOVE + own);
    const double rest = left > 1e-13 * all ? left : 0; /* a smaller difference is rounding error */
    return t->percentile_known ? ratio(rest, t->gradient[G_NONZERO] - t->gradient[G_ABOVE + own]) : NAN;
}

static double elem_error_small_of(const Tally *t, size_t r)
{
    const int own = (int)t->level;
    const double rest = t->error[r][E_UNDER] + t->error[r][E_OVER] - t->error[r][E_ABOVE + own];
    return t->percentile_known ? ratio(rest, t->gradient[G_NONZERO] - t->gradient[G_ABOVE + own]) : NAN;
}

static double elem_error_small_se(const Tally *t)
{
    return class_se(t, t->gradient[G_NONZERO], CLASS_LEAST, elem_error_small_of);
}

static double elem_error_pos(const Tally *t)
{
    return mean_of_class(t, E_UNDER, E_UNDERS);
}
static double elem_error_neg(const Tally *t)
{
    return mean_of_class(t, E_OVER, E_OVERS);
}
static double elem_error_pos_of(const Tally *t, size_t r)
{
    return ratio(t->error[r][E_UNDER], t->error[r][E_UNDERS]);
}
static double elem_error_neg_of(const Tally *t, size_t r)
{
    return ratio(t->error[r][E_OVER], t->error[r][E_OVERS]);
}

static double elem_error_pos_se(const Tally *t)
{
    return class_se(t, t->gradient[G_NONZERO], CLASS_LEAST, elem_error_pos_of);
}
static double elem_error_neg_se(const Tally *t)
{
    return class_se(t, t->gradient[G_NONZERO], CLASS_LEAST, elem_error_neg_of);
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

static double cosine(const Tally *t)
{
    double total = 0, repeats = 0;
    for (size_t r = 0; r < t->decoded; r++)
        if (t->error[r][E_NORM] > 0) {
            total += cosine_of(t, r);
            repeats++;
        }
    return norm2(t) > 0 ? ratio(total, repeats) : NAN;
}
static double mean_cosine_se(const Tally *t)
{
    return cosine_se(t, cosine_of);
}
static double sign_agreement(const Tally *t)
{
    return ratio(mean_sum(t, E_AGREE), t->gradient[G_NONZERO]);
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
static double density(const Tally *t)
{
    return ratio(mean_sum(t, E_NONZERO), t->n);
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
static double residual_norm(const Tally *t)
{
    return sqrt(t->residual2);
}

#define MEMBER(member)   .at = offsetof(Tally, member)
#define PER_CELL(member) MEMBER(member), .per_cell = true

const Metric metrics[] = {
    {"raw_bytes", FORM_COUNT, .of = raw_bytes},
    {"bytes", FORM_COUNT, PER_CELL(bytes), .draw = bytes_of},
    {"bytes_min", FORM_COUNT, PER_CELL(bytes_min)},
    {"bytes_max", FORM_COUNT, PER_CELL(bytes_max)},
    {"ratio", FORM_REAL, .of = compression},
    {"ratio16", FORM_REAL, .of = compression, .half = true},
    {"bits_per_element", FORM_REAL, .of = bits_per_element, .draw = bits_of},
    {"encode_ms", FORM_TIME, PER_CELL(encode)},
    {"encode_ms_min", FORM_TIME, PER_CELL(encode_min)},
    {"decode_ms", FORM_TIME, PER_CELL(decode)},
    {"decode_ms_min", FORM_TIME, PER_CELL(decode_min)},
    {"encode_gbps", FORM_TIME, .of = encode_gbps},
    {"decode_gbps", FORM_TIME, .of = decode_gbps},
    {"mse", FORM_REAL, .of = mse, .draw = mse_of},
    {"variance", FORM_REAL, .of = variance},
    {"second_moment", FORM_REAL, .of = second_moment, .draw = second_moment_of},
    {"variance_expected", FORM_REAL, MEMBER(expected)},
    {"bias_ratio", FORM_REAL, .of = bias_ratio},
    {"bias_z", FORM_REAL, .of = bias_z},
    {"gain", FORM_REAL, .of = gain},
    {"gain_z", FORM_REAL, .of = gain_z},
    {"relative_error", FORM_REAL, .of = relative_error, .draw = relative_error_of},
    {"mean_error_4", FORM_REAL, .of = error_of_mean_4},
    {"mean_error_16", FORM_REAL, .of = error_of_mean_16},
    {"rel_l2", FORM_REAL, .of = rel_l2},
    {"rel_l1", FORM_REAL, .of = rel_l1, .draw = rel_l1_of},
    {"elem_error", FORM_REAL, .of = elem_error, .draw = elem_error_of},
    {"elem_error_big", FORM_REAL, .of = elem_error_big, .draw = elem_error_big_of},
    {"elem_error_small", FORM_REAL, .of = elem_error_small, .draw = elem_error_small_of},
    {"elem_error_pos", FORM_REAL, .of = elem_error_pos, .draw = elem_error_pos_of},
    {"elem_error_neg", FORM_REAL, .of = elem_error_neg, .draw = elem_error_neg_of},
    {"wasserstein", FORM_REAL, MEMBER(wasserstein)},
    {"cosine", FORM_REAL, .of = cosine, .draw = cosine_of},
    {"sign_agreement", FORM_REAL, .of = sign_agreement, .draw = sign_agreement_of},
    {"max_abs_error", FORM_REAL, .of = max_abs_error},
    {"density", FORM_REAL, .of = density, .draw = density_of},
    {"entropy_bits", FORM_REAL, PER_CELL(entropy)},
    {"coding_efficiency", FORM_REAL, .of = coding_efficiency},
    {"raw_fallbacks", FORM_COUNT, PER_CELL(raw)},
    {"residual_norm", FORM_REAL, .of = residual_norm},
    {"peak_scratch_bytes", FORM_COUNT, MEMBER(scratch)},
    {"bytes_se", FORM_REAL, .of = bytes_se},
    {"bits_per_element_se", FORM_REAL, .of = bits_se},
    {"encode_ms_se", FORM_TIME, .of = encode_ms_se},
    {"decode_ms_se", FORM_TIME, .of = decode_ms_se},
    {"mse_se", FORM_REAL, .of = mse_se},
    {"relative_error_se", FORM_REAL, .of = relative_error_se},
    {"relative_error_expected", FORM_REAL, .of = relative_error_expected},
    {"cosine_se", FORM_REAL, .of = mean_cosine_se},
    {"bias_p", FORM_REAL, .of = bias_p},
    {"gain_se", FORM_REAL, .of = gain_se},
    {"gain_p", FORM_REAL, .of = gain_p},
    {"gain_l1", FORM_REAL, .of = gain_l1},
    {"gain_l1_se", FORM_REAL, .of = gain_l1_se},
    {"gain_l1_p", FORM_REAL, .of = gain_l1_p},
    {"bytes_expected", FORM_REAL, .of = bytes_expected},
    {"bits_per_element_expected", FORM_REAL, .of = bits_expected},
    {"bytes_expected_se", FORM_REAL, .of = bytes_expected_se},
    {"bits_per_element_expected_se", FORM_REAL, .of = bits_expected_se},
    {"ratio_expected", FORM_REAL, .of = ratio_expected},
    {"ratio_expected_se", FORM_REAL, .of = ratio_expected_se},
    {"ratio_se", FORM_REAL, .of = ratio_se},
    {"ratio16_expected", FORM_REAL, .of = ratio_expected, .half = true},
    {"second_moment_expected", FORM_REAL, .of = second_moment_expected},
    {"second_moment_se", FORM_REAL, .each = second_moment_of},
    {"variance_se", FORM_REAL, .of = variance_se},
    {"rel_l2_se", FORM_REAL, .of = rel_l2_se},
    {"rel_l1_se", FORM_REAL, .each = rel_l1_of},
    {"elem_error_se", FORM_REAL, .of = elem_error_se},
    {"elem_error_big_se", FORM_REAL, .of = elem_error_big_se},
    {"elem_error_small_se", FORM_REAL, .of = elem_error_small_se},
    {"elem_error_pos_se", FORM_REAL, .of = elem_error_pos_se},
    {"elem_error_neg_se", FORM_REAL, .of = elem_error_neg_se},
    {"wasserstein_mean", FORM_REAL, .of = wasserstein_mean, .draw = distance_of},
    {"wasserstein_mean_se", FORM_REAL, .of = wasserstein_mean_se},
    {"entropy_bits_se", FORM_REAL, .of = entropy_se},
    {"coding_efficiency_se", FORM_REAL, .of = efficiency_se},
    {"sign_agreement_se", FORM_REAL, .each = sign_agreement_of},
    {"density_se", FORM_REAL, .each = density_of},
    {"gain_freedom", FORM_REAL, .of = gain_freedom},
    {"gain_l1_freedom", FORM_REAL, .of = gain_l1_freedom},
    {"ratio16_se", FORM_REAL, .of = ratio_se, .half = true},
    {"ratio16_expected_se", FORM_REAL, .of = ratio_expected_se, .half = true},
    {"variance_expected_se", FORM_REAL, .of = expected_se},
    {"relative_error_expected_se", FORM_REAL, .of = relative_error_expected_se},
    {"second_moment_expected_se", FORM_REAL, .of = second_moment_expected_se},
    {"mean_error_4_se", FORM_REAL, .of = error_of_mean_4_se},
    {"mean_error_16_se", FORM_REAL, .of = error_of_mean_16_se},
    {0},
};

double metric_value(const Metric *m, const Tally *t)
{
    if (m->of)
        return m->half ? m->of(t) / 2 : m->of(t);
    if (m->each)
        return values_se(t, m->each);
    const double v = *(const double *)((const char *)t + m->at) * (m->form == FORM_TIME ? 1e3 : 1);
    return m->per_cell ? v / t->cells : v;
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
