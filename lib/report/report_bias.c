/* report_bias.c -- judges from the tests of a comparison whether codecs are biased (report_bias.h). */
#include "report/report_bias.h"

#include "measure/metrics.h"
#include "math/stats.h"

#include <math.h>

/* Returns the least bias that the test of gain (0) or gain_l1 (1) finds; NaN if this gain was not tested. Where the variance
 * along the signs is known, its test has a freedom for each of the R repeats or more (metrics.c), else at most R - 1. */
static double least_found(const BiasRow *row, size_t gain, size_t repeats, double level)
{
    const double freedom = row->freedom[gain];
    const bool measured = gain == 0 ? isfinite(freedom) : freedom < (double)repeats;
    return isnan(row->p[1 + gain]) ? NAN : bias_detectable(row->se[gain], freedom, measured ? SE_ESTIMATED : SE_KNOWN, level);
}

Status bias_judge(BiasRow *row, size_t rows, size_t repeats, Arena *a, Error *err)
{
    for (size_t k = 0; k < rows; k++)
        row[k].holm = row[k].detectable = NAN;
    if (repeats < BIAS_REPEATS)
        return OK;
    const ArenaMark mark = arena_mark(a);
    double *sorted = NEW(a, double, rows *BIAS_TESTS + 1);
    size_t tests = 0;
    TRY(arena_check(sorted, a, err));
    for (size_t k = 0; k < rows; k++)
        for (size_t i = 0; i < BIAS_TESTS; i++)
            if (!isnan(row[k].p[i]))
                sorted[tests++] = row[k].p[i];
    stats_sort(sorted, tests);
    for (size_t k = 0; k < rows; k++) {
        for (size_t i = 0; i < BIAS_TESTS; i++)
            if (!isnan(row[k].p[i]))
                row[k].holm = fmin(row[k].holm, stats_holm(sorted, tests, row[k].p[i]));
        if (!isnan(row[k].holm))
            row[k].detectable = fmin(least_found(&row[k], 0, repeats, BIAS_LEVEL / (double)tests),
                                     least_found(&row[k], 1, repeats, BIAS_LEVEL / (double)tests));
    }
    arena_rewind(a, mark);
    return OK;
}

/* Returns v to one significant digit: the second digit differs between repetitions. */
static double one_digit(double v)
{
    const double unit = pow(10, floor(log10(v)));
    return round(v / unit) * unit;
}

const char *p_words(double p, Arena *a)
{
    return p < 1e-300 ? "p < 1e-300" : text_format(a, "p = %.1g", p);
}

Value bias_words(const BiasRow *row, size_t repeats, Arena *a)
{
    const bool random = row->variance != 0 || row->expected > 0;
    if (repeats < BIAS_REPEATS && random && !isnan(row->mse))
        return value_text(text_format(a, "needs %d repeats", BIAS_REPEATS));
    if (row->holm < BIAS_LEVEL)
        return value_text(text_format(a, "biased (%s)", p_words(row->holm, a)));
    if (row->detectable < BIAS_UNSEEN)
        return value_text(
            text_format(a, "none seen (about %g %% would show)", one_digit(100 * row->detectable)));
    if (row->holm >= BIAS_LEVEL || (row->variance == 0 && row->expected > 0))
        return value_text("cannot be seen with so few repeats");
    if (row->variance == 0)
        return value_text(row->mse > 0 ? "all of the error" : "none");
    return value_none();
}
