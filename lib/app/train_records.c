/* train_records.c -- implements train_records.h. */
#include "app/train_records.h"

#include "measure/timing.h"
#include "num/stats.h"
#include "report/report_stored.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

static void targets_begin(TrainRecords *r)
{
    for (size_t i = 0; i < r->targets; i++)
        r->target[i].reached = false;
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
        row[r->columns - 3] = value_int(r->job->workers);
}

/* ---- opening ---- */

static Status open_journal(TrainRecords *r, const char *rates, bool checkpoints)
{
    const TrainJob *j = r->job;
    Fact fact[TRAIN_FACTS + 4] = {{"journal", value_text("atomo-train/3")}};
    size_t count = 1;
    TRY(train_job_settings(j, fact + count));
    count += TRAIN_FACTS;
    fact[count++] = (Fact){"--seed", value_int(j->common.seed)};
    fact[count++] = (Fact){"--weights", j->weights ? value_text(j->weights) : value_none()};
    fact[count++] = (Fact){"--lr-from", rates ? value_text(rates) : value_none()};
    const Status status =
        journal_open(&r->journal, j->common.output, j->common.resume, fact, count, j->a, j->err);
    if (status == ERR_USAGE && !checkpoints)
        return error_hint(
            j->err, "if that run had a --train-dir, give it and --resume; else remove %s to begin afresh",
            r->journal.path);
    return status;
}

static bool is_occupied(const char *output)
{
    struct stat now;
    return output && !stat(output, &now) && S_ISREG(now.st_mode) && now.st_size > 0;
}

Status train_records_open(TrainRecords *r, const char *rates, bool checkpoints)
{
    TrainJob *j = r->job;
    Fact facts[TRAIN_FACTS];
    r->journal.fd = -1;
    memcpy(r->column, usual, sizeof usual);
    memcpy(r->column + STEP_COLUMNS, of_ranks, sizeof of_ranks);
    r->columns = r->step_columns = STEP_COLUMNS + (j->net ? (size_t)RANK_COLUMNS : 0);
    TRY(targets_columns(r));
    if (j->net) /* figures of measured iterations need it, and a CSV has no meta data */
        r->column[r->columns++] = (Column){"workers", false};
    r->column[r->columns++] = (Column){"seed", j->seeds > 1};
    r->column[r->columns++] = (Column){"spec", false};
    TRY(open_journal(r, rates, checkpoints));
    r->occupied = j->common.resume && is_occupied(j->common.output);
    train_job_facts(j, facts);
    const ReportSpec spec = {.schema = "atomo-run/1",
                             .meta = facts,
                             .facts = TRAIN_FACTS,
                             .columns = r->column,
                             .column_count = r->columns};
    return cli_report_open(&r->report, &j->common, &spec, j->a, j->err);
}

void train_records_begin(TrainRecords *r, size_t run, const char *compressor, const char *spec, int64_t seed)
{
    r->run = run;
    r->compressor = compressor;
    r->spec = spec;
    r->seed = seed;
    r->last = (StepRecord){.train = {NAN, NAN}, .test = {NAN, NAN}, .lr = NAN};
    r->sim = r->wall = r->bytes = 0;
    r->times.count = 0;
    r->partial = false;
    r->clock = clock_now();
    targets_begin(r);
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
    const char *line = r->journal.path ? report_json_row(r->column, r->columns, row, j->a) : "";
    Status status = line ? journal_add(&r->journal, line, j->a, err) : arena_fail(j->a, err);
    arena_rewind(j->a, mark);
    if (status == OK &&
        /* after a test, a checkpoint is written: first flush the records to the disk, so that no checkpoint
         * exists without its records */
        !isnan(s->test.accuracy))
        status = journal_sync(&r->journal, err);
    TRY(status);
    return report_row(r->report, row, !isnan(s->test.accuracy), err);
}

/* ---- resuming ---- */

static const char *run_name(const TrainRecords *r, const char *compressor, int64_t seed)
{
    const char *named =
        r->job->seeds == 1 ? NULL : text_format(r->job->a, "%s, seed %lld", compressor, (long long)seed);
    return named ? named : compressor;
}

/* Runs a step's test that an earlier run did not finish. Adds its accuracy to the step's record, and appends
 * the record to the journal. */
static Status repeat_test(TrainRecords *r, Value *row, Trainer *t)
{
    TrainJob *j = r->job;
    MeanScore score;
    TRY(trainer_test(t, j->setup.test, &score, j->err));
    *cell(row, "test_loss") = value_real(score.loss);
    *cell(row, "test_accuracy") = value_real(score.accuracy);
    const char *line = report_json_row(r->column, r->columns, row, j->a);
    TRY(arena_check(line, j->a, j->err));
    return journal_add(&r->journal, line, j->a, j->err);
}

/* Writes the record of one step to the report, as if the step had just run. `tested`: the trainer in its state after
 * the step, if the step has a test; else NULL. */
static Status replay_row(TrainRecords *r, Value *row, Trainer *tested)
{
    if (tested && isnan(value_number(cell(row, "test_accuracy"))))
        TRY(repeat_test(r, row, tested));
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

static bool is_of(const Json *record, const PlannedRun *run)
{
    const Json *spec = json_member(record, "spec"), *seed = json_member(record, "seed");
    return spec && spec->type == JSON_TEXT && !strcmp(spec->text, run->spec) && seed && seed->is_whole &&
           seed->whole == run->seed;
}

static size_t positive(const Json *record, const char *field)
{
    const Json *v = json_member(record, field);
    return v && v->is_whole && v->whole > 0 ? (size_t)v->whole : 0;
}

/* Finds the records of steps 1 to `step` of a run, record[1] to record[step]; NULL: lost. A step that was repeated after
 * --resume has two records; the last one counts. Returns the number of lost ones. */
static size_t find_records(const TrainRecords *r, size_t run, size_t step, const Json **record)
{
    size_t lost = step;
    memset(record, 0, (step + 1) * sizeof *record);
    for (size_t i = r->first ? r->first[run] : 0; i; i = r->next[i - 1]) {
        const Json *line = r->journal.old[i - 1];
        const size_t at = positive(line, "epoch") ? positive(line, "step") : 0;
        if (!at || at > step)
            continue;
        lost -= !record[at];
        record[at] = line;
    }
    return lost;
}

/* A journal shows that this command began before, and was to replace the result then. */
static Status check_replaced(const TrainRecords *r, const PlannedRun *run, size_t lost)
{
    const TrainJob *j = r->job;
    const char *output = j->common.output, *journal = r->journal.path,
               *name = run_name(r, run->compressor, run->seed);
    if (!r->occupied || j->common.force || (!lost && r->journal.found))
        return OK;
    if (!lost) {
        FAIL(
            j->err, ERR_USAGE,
            "%s: would be replaced, but there is nothing to resume: no undamaged checkpoint of %s, and no %s",
            output, name, journal);
        return error_hint(j->err, "leave out --resume to begin afresh and replace %.200s", output);
    }
    FAIL(
        j->err, ERR_USAGE,
        "%s: would be replaced by a result without records of %zu of the first %zu step%s of %s, which %s lacks",
        output, lost, run->done, text_s(run->done), name, journal);
    return error_hint(j->err, "another -o FILE takes the records of this run; --force replaces %.200s%s",
                      output,
                      r->journal.old_count ? "; if that is this run's own result, remove the journal" : "");
}

Status train_records_replay(TrainRecords *r, size_t step, Trainer *tested)
{
    const TrainJob *j = r->job;
    Value row[RECORD_COLUMNS_MOST];
    const Json **record = NEW(j->a, const Json *, step + 1);
    TRY(arena_check(record, j->a, j->err));
    const size_t lost = find_records(r, r->run, step, record);
    const PlannedRun now = {.compressor = r->compressor, .seed = r->seed, .done = step};
    if (step < j->steps)
        TRY(check_replaced(r, &now, lost));
    r->partial = lost > 0;
    const char *name = run_name(r, r->compressor, r->seed);
    if (lost && !r->kept)
        progress_note(
            &r->job->progress,
            "note: %s: records of %zu of the first %zu step%s are not in a journal, so sums stay blank", name,
            lost, step, text_s(step));
    if (step > j->steps)
        progress_note(&r->job->progress, "note: %s: has done %zu steps, more than the %zu of this run", name,
                      step, j->steps);
    for (size_t i = 1; i <= step; i++)
        if (record[i]) {
            TRY(journal_row(record[i], r->column, r->columns, row, j->a, j->err));
            TRY(replay_row(r, row, i == step ? tested : NULL));
        }
    if (step && !record[step])
        r->sim = r->wall = NAN;
    r->clock = clock_now();
    return OK;
}

/* ---- before the first run ---- */

static Status refuse_record(const TrainRecords *r, const Json *record)
{
    const Json *name = json_member(record, "compressor"), *seed = json_member(record, "seed"),
               *step = json_member(record, "step");
    const char *path = r->journal.path;
    FAIL(r->job->err, ERR_USAGE,
         "%s: has a record of step %s of %.200s, seed %s, which this run would not have", path,
         step && step->text ? step->text : "?", name && name->text ? name->text : "no codec",
         seed && seed->text ? seed->text : "?");
    return error_hint(r->job->err, "give that codec, seed and number of steps, or remove %s to begin afresh",
                      path);
}

/* Sorts the journal's records into the runs. Neighbours are mostly of one run, so the last one found is tried first. */
static Status sort_records(TrainRecords *r, const PlannedRun *run, size_t count)
{
    const TrainJob *j = r->job;
    const size_t records = r->journal.old_count;
    r->first = NEW_ZERO(j->a, size_t, count);
    r->next = NEW_ZERO(j->a, size_t, records);
    TRY(arena_check(r->first && r->next, j->a, j->err));
    size_t at = count - 1;
    for (size_t i = records; i-- > 0;) { /* from the end, so that each list is in the journal's order */
        const Json *record = r->journal.old[i];
        size_t tried = 0;
        for (; tried < count && !is_of(record, &run[at]); tried++)
            at = at ? at - 1 : count - 1;
        if (tried == count ||
            positive(record, "step") > (run[at].steps > run[at].done ? run[at].steps : run[at].done))
            return refuse_record(r, record);
        r->next[i] = r->first[at];
        r->first[at] = i + 1;
    }
    return OK;
}

/* Refuses a folder that lacks checkpoints of the journal's run. A test's checkpoint follows its record, so a kill leaves one
 * tested step without a checkpoint; two show that the checkpoints are in another folder. */
static Status check_checkpoints(const TrainRecords *r, size_t i, const PlannedRun *run)
{
    Error *err = r->job->err;
    size_t first = 0;
    for (size_t k = r->first[i]; k && !r->job->common.force; k = r->next[k - 1]) {
        const Json *record = r->journal.old[k - 1], *tested = json_member(record, "test_accuracy");
        const size_t step = positive(record, "step");
        if (!tested || tested->type != JSON_NUMBER || step <= run->done || step == first)
            continue;
        if (!first) {
            first = step;
            continue;
        }
        FAIL(err, ERR_USAGE, "%s: has records of step %zu of %s, but %s has no checkpoint after step %zu",
             r->journal.path, step, run_name(r, run->compressor, run->seed), run->dir, run->done);
        return error_hint(
            err, "give the --train-dir, codecs and seeds of that run; --force trains those steps anew");
    }
    return OK;
}

Status train_records_plan(TrainRecords *r, const PlannedRun *run, size_t count)
{
    const TrainJob *j = r->job;
    TRY(sort_records(r, run, count));
    bool ended = true;
    for (size_t i = 0; i < count; i++) {
        TRY(check_checkpoints(r, i, &run[i]));
        ended = ended && run[i].done >= run[i].steps;
    }
    r->kept = r->occupied && !j->common.force && ended && !r->journal.old_count;
    for (size_t i = 0; i < count; i++) {
        const ArenaMark mark = arena_mark(j->a);
        const Json **record = NEW(j->a, const Json *, run[i].done + 1);
        TRY(arena_check(record, j->a, j->err));
        if (!r->kept)
            TRY(check_replaced(r, &run[i], find_records(r, i, run[i].done, record)));
        arena_rewind(j->a, mark);
    }
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
    return report_row(r->report, row, true, r->job->err);
}

/* ---- closing ---- */

Status train_records_close(TrainRecords *r, bool checkpoints, Status status)
{
    Error *err = r->job->err;
    const bool stopped = status == ERR_STOPPED;
    progress_close(&r->job->progress);
    if (status == OK && r->kept) {
        progress_note(
            &r->job->progress,
            "note: %s: stays as it is: all steps were done before, and their records are not in a journal",
            r->job->common.output);
        report_abandon(r->report);
        r->report = NULL;
    }
    Error why = *err, second = {0};
    if (r->report && (status == OK || (stopped && !r->journal.path)))
        status = report_close(r->report, &second);
    else
        report_abandon(r->report);
    if (second.status != OK) {
        *err = second;
    } else if (stopped) {
        *err = why;
        status = ERR_STOPPED;
    } else if (status == OK) {
        journal_remove(&r->journal);
    }
    if (journal_has_records(&r->journal) && (status == ERR_STOPPED || status == ERR_IO) && !*err->hint)
        error_hint(err, "%s; records so far: %s",
                   checkpoints ? "the same command with --resume continues"
                               : "a run with --train-dir has checkpoints, from which --resume continues",
                   r->journal.path);
    journal_close(&r->journal);
    return status;
}
