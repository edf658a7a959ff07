/* verify_moments.c -- checks Lemma 1 of the ATOMO paper by random draws, and Theorem 4 on atoms that overlap. For g = sum lambda_i a_i with atoms
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

/* ---- the water level tau of the probabilities min(1, lambda_i / tau) by the paper's Algorithm 1, which shares no code
 * with the codecs' solver (waterfill.h) ---- */

/* Returns tail[i] = lambda_i + ... + lambda_(n-1), added from the smallest. */
static double *tails(const double *lambda, size_t n, Arena *scratch)
{
    double *tail = NEW(scratch, double, n + 1);
    if (!tail)
        return NULL;
    tail[n] = 0;
    for (size_t i = n; i-- > 0;)
        tail[i] = tail[i + 1] + lambda[i];
    return tail;
}

/* Returns the water level tau, at which the probabilities min(1, lambda_i / tau) add up to `budget`; 0 if budget >= n, NaN
 * if memory runs out. lambda (n) has no zeros and is sorted, largest first. The paper's Algorithm 1 with a misprint corrected:
 * the sums are over |lambda_j|, where the paper prints |lambda_i|. */
static double level_sorted(const double *lambda, size_t n, double budget, Arena *scratch)
{
    const ArenaMark mark = arena_mark(scratch);
    const double *tail = tails(lambda, n, scratch);
    double level = tail ? 0 : NAN;
    for (size_t i = 0; tail && i < n && budget < (double)n; i++)
        if (lambda[i] * (budget - (double)i) <= tail[i] || i + 1 == n) {
            level = tail[i] / (budget - (double)i);
            break;
        }
    arena_rewind(scratch, mark);
    return level;
}

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

/* ---- small sets of atoms ---- */

/* Atoms a_i of length 1 with g = sum lambda_i a_i, so few that all outcomes of a random draw can be listed. */
enum { ATOMS_MOST = 10 };
typedef struct AtomSet {
    size_t count, dim;
    double lambda[ATOMS_MOST], p[ATOMS_MOST], budget;
    double *atom, *g; /* atom: count x dim elements; g: dim elements */
    double gram[ATOMS_MOST][ATOMS_MOST];
    double l1, squares, cross; /* norms |lambda|_1, |g|^2, and the cross terms phi(g) of Lemma 1 */
} AtomSet;

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static Status atomset_take(VerifySubject *s, AtomSet *set, size_t count, size_t dim)
{
    *set = (AtomSet){.count = count, .dim = dim};
    set->atom = NEW_ZERO(s->a, double, count *dim);
    set->g = NEW_ZERO(s->a, double, dim);
    return set->atom && set->g ? OK : arena_fail(s->a, s->err);
}

/* Turns the vectors lambda_i a_i in `set->atom` into the atoms a_i. Sets lambda, g, gram and the norms. */
static void atomset_settle(AtomSet *set)
{
    for (size_t i = 0; i < set->count; i++) {
        double *a = set->atom + i * set->dim;
        const double length = sqrt(dot(a, a, set->dim));
        for (size_t k = 0; k < set->dim; k++) {
            set->g[k] += a[k];
            a[k] = length > 0 ? a[k] / length : 0;
        }
        set->lambda[i] = length;
        set->l1 += length;
    }
    set->squares = dot(set->g, set->g, set->dim);
    for (size_t i = 0; i < set->count; i++)
        for (size_t k = 0; k < set->count; k++) {
            set->gram[i][k] = dot(set->atom + i * set->dim, set->atom + k * set->dim, set->dim);
            set->cross += i == k ? 0 : set->lambda[i] * set->lambda[k] * set->gram[i][k];
        }
}

/* Makes atoms that overlap. g is cut into pieces; the vector of atom i is 3/2 of piece i minus half of piece
 * i - 1. So these vectors add up to g, neighbours are neither equal nor orthogonal, and phi (the cross terms
 * of Lemma 1) is negative. `set->count` 0: too few non-zero elements. */
static Status atomset_overlapping(VerifySubject *s, AtomSet *set)
{
    enum { DIM = 64 };
    const VerifyPart *p = &s->part;
    const size_t dim = p->count < DIM ? p->count : DIM, count = dim < ATOMS_MOST ? dim : ATOMS_MOST;
    *set = (AtomSet){0};
    if (count < 2)
        return OK;
    TRY(atomset_take(s, set, count, dim));
    for (size_t k = 0, i = 0; i < p->n && k < dim; i++) {
        if (p->x[i] == 0)
            continue;
        const size_t piece = k * count / dim;
        set->atom[piece * dim + k] += 1.5 * (double)p->x[i];
        set->atom[(piece + 1) % count * dim + k] -= 0.5 * (double)p->x[i];
        k++;
    }
    atomset_settle(set);
    return OK;
}

/* Sets `set->p`, the probabilities of keeping each atom, which add up to `budget`. */
static Status atomset_spend(VerifySubject *s, AtomSet *set, double budget)
{
    const double tau = s->methods->level_of(set->lambda, set->count, budget, s->a);
    if (isnan(tau))
        return arena_fail(s->a, s->err);
    set->budget = budget;
    for (size_t i = 0; i < set->count; i++)
        set->p[i] = chance_at(tau, set->lambda[i]);
    return OK;
}

typedef struct {
    double mean, variance, most; /* of |estimate|^2; `most`: largest distance from the mean */
} Outcomes;

/* Over all 2^count outcomes. */
static Outcomes atomset_outcomes(const AtomSet *set)
{
    double size[1 << ATOMS_MOST], chance[1 << ATOMS_MOST];
    const size_t all = (size_t)1 << set->count;
    Outcomes o = {0};
    for (size_t mask = 0; mask < all; mask++) {
        double weight[ATOMS_MOST];
        chance[mask] = 1;
        size[mask] = 0;
        for (size_t i = 0; i < set->count; i++) {
            const bool kept = mask >> i & 1;
            chance[mask] *= kept ? set->p[i] : 1 - set->p[i];
            weight[i] = kept && set->p[i] > 0 ? set->lambda[i] / set->p[i] : 0;
        }
        for (size_t i = 0; i < set->count; i++)
            size[mask] += weight[i] * dot(weight, set->gram[i], set->count);
        o.mean += chance[mask] * size[mask];
    }
    for (size_t mask = 0; mask < all; mask++) {
        const double off = size[mask] - o.mean;
        o.variance += chance[mask] * off * off;
        o.most = chance[mask] > 0 ? fmax(o.most, fabs(off)) : o.most;
    }
    return o;
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

/* ---- Theorem 4 ---- */

/* Checks Theorem 4 on atoms that are not orthogonal; E |estimate|^2 is computed over all possible draws. */
static Status check_cross(VerifySubject *s, VerifyVerdict *v)
{
    AtomSet set;
    double most = 0;
    TRY(atomset_overlapping(s, &set));
    for (size_t i = 0; i < set.count; i++)
        most = fmax(most, set.lambda[i]);
    if (most == 0)
        return OK;
    TRY(atomset_spend(s, &set, 0.9 * set.l1 / most));
    const double left = atomset_outcomes(&set).mean / set.squares;
    const double right = (set.l1 * set.l1 / set.budget + set.cross) / set.squares;
    verdict_take(v, left, right, 1e-9 * right, "s = %.4g, phi = %.4g", set.budget, set.cross / set.squares);
    return OK;
}

const VerifyStatement cross_statements[] = {
    {"Theorem 4: cross terms", "atoms that are not orthogonal: E|ghat|^2 = |lambda|_1^2 / s + phi(g)", EQUAL,
     NEEDS_SEVERAL, check_cross},
    {0},
};
