/* report_steps.c -- means and standard errors of metrics over training steps (report_compare.h). */
#include "report/report_compare.h"

#include "math/stats.h"

const Column steps_columns[] = {
    {"bits_per_element_steps", true},
    {"bits_per_element_steps_se", true},
    {"encode_ms_steps", true},
    {"encode_ms_steps_se", true},
    {"decode_ms_steps", true},
    {"decode_ms_steps_se", true},
    {"relative_error_steps", true},
    {"relative_error_steps_se", true},
    {"wasserstein_steps", true},
    {"wasserstein_steps_se", true},
    {"cosine_steps", true},
    {"cosine_steps_se", true},
    {0},
};
_Static_assert(countof(steps_columns) == STEPS_FIELDS + 1, "a mean and its error of each");

/* for each metric, the fields of a step: `exact` where its value is known, else `mean` */
static const struct {
    const char *mean, *exact;
} of_steps[STEPS_FIELDS / 2] = {
    {"bits_per_element", "bits_per_element_expected"},
    {"encode_ms", "encode_ms"},
    {"decode_ms", "decode_ms"},
    {"relative_error", "relative_error_expected"},
    {"wasserstein_mean", "wasserstein_mean"},
    {"cosine", "cosine"},
};

static double step_value(const Results *r, size_t place, size_t codec, size_t k)
{
    const double exact = results_number(r, place, codec, of_steps[k].exact);
    return isnan(exact) ? results_number(r, place, codec, of_steps[k].mean) : exact;
}

void steps_fill(const Results *r)
{
    const size_t whole = r->places - 1;
    if (r->level[whole] != LEVEL_RUN)
        return;
    for (size_t codec = 0; codec < r->codecs; codec++)
        for (size_t k = 0; k < STEPS_FIELDS / 2; k++) {
            Moments m = {0};
            for (size_t place = 0; place < whole; place++)
                if (r->level[place] == LEVEL_CELL)
                    moments_add(&m, step_value(r, place, codec, k));
            Value *row = r->rows + (whole * r->codecs + codec) * r->column_count + r->steps + 2 * k;
            row[0] = value_real(m.mean); /* NaN, written as none, if a step lacks the result */
            row[1] = value_real(sqrt(moments_variance(&m) / (double)m.n));
        }
}
