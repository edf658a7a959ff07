/* train_records.c -- implements train_records.h. */
#include "train_records.h"

#include "report/report_stored.h"

#include "measure/timing.h"
#include "math/stats.h"

#include <math.h>
#include <string.h>

static const Column usual[STEP_COLUMNS] = {
    {"record", true},   {"compressor", true},     {"step", true},        {"epoch", true},
    {"loss", true},     {"train_accuracy", true}, {"test_loss", true},   {"test_accuracy", true},
    {"bytes_up", true}, {"bytes_down", false},    {"compute_ms", true},  {"encode_ms", true},
    {"comm_ms", true},  {"decode_ms", true},      {"sim_seconds", true}, {"wall_seconds", true},
    {"lr", false},
};

/* further columns of a run on several ranks */
enum { MODELLED, MEASURED, PREDICTED, RATIO, SPREADS };
static const Column of_ranks[RANK_COLUMNS] = {
    [MODELLED] = {"link_ms", false},
    [MEASURED] = {"measured_ms", true},
    [PREDICTED] = {"predicted_ms", true},
    [RATIO] = {"predicted_ratio", true},
    /* mean and maximum over ranks, in the order of RANK_COMPUTE, ... */
    [SPREADS] = {"rank_compute_ms", false},
    {"rank_compute_ms_max", false},
    {"rank_encode_ms", false},
    {"rank_encode_ms_max", false},
    {"rank_wait_ms", false},
    {"rank_wait_ms_max", false},
    {"rank_decode_ms", false},
    {"rank_decode_ms_max", false},
    {"rank_sent", false},
    {"rank_sent_max", false},
    {"rank_received", false},
    {"rank_received_max", false},
};
_Static_assert((int)SPREADS + 2 * RANK_MEASURES == (int)RANK_COLUMNS, "a column to each number");

static Value *cell(Value *row, const char *field)
{
    return row + report_column(usual, field);
}

/* ---- fields for target accuracies (--target-accuracy) ---- */

enum { STEPS_TO, SECONDS_TO, BYTES_TO, TARGET_FIELDS };
static const char *const forms[TARGET_FIELDS] = {
    [STEPS_TO] = "steps_to_", [SECONDS_TO] = "sim_seconds_to_", [BYTES_TO] = "bytes_to_"};

Status train_records_targets(TrainRecords *r, const char *list)
{
    for (const char *at = list, *next; at && *at; at = next ? next + 1 : NULL) {
        char item[32];
        double accuracy;
        next = strchr(at, ',');
        snprintf(item, sizeof item, "%.*s", next ? (int)(next - at < 31 ? next - at : 31) : 31, at);
        if (!text_to_real(item, &accuracy) || !(accuracy > 0 && accuracy <= 1))
            return FAIL(r->job->err, ERR_USAGE,
                        "--target-accuracy %.60s: \"%s\": want numbers above 0 and up to 1 with commas between them",
                        list, item);
        if (r->targets == TARGETS_MOST)
            return FAIL(r->job->err, ERR_USAGE, "--target-accuracy: more than %d numbers", TARGETS_MOST);
        r->target[r->targets++].accuracy = accuracy;
    }
    return OK;
}

static Status targets_columns(TrainRecords *r)
{
    _Static_assert((int)TARGET_FIELDS == (int)TARGET_COLUMNS, "a column to each field");
    for (size_t i = 0; i < r->targets; i++)
        for (size_t k = 0; k < TARGET_FIELDS; k++) {
            char number[32];
            const char *name =
                text_format(r->job->a, "%s%s", forms[k], text_double(number, r->target[i].accuracy));
            TRY(arena_check(name, r->job->a, r->job->err));
            r->column[r->columns++] = (Column){name, true};
        }
    return OK;
}

static void targets_note(TrainRecords *r, const StepRecord *s)
{
    for (TrainTarget *t = r->target; t < r->target + r->targets; t++)
        if (!t->reached && s->test.accuracy >= t->accuracy) {
            t->reached = true;
            t->step = s->step;
            t->seconds = r->sim;
            t->bytes = r->bytes;
        }
}

/* If records are lost, a target may have been reached in one of their steps. */
static void targets_put(const TrainRecords *r, Value *row)
{
    for (size_t i = 0; i < r->targets; i++) {
        const TrainTarget *t = &r->target[i];
        const bool known = t->reached && !r->partial;
        Value *at = row + r->step_columns + TARGET_FIELDS * i;
        at[STEPS_TO] = known ? value_int((int64_t)t->step) : value_none();
        at[SECONDS_TO] = known ? value_real(t->seconds) : value_none();
        at[BYTES_TO] = known ? value_real(t->bytes) : value_none();
    }
}

/* ---- measured and predicted times of steps (several ranks) ---- */

static void put_times(Value *row, double measured, double predicted)
{
    Value *ranks = row + STEP_COLUMNS;
    ranks[MEASURED] = value_real(measured);
    ranks[PREDICTED] = value_real(predicted);
    ranks[RATIO] = value_real(predicted / measured);
}

/* Notes the times of a step's row. Steps with an unknown time, and steps without exchange, do not count. */
static void times_note(TrainRecords *r, const Value *row)
{
    const double measured = value_number(row + STEP_COLUMNS + MEASURED);
    if (!r->job->net || isnan(measured) || !(value_number(&row[report_column(usual, "bytes_up")]) > 0))
        return;
    const size_t at = r->times.count++ % TIMES_KEPT;
    r->times.measured[at] = measured;
    r->times.predicted[at] = value_number(row + STEP_COLUMNS + PREDICTED);
}

/* Puts the medians into the row of a summary. */
static void times_put(TrainRecords *r, Value *row)
{
    const size_t count = r->times.count < TIMES_KEPT ? r->times.count : TIMES_KEPT;
    if (count)
        put_times(row, stats_median(r->times.measured, count), stats_median(r->times.predicted, count));
}

/* Returns a step's time in ms, where `seconds` passed from the previous record to the step's own. NaN if
 * these seconds hold other work: at the first step of a run, at a step whose gradients are saved, at a step with a
 * test, and at the next step (the test's checkpoint). */
static double step_ms(const TrainRecords *r, const StepRecord *s, double seconds)
{
    const bool plain =
        r->last.step > 0 && !s->dumped && isnan(r->last.test.accuracy) && isnan(s->test.accuracy);
    return plain ? 1e3 * seconds : (double)NAN;
}

/* Sets the columns that are equal in all records of a run. */
static void set_run(const TrainRecords *r, Value *row)
{
    row[r->columns - 1] = value_text(r->spec);
    row[r->columns - 2] = value_int(r->seed);
    if (r->job->net)
        row[r->columns - 3] = value_int((int64_t)r->job->setup.workers);
}

/* ---- opening ---- */

static Status open_part(TrainRecords *r, const Fact *own, size_t owns, bool lasting)
{
    const TrainJob *j = r->job;
    const Common *o = &j->common;
    Fact fact[1 + TRAIN_FACTS_MOST] = {{"part", value_text("atomo-run/1")}};
    const size_t count = 1 + train_job_settings(j, SETTING_SHOWN, fact + 1);
    memcpy(fact + count, own, owns * sizeof *own);
    const PartSpec spec = {.output = o->output,
                           .resume = o->resume,
                           .force = o->force,
                           .lasting = lasting,
                           .command = cli_again(o, j->a),
                           .setting = fact,
                           .settings = count + owns};
    TRY(arena_check(spec.command && count > 1, j->a, j->err));
    return part_open(&r->part, &spec, j->a, j->err);
}

Status train_records_open(TrainRecords *r, const Fact *own, size_t count, bool lasting)
{
    TrainJob *j = r->job;
    Fact facts[TRAIN_FACTS_MOST];
    r->part.fd = -1;
    memcpy(r->column, usual, sizeof usual);
    memcpy(r->column + STEP_COLUMNS, of_ranks, sizeof of_ranks);
    r->columns = r->step_columns = STEP_COLUMNS + (j->net ? (size_t)RANK_COLUMNS : 0);
    TRY(targets_columns(r));
    if (j->net) /* figures of measured iterations need it, and a CSV has no meta data */
        r->column[r->columns++] = (Column){"workers", false};
    r->column[r->columns++] = (Column){"seed", j->seeds > 1};
    r->column[r->columns++] = (Column){"spec", false};
    TRY(open_part(r, own, count, lasting));
    const ReportSpec spec = {.schema = "atomo-run/1",
                             .meta = facts,
                             .facts = train_job_facts(j, facts),
                             .columns = r->column,
                             .column_count = r->columns};
    return cli_report_open(&r->report, &j->common, &spec, j->a, j->err);
}

static bool is_of(const TrainRecords *r, const Json *record)
{
    const Json *spec = json_member(record, "spec"), *seed = json_member(record, "seed");
    return spec && spec->type == JSON_TEXT && !strcmp(spec->text, r->spec) && seed && seed->is_whole &&
           seed->whole == r->seed;
}

void train_records_begin(TrainRecords *r, const char *compressor, const char *spec, int64_t seed)
{
    r->compressor = compressor;
    r->spec = spec;
    r->seed = seed;
    r->last = (StepRecord){.train = {NAN, NAN}, .test = {NAN, NAN}, .lr = NAN};
    r->sim = r->wall = r->bytes = 0;
    r->times.count = 0;
    r->partial = false;
    r->clock = clock_now();
    for (size_t i = 0; i < r->targets; i++)
        r->target[i].reached = false;
    for (r->from = r->to; r->to < r->part.count && is_of(r, r->part.record[r->to]); r->to++)
        ;
}

/* ---- rows ---- */

static void fill(const TrainRecords *r, const StepRecord *s, Value *row)
{
    *cell(row, "record") = value_text("step");
    *cell(row, "compressor") = value_text(r->compressor);
    *cell(row, "step") = value_int((int64_t)s->step);
    *cell(row, "epoch") = value_int((int64_t)s->epoch);
    *cell(row, "loss") = value_real(s->train.loss);
    *cell(row, "train_accuracy") = value_real(s->train.accuracy);
    *cell(row, "test_loss") = value_real(s->test.loss);
    *cell(row, "test_accuracy") = value_real(s->test.accuracy);
    *cell(row, "bytes_up") = value_real(s->bytes_up);
    *cell(row, "bytes_down") = value_real(s->bytes_down);
    *cell(row, "compute_ms") = value_real(1e3 * s->compute);
    *cell(row, "encode_ms") = value_real(1e3 * s->encode);
    *cell(row, "comm_ms") = value_real(1e3 * s->comm);
    *cell(row, "decode_ms") = value_real(1e3 * s->decode);
    *cell(row, "sim_seconds") = value_real(r->sim);
    *cell(row, "wall_seconds") = value_real(r->wall);
    *cell(row, "lr") = value_real(s->lr);
    for (size_t i = STEP_COLUMNS; i < r->columns; i++)
        row[i] = value_none();
    set_run(r, row);
}

static void put_spreads(Value *at, const StepRecord *s)
{
    for (size_t i = 0; i < RANK_MEASURES; i++) {
        const RankSpread *rank = &s->rank[i];
        const double unit = i == RANK_SENT || i == RANK_RECEIVED ? 1 : 1e3;
        *at++ = value_real(unit * rank->mean);
        *at++ = value_real(unit * rank->most);
    }
}

static Status add_to_part(TrainRecords *r, const Value *row, Error *err)
{
    const char *line = r->part.path ? report_json_row(r->column, r->columns, row, r->job->a) : "";
    return line ? part_add(&r->part, line, r->job->a, err) : arena_fail(r->job->a, err);
}

Status train_records_step(TrainRecords *r, const StepRecord *s, Error *err)
{
    TrainJob *j = r->job;
    Value row[RECORD_COLUMNS_MOST];
    const ArenaMark mark = arena_mark(j->a);
    const double now = clock_now(), measured = step_ms(r, s, now - r->clock);
    r->wall += now - r->clock;
    r->clock = now;
    r->sim += s->compute + s->encode + s->comm + s->decode;
    r->bytes += s->bytes_up;
    r->last = *s;
    targets_note(r, s);
    fill(r, s, row);
    if (j->net) {
        Value *ranks = row + STEP_COLUMNS;
        ranks[MODELLED] = value_real(1e3 * s->modelled);
        put_spreads(ranks + SPREADS, s);
        put_times(row, measured, 1e3 * (s->compute + s->encode + s->modelled + s->decode));
        times_note(r, row);
    }
    Status status = add_to_part(r, row, err);
    arena_rewind(j->a, mark);
    if (status == OK &&
        /* after a test, a checkpoint is written: first flush the records to the disk, so that no checkpoint
         * exists without its records */
        !isnan(s->test.accuracy))
        status = part_sync(&r->part, err);
    TRY(status);
    return report_row(r->report, row, !isnan(s->test.accuracy), err);
}

/* ---- resuming ---- */

/* Writes the record of one step to the report, as if the step had just run. */
static Status replay_row(TrainRecords *r, Value *row)
{
    const StepRecord s = {
        .step = (size_t)value_number(cell(row, "step")),
        .epoch = (size_t)value_number(cell(row, "epoch")),
        .train = {value_number(cell(row, "loss")), value_number(cell(row, "train_accuracy"))},
        .test = {value_number(cell(row, "test_loss")), value_number(cell(row, "test_accuracy"))},
        .lr = value_number(cell(row, "lr"))};
    r->sim = value_number(cell(row, "sim_seconds"));
    r->wall = value_number(cell(row, "wall_seconds"));
    r->bytes += value_number(cell(row, "bytes_up"));
    r->last = s;
    targets_note(r, &s);
    times_note(r, row);
    *cell(row, "record") = value_text("step");
    *cell(row, "compressor") = value_text(r->compressor);
    set_run(r, row);
    return report_row(r->report, row, !isnan(s.test.accuracy), r->job->err);
}

static Status replay(TrainRecords *r, size_t to)
{
    Value row[RECORD_COLUMNS_MOST];
    for (size_t i = r->from; i < to; i++) {
        stored_row(r->part.record[i], r->column, r->columns, row);
        TRY(replay_row(r, row));
    }
    return OK;
}

static size_t step_of(const Json *record)
{
    const Json *step = json_member(record, "step");
    return step && step->is_whole && step->whole > 0 ? (size_t)step->whole : 0;
}

static bool is_summary(const Json *record)
{
    const Json *kind = json_member(record, "record");
    return kind && kind->type == JSON_TEXT && !strcmp(kind->text, "summary");
}

bool train_records_ended(const TrainRecords *r)
{
    const Json *last = r->to > r->from ? r->part.record[r->to - 1] : NULL, *loss = json_member(last, "loss");
    return last && is_summary(last) && (step_of(last) >= r->job->steps || (loss && loss->type == JSON_NULL));
}

Status train_records_replay(TrainRecords *r, bool *diverged)
{
    Value row[RECORD_COLUMNS_MOST];
    TRY(replay(r, r->to - 1));
    stored_row(r->part.record[r->to - 1], r->column, r->columns, row);
    *cell(row, "compressor") = value_text(r->compressor);
    *diverged = isnan(value_number(cell(row, "loss")));
    return report_row(r->report, row, true, r->job->err);
}

/* Returns the number of records of steps up to `step`. */
static size_t count_records(const TrainRecords *r, size_t step)
{
    size_t count = 0;
    for (; r->from + count < r->to; count++) {
        const Json *record = r->part.record[r->from + count];
        if (is_summary(record) || step_of(record) > step)
            break;
    }
    return count;
}

static void note_steps(TrainRecords *r, size_t step, size_t lost)
{
    const TrainJob *j = r->job;
    const char *seed = j->seeds == 1 ? NULL : text_format(j->a, "%s, seed %lld", r->compressor, (long long)r->seed);
    const char *name = seed ? seed : r->compressor;
    if (lost)
        progress_note(&r->job->progress,
                      "note: %s: records of %zu of the first %zu step%s are not there, so sums stay blank", name, lost, step,
                      text_s(step));
    if (step > j->steps)
        progress_note(&r->job->progress, "note: %s: has done %zu steps, more than the %zu of this run", name, step,
                      j->steps);
}

Status train_records_resume(TrainRecords *r, size_t step)
{
    const size_t count = count_records(r, step);
    r->to = r->from + count;
    r->partial = count < step;
    note_steps(r, step, step - count);
    TRY(part_keep(&r->part, r->to, r->job->err));
    TRY(replay(r, r->to));
    if (r->last.step != step)
        r->sim = r->wall = NAN;
    r->clock = clock_now();
    return OK;
}

/* ---- summary ---- */

Status train_records_summary(TrainRecords *r, bool failed)
{
    Value row[RECORD_COLUMNS_MOST];
    const StepRecord *s = &r->last;
    fill(r, s, row);
    *cell(row, "record") = value_text("summary");
    *cell(row, "bytes_up") = r->partial ? value_none() : value_real(r->bytes);
    for (Value *v = cell(row, "bytes_down"); v <= cell(row, "decode_ms"); v++)
        *v = value_none();
    if (failed)
        *cell(row, "loss") = *cell(row, "train_accuracy") = *cell(row, "test_loss") =
            *cell(row, "test_accuracy") = value_none();
    targets_put(r, row);
    if (r->job->net)
        times_put(r, row);
    TRY(add_to_part(r, row, r->job->err));
    return report_row(r->report, row, true, r->job->err);
}

/* ---- closing ---- */

Status train_records_close(TrainRecords *r, bool lasting, Status status)
{
    Error *err = r->job->err;
    const bool stopped = status == ERR_STOPPED;
    progress_close(&r->job->progress);
    Error why = *err, second = {0};
    if (r->report && (status == OK || (stopped && !r->part.path)))
        status = report_close(r->report, &second);
    if (second.status != OK) {
        *err = second;
    } else if (stopped) {
        *err = why;
        status = ERR_STOPPED;
    } else if (status == OK) {
        part_remove(&r->part);
    }
    if (part_has_records(&r->part) && (status == ERR_STOPPED || status == ERR_IO) && !*err->hint)
        error_hint(err, "%s; records so far: %s",
                   lasting ? "the same command with --resume continues"
                           : "a run with --train-dir has checkpoints, from which --resume continues",
                   r->part.path);
    part_close(&r->part);
    return status;
}
