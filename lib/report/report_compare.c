/* report_compare.c -- turns the records of a comparison into rows, and adds the fields of the commands sweep,
 * compare --equal-bits and merge (report_compare.h). */
#include "report/report_compare.h"
#include "report/report_stored.h"

#include "compress/rate.h"
#include "compress/spec.h"
#include "math/pareto.h"
#include "math/stats.h"
#include "measure/metrics.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const Column results_verdicts[] = {
    {"bias_p_holm", true},
    {"bias_detectable", true},
    {"bias", true},
    {"elem_error_deciles", true},
    {0},
};

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

static const Column identity[] = {
    {"step", true}, {"worker", true},     {"tensor", true},   {"kind", false},    {"shape", true},
    {"n", false},   {"compressor", true}, {"repeats", false}, {"travels", false},
};
enum { IDENTITY = countof(identity), VERDICTS = countof(results_verdicts) - 1 };

/* The last columns of the results. */
enum { LAST_SEED, LAST_SPEC, LAST };

static size_t count_metrics(void)
{
    size_t n = 0;
    while (metrics[n].name)
        n++;
    return n;
}

/* ---- rows ---- */

static size_t row_index(const Results *r, size_t place, size_t codec)
{
    return place * r->codecs + codec;
}

static Value *row_at(const Results *r, size_t place, size_t codec)
{
    return r->rows + row_index(r, place, codec) * r->column_count;
}

static Value *cell(const Results *r, Value *row, const char *field)
{
    return row + report_column(r->columns, field);
}

/* Sets for each place (position of a record in the output) the first vector of its record, and whether the
 * record is about one vector, one cell (one step and worker) or the whole run. */
static void map_places(Results *r)
{
    const Vector *v = r->vectors->item;
    size_t place = 0, cells = 0;
    for (size_t i = 0, from = 0; i < r->vectors->count; i++) {
        r->first[place] = &v[i];
        r->level[place++] = LEVEL_VECTOR;
        if (i + 1 == r->vectors->count || !compare_same_cell(&v[i], &v[i + 1])) {
            r->first[place] = &v[from];
            r->level[place++] = LEVEL_CELL;
            from = i + 1;
            cells++;
        }
    }
    if (cells > 1) {
        r->first[place] = v;
        r->level[place++] = LEVEL_RUN;
    }
    assert(place == r->places);
}

/* Looks up what depends on the spec alone, of each codec that has a name by now. */
static Status look_up(Results *r, Error *err)
{
    for (size_t k = 0; k < r->codecs; k++) {
        const Codec *opened;
        Error ignored;
        if (!r->codec[k] || r->spec[k])
            continue;
        const bool known = codec_open(&opened, r->codec[k], r->a, &ignored) == OK;
        r->travels[k] = known ? codec_travels(opened) : NULL;
        r->spec[k] = known ? codec_complete(opened, r->a) : r->codec[k];
        TRY(arena_check(r->spec[k], r->a, err));
    }
    return OK;
}

Status results_open(Results *r, const VectorList *vectors, const char *const *codec, size_t codecs,
                    size_t repeats, uint64_t seed, OwnFields own, Arena *a, Error *err)
{
    const size_t metric_count = count_metrics(), places = compare_places(vectors);
    *r = (Results){.vectors = vectors,
                   .codec = codec,
                   .codecs = codecs,
                   .places = places,
                   .repeats = repeats,
                   .seed = seed,
                   .column_count = IDENTITY + metric_count + VERDICTS + STEPS_FIELDS + 1 + own.count + LAST,
                   .compressor = report_column(identity, "compressor"),
                   .steps = IDENTITY + metric_count,
                   .verdict = IDENTITY + metric_count + STEPS_FIELDS,
                   .error = IDENTITY + metric_count + VERDICTS + STEPS_FIELDS,
                   .leading = own.leading,
                   .a = a};
    Column *columns = NEW_ZERO(a, Column, r->column_count);
    r->rows = arena_zeroed(a, places * codecs, r->column_count * sizeof *r->rows);
    r->have = NEW_ZERO(a, bool, places *codecs);
    r->known = NEW_ZERO(a, const Json *, places *codecs);
    r->first = NEW(a, const Vector *, places);
    r->level = NEW(a, RecordLevel, places);
    r->spec = NEW_ZERO(a, const char *, codecs);
    r->travels = NEW_ZERO(a, const char *, codecs);
    TRY(arena_check(columns && r->spec && r->travels && r->rows && r->have && r->known && r->first && r->level, a, err));
    r->columns = columns;
    memcpy(columns, identity, sizeof identity);
    for (size_t m = 0; m < metric_count; m++)
        columns[IDENTITY + m] = (Column){metrics[m].name, true};
    memcpy(columns + r->verdict, results_verdicts, VERDICTS * sizeof *columns);
    memcpy(columns + r->steps, steps_columns, STEPS_FIELDS * sizeof *columns);
    columns[r->error] = (Column){"error", true};
    for (size_t i = 0; i < own.count; i++)
        columns[r->error + 1 + i] = own.column[i];
    columns[r->column_count - LAST + LAST_SEED] = (Column){"seed", false};
    columns[r->column_count - LAST + LAST_SPEC] = (Column){"spec", false};
    map_places(r);
    return look_up(r, err);
}

static void put_identity(const Results *r, size_t place, size_t codec, Value *row)
{
    const Vector *v = r->first[place];
    const RecordLevel level = r->level[place];
    const bool all = level == LEVEL_RUN, single = level == LEVEL_VECTOR;
    *cell(r, row, "step") = all ? value_text("*") : v->step_group ? value_int(v->step) : value_none();
    *cell(r, row, "worker") = all ? value_text("*") : v->worker_group ? value_int(v->worker) : value_none();
    *cell(r, row, "tensor") = value_text(single ? v->name : "*");
    *cell(r, row, "kind") = single ? value_text(kind_names[v->kind]) : value_none();
    *cell(r, row, "shape") = single ? value_shape(&v->shape) : value_none();
    if (single)
        *cell(r, row, "n") = value_int((int64_t)v->shape.n);
    *cell(r, row, "compressor") = value_text(r->codec[codec]);
    *cell(r, row, "spec") = value_text(r->spec[codec]);
    *cell(r, row, "repeats") = value_int((int64_t)r->repeats);
    *cell(r, row, "travels") = value_text(r->travels[codec]);
    *cell(r, row, "seed") = value_int((int64_t)r->seed);
}

static Value number(double v, bool whole)
{
    if (isnan(v))
        return value_none();
    return whole && v == floor(v) && fabs(v) < 0x1p53 ? value_int((int64_t)v) : value_real(v);
}

/* "0.1 1 1;0.2 0.9 1;...": the percentiles of each tenth. */
static const char *deciles_text(const Tally *t, Arena *a)
{
    TextBuf out = {.arena = a};
    for (size_t i = 0; i < DECILES; i++)
        text_addf(&out, "%s%.4g %.4g %.4g", i ? ";" : "", t->decile[i][0], t->decile[i][1], t->decile[i][2]);
    return text_done(&out);
}

static void fill_row(const Results *r, const Record *record, Value *row)
{
    const Tally *t = &record->tally;
    if (record->vectors)
        *cell(r, row, "n") = number(t->n / t->cells, true);
    put_identity(r, record->place, record->codec, row);
    for (size_t m = 0; record->vectors && metrics[m].name; m++)
        row[IDENTITY + m] = number(metric_value(&metrics[m], t), metrics[m].form == FORM_COUNT);
    if (record->vectors && !isnan(t->decile[0][0]))
        *cell(r, row, "elem_error_deciles") = value_text(deciles_text(t, r->a));
    row[r->error] = value_text(record->error);
}

Status results_put(Results *r, const Record *record, Error *err)
{
    Value *row = row_at(r, record->place, record->codec);
    memset(row, 0, r->column_count * sizeof *row);
    fill_row(r, record, row);
    if (record->error) {
        row[r->error] = value_text(text_copy(r->a, record->error));
        if (row[r->error].type == VALUE_NONE)
            return arena_fail(r->a, err);
    }
    r->have[row_index(r, record->place, record->codec)] = true;
    return OK;
}

/* ---- single fields of a record ---- */

/* True when the codec failed on at least one vector of the record at `place`. */
static bool results_failed(const Results *r, size_t place, size_t codec)
{
    return row_at(r, place, codec)[r->error].type != VALUE_NONE;
}

/* Sets one of the fields that the command adds to a record. */
static void results_set(Results *r, size_t place, size_t codec, const char *field, Value v)
{
    *cell(r, row_at(r, place, codec), field) = v;
}

double results_number(const Results *r, size_t place, size_t codec, const char *field)
{
    const Value *row = r->rows + (place * r->codecs + codec) * r->column_count;
    for (size_t i = 0; i < r->column_count; i++)
        if (!strcmp(r->columns[i].name, field))
            return value_number(&row[i]);
    return NAN;
}

/* ---- means over steps ---- */

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

static void steps_fill(const Results *r)
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

/* ---- bias ---- */

/* Returns the least bias that the test of gain (0) or gain_l1 (1) finds; NaN if this gain was not tested. Where the variance
 * along the signs is known, its test has a freedom for each of the R repeats or more (metrics.c), else at most R - 1. */
static double least_found(const BiasRow *row, size_t gain, size_t repeats, double level)
{
    const double freedom = row->freedom[gain];
    const bool measured = gain == 0 ? isfinite(freedom) : freedom < (double)repeats;
    return isnan(row->p[1 + gain]) ? NAN : bias_detectable(row->se[gain], freedom, !measured, level);
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

Status results_judge(Results *r, bool bias, Error *err)
{
    steps_fill(r);
    BiasRow *row = NEW(r->a, BiasRow, r->codecs);
    TRY(arena_check(row, r->a, err));
    for (size_t place = 0; place < r->places && bias; place++) {
        for (size_t k = 0; k < r->codecs; k++)
            row[k] = (BiasRow){
                .p = {results_number(r, place, k, "bias_p"), results_number(r, place, k, "gain_p"),
                      results_number(r, place, k, "gain_l1_p")},
                .se = {results_number(r, place, k, "gain_se"), results_number(r, place, k, "gain_l1_se")},
                .freedom = {results_number(r, place, k, "gain_freedom"),
                            results_number(r, place, k, "gain_l1_freedom")},
                .mse = results_number(r, place, k, "mse"),
                .variance = results_number(r, place, k, "variance"),
                .expected = results_number(r, place, k, "variance_expected")};
        TRY(bias_judge(row, r->codecs, r->repeats, r->a, err));
        for (size_t k = 0; k < r->codecs; k++) {
            Value *to = row_at(r, place, k);
            *cell(r, to, "bias_p_holm") = number(row[k].holm, false);
            *cell(r, to, "bias_detectable") = number(row[k].detectable, false);
            *cell(r, to, "bias") = bias_words(&row[k], r->repeats, r->a);
        }
    }
    return OK;
}

/* ---- FILE.part ---- */

/* The numbers are one text, as a list of them takes much memory when it is read; in base 16, which is written ten times as fast. */
static void put_sums(TextBuf *out, const Tally *t, Arena *a)
{
    const size_t count = tally_numbers(t);
    double *sum = NEW(a, double, count);
    out->failed = out->failed || !sum;
    if (!sum)
        return;
    tally_save(t, sum);
    text_add(out, ", \"sums\": \"");
    for (size_t i = 0; i < count; i++)
        text_addf(out, " %a", sum[i]);
    text_add(out, "\"");
}

/* The record of the whole run is in no other one, so it has no sums. */
char *results_line(const Results *r, const Record *record, Arena *a)
{
    const char *fields = report_json_row(r->columns, r->column_count, row_at(r, record->place, record->codec), a);
    if (!fields)
        return NULL;
    TextBuf out = {.arena = a};
    text_add_bytes(&out, fields, strlen(fields) - 1);
    text_addf(&out, ", \"part_row\": %zu", record->place);
    if (record->vectors && record->level < LEVEL_RUN)
        put_sums(&out, &record->tally, a);
    text_add(&out, "}");
    return text_done(&out);
}

/* Copies a record of FILE.part to its row. */
static void resume_record(Results *r, const Json *record, const bool *done)
{
    const Json *place = json_member(record, "part_row"), *spec = json_member(record, "spec");
    if (!place || !place->is_whole || place->whole < 0 || (uint64_t)place->whole >= r->places || !spec ||
        spec->type != JSON_TEXT)
        return;
    for (size_t k = 0; k < r->codecs; k++)
        if (!done[k] && r->spec[k] && !strcmp(r->spec[k], spec->text)) {
            const size_t at = (size_t)place->whole;
            stored_row(record, r->columns, r->column_count, row_at(r, at, k));
            put_identity(r, at, k, row_at(r, at, k));
            r->have[row_index(r, at, k)] = true;
            r->known[row_index(r, at, k)] = record;
        }
}

Status results_resume(Results *r, const Part *p, bool *done, Error *err)
{
    TRY(look_up(r, err));
    for (size_t i = 0; i < p->count; i++)
        resume_record(r, p->record[i], done);
    for (size_t k = 0; k < r->codecs; k++) {
        size_t have = 0;
        for (size_t place = 0; place < r->places; place++)
            have += r->have[row_index(r, place, k)];
        done[k] = have == r->places;
    }
    return OK;
}

static bool read_sums(const Results *r, const char *text, Tally *tally)
{
    const ArenaMark mark = arena_mark(r->a);
    const size_t count = tally_numbers(tally);
    double *sum = NEW(r->a, double, count);
    size_t i = 0;
    for (char *end; sum && i < count; i++, text = end) {
        sum[i] = strtod(text, &end);
        if (end == text)
            break;
    }
    if (sum && i == count && !*text)
        tally_load(tally, sum);
    arena_rewind(r->a, mark);
    return sum && i == count && !*text;
}

/* A record without sums is one on which the codec failed. */
bool results_known(const Results *r, size_t codec, size_t place, Tally *tally, bool *failed)
{
    const Json *record = r->known[row_index(r, place, codec)], *sums = json_member(record, "sums");
    *failed = record && !sums && r->level[place] == LEVEL_VECTOR;
    return record && (!sums || (sums->type == JSON_TEXT && read_sums(r, sums->text, tally)));
}

Status results_check(const Results *r, const char *file, Error *err)
{
    size_t failed = 0, first = 0;
    char more[40] = "";
    for (size_t i = 0; i < r->places * r->codecs; i++)
        if (r->level[i / r->codecs] == LEVEL_VECTOR && r->have[i] && results_failed(r, i / r->codecs, i % r->codecs) && failed++ == 0)
            first = i;
    if (!failed)
        return OK;
    if (failed > 1)
        snprintf(more, sizeof more, " (and %zu more failed)", failed - 1);
    return FAIL(err, ERR_NUMERIC, "%s: %s on %s: %s%s", file, r->codec[first % r->codecs], r->first[first / r->codecs]->name,
                r->rows[first * r->column_count + r->error].text, more);
}

size_t results_finished(const Results *r)
{
    size_t finished = 0;
    for (size_t i = 0; i < r->places * r->codecs; i++)
        finished += r->have[i];
    return finished;
}

/* ---- sweep ---- */

static const Column sweep_columns[] = {
    {"rate", false},
    {"pareto", true},
    {"pareto_certain", true},
    {"unbiased", true},
};
const OwnFields sweep_fields = {.column = sweep_columns, .count = countof(sweep_columns)};

static bool is_unbiased(const Codec *codec)
{
    return codec_traits(codec) & UNBIASED;
}

static Value rate_of(const Codec *codec)
{
    Rate r;
    return rate_find(&r, codec, false) ? number(rate_value(&r), true) : value_none();
}

/* The margin of a result: value +- margin misses the expected value with probability FRONT_LEVEL. The probability is low because
 * hundreds of pairs of points are compared. With one repeat there is no margin. */
#define FRONT_LEVEL 0.001

static double margin_of(const Results *r, double se)
{
    return se > 0 ? se * t_quantile(FRONT_LEVEL, (double)r->repeats - 1) : 0;
}

/* With several repeats, the standard error of the size is unknown if all repeats have the same error
 * (`errors_known`); the margin is then the size itself. */
static ParetoPoint point_of(const Results *r, size_t place, size_t codec, const Codec *c)
{
    const double size = results_number(r, place, codec, "bits_per_element_expected"), exact = results_number(r, place, codec, "relative_error_expected");
    const double se = results_number(r, place, codec, "bits_per_element_expected_se");
    const char *error_se = isnan(exact) ? "relative_error_se" : "relative_error_expected_se";
    return (ParetoPoint){.size = size,
                         .error = isnan(exact) ? results_number(r, place, codec, "relative_error") : exact,
                         .kind = is_unbiased(c),
                         .size_margin = r->repeats > 1 && isnan(se) ? size : margin_of(r, se),
                         .error_margin = margin_of(r, results_number(r, place, codec, error_se))};
}

static void mark_place(Results *r, const Codec *const *codec, size_t place, ParetoPoint *point)
{
    for (size_t k = 0; k < r->codecs; k++) {
        const bool whole = r->have[row_index(r, place, k)] && !results_failed(r, place, k);
        point[k] = whole ? point_of(r, place, k, codec[k]) : (ParetoPoint){.size = NAN};
    }
    pareto_mark(point, r->codecs);
    for (size_t k = 0; k < r->codecs; k++)
        if (r->have[row_index(r, place, k)]) {
            results_set(r, place, k, "rate", rate_of(codec[k]));
            results_set(r, place, k, "pareto", value_bool(point[k].front));
            results_set(r, place, k, "pareto_certain",
                        r->repeats > 1 ? value_bool(point[k].certain) : value_none());
            results_set(r, place, k, "unbiased", value_bool(is_unbiased(codec[k])));
        }
}

Status sweep_fill(Results *r, const Codec *const *codec, Error *err)
{
    ParetoPoint *point = NEW(r->a, ParetoPoint, r->codecs);
    TRY(arena_check(point, r->a, err));
    for (size_t place = 0; place < r->places; place++)
        mark_place(r, codec, place, point);
    return OK;
}

/* ---- the fields that compare --equal-bits adds ---- */

static const Column target_columns[] = {
    {"target_bits", false},
    {"reached", true},
};
const OwnFields target_fields = {.column = target_columns, .count = countof(target_columns)};

void target_fill(Results *r, double bits)
{
    for (size_t k = 0; k < r->codecs; k++) {
        const double whole = results_number(r, r->places - 1, k, "bits_per_element_expected");
        /* `reached` is false if `whole` is NaN */
        const bool reached = fabs(whole / bits - 1) <= SIZE_TOLERANCE && !results_failed(r, r->places - 1, k);
        for (size_t place = 0; place < r->places; place++)
            if (r->have[row_index(r, place, k)]) {
                results_set(r, place, k, "target_bits", value_real(bits));
                results_set(r, place, k, "reached", value_bool(reached));
            }
    }
}

/* ---- merge ---- */

static const Column merge_columns[] = {
    {"workers", true},      {"synthetic", true},        {"merge_ms", true},     {"decode_each_ms", true},
    {"bytes_up", false},    {"bytes_merged", true},     {"merge_ms_se", false}, {"decode_each_ms_se", false},
    {"bytes_up_se", false}, {"bytes_merged_se", false}, {"average", false},     {"topology", false},
};
const OwnFields merge_fields = {
    .column = merge_columns, .count = countof(merge_columns), .leading = 2, .timed = true};

void merge_fill(Results *r, const Record *record, size_t workers, const char *topology, size_t synthetic,
                bool senders)
{
    const size_t place = record->place, k = record->codec;
    const Tally *t = &record->tally;
    results_set(r, place, k, "workers", value_int((int64_t)workers));
    results_set(r, place, k, "topology", value_text(topology));
    results_set(r, place, k, "synthetic", value_int((int64_t)synthetic));
    results_set(r, place, k, "average", value_text(average_names[senders ? AVERAGE_SENDERS : AVERAGE_ALL]));
    if (!record->vectors)
        return;
    results_set(r, place, k, "merge_ms", value_real(1e3 * t->merge / t->cells));
    results_set(r, place, k, "decode_each_ms", value_real(1e3 * t->each / t->cells));
    results_set(r, place, k, "merge_ms_se", value_real(1e3 * sqrt(t->merge_spread) / t->cells));
    results_set(r, place, k, "decode_each_ms_se", value_real(1e3 * sqrt(t->each_spread) / t->cells));
    results_set(r, place, k, "bytes_up_se", value_real(metric_value(metric_find("bytes_se"), t)));
    if (t->spread_known)
        results_set(r, place, k, "bytes_merged_se",
                    value_real(sqrt(t->merged_spread / (double)t->repeats) / t->cells));
    results_set(r, place, k, "bytes_up", number(t->bytes / t->cells, true));
    results_set(r, place, k, "bytes_merged", number(t->merged / t->cells, true));
}
