/* certify_report.c -- reads the output of certify_draw, tests each codec's promises, and writes
 * docs/generated/certificate.md. The exit status is 1 if a promise failed.
 *
 * A cell is one combination of spec, gradient g, number of threads and instruction set; it has R draws. The
 * cells of a spec are grouped in three ways: by gradient, by number of threads, and by instruction set. Each
 * group has up to three tests:
 *
 *     gain        the mean of <estimate, g> / |g|^2 is 1
 *     energy      R |mean estimate - g|^2 / variance has the F distribution with nu and nu (R - 1) degrees of
 *                 freedom; tested if nu is at least 100
 *     variance    the mean of |estimate - g|^2 is the closed form
 *
 * nu is (tr C)^2 / tr C^2 for the covariance C of the error. The p-values of all tests are adjusted together by
 * Holm's method. */
#include "base/base.h"
#include "math/stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LEVEL    0.001 /* probability that any test fails if all codecs keep their promises */
#define POWER    0.9   /* probability that a deviation of the size in the column "would show" is found */
#define ROUNDING 1e-6  /* relative; estimates are float32 */

/* A closed form below this share of |g|^2 is not tested, as it is as small as rounding errors. */
#define LEAST_VARIANCE 1e-10

enum { SPECS_MAX = 512, GROUPS_MAX = 24, TESTS_MAX = SPECS_MAX * GROUPS_MAX * 3, NAME = 80 };
enum { GAIN, ENERGY, VARIANCE, TESTS };

/* Sums over the cells of a group. */
typedef struct {
    char name[NAME];
    double cells, draws;
    /* `gain`: sum of (mean of <estimate, g> / |g|^2) - 1; `gain2`: sum of the squared standard errors of these
     * means */
    double gain, gain2;
    /* `known`: number of cells with a closed form of the variance; `ratio`: sum of mean squared error / closed
     * form - 1 over these cells; `ratio2`: sum of the squared standard errors of these quotients */
    double known, ratio, ratio2;
    /* `off`: sum of R |mean estimate - g|^2 / |g|^2; `variance`: the expected value of `off` if the codec is
     * unbiased; `square`: sum of tr C^2 / |g|^4 */
    double off, variance, square;
    double repeats;  /* draws of one cell */
    double p[TESTS]; /* NaN: no test */
} Group;

typedef struct {
    char name[NAME];
    bool unbiased;
    Group all, group[GROUPS_MAX];
    size_t groups;
} Spec;

/* A line of the output of certify_draw. */
typedef struct {
    char spec[NAME], gradient[NAME], threads[NAME], isa[NAME];
    int unbiased;
    double repeats, gain, gain_error, mse, mse_error, expected, variance, freedom, off, norm2;
} Cell;

static Spec spec[SPECS_MAX];
static size_t specs, tests, cells, rare;
static double sorted[TESTS_MAX];

/* ---- reading ---- */

static bool read_cell(Cell *c, const char *line)
{
    return sscanf(line, "%79[^\t]\t%79[^\t]\t%79[^\t]\t%79[^\t]\t%d %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf",
                  c->spec, c->gradient, c->threads, c->isa, &c->unbiased, &c->repeats, &c->gain,
                  &c->gain_error, &c->mse, &c->mse_error, &c->expected, &c->variance, &c->freedom, &c->off,
                  &c->norm2) == 15;
}

static void add(Group *g, const Cell *c)
{
    g->cells++;
    g->draws += c->repeats;
    g->repeats = c->repeats;
    g->gain += c->gain;
    g->gain2 += c->gain_error * c->gain_error;
    if (c->expected > LEAST_VARIANCE * c->norm2) {
        g->known++;
        g->ratio += c->mse / c->expected - 1;
        g->ratio2 += c->mse_error / c->expected * c->mse_error / c->expected;
    }
    g->off += c->repeats * c->off / c->norm2;
    g->variance += c->variance / c->norm2;
    if (c->freedom > 0)
        g->square += c->variance / c->norm2 * c->variance / c->norm2 / c->freedom;
}

/* True if the cell is left out: its variance is so large that the rare large estimates may be missing in R
 * draws. */
static bool is_rare(const Cell *c)
{
    return c->expected > 0.1 * c->repeats * c->norm2;
}

static Spec *spec_of(const Cell *c)
{
    for (size_t k = 0; k < specs; k++)
        if (!strcmp(spec[k].name, c->spec))
            return &spec[k];
    if (specs == SPECS_MAX)
        return NULL;
    memcpy(spec[specs].name, c->spec, NAME);
    spec[specs].unbiased = c->unbiased;
    return &spec[specs++];
}

static bool add_to(Spec *s, const char *name, const Cell *c)
{
    size_t k = 0;
    while (k < s->groups && strcmp(s->group[k].name, name))
        k++;
    if (k == GROUPS_MAX)
        return false;
    if (k == s->groups)
        snprintf(s->group[s->groups++].name, NAME, "%s", name);
    add(&s->group[k], c);
    return true;
}

static bool read_all(FILE *in)
{
    char line[1024], threads[NAME];
    Cell c;
    while (fgets(line, sizeof line, in)) {
        const bool read = read_cell(&c, line);
        if (read && is_rare(&c)) {
            rare++;
            continue;
        }
        Spec *s = read ? spec_of(&c) : NULL;
        snprintf(threads, sizeof threads, "%.40s threads", c.threads);
        if (!s || !add_to(s, c.gradient, &c) || !add_to(s, threads, &c) || !add_to(s, c.isa, &c)) {
            fprintf(stderr, "certify_report: not a line of certify_draw: %s", line);
            return false;
        }
        add(&s->all, &c);
        cells++;
    }
    return cells > 0;
}

/* ---- tests ---- */

static double gain_of(const Group *g)
{
    return g->gain / g->cells;
}
static double gain_error(const Group *g)
{
    return hypot(sqrt(g->gain2) / g->cells, ROUNDING);
}
static double ratio_of(const Group *g)
{
    return g->known > 0 ? g->ratio / g->known : NAN;
}
static double ratio_error(const Group *g)
{
    return g->known > 0 ? hypot(sqrt(g->ratio2) / g->known, ROUNDING) : NAN;
}

static double energy_p(const Group *g)
{
    const double freedom = g->square > 0 ? g->variance * g->variance / g->square : 0;
    if (freedom < 100)
        return NAN;
    if (g->off <= g->draws * ROUNDING * ROUNDING)
        return 1;
    return f_tail(g->off / g->variance, freedom, freedom * (g->repeats - 1));
}

static void test(Group *g, bool unbiased)
{
    const double freedom = g->draws - g->cells;
    g->p[GAIN] = unbiased ? t_tails(gain_of(g) / gain_error(g), freedom) : NAN;
    g->p[ENERGY] = unbiased ? energy_p(g) : NAN;
    g->p[VARIANCE] = g->known > 0 ? t_tails(ratio_of(g) / ratio_error(g), freedom) : NAN;
    for (size_t i = 0; i < TESTS; i++)
        if (!isnan(g->p[i]))
            sorted[tests++] = g->p[i];
}

/* Returns the least Holm-adjusted p-value of the spec's tests. */
static double least_p(const Spec *s)
{
    double least = 1;
    for (size_t k = 0; k < s->groups; k++)
        for (size_t i = 0; i < TESTS; i++)
            if (!isnan(s->group[k].p[i]))
                least = fmin(least, stats_holm(sorted, tests, s->group[k].p[i]));
    return least;
}

/* Returns the least deviation of a mean that is found with probability POWER, at Holm's strictest significance
 * level. `error` is the standard error of the mean. */
static double shows(double error)
{
    return error * (t_quantile(LEVEL / (double)tests, 1e6) + t_quantile(2 * (1 - POWER), 1e6));
}

/* Returns the least deviation that every group of the spec finds with probability POWER. */
static double worst(const Spec *s, double (*error)(const Group *))
{
    double most = 0;
    for (size_t k = 0; k < s->groups; k++)
        most = fmax(most, shows(error(&s->group[k])));
    return most;
}

/* Adds to each measured gain the least bias that should be found with probability POWER. Returns the share of
 * gains in which the added bias is found. */
static double found_share(void)
{
    double found = 0, planted = 0;
    const double limit = t_quantile(LEVEL / (double)tests, 1e6);
    for (size_t k = 0; k < specs; k++)
        for (size_t j = 0; spec[k].unbiased && j < spec[k].groups; j++) {
            const Group *g = &spec[k].group[j];
            const double error = gain_error(g);
            planted++;
            found += fabs(gain_of(g) + shows(error)) > limit * error;
        }
    return found / planted;
}

/* ---- the page ---- */

static void put_percent(double share)
{
    if (isnan(share) || share == 0)
        printf(" – |");
    else
        printf(" %.2g |", 100 * share);
}

static void put_row(const Spec *s)
{
    const Group *a = &s->all;
    const double p = least_p(s);
    printf("| `%s` | %.0f |", s->name, a->draws);
    if (s->unbiased)
        printf(" %.2g ± %.2g |", 100 * gain_of(a), 100 * gain_error(a));
    else
        printf(" – |");
    put_percent(s->unbiased ? worst(s, gain_error) : NAN);
    if (a->known > 0)
        printf(" %.2g ± %.2g |", 100 * ratio_of(a), 100 * ratio_error(a));
    else
        printf(" – |");
    put_percent(worst(s, ratio_error));
    printf(p < LEVEL ? " **%.1g fails** |\n" : " %.2g |\n", p);
}

static void put_failures(void)
{
    static const char *const names[] = {"gain", "energy", "variance"};
    for (size_t k = 0; k < specs; k++)
        for (size_t j = 0; j < spec[k].groups; j++)
            for (size_t i = 0; i < TESTS; i++)
                if (spec[k].group[j].p[i] < LEVEL && stats_holm(sorted, tests, spec[k].group[j].p[i]) < LEVEL)
                    fprintf(stderr, "%s, %s: %s, p = %.2g\n", spec[k].name, spec[k].group[j].name, names[i],
                            spec[k].group[j].p[i]);
}

static size_t put_page(void)
{
    size_t failed = 0;
    for (size_t k = 0; k < specs; k++)
        failed += least_p(&spec[k]) < LEVEL;
    printf(
        "%zu specs, %zu cells, %zu tests; **%zu specs fail** at a family-wise error of %g (Holm).\n"
        "A planted bias of the size in the column *would show* was found in %.1f %% of the groups (%.0f %% are "
        "meant). %zu cells are left out: the variance is above 50 |g|² there, for which 500 draws are too few.\n\n",
        specs, cells, tests, failed, LEVEL, 100 * found_share(), 100 * POWER, rare);
    printf(
        "| codec | draws | bias along g, %% | would show, %% | variance / closed form - 1, %% | would show, %% | least p "
        "(Holm) |\n|---|---:|---:|---:|---:|---:|---:|\n");
    for (size_t k = 0; k < specs; k++)
        put_row(&spec[k]);
    return failed;
}

int main(void)
{
    if (!read_all(stdin))
        return 1;
    for (size_t k = 0; k < specs; k++)
        for (size_t j = 0; j < spec[k].groups; j++)
            test(&spec[k].group[j], spec[k].unbiased);
    stats_sort(sorted, tests);
    put_failures();
    return put_page() ? 1 : 0;
}
