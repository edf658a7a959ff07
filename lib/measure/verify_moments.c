/* verify_moments.c -- checks Lemma 1 of the ATOMO paper by random draws of the codecs entry and svd. For g = sum lambda_i a_i with
 * orthogonal atoms a_i of length 1, each kept with probability p_i, the lemma says E[estimate] = g and E|estimate|^2 = sum
 * lambda_i^2 / p_i.
 *
 * The mean estimate is compared with g along fixed directions d. <mean, d> is a sum of independent bounded
 * terms, so Bernstein's inequality bounds its distance from <g, d>. Distance and bound are divided by |g|
 * |d|. */
#include "measure/verify_parts.h"

#include <stdio.h>
#include <math.h>

/* ---- tolerances of means ---- */

#define VERIFY_ALARM 5e-10

/* Returns the t of Bernstein's inequality, P(|S - E S| > t) <= alarm. S is a sum of independent terms with
 * total variance v; each term differs from its mean by at most `most`. */
static double bernstein(double v, double most, double alarm)
{
    const double l = log(2 / alarm), third = most * l / 3;
    return third + sqrt(third * third + 2 * v * l);
}

/* Returns a number of draws, from `least` to `most`, such that the mean of draws with variance v differs from
 * its expected value by at most about `want`. */
static size_t draws_for(double v, double want, double least, double most)
{
    return (size_t)fmin(most, fmax(least, ceil(2 * log(2 / VERIFY_ALARM) * v / (want * want))));
}

/* ---- Lemma 1 ---- */

enum { DIRECTIONS = 8, DRAWS_LEAST = 200 };

/* Returns element i of direction `which`: 0 is g itself, 1 is (1, .., 1), further directions are g with
 * random signs. */
static double direction(const Rng *signs, size_t which, size_t i, double g)
{
    if (which == 1)
        return 1;
    return which > 1 && rng_u32(signs, USE_SAMPLE, which << 32 | i) & 1 ? -g : g;
}

static const char *direction_name(size_t which)
{
    return which == 0 ? "along g" : which == 1 ? "along (1, .., 1)" : "along g with random signs";
}

/* ---- random draws of entries by the codec `entry` ---- */

typedef struct EntrySample {
    size_t draws;
    double tau, budget;
    double *mean, second;    /* `second`: mean of |estimate|^2 over the draws */
    double expected, spread; /* expected value and variance of |estimate|^2 */
    bool applies;
} EntrySample;

/* Returns x^2 (1 / p - 1), the variance of the estimate of an entry x that is sent with probability p =
 * min(1, |x| / tau). */
static double entry_variance(double tau, double x)
{
    return fabs(x) < tau ? fabs(x) * (tau - fabs(x)) : 0;
}

static void expect_entries(const VerifyPart *p, EntrySample *e, double *gain)
{
    *gain = e->expected = e->spread = 0;
    for (size_t i = p->count; i-- > 0;) {
        const double x = p->lambda[i], chance = chance_at(e->tau, x), second = x / chance * (x / chance);
        e->expected += chance * second;
        e->spread += second * second * chance * (1 - chance);
        *gain += entry_variance(e->tau, x) * x * x / (p->squares * p->squares);
    }
}

static Status draw_entries(VerifySubject *s, EntrySample *e, Coded *coded)
{
    const VerifyPart *p = &s->part;
    for (size_t r = 0; r < e->draws; r++) {
        double square = 0;
        TRY(coded_draw(coded, p->x, r));
        if (coded_plain(coded, p->x))
            return OK;
        for (size_t i = 0; i < p->n; i++) {
            const double y = (double)coded->y[i];
            e->mean[i] += y;
            square += y * y;
        }
        e->second += square / (double)e->draws;
    }
    for (size_t i = 0; i < p->n; i++)
        e->mean[i] /= (double)e->draws;
    e->applies = true;
    return OK;
}

/* The budget is 10 % of the entries, at least 100 and at most half of the entries. The number of draws is chosen to
 * find a bias of 1 %, but limited, so that the work is bounded. */
static Status sample_entries(VerifySubject *s)
{
    const VerifyPart *p = &s->part;
    const Shape shape = shape_vector(p->n);
    const double all = (double)p->count, want = 0.008;
    EntrySample *e = s->entries;
    Coded coded;
    double gain;
    char spec[64];
    if (e)
        return OK;
    e = NEW_ZERO(s->a, EntrySample, 1);
    TRY(arena_check(e && (e->mean = NEW_ZERO(s->a, double, p->n)), s->a, s->err));
    e->budget = p->count ? fmin(fmax(100, all / 10), all / 2) : 1;
    e->tau = (double)(float)s->methods->level_of(p->lambda, p->count, e->budget, s->a);
    expect_entries(p, e, &gain);
    const double spread = p->count ? e->spread / (e->expected * e->expected) : 0;
    e->draws = draws_for(fmax(gain, spread), want, DRAWS_LEAST, fmin(10000, 2e7 / (double)(p->n + 1)));
    snprintf(spec, sizeof spec, "entry:budget=%.17g", e->budget);
    TRY(coded_open(&coded, s, spec, &shape));
    TRY(draw_entries(s, e, &coded));
    s->entries = e;
    return OK;
}

static Status check_entry_mean(VerifySubject *s, VerifyVerdict *v)
{
    const VerifyPart *p = &s->part;
    const Rng signs = subject_rng(s, FOR_SIGNS);
    TRY(sample_entries(s));
    const EntrySample *e = s->entries;
    const double draws = (double)e->draws;
    if (p->count == 0)
        verdict_take(v, e->second, 0, 0, "all zeros");
    for (size_t k = 0; k < DIRECTIONS && e->applies && p->count; k++) {
        double left = 0, right = 0, length = 0, spread = 0, most = 0, sum = 0;
        for (size_t i = 0; i < p->n; i++) {
            const double x = (double)p->x[i], d = direction(&signs, k, i, x);
            left += e->mean[i] * d;
            right += x * d;
            sum += fabs(x * d);
            length += d * d;
            spread += entry_variance(e->tau, x) * d * d / draws;
            if (x != 0 && fabs(x) < e->tau)
                most = fmax(most, fabs(d) * fmax(fabs(x), e->tau - fabs(x)) / draws);
        }
        const double unit = sqrt(length * p->squares);
        const double tolerance = bernstein(spread, most, VERIFY_ALARM / DIRECTIONS) + 1e-6 * sum;
        verdict_take(v, left / unit, right / unit, tolerance / unit, "%s, s = %.4g of %zu, %zu draws",
                     direction_name(k), e->budget, p->n, e->draws);
    }
    return OK;
}

static Status check_entry_second(VerifySubject *s, VerifyVerdict *v)
{
    const VerifyPart *p = &s->part;
    TRY(sample_entries(s));
    const EntrySample *e = s->entries;
    const double draws = (double)e->draws;
    if (!e->applies)
        return OK;
    const double tolerance =
        bernstein(e->spread / draws, e->tau * e->tau / draws, VERIFY_ALARM) + 1e-6 * e->expected;
    verdict_take(v, e->second / p->squares, e->expected / p->squares, tolerance / p->squares,
                 "s = %.4g of %zu, %zu draws", e->budget, p->n, e->draws);
    return OK;
}

/* ---- random draws of singular vectors by the codec `svd` ---- */

/* Second moments are in units of |X|_F^2, as is <estimate, X>, which is 1 in the mean. */
typedef struct SvdSample {
    VerifyMatrix m;
    size_t draws; /* 0: the matrix is zero, or travels as plain floats */
    double budget, gain, second;
    double expected;                       /* of `second` */
    double gain_spread, gain_most;         /* variance of the gain of one draw, and the most of an atom's deviation */
    double second_spread, second_most;     /* of the second moment */
} SvdSample;

/* With t_i = 1 with probability p_i, else 0, <estimate, X> is the sum of sigma_i^2 t_i / p_i, and |estimate|^2 that of (sigma_i /
 * p_i)^2 t_i. */
static void expect_svd(SvdSample *e, double tau)
{
    const VerifyMatrix *m = &e->m;
    for (size_t i = 0; i < m->k && m->sigma[i] > 0; i++) {
        const double p = chance_at(tau, m->sigma[i]), apart = p < 1 ? fmax(p, 1 - p) : 0;
        const double step = m->sigma[i] * m->sigma[i] / p / m->squares, square = step / p;
        e->expected += p * square;
        e->gain_spread += step * step * p * (1 - p);
        e->second_spread += square * square * p * (1 - p);
        e->gain_most = fmax(e->gain_most, step * apart);
        e->second_most = fmax(e->second_most, square * apart);
    }
}

static Status draw_svd(SvdSample *e, Coded *coded)
{
    const VerifyMatrix *m = &e->m;
    for (size_t r = 0; r < e->draws; r++) {
        TRY(coded_draw(coded, m->x, r));
        if (coded_plain(coded, m->x)) {
            e->draws = 0;
            return OK;
        }
        for (size_t i = 0; i < m->shape.n; i++) {
            const double y = (double)coded->y[i], unit = m->squares * (double)e->draws;
            e->gain += y * (double)m->x[i] / unit;
            e->second += y * y / unit;
        }
    }
    return OK;
}

/* The budget is half the atoms of a submatrix. */
static Status sample_svd(VerifySubject *s)
{
    char spec[64];
    Coded coded;
    if (s->svd)
        return OK;
    SvdSample *e = s->svd = NEW_ZERO(s->a, SvdSample, 1);
    TRY(arena_check(e, s->a, s->err));
    TRY(matrix_cut(s, 32, 8, FOR_MATRIX, &e->m));
    if (e->m.most == 0)
        return OK;
    e->budget = (double)e->m.k / 2;
    expect_svd(e, s->methods->level_of(e->m.sigma, e->m.k, e->budget, s->a));
    e->draws = draws_for(fmax(e->gain_spread, e->second_spread / (e->expected * e->expected)), 0.014, DRAWS_LEAST, 10000);
    snprintf(spec, sizeof spec, "svd:rank=%.17g", e->budget);
    TRY(coded_open(&coded, s, spec, &e->m.shape));
    return draw_svd(e, &coded);
}

static Status check_svd_mean(VerifySubject *s, VerifyVerdict *v)
{
    TRY(sample_svd(s));
    const SvdSample *e = s->svd;
    const double draws = (double)e->draws;
    if (e->draws)
        verdict_take(v, e->gain, 1, bernstein(e->gain_spread / draws, e->gain_most / draws, VERIFY_ALARM) + 1e-5,
                     "s = %.4g of %zu, %zu draws", e->budget, e->m.k, e->draws);
    return OK;
}

static Status check_svd_second(VerifySubject *s, VerifyVerdict *v)
{
    TRY(sample_svd(s));
    const SvdSample *e = s->svd;
    const double draws = (double)e->draws;
    if (e->draws)
        verdict_take(v, e->second, e->expected,
                     bernstein(e->second_spread / draws, e->second_most / draws, VERIFY_ALARM) + 1e-5 * e->expected,
                     "s = %.4g of %zu, %zu draws", e->budget, e->m.k, e->draws);
    return OK;
}

const VerifyStatement moment_statements[] = {
    {"Lemma 1: mean of entries", "E[ghat] = g, drawn by the codec entry", EQUAL, NEEDS_NOTHING,
     check_entry_mean},
    {"Lemma 1: second moment of entries", "E|ghat|^2 = sum lambda_i^2 / p_i, in the same draws", EQUAL,
     NEEDS_NONZERO, check_entry_second},
    {"Lemma 1: mean of svd", "E<ghat, g> = |g|^2 on at most 32 rows and 8 columns, drawn by the codec svd", EQUAL,
     NEEDS_MATRIX, check_svd_mean},
    {"Lemma 1: second moment of svd", "E|ghat|^2 = sum lambda_i^2 / p_i, in the same draws", EQUAL, NEEDS_MATRIX,
     check_svd_second},
    {0},
};
