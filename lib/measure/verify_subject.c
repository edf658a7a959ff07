/* verify_subject.c -- what the checks of the ATOMO paper's statements share: the vector and the verdict, water levels,
 * random draws of codecs; the statements on matrices; and Lemma 1, checked by random draws. */
#include "measure/verify_parts.h"

#include "base/parallel.h"
#include "dump/describe.h"
#include "math/spectral.h"
#include "math/stats.h"
#include "compress/spec.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <float.h>

const char *const relation_names[] = {"=", "<=", ">=", ">"};

/* ---- verdicts ---- */

static double share(double excess, double tolerance)
{
    return excess <= 0 ? 0 : excess / tolerance; /* infinite if the tolerance is 0 */
}

static double strain(Relation relation, double left, double right, double tolerance)
{
    const double ahead = left - right;
    if (!isfinite(left) || !isfinite(right) || !(tolerance >= 0))
        return INFINITY;
    switch (relation) {
    case EQUAL:
        return share(fabs(ahead), tolerance);
    case AT_MOST:
        return share(ahead, tolerance);
    case AT_LEAST:
        return share(-ahead, tolerance);
    case ABOVE:
        return ahead > tolerance ? tolerance / ahead : INFINITY;
    }
    return INFINITY;
}

double verdict_strain(const VerifyVerdict *v)
{
    return strain(v->relation, v->left, v->right, v->tolerance);
}

void verdict_take(VerifyVerdict *v, double left, double right, double tolerance, const char *note, ...)
{
    va_list args;
    if (v->applies && strain(v->relation, left, right, tolerance) <= verdict_strain(v))
        return;
    v->applies = true;
    v->left = left;
    v->right = right;
    v->tolerance = tolerance;
    va_start(args, note);
    vsnprintf(v->note, sizeof v->note, note, args);
    va_end(args);
}

/* ---- subjects ---- */

/* Returns the first of n indices in the i-th of `count` stretches of equal length. */
static size_t place_of(size_t i, size_t count, size_t n)
{
    return (size_t)((double)n / (double)count * (double)i);
}

static Status take_part(VerifySubject *s)
{
    VerifyPart *p = &s->part;
    int exponent;
    p->n = s->n < VERIFY_PART ? s->n : VERIFY_PART;
    p->x = NEW(s->a, float, p->n);
    p->lambda = NEW(s->a, double, p->n);
    TRY(arena_check(p->x && p->lambda, s->a, s->err));
    for (size_t i = 0; i < p->n; i++)
        p->most = fmax(p->most, fabs((double)s->x[place_of(i, p->n, s->n)]));
    frexp(p->most, &exponent);
    p->most = 0;
    for (size_t i = 0; i < p->n; i++) {
        p->x[i] = (float)ldexp((double)s->x[place_of(i, p->n, s->n)], -exponent);
        if (p->x[i] != 0)
            p->lambda[p->count++] = -fabs((double)p->x[i]);
    }
    /* p->lambda has negated magnitudes here, so that the largest come first */
    stats_sort(p->lambda, p->count);
    for (size_t i = p->count; i-- > 0;) {
        p->lambda[i] = -p->lambda[i];
        p->l1 += p->lambda[i];
        p->squares += p->lambda[i] * p->lambda[i];
        p->most = p->lambda[i];
    }
    return OK;
}

Status subject_open(VerifySubject *s, const Vector *vector, const float *x, uint64_t seed, int threads, Arena *a, Error *err)
{
    const Description d = describe(x, vector->shape.n);
    *s = (VerifySubject){.vector = vector,
                         .x = x,
                         .n = vector->shape.n,
                         .nonzero = d.n - d.zeros,
                         .l1 = d.l1,
                         .squares = d.l2 * d.l2,
                         .most = d.linf,
                         .seed = seed,
                         .threads = threads,
                         .a = a,
                         .err = err};
    return take_part(s);
}

/* ---- sums over the probabilities at a level ---- */

/* waterfill.h counts an element as light (kept with p < 1) if its magnitude is at most tau * BALANCED. */
#define BALANCED (1 + 4 * DBL_EPSILON)

/* Sums and extremes of the magnitudes v > 0 that are light (v <= edge) and of those that are heavy. */
typedef struct {
    double light, squares, most_light, least_heavy, most;
    size_t heavy;
} Shares;

/* Adds the n magnitudes of x. The block's own sums are added at the end, to lose few digits. */
static void add_shares(Shares *s, const float *x, size_t n, double edge)
{
    Shares own = *s;
    own.light = own.squares = 0;
    for (size_t i = 0; i < n; i++) {
        const double v = fabs((double)x[i]);
        const bool heavy = v > edge;
        own.heavy += heavy;
        own.light += heavy ? 0 : v;
        own.squares += heavy ? v * v : 0;
        own.least_heavy = heavy && v < own.least_heavy ? v : own.least_heavy;
        own.most_light = !heavy && v > own.most_light ? v : own.most_light;
        own.most = v > own.most ? v : own.most;
    }
    own.light += s->light;
    own.squares += s->squares;
    *s = own;
}

/* The conditions (14) and Lemma 9's bound are nearest to failing at the least heavy element, at the largest light one and at the
 * largest. */
Spent spend(const float *x, size_t n, double bound, double budget, const Level *level)
{
    /* the water level sqrt(mu) by the paper's equation (16), from the number of heavy elements (p = 1) and the sum of the light
     * ones (p < 1) */
    const double tau = level->tau, root = level->tail / (budget - (double)level->heavy);
    Shares all = {.least_heavy = INFINITY};
    for (size_t block = 0; block < blocks_of(n); block++)
        add_shares(&all, x + block * BLOCK, block_size(n, block), tau * BALANCED);
    Spent out = {.heavy = all.heavy, .sum = (double)all.heavy, .second = all.squares, .least = INFINITY};
    if (all.heavy) {
        out.violation = fmax(0, 1 - all.least_heavy / root * (all.least_heavy / root));
        out.least = 1 / (bound * all.most * all.most);
    }
    if (all.light > 0) {
        out.sum += all.light / tau;
        out.second += all.light * tau;
        out.violation = fmax(out.violation, fmax(all.most_light / tau - 1, fabs(tau / root * (tau / root) - 1)));
        out.least = fmin(out.least, 1 / (bound * all.most_light * tau));
    }
    if (!(root > 0 && isfinite(root)))
        out.violation = INFINITY;
    if (!(fabs(out.sum - budget) <= 1e-9 * budget)) /* true also if the sum is NaN; p is not feasible then */
        out.second = out.least = NAN;
    return out;
}

Status second_moment(VerifySubject *s, const float *x, size_t n, double squares, double budget, double *second)
{
    Level level;
    TRY(arena_check(waterfill_floats(x, n, budget, s->threads, s->a, &level), s->a, s->err));
    *second = spend(x, n, 1, budget, &level).second / squares;
    return OK;
}

/* ---- random draws of codecs ---- */

Status coded_open(Coded *c, VerifySubject *s, const char *spec, const Shape *shape)
{
    *c = (Coded){.shape = *shape, .s = s};
    TRY(codec_open(&c->codec, spec, s->a, s->err));
    c->call = (Call){.self = c->codec, .workers = 1, .threads = s->threads, .scratch = s->a, .err = s->err};
    vector_rng(s->vector, s->seed, 0, &c->call.rng, &c->call.rng_shared);
    c->call.shape = &c->shape;
    c->payload.cap = codec_message_bound(&c->call);
    c->payload.data = NEW(s->a, uint8_t, c->payload.cap);
    c->y = NEW(s->a, float, c->shape.n);
    return c->payload.data && c->y ? OK : arena_fail(s->a, s->err);
}

Status coded_draw(Coded *c, const float *x, uint64_t repeat)
{
    Message m;
    /* set again, since c may have been copied after `coded_open` */
    c->call.shape = &c->shape;
    vector_rng(c->s->vector, c->s->seed, repeat, &c->call.rng, &c->call.rng_shared);
    c->payload.size = 0;
    TRY(codec_send(&c->call, x, &c->payload, &m));
    return codec_receive(&c->call, &m, c->y);
}

/* ==== matrices ==== */

static Status take_spectrum(VerifySubject *s, VerifyMatrix *m)
{
    Spectral spectral;
    TRY(spectral_open(&spectral, tall_of(m->x, m->rows, m->cols), SPECTRAL_GRAM, s->threads, s->a, s->err));
    m->k = spectral.k;
    m->sigma = spectral.lambda;
    m->nuclear = 0;
    for (size_t i = m->k; i-- > 0;)
        m->nuclear += m->sigma[i];
    return OK;
}

/* Copies m->rows rows and m->cols columns of the matrix `s->x` (rows x cols), the first of as many equally long stretches.
 * Scales them by a power of two so that the largest magnitude is below 1. */
static Status copy_cut(VerifySubject *s, size_t rows, size_t cols, VerifyMatrix *m)
{
    float *x = NEW(s->a, float, m->rows * m->cols);
    int exponent = 0;
    TRY(arena_check(x, s->a, s->err));
    for (size_t i = 0; i < m->rows; i++)
        for (size_t k = 0; k < m->cols; k++) {
            x[i * m->cols + k] = s->x[place_of(i, m->rows, rows) * cols + place_of(k, m->cols, cols)];
            m->most = fmax(m->most, fabs((double)x[i * m->cols + k]));
        }
    frexp(m->most, &exponent);
    m->most = ldexp(m->most, -exponent);
    for (size_t i = 0; i < m->rows * m->cols; i++) {
        x[i] = ldexpf(x[i], -exponent);
        m->l1 += fabs((double)x[i]);
        m->squares += (double)x[i] * (double)x[i];
    }
    m->x = x;
    return OK;
}

/* Cuts a submatrix of the subject, of at most `longer` by `shorter` elements, and computes its singular values. */
static Status matrix_cut(VerifySubject *s, size_t longer, size_t shorter, VerifyMatrix *m)
{
    size_t rows, cols;
    matrix_view(&s->vector->shape, RESHAPE_PAPER, &rows, &cols);
    const size_t most_rows = rows < cols ? shorter : longer, most_cols = rows < cols ? longer : shorter;
    *m = (VerifyMatrix){.rows = rows < most_rows ? rows : most_rows,
                        .cols = cols < most_cols ? cols : most_cols};
    shape_make(&m->shape, 2, (size_t[]){m->rows, m->cols});
    TRY(copy_cut(s, rows, cols, m));
    return m->most > 0 ? take_spectrum(s, m) : OK;
}

/* ---- Lemma 7 (Lemma 11 of Appendix C), Table 1 and Theorem 6 on the matrix to which a tensor is reshaped ----
 *
 * "Var." in Table 1 is the second moment, which is the variance plus |X|_F^2. The lemma is correct, but its
 * proof has a misprint: for the left inequality it should end in sqrt(nm) |X|_*, and the factor sqrt(nm) is
 * missing. */

static Status subject_matrix(VerifySubject *s)
{
    if (s->matrix)
        return OK;
    VerifyMatrix *m = NEW_ZERO(s->a, VerifyMatrix, 1);
    TRY(arena_check(m, s->a, s->err));
    TRY(matrix_cut(s, VERIFY_LONG, VERIFY_SHORT, m));
    s->matrix = m;
    return OK;
}

/* ---- Table 1 and Theorem 6 for codecs that send equally many numbers ---- */

/* The numbers of Table 1 and Theorem 6, for s = 0.9 of the largest budget that the theorem allows, and s' = s
 * / (n + m). */
typedef struct {
    double entry_budget, svd_budget; /* s and s' */
    double entry_second, svd_second; /* second moments by Table 1, divided by |X|_F^2 */
    double ratio; /* svd_second / entry_second by the theorem: (n + m) |X|_*^2 / |X|_{1,1}^2 */
} MatrixTheory;

static MatrixTheory matrix_theory(const VerifyMatrix *m)
{
    const double sides = (double)(m->rows + m->cols), ratio = m->nuclear / m->l1;
    const double most = fmin(m->l1 / m->most, sides * m->nuclear / m->sigma[0]);
    MatrixTheory t = {
        .entry_budget = 0.9 * most, .svd_budget = 0.9 * most / sides, .ratio = sides * ratio * ratio};
    t.entry_second = m->l1 / m->squares * m->l1 / t.entry_budget;
    t.svd_second = m->nuclear / m->squares * m->nuclear / t.svd_budget;
    return t;
}

/* ---- second moments in closed form, for the probabilities that the methods under test compute ---- */

static Status second_of_entries(VerifySubject *s, const VerifyMatrix *m, double *second)
{
    return second_moment(s, m->x, m->shape.n, m->squares, matrix_theory(m).entry_budget, second);
}

static Status second_of_svd(VerifySubject *s, const VerifyMatrix *m, double *second)
{
    const double budget = matrix_theory(m).svd_budget,
                 tau = waterfill_level(m->sigma, m->k, budget, s->a);
    double spent = 0, sum = 0;
    if (isnan(tau))
        return arena_fail(s->a, s->err);
    for (size_t i = m->k; i-- > 0;) {
        spent += chance_at(tau, m->sigma[i]);
        sum += m->sigma[i] * fmax(tau, m->sigma[i]);
    }
    *second = fabs(spent - budget) <= 1e-9 * budget ? sum / m->squares : NAN;
    return OK;
}

static Status check_table_entries(VerifySubject *s, VerifyVerdict *v)
{
    double left;
    TRY(subject_matrix(s));
    TRY(second_of_entries(s, s->matrix, &left));
    const MatrixTheory th = matrix_theory(s->matrix);
    verdict_take(v, left, th.entry_second, 1e-9 * th.entry_second, "s = %.4g", th.entry_budget);
    return OK;
}

static Status check_table_svd(VerifySubject *s, VerifyVerdict *v)
{
    double left;
    TRY(subject_matrix(s));
    TRY(second_of_svd(s, s->matrix, &left));
    const MatrixTheory th = matrix_theory(s->matrix);
    verdict_take(v, left, th.svd_second, 1e-9 * th.svd_second, "s = %.4g", th.svd_budget);
    return OK;
}

static Status check_winner(VerifySubject *s, VerifyVerdict *v)
{
    double entries, svd;
    TRY(subject_matrix(s));
    const VerifyMatrix *m = s->matrix;
    TRY(second_of_entries(s, m, &entries));
    TRY(second_of_svd(s, m, &svd));
    const MatrixTheory th = matrix_theory(m);
    verdict_take(v, svd / entries, th.ratio, 1e-9 * th.ratio, "%zu by %zu, s = %.4g: %s", m->rows, m->cols,
                 th.entry_budget, svd <= entries ? "svd" : "entries");
    return OK;
}

/* ---- Lemma 7 ---- */

static Status check_left(VerifySubject *s, VerifyVerdict *v)
{
    TRY(subject_matrix(s));
    const VerifyMatrix *m = s->matrix;
    const double unit = sqrt(m->squares), right = m->nuclear / unit;
    verdict_take(v, m->l1 / sqrt((double)m->shape.n) / unit, right, 1e-6 * right, "%zu by %zu", m->rows,
                 m->cols);
    return OK;
}

static Status check_right(VerifySubject *s, VerifyVerdict *v)
{
    TRY(subject_matrix(s));
    const VerifyMatrix *m = s->matrix;
    const double unit = sqrt(m->squares), right = m->l1 / unit;
    verdict_take(v, m->nuclear / unit, right, 1e-6 * right, "%zu by %zu", m->rows, m->cols);
    return OK;
}

const VerifyStatement matrix_statements[] = {
    {"Lemma 7: left", "|X|_{1,1} / sqrt(nm) <= |X|_* (Lemma 11's proof lacks the factor sqrt(nm) in print)",
     AT_MOST, NEEDS_MATRIX, check_left},
    {"Lemma 7: right", "|X|_* <= |X|_{1,1}", AT_MOST, NEEDS_MATRIX, check_right},
    {"Table 1: entries",
     "Algorithm 1 on the entries: E|Xhat|^2 = |X|_{1,1}^2 / s (Var. is the second moment)", EQUAL,
     NEEDS_MATRIX, check_table_entries},
    {"Table 1: svd", "Algorithm 1 on the singular values: E|Xhat|^2 = |X|_*^2 / s'", EQUAL, NEEDS_MATRIX,
     check_table_svd},
    {"Theorem 6", "s' = s / (n + m): E|Xhat|^2 of svd over that of entries = (n + m) |X|_*^2 / |X|_{1,1}^2",
     EQUAL, NEEDS_MATRIX, check_winner},
    {0},
};

/* ==== Lemma 1, by random draws of the codecs entry and svd ====
 *
 * For g = sum lambda_i a_i with orthogonal atoms a_i of length 1, each kept with probability p_i, the lemma says E[estimate] = g
 * and E|estimate|^2 = sum lambda_i^2 / p_i. The mean estimate is compared with g along fixed directions d. <mean, d> is a sum of
 * independent bounded terms, so Bernstein's inequality bounds its distance from <g, d>. Distance and bound are divided by |g| |d|. */

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

enum { DIRECTIONS = 2, DRAWS_LEAST = 200 };
static const char *const directions[DIRECTIONS] = {"along g", "along (1, .., 1)"};

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
    e->tau = (double)(float)waterfill_level(p->lambda, p->count, e->budget, s->a);
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
    TRY(sample_entries(s));
    const EntrySample *e = s->entries;
    const double draws = (double)e->draws;
    if (p->count == 0)
        verdict_take(v, e->second, 0, 0, "all zeros");
    for (size_t k = 0; k < DIRECTIONS && e->applies && p->count; k++) {
        double left = 0, right = 0, length = 0, spread = 0, most = 0, sum = 0;
        for (size_t i = 0; i < p->n; i++) {
            const double x = (double)p->x[i], d = k ? 1 : x;
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
                     directions[k], e->budget, p->n, e->draws);
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
    for (size_t i = 0; i < m->k; i++) {
        if (m->sigma[i] <= 0)
            continue;
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
    TRY(matrix_cut(s, 32, 8, &e->m));
    if (e->m.most == 0)
        return OK;
    e->budget = (double)e->m.k / 2;
    expect_svd(e, waterfill_level(e->m.sigma, e->m.k, e->budget, s->a));
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
