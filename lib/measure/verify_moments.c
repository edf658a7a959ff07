/* verify_moments.c -- checks the ATOMO paper's statements on matrices, and Lemma 1 by random draws. For g = sum lambda_i a_i with atoms
 * a_i, each kept with probability p_i, the lemma says E[estimate] = g and E|estimate|^2 = sum lambda_i^2 /
 * p_i + sum over i != j of lambda_i lambda_j <a_i, a_j>.
 *
 * The mean estimate is compared with g along fixed directions d. <mean, d> is a sum of independent bounded
 * terms, so Bernstein's inequality bounds its distance from <g, d>. Distance and bound are divided by |g|
 * |d|. */
#include "measure/verify_parts.h"
#include "math/spectral.h"
#include "math/stats.h"

#include <stdio.h>
#include <math.h>
#include <float.h>

/* ---- matrices ---- */

static Status take_spectrum(VerifySubject *s, VerifyMatrix *m)
{
    Spectral spectral;
    TRY(spectral_open(&spectral, tall_of(m->x, m->rows, m->cols), SPECTRAL_GRAM, s->threads, s->a, s->err));
    m->k = spectral.k;
    m->sigma = spectral.lambda;
    m->nuclear = 0;
    stats_sort(m->sigma, m->k); /* spectral_open may leave nearly equal values out of order */
    for (size_t i = 0; i < m->k; i++)
        m->nuclear += m->sigma[i];
    for (size_t i = 0; i < m->k / 2; i++) {
        const double t = m->sigma[i];
        m->sigma[i] = m->sigma[m->k - 1 - i];
        m->sigma[m->k - 1 - i] = t;
    }
    return OK;
}

/* Copies m->rows random rows and m->cols random columns of the matrix `s->x` (rows x cols), one from each of
 * equally long ranges of indices. Scales them by a power of two so that the largest magnitude is below 1. */
static Status copy_cut(VerifySubject *s, size_t rows, size_t cols, uint64_t purpose, VerifyMatrix *m)
{
    const Rng rng = subject_rng(s, purpose), row_rng = rng_below(&rng, 0), col_rng = rng_below(&rng, 1);
    size_t *row = NEW(s->a, size_t, m->rows), *col = NEW(s->a, size_t, m->cols);
    float *x = NEW(s->a, float, m->rows * m->cols);
    int exponent = 0;
    TRY(arena_check(row && col && x, s->a, s->err));
    places_take(row, m->rows, rows, &row_rng);
    places_take(col, m->cols, cols, &col_rng);
    for (size_t i = 0; i < m->rows; i++)
        for (size_t k = 0; k < m->cols; k++) {
            x[i * m->cols + k] = s->x[row[i] * cols + col[k]];
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

/* Cuts a submatrix, and computes its singular values. */
static Status matrix_cut(VerifySubject *s, size_t longer, size_t shorter, uint64_t purpose, VerifyMatrix *m)
{
    size_t rows, cols;
    matrix_view(&s->vector->shape, RESHAPE_PAPER, &rows, &cols);
    const size_t most_rows = rows < cols ? shorter : longer, most_cols = rows < cols ? longer : shorter;
    *m = (VerifyMatrix){.rows = rows < most_rows ? rows : most_rows,
                        .cols = cols < most_cols ? cols : most_cols};
    shape_make(&m->shape, 2, (size_t[]){m->rows, m->cols});
    TRY(copy_cut(s, rows, cols, purpose, m));
    return m->most > 0 ? take_spectrum(s, m) : OK;
}

/* Sets the atoms to the products of singular vectors; k <= ATOMS_MOST. */
static Status matrix_atoms(VerifySubject *s, const VerifyMatrix *m, AtomSet *set)
{
    const Tall tall = tall_of(m->x, m->rows, m->cols);
    size_t index[ATOMS_MOST];
    double scale[ATOMS_MOST];
    uint8_t *u[ATOMS_MOST], *v[ATOMS_MOST];
    Spectral spectral;
    assert(m->k <= ATOMS_MOST);
    TRY(atomset_take(s, set, m->k, m->rows * m->cols));
    for (size_t i = 0; i < m->k; i++) {
        index[i] = i;
        scale[i] = 1;
        u[i] = (uint8_t *)NEW(s->a, float, tall.rows);
        v[i] = (uint8_t *)NEW(s->a, float, tall.cols);
        TRY(arena_check(u[i] && v[i], s->a, s->err));
    }
    TRY(spectral_open(&spectral, tall, SPECTRAL_GRAM, s->threads, s->a, s->err));
    TRY(spectral_atoms(&spectral, index, scale, m->k, u, v, s->a, s->err));
    for (size_t i = 0; i < m->k; i++) {
        const float *left = (const float *)(const void *)(tall.turned ? v[i] : u[i]);
        const float *right = (const float *)(const void *)(tall.turned ? u[i] : v[i]);
        for (size_t r = 0; r < m->rows; r++)
            for (size_t c = 0; c < m->cols; c++)
                set->atom[(i * m->rows + r) * m->cols + c] = (double)left[r] * (double)right[c];
    }
    atomset_settle(set);
    return OK;
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
    e->tau = (double)(float)level_sorted(p->lambda, p->count, e->budget, s->a);
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

/* ---- random draws from small sets of atoms by the paper's equation (2) ---- */

typedef struct AtomSample {
    VerifyMatrix m; /* matrix whose singular vectors are the atoms; unused for overlapping atoms */
    AtomSet set;
    Outcomes expected;
    size_t draws;
    double *mean, second;
} AtomSample;

/* Returns the variance of <estimate, d> for one draw: the sum of (<a_i, d> lambda_i)^2 (1 - p_i) / p_i. Sets
 * *most to the largest deviation of a term from its mean. */
static double atom_spread(const AtomSet *set, const double *d, double *most)
{
    double sum = 0;
    *most = 0;
    for (size_t i = 0; i < set->count; i++) {
        const double p = set->p[i];
        double along = 0;
        for (size_t k = 0; k < set->dim; k++)
            along += set->atom[i * set->dim + k] * d[k];
        if (p <= 0 || p >= 1)
            continue;
        along *= set->lambda[i];
        sum += along * along * ((1 - p) / p);
        *most = fmax(*most, fabs(along) * fmax(1, 1 / p - 1));
    }
    return sum;
}

static void draw_atoms(VerifySubject *s, AtomSample *sample, double *estimate)
{
    const AtomSet *set = &sample->set;
    const Rng rng = subject_rng(s, FOR_ATOMS);
    for (size_t r = 0; r < sample->draws; r++) {
        double square = 0;
        memset(estimate, 0, set->dim * sizeof *estimate);
        for (size_t i = 0; i < set->count; i++) {
            if (!(set->p[i] >= 1 || s->methods->keep(&rng, r * set->count + i, set->p[i])) || set->p[i] <= 0)
                continue;
            const double weight = set->lambda[i] / set->p[i];
            for (size_t k = 0; k < set->dim; k++)
                estimate[k] += weight * set->atom[i * set->dim + k];
        }
        for (size_t k = 0; k < set->dim; k++) {
            sample->mean[k] += estimate[k] / (double)sample->draws;
            square += estimate[k] * estimate[k];
        }
        sample->second += square / (double)sample->draws;
    }
}

/* The budget is at most half of the atoms, and so small that no atom has probability 1. */
static Status sample_atoms(VerifySubject *s, AtomSample *sample)
{
    AtomSet *set = &sample->set;
    double most = 0, *estimate = NEW(s->a, double, set->dim);
    sample->mean = NEW_ZERO(s->a, double, set->dim);
    TRY(arena_check(estimate && sample->mean, s->a, s->err));
    for (size_t i = 0; i < set->count; i++)
        most = fmax(most, set->lambda[i]);
    TRY(atomset_spend(s, set, fmin((double)set->count / 2, 0.8 * set->l1 / most)));
    sample->expected = atomset_outcomes(set);
    const double gain = atom_spread(set, set->g, &most) / (set->squares * set->squares);
    const double spread = sample->expected.variance / (sample->expected.mean * sample->expected.mean);
    sample->draws = draws_for(fmax(gain, spread), 0.012, DRAWS_LEAST, 40000);
    draw_atoms(s, sample, estimate);
    return OK;
}

static Status mean_of_atoms(VerifySubject *s, const AtomSample *sample, VerifyVerdict *v)
{
    const AtomSet *set = &sample->set;
    const Rng signs = subject_rng(s, FOR_SIGNS);
    double *d = NEW(s->a, double, set->dim);
    TRY(arena_check(d, s->a, s->err));
    for (size_t k = 0; k < DIRECTIONS; k++) {
        double left = 0, right = 0, length = 0, most;
        for (size_t i = 0; i < set->dim; i++) {
            d[i] = direction(&signs, k, i, set->g[i]);
            left += sample->mean[i] * d[i];
            right += set->g[i] * d[i];
            length += d[i] * d[i];
        }
        const double draws = (double)sample->draws, unit = sqrt(length * set->squares);
        const double spread = atom_spread(set, d, &most);
        const double tolerance = bernstein(spread / draws, most / draws, VERIFY_ALARM / DIRECTIONS);
        verdict_take(v, left / unit, right / unit, tolerance / unit + 1e-9, "%s, s = %.4g of %zu, %zu draws",
                     direction_name(k), set->budget, set->count, sample->draws);
    }
    return OK;
}

/* `cross`: the cross terms phi(g) of Lemma 1, 0 for orthogonal atoms. */
static Status second_of_atoms(const AtomSample *sample, double cross, VerifyVerdict *v)
{
    const AtomSet *set = &sample->set;
    const double draws = (double)sample->draws;
    const Outcomes *o = &sample->expected;
    double right = cross;
    for (size_t i = 0; i < set->count; i++)
        right += set->p[i] > 0 ? set->lambda[i] * set->lambda[i] / set->p[i] : 0;
    const double tolerance = bernstein(o->variance / draws, o->most / draws, VERIFY_ALARM) + 1e-5 * right;
    verdict_take(v, sample->second / set->squares, right / set->squares, tolerance / set->squares,
                 "s = %.4g of %zu, %zu draws", set->budget, set->count, sample->draws);
    return OK;
}

/* ---- draws from the singular vectors of a submatrix ---- */

static Status sample_spectral(VerifySubject *s)
{
    if (s->spectral)
        return OK;
    AtomSample *sample = NEW_ZERO(s->a, AtomSample, 1);
    TRY(arena_check(sample, s->a, s->err));
    TRY(matrix_cut(s, 32, 8, FOR_MATRIX, &sample->m));
    s->spectral = sample;
    if (sample->m.most == 0)
        return OK;
    TRY(matrix_atoms(s, &sample->m, &sample->set));
    return sample_atoms(s, sample);
}

static Status check_spectral_mean(VerifySubject *s, VerifyVerdict *v)
{
    TRY(sample_spectral(s));
    return s->spectral->draws ? mean_of_atoms(s, s->spectral, v) : OK;
}

static Status check_spectral_second(VerifySubject *s, VerifyVerdict *v)
{
    TRY(sample_spectral(s));
    return s->spectral->draws ? second_of_atoms(s->spectral, 0, v) : OK;
}

/* Checks the mean estimate of the codec svd with a budget of half the atoms. <estimate, X> is the sum of
 * sigma_i^2 t_i / p_i over the singular values sigma_i, where t_i = 1 with probability p_i, else 0. */
static Status check_svd(VerifySubject *s, VerifyVerdict *v)
{
    TRY(sample_spectral(s));
    const VerifyMatrix *m = &s->spectral->m;
    const double budget = (double)m->k / 2;
    double spread = 0, most = 0, gain = 0;
    char spec[64];
    Coded coded;
    if (m->most == 0)
        return OK;
    const double tau = level_sorted(m->sigma, m->k, budget, s->a);
    for (size_t i = 0; i < m->k; i++) {
        const double p = chance_at(tau, m->sigma[i]),
                     step = p > 0 ? m->sigma[i] * m->sigma[i] / p / m->squares : 0;
        spread += step * step * p * (1 - p);
        most = p < 1 ? fmax(most, step * fmax(p, 1 - p)) : most;
    }
    const size_t draws = draws_for(spread, 0.014, DRAWS_LEAST, 10000);
    snprintf(spec, sizeof spec, "svd:rank=%.17g", budget);
    TRY(coded_open(&coded, s, spec, &m->shape));
    for (size_t r = 0; r < draws; r++) {
        TRY(coded_draw(&coded, m->x, r));
        if (coded_plain(&coded, m->x))
            return OK;
        for (size_t i = 0; i < m->shape.n; i++)
            gain += (double)coded.y[i] * (double)m->x[i] / m->squares / (double)draws;
    }
    const double tolerance = bernstein(spread / (double)draws, most / (double)draws, VERIFY_ALARM) + 1e-5;
    verdict_take(v, gain, 1, tolerance, "s = %.4g of %zu, %zu draws", budget, m->k, draws);
    return OK;
}

/* ---- draws from a set of atoms that overlap ---- */

static Status sample_overlap(VerifySubject *s)
{
    if (s->overlap)
        return OK;
    AtomSample *sample = NEW_ZERO(s->a, AtomSample, 1);
    TRY(arena_check(sample, s->a, s->err));
    s->overlap = sample;
    TRY(atomset_overlapping(s, &sample->set));
    return sample->set.count ? sample_atoms(s, sample) : OK;
}

static Status check_overlap_mean(VerifySubject *s, VerifyVerdict *v)
{
    TRY(sample_overlap(s));
    return s->overlap->draws ? mean_of_atoms(s, s->overlap, v) : OK;
}

static Status check_overlap_second(VerifySubject *s, VerifyVerdict *v)
{
    TRY(sample_overlap(s));
    return s->overlap->draws ? second_of_atoms(s->overlap, s->overlap->set.cross, v) : OK;
}

const VerifyStatement moment_statements[] = {
    {"Lemma 1: mean of entries", "E[ghat] = g, drawn by the codec entry", EQUAL, NEEDS_NOTHING,
     check_entry_mean},
    {"Lemma 1: second moment of entries", "E|ghat|^2 = sum lambda_i^2 / p_i, in the same draws", EQUAL,
     NEEDS_NONZERO, check_entry_second},
    {"Lemma 1: mean of singular vectors", "E[ghat] = g on at most 32 rows and 8 columns", EQUAL, NEEDS_MATRIX,
     check_spectral_mean},
    {"Lemma 1: second moment of singular vectors", "E|ghat|^2 = sum lambda_i^2 / p_i, in the same draws",
     EQUAL, NEEDS_MATRIX, check_spectral_second},
    {"Lemma 1: mean of svd", "E<ghat, g> = |g|^2 on that submatrix, drawn by the codec svd", EQUAL,
     NEEDS_MATRIX, check_svd},
    {"Lemma 1: mean of overlapping atoms", "E[ghat] = g for ten atoms, each orthogonal to all but two", EQUAL,
     NEEDS_SEVERAL, check_overlap_mean},
    {"Lemma 1: second moment of overlapping atoms",
     "E|ghat|^2 = sum lambda_i^2 / p_i + phi(g), phi = sum over i != j of lambda_i lambda_j <a_i, a_j>",
     EQUAL, NEEDS_SEVERAL, check_overlap_second},
    {0},
};

/* ---- Lemma 7 (Lemma 11 of Appendix C), Table 1 and Theorem 6 on the matrix to which a tensor is reshaped ----
 *
 * "Var." in Table 1 is the second moment, which is the variance plus |X|_F^2. The lemma is correct, but its
 * proof has a misprint: for the left inequality it should end in sqrt(nm) |X|_*, and the factor sqrt(nm) is
 * missing. */

static Status subject_matrix(VerifySubject *s)
{
    size_t rows, cols;
    if (s->matrix)
        return OK;
    VerifyMatrix *m = NEW_ZERO(s->a, VerifyMatrix, 1);
    TRY(arena_check(m, s->a, s->err));
    matrix_view(&s->vector->shape, RESHAPE_PAPER, &rows, &cols);
    const size_t longer = rows > cols ? rows : cols, shorter = rows > cols ? cols : rows;
    if (longer > VERIFY_LONG || shorter > VERIFY_SHORT) {
        TRY(matrix_cut(s, VERIFY_LONG, VERIFY_SHORT, FOR_MATRIX, m));
    } else {
        *m = (VerifyMatrix){
            .x = s->x, .rows = rows, .cols = cols, .l1 = s->l1, .squares = s->squares, .most = s->most};
        shape_make(&m->shape, 2, (size_t[]){rows, cols});
        TRY(take_spectrum(s, m));
    }
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

static const char *theory_winner(double ratio)
{
    return ratio <= 1 ? "svd" : "entries";
}

/* ---- second moments in closed form, for the probabilities that the methods under test compute ---- */

static Status second_of_entries(VerifySubject *s, const VerifyMatrix *m, double *second)
{
    const double budget = matrix_theory(m).entry_budget;
    const ArenaMark mark = arena_mark(s->a);
    double spent = 0, sum = 0;
    Level level;
    TRY(arena_check(s->methods->level(m->x, m->shape.n, budget, s->threads, s->a, &level), s->a, s->err));
    for (size_t i = 0; i < m->shape.n; i++) {
        const double v = fabs((double)m->x[i]);
        spent += chance_at(level.tau, v);
        sum += v < level.tau ? v * level.tau : v * v;
    }
    *second = fabs(spent - budget) <= 1e-9 * budget ? sum / m->squares : NAN;
    arena_rewind(s->a, mark);
    return OK;
}

static Status second_of_svd(VerifySubject *s, const VerifyMatrix *m, double *second)
{
    const double budget = matrix_theory(m).svd_budget,
                 tau = s->methods->level_of(m->sigma, m->k, budget, s->a);
    size_t count = m->k;
    if (isnan(tau))
        return arena_fail(s->a, s->err);
    while (count && m->sigma[count - 1] == 0)
        count--;
    *second = spend_part(m->sigma, count, budget, tau).second / m->squares;
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
                 th.entry_budget, theory_winner(svd / entries));
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
