/* draws.h -- tests a codec's mean and variance on R independent draws (encodings with different random numbers)
 * of a vector g.
 *
 * Draw r has the gain gain_r = <decoded_r, g>/|g|^2 and the squared error e_r = |decoded_r - g|^2. An unbiased
 * codec with the closed-form variance V has E gain_r = 1 and E e_r = V.
 *
 * The tests of gain and variance allow 6.22 standard errors (probability 5e-10, two-sided, for a normal
 * statistic) plus 6.5 M/R. M is the largest deviation of a single draw. The second term is for skewed draws,
 * which would otherwise raise false alarms. All tests of a codec together raise a false alarm with probability
 * below 1e-6.
 *
 * The energy test checks that the mean of R draws has the squared error V/R. Its number of degrees of freedom
 * is (tr C)^2 / tr C^2, where C is the covariance of the error. If elements are independent with variances v,
 * this is (sum v)^2 / sum v^2. If a codec draws atoms that are whole vectors, it is at most the number of
 * atoms. tr C^2 is the expectation of <E_r, E_s>^2 for the errors E_r and E_s of two independent draws.
 *
 * Rounding of payloads to float32 does not count as bias: an error of a few units in the last place of |g| is
 * allowed. */
#ifndef ATOMO_DRAWS_H
#define ATOMO_DRAWS_H

#include "rig/codec_rig.h"

typedef struct {
    size_t repeats;
    /* mean of gain_r over the draws, the mean's standard error, and the largest |gain_r - 1| / R */
    double gain, gain_error, gain_step;
    /* mean of e_r over the draws, the mean's standard error, and the largest e_r / R */
    double mse, mse_error, mse_step;
    /* variance of one draw: the sum of |decoded_r - mean|^2 over the draws, divided by R - 1 */
    double variance;
    /* the ratio R |mean - g|^2 / variance, and its degrees of freedom */
    double bias_ratio, freedom;
    /* |mean - g|^2, |g|^2, and the largest squared error that rounding to float32 may cause */
    double off, norm2, rounding;
} Draws;

static inline const float *draws_load(void *data, size_t j, Error *err)
{
    (void)j, (void)err;
    return data;
}

/* If the codec plans over all tensors of a step, makes its plan. The plan does not depend on random numbers, so
 * all draws use it. */
static inline void draws_plan(Rig *rig, const float *x)
{
    const size_t size = codec_plan_size(rig->codec);
    const Step step = {1, &rig->call, draws_load, (void *)(uintptr_t)x};
    if (!size || rig->call.plan)
        return;
    void *plan = arena_take(rig->forever, 1, size);
    check_ok(codec_plan(&step, plan), &rig->err);
    rig->call.plan = plan;
}

/* Takes draws, and their gains over the elements from number `from` on; all other statistics are over all elements. */
static inline Draws draws_take_from(Rig *rig, const float *x, size_t from, size_t repeats)
{
    const size_t n = rig->shape.n;
    double *mean = NEW_ZERO(rig->forever, double, n), *m2 = NEW_ZERO(rig->forever, double, n);
    double *last = NEW_ZERO(rig->forever, double, n), pairs = 0;
    double norm2 = 0, tail2 = 0, gain2 = 0, mse2 = 0, gain_most = 0, mse_most = 0;
    Draws d = {.repeats = repeats};
    draws_plan(rig, x);
    for (size_t i = 0; i < n; i++) {
        norm2 += (double)x[i] * (double)x[i];
        tail2 += i < from ? 0 : (double)x[i] * (double)x[i];
    }
    for (size_t r = 0; r < repeats; r++) {
        double dot = 0, error = 0, pair = 0;
        check_ok(rig_encode(rig, x, r), &rig->err);
        check_ok(rig_decode(rig), &rig->err);
        for (size_t i = 0; i < n; i++) {
            const double y = (double)rig->decoded[i], e = y - (double)x[i], step = y - mean[i];
            dot += i < from ? 0 : e * (double)x[i];
            error += e * e;
            pair += e * last[i];
            last[i] = e;
            mean[i] += step / (double)(r + 1);
            m2[i] += step * (y - mean[i]);
        }
        /* inner product of the errors of draws r and r - 1 (0 if r = 0): `pair` */
        pairs += pair * pair;
        /* `gain` is gain_r - 1, which has more significant digits than gain_r */
        const double gain = dot / tail2;
        const double gain_off = gain - d.gain, mse_off = error - d.mse;
        d.gain += gain_off / (double)(r + 1);
        d.mse += mse_off / (double)(r + 1);
        gain2 += gain_off * (gain - d.gain);
        mse2 += mse_off * (error - d.mse);
        gain_most = fmax(gain_most, fabs(gain));
        mse_most = fmax(mse_most, error);
    }
    const double R = (double)repeats;
    double off = 0, sum = 0, sum2 = 0;
    for (size_t i = 0; i < n; i++) {
        const double v = m2[i] / (R - 1);
        off += (mean[i] - (double)x[i]) * (mean[i] - (double)x[i]);
        sum += v;
        sum2 += v * v;
    }
    d.gain += 1;
    d.gain_error = sqrt(gain2 / (R - 1) / R);
    d.mse_error = sqrt(mse2 / (R - 1) / R);
    d.gain_step = gain_most / R;
    d.mse_step = mse_most / R;
    d.variance = sum;
    d.off = off;
    d.norm2 = norm2;
    d.rounding = norm2 * (6 * 0x1p-24) * (6 * 0x1p-24);
    d.bias_ratio = sum > 0 ? R * off / sum : NAN;
    d.freedom = sum2 > 0 ? sum * sum / fmax(sum2, pairs / (R - 1)) : 0;
    /* if the codec has a closed form of tr C^2, use it, since the estimate from pairs of draws misses rare
     * atoms */
    AtomMoments m;
    rig->call.rng = rig_rng(0);
    if (codec_moments(&rig->call, x, &m) == ATOMWISE && m.squares > 0)
        d.freedom = sum * sum / m.squares;
    return d;
}

static inline Draws draws_take(Rig *rig, const float *x, size_t repeats)
{
    return draws_take_from(rig, x, 0, repeats);
}

/* Returns the statistics that the draws would have if every estimate were multiplied by `factor`. */
static inline Draws draws_scaled(const Draws *d, double factor)
{
    Draws e = *d;
    e.gain *= factor;
    e.gain_error *= factor;
    e.gain_step = factor * d->gain_step + fabs(factor - 1) / (double)d->repeats;
    return e;
}

static inline bool draws_gain_is_one(const Draws *d)
{
    return fabs(d->gain - 1) <= 6.22 * d->gain_error + 6.5 * d->gain_step + 1e-6;
}

/* Returns whether bias_ratio is within its limit. For an unbiased codec it has the distribution F(nu, nu (R -
 * 1)), where nu is d->freedom. For nu >= 100 this is nearly normal, and z is the distance of bias_ratio from 1
 * in standard deviations. */
static inline bool draws_energy_is_right(const Draws *d)
{
    const double R = (double)d->repeats;
    if (isnan(d->bias_ratio) || d->freedom < 100)
        return true; /* the energy test needs at least 100 degrees of freedom */
    if (d->off <= d->rounding)
        return true;
    const double z = (d->bias_ratio - 1) / sqrt(2 * R / ((R - 1) * d->freedom));
    return z <= (d->freedom >= 500 ? 6.4 : 7.2);
}

static inline bool draws_variance_is(const Draws *d, double expected)
{
    if (d->variance <= d->rounding && (double)d->repeats * expected < d->norm2)
        return true; /* all draws are equal: random atoms are so rare that no draw has one */
    return fabs(d->mse - expected) <= 6.22 * d->mse_error + 6.5 * d->mse_step + 1e-6 * expected + d->rounding;
}

#endif
