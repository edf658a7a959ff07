/* compare_job.c -- implements compare_job.h. */
#include "app/compare_job.h"

#include "app/notes.h"
#include "base/host.h"
#include "measure/timing.h"
#include "compress/spec.h"

#include <assert.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- notes on stderr ---- */

static void note_input(CompareJob *j)
{
    const RecordLevel reach = compare_reach(&j->list, j->memory.bytes, view_distances(&j->view));
    const bool cells = compare_places(&j->list) > j->list.count + 1;
    notes_dump(j->dump, &j->list, &j->progress);
    if (!j->sums_up && reach < (cells ? LEVEL_RUN : LEVEL_CELL))
        progress_note(
            &j->progress,
            "note: %spercentile classes over %s are left out: %zu elements take %zu bytes, more than --memory allows",
            view_distances(&j->view) ? "wasserstein and " : "",
            reach == LEVEL_CELL ? "all steps together" : "several tensors", j->list.elements,
            (size_t)compare_pooled(view_distances(&j->view)) * j->list.elements);
}

/* Says what codecs which learn from step to step lack: all of their past, in a merge and where all vectors are of one step, or the
 * steps in the gaps between those of the dump. */
static Status note_past(CompareJob *j, const Codec *const *codec, size_t codecs)
{
    const Vector *first = j->list.item, *end = first + j->list.count, *gap = NULL; /* the first vector behind a gap */
    size_t k = 0, gaps = 0;
    while (k < codecs && !codec_starts_cold(codec[k]))
        k++;
    for (const Vector *v = first + 1; v < end && !j->workers; v++)
        if (v[-1].step_group && v->step > 0 && v->step_address != v[-1].step_address && v->step - 1 > v[-1].step)
            gap = gaps++ ? gap : v;
    if (k == codecs || (!gap && !j->workers && first->step_address != end[-1].step_address))
        return OK;
    const char *name = codec_typed(codec[k], j->a);
    TRY(arena_check(name, j->a, j->err));
    if (gap)
        progress_note(&j->progress,
                      "note: %s keeps its residual, shift or warm start unchanged over %zu gap%s between steps (first from step %lld to "
                      "step %lld), where training would change it; so does each codec that learns from step to step",
                      name, gaps, text_s(gaps), (long long)gap[-1].step, (long long)gap->step);
    else
        progress_note(&j->progress,
                      "note: %s is measured in its first step, where its residual, shift or warm start is empty: %s; so is each codec that "
                      "learns from step to step",
                      name, j->workers ? "merge takes each gradient as that of a first step" : "the vectors are of one step");
    return OK;
}

/* ---- FILE.part: the records so far, for --resume ---- */

static Value joined(const TextList *list, Arena *a)
{
    TextBuf text = {.arena = a};
    for (size_t i = 0; i < list->count; i++)
        text_addf(&text, "%s%s", i ? " " : "", list->item[i]);
    return value_text(text_done(&text));
}

static const char *moment(const struct timespec *t, Arena *a)
{
    char text[32];
    struct tm utc = {0};
    gmtime_r(&t->tv_sec, &utc);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    return text_format(a, "%s.%09ldZ", text, t->tv_nsec);
}

/* Opens FILE.part, whose first line has all settings that determine the results. What this machine gives is none of them:
 * threads and memory count where they are given. */
static Status open_part(CompareJob *j, const Codec *const *codec, size_t codecs)
{
    const GroupSpec *g = &j->groups;
    const Common *o = &j->common;
    struct timespec changed;
    TRY(dump_stat(j->dump, &j->input_bytes, &changed, j->err));
    TRY(cli_meta(&j->facts, &j->fact_count, o, j->a, j->err));
    const Fact settings[] = {
        {"part", value_text(j->schema)},
        j->facts[0],
        j->facts[1],
        {"dump", joined(&j->hints.files, j->a)},
        {"size of the dump", value_int(j->input_bytes)},
        {"time of the dump", value_text(moment(&changed, j->a))},
        {"-c", value_text(codecs_complete(codec, codecs, j->a))},
        {"--tensor", joined(&g->selection.tensors, j->a)},
        {"--step", value_text(g->selection.step)},
        {"--worker", value_text(g->selection.worker)},
        {"--layout", value_text(layout_names[j->hints.layout])},
        {"--steps-from", value_text(j->hints.steps_from)},
        {"--workers-from", value_text(j->hints.workers_from)},
        {"--steps-axis", value_text(axis_names[j->hints.steps_axis])},
        {"--steps-as", value_text(origin_names[j->hints.steps_as])},
        {"--workers-as", value_text(origin_names[j->hints.workers_as])},
        {"--void", value_text(void_names[j->hints.voids])},
        {"--group", value_text(grouping_names[g->grouping])},
        {"--min-elements", value_int((int64_t)g->min_elements)},
        {"--skip-nonfinite", value_bool(g->skip_nonfinite)},
        {"--memory", cli_given(o, "memory") ? value_int((int64_t)j->memory.bytes) : value_none()},
        {"--repeats", value_int(j->repeats)},
        {"measured times", value_bool(view_times(&j->view, j->own))},
        {"measured Wasserstein distances", value_bool(view_distances(&j->view))},
        {"measured deciles of errors", value_bool(view_deciles(&j->view))},
        {"--equal-bits", j->target_bits > 0 ? value_real(j->target_bits) : value_none()},
        {"--seed", value_int(o->seed)},
        {"--threads", cli_given(o, "threads") ? value_int(o->threads) : value_none()},
    };
    const PartSpec spec = {.output = j->keeps_no_part ? NULL : o->output,
                           .resume = o->resume,
                           .force = o->force,
                           .lasting = true,
                           .command = cli_again(o, j->a),
                           .setting = settings,
                           .settings = countof(settings)};
    TRY(arena_check(spec.command, j->a, j->err));
    return part_open(&j->part, &spec, j->a, j->err);
}

/* With --resume: true, and a note, if a run has written FILE to its end since the dump was changed, so that nothing is left to
 * do. */
static bool ended(const CompareJob *j)
{
    const Common *o = &j->common;
    if (!o->resume || o->force || !o->output)
        return false;
    for (size_t i = 0; i < j->hints.files.count; i++)
        if (!part_ended(o->output, j->hints.files.item[i]))
            return false;
    if (!o->quiet)
        fprintf(stderr, "note: %s: is complete, so nothing is done; --force makes it anew\n", o->output);
    return true;
}

/* ---- opening the dump and choosing codecs ---- */

Status compare_job_open(CompareJob *j, const Codec *const *codec, size_t codecs)
{
    j->groups.grouping = (Grouping)j->grouping;
    j->groups.min_elements = (size_t)j->min_elements;
    TRY(view_check(&j->view, j->own, j->err));
    if (j->common.resume && !j->common.output)
        return FAIL(j->err, ERR_USAGE, "--resume: want -o FILE, beside which the records of the run are");
    TRY(dump_open_as(&j->dump, j->file, &j->hints, j->a, j->err));
    TRY(groups_make(&j->list, j->dump, &j->groups, j->a, j->err));
    TRY(memory_check_list(&j->list, compare_least(j->workers), j->file, j->err));
    if (j->workers) {
        TRY(compare_job_team(j, j->noise));
        j->list = j->team.list;
    }
    progress_open(&j->progress, "solving", "codecs", 0, j->common.quiet);
    note_input(j);
    TRY(note_past(j, codec, codecs));
    notes_leading(&j->list, j->file, codec, codecs, &j->progress);
    notes_specs(&j->specs);
    return open_part(j, codec, codecs);
}

static void close_job(CompareJob *j)
{
    progress_close(&j->progress);
    part_close(&j->part);
    dump_close(j->sample.dump[0] ? j->sample.dump[0] : j->dump);
    dump_close(j->sample.dump[1]);
}

Status compare_job_codecs(CompareJob *j, const Codec *const *codec, size_t count)
{
    j->codec = codec;
    j->codecs = count;
    j->name = NEW_ZERO(j->a, const char *, count);
    TRY(arena_check(j->name, j->a, j->err));
    progress_close(&j->progress);
    progress_open(&j->progress, "comparing", "records", count * compare_places(&j->list), j->common.quiet);
    for (size_t k = 0; k < count; k++) {
        j->name[k] = codec_typed(codec[k], j->a);
        TRY(arena_check(j->name[k], j->a, j->err));
        if (codec_caution(codec[k]) && !(k && codec[k - 1] == codec[k]))
            progress_note(&j->progress, "note: %s: %s", j->name[k], codec_caution(codec[k]));
    }
    return results_open(&j->results, &j->list, j->name, count, (size_t)j->repeats, (uint64_t)j->common.seed, j->own, j->a, j->err);
}

/* ---- running the comparison ---- */

static Status load_vector(void *data, const Vector *v, float *x, Error *err)
{
    const CompareJob *j = data;
    return vector_load(j->dump, v, x, err);
}

static Status keep(void *data, const Record *record, Error *err)
{
    CompareJob *j = data;
    const char *codec = j->name[record->codec], *on = record->level == LEVEL_VECTOR ? record->vector->name : "*";
    if (j->common.verbose)
        progress_note(&j->progress, "note: finished: %s on %s", codec, on);
    progress_at(&j->progress, "%s on %s", codec, on);
    TRY(results_put(&j->results, record, err));
    const ArenaMark mark = arena_mark(j->a);
    const char *line = j->part.path ? results_line(&j->results, record, j->a) : "";
    const Status status = line ? part_add(&j->part, line, j->a, err) : arena_fail(j->a, err);
    arena_rewind(j->a, mark);
    TRY(status);
    if (record->hint && !*j->hint)
        snprintf(j->hint, sizeof j->hint, "%s", record->hint);
    if (j->figures)
        j->figures(j, record);
    progress_step(&j->progress, j->progress.done + 1);
    return OK;
}

static bool known(void *data, size_t codec, size_t place, Tally *tally, bool *failed)
{
    return results_known(&((CompareJob *)data)->results, codec, place, tally, failed);
}

/* Each draw of a sample has other random numbers, and its rows. */
static uint64_t seed_of(const CompareJob *j)
{
    return (uint64_t)j->common.seed + 0x9e3779b97f4a7c15 * j->sample.draw;
}

void sample_draw(CompareJob *j, size_t draw, size_t half)
{
    Sample *s = &j->sample;
    s->draw = draw;
    j->dump = s->dump[half];
    j->list = s->list[half];
    dump_draw(j->dump, seed_of(j));
    memset(j->results.have, 0, j->results.places * j->codecs * sizeof *j->results.have);
    progress_close(&j->progress);
    progress_open(&j->progress, "sampling", "records", j->codecs * j->results.places, j->common.quiet);
}

/* A draw of a sample is measured once; twice for costs, which have the variance of biased codecs in them. */
static size_t repeats_of(const CompareJob *j)
{
    return !j->sample.dump[0] ? (size_t)j->repeats : j->sums_up ? 2 : 1;
}

static Comparison comparison_of(CompareJob *j)
{
    return (Comparison){.codec = j->codec,
                        .codecs = j->codecs,
                        .vectors = &j->list,
                        .repeats = repeats_of(j),
                        .seed = seed_of(j),
                        .memory = j->memory.bytes,
                        .threads = (int)j->common.threads,
                        .sample = SAMPLE_LEAST,
                        .untimed = !view_times(&j->view, j->own),
                        .without_distances = !view_distances(&j->view),
                        .without_deciles = !view_deciles(&j->view),
                        .costs_only = j->sums_up,
                        .workers = j->workers,
                        .average = j->average,
                        .shots = j->shots,
                        .data = j,
                        .load = load_vector,
                        .record = keep,
                        .known = known,
                        .stopped = cli_stopped};
}

Status compare_job_team(CompareJob *j, double noise)
{
    TRY(team_make(&j->team, j->dump, &j->list, j->a, j->err));
    j->team.seed = seed_of(j);
    j->team.noise = noise;
    j->team.threads = (int)j->common.threads;
    return OK;
}

static Status load_worker(void *data, const Vector *v, size_t worker, float *x, Error *err)
{
    return team_load(&((CompareJob *)data)->team, v, worker, x, err);
}

static Status compare_all(const CompareJob *j, const Comparison *c)
{
    size_t failures;
    Arena *work = arena_open(0);
    const Status status = compare_run(c, &failures, work, j->err);
    arena_close(work);
    return status;
}

Status compare_job_run(CompareJob *j)
{
    bool *done = NEW_ZERO(j->a, bool, j->codecs);
    Comparison c = comparison_of(j);
    TRY(arena_check(done, j->a, j->err));
    TRY(results_resume(&j->results, &j->part, done, j->err));
    j->progress.done = j->progress.old = results_finished(&j->results);
    c.skip = done;
    return compare_all(j, &c);
}

Status compare_job_merge(CompareJob *j, size_t workers, const bool *skip,
                         Status (*record)(void *data, const Record *r, Error *err))
{
    Comparison c = comparison_of(j);
    c.vectors = &j->team.list;
    c.workers = workers;
    c.load_worker = load_worker;
    c.skip = skip;
    c.known = NULL; /* records that are kept are about one worker alone */
    c.record = record ? record : c.record;
    return compare_all(j, &c);
}

/* ---- writing the results ---- */

static bool all_raw(const Results *r, size_t codec)
{
    size_t raw = 0;
    for (size_t place = 0; place < r->places; place++) {
        const Vector *v = r->first[place];
        if (r->level[place] != LEVEL_VECTOR || v->raw || !v->shape.n)
            continue;
        if (!(results_number(r, place, codec, "raw_fallbacks") >= 1))
            return false;
        raw++;
    }
    return raw > 0;
}

static void note_raw(CompareJob *j)
{
    for (size_t k = 0; k < j->results.codecs; k++)
        if (all_raw(&j->results, k) &&
            !(k && j->codec[k - 1] == j->codec[k])) /* name a codec once, not for every number of workers */
            progress_note(&j->progress,
                          "note: %s: all payloads are plain floats (raw_fallbacks), as the codec's own would be larger%s", j->name[k],
                          j->groups.grouping == GROUP_TENSOR ? "" : "; a group is one vector, not a matrix");
}

static Status write_results(CompareJob *j, Status (*write)(CompareJob *j, ReportSpec spec))
{
    const Common *o = &j->common;
    const Fact more[] = {
        {"input", value_text(j->file)},
        {"input_bytes", value_int(j->input_bytes)},
        {"repeats", value_int(j->repeats)},
        {"tensors", value_int((int64_t)j->list.tensors)},
        {"elements", value_int((int64_t)j->list.elements)},
    };
    _Static_assert(countof(more) <= FACTS_SPARE, "report_meta leaves room for these");
    memcpy(j->facts + j->fact_count, more, sizeof more);
    const ReportSpec spec = cli_spec(o, j->schema, j->facts, j->fact_count + countof(more));
    return write ? write(j, spec) : results_write(&j->results, &j->view, spec, j->err);
}

static Status say_stopped(CompareJob *j)
{
    const size_t finished = results_finished(&j->results), all = j->results.places * j->codecs;
    return all ? FAIL(j->err, ERR_STOPPED, "%s: stopped with %zu of %zu records finished", j->file, finished, all)
               : FAIL(j->err, ERR_STOPPED, "%s: stopped before the first record", j->file);
}

/* After a stop, or a failure to write as on a full disk, FILE.part has the finished records. */
static Status say_resumable(CompareJob *j, Status status)
{
    if ((status != ERR_IO && status != ERR_STOPPED) || !part_has_records(&j->part))
        return status;
    const char *cause = text_copy(j->a, j->err->hint);
    if (cause)
        error_hint(j->err, "%s%sthe same command with --resume continues from %s", cause, *cause ? "; then " : "",
                   j->part.path);
    return status;
}

Status compare_job_finish(CompareJob *j, Status status, Status (*write)(CompareJob *j, ReportSpec spec))
{
    const bool stopped = status != OK && cli_stopped();
    if (status == OK)
        note_raw(j);
    progress_close(&j->progress);
    if (status == ERR_MEMORY && strncmp(j->err->text, j->file, strlen(j->file)) != 0) /* the dump's reader has named it */
        error_at(j->err, "%s", j->file);
    if (status != OK && !stopped)
        return say_resumable(j, status);
    if (stopped && (j->part.path || (j->keeps_no_part && j->common.output) || !j->codecs || j->sums_up))
        return say_resumable(j, say_stopped(j));
    TRY(say_resumable(j, write_results(j, write)));
    if (stopped)
        return say_stopped(j);
    part_remove(&j->part);
    return results_check(&j->results, j->file, j->err) == OK ? OK : error_hint(j->err, "%s", j->hint);
}

/* ---- the command line ---- */

static const char *field_names(const CompareJob *j, const char *own)
{
    TextBuf text = {.arena = j->a};
    text_add(&text, own);
    for (size_t i = 0; i < j->own.count; i++)
        text_addf(&text, "%s,", j->own.column[i].name);
    for (const Metric *m = metrics; m->name && !j->sums_up; m++)
        text_addf(&text, "%s,", m->name);
    for (const Column *c = results_verdicts; c->name && !j->sums_up; c++)
        text_addf(&text, "%s,", c->name);
    return text_done(&text);
}

static const char *details(const CompareJob *j, const char *own)
{
    TextBuf text = {.arena = j->a};
    text_add(&text, own);
    if (!j->workers && !j->sums_up)
        text_add(&text,
                 "Codecs with a state carry it from step to step, each worker by itself: all repeats of "
                 "a step start from the same state, and repeat 0 updates it, so variance and bias are "
                 "conditional on that state.\n");
    if (j->sums_up)
        return text_done(&text);
    text_add(
        &text,
        "The table has a row for each codec over the whole selection; csv and json have a record for each step, worker, "
        "tensor and codec, and records with tensor \"*\" for all tensors together.\n"
        "--metrics and --sort take the fields below; --sort FIELD:desc reverses the order. Where none of the named fields is a "
        "time, nothing is timed, and where none is a Wasserstein distance, no distance is measured, which is faster.\n"
        "bias is judged for all codecs of the table together: beside more codecs, as in sweep, a codec needs more evidence, and "
        "a larger bias to show.\n");
    return text_done(&text);
}

/* Appends `rows` (which ends in {0}) to `all`; returns the new count. */
static size_t add_rows(Option *all, size_t count, const Option *rows)
{
    for (; rows->type != CLI_END; rows++)
        all[count++] = *rows;
    return count;
}

static const Option *all_options(CompareJob *j, const Option *own)
{
    enum { SPARE = 32 };
    const Option first = OPTION_CODEC(&j->specs, "a codec; repeatable; atomo-bench list shows all");
    const Option selection[] = {
        OPTIONS_SELECTION(&j->groups.selection),
        OPTIONS_HINTS(&j->hints),
        OPTION(0, "group", "G", &j->grouping,
               "compress each tensor, each kind of tensors, or all as one vector", .choices = grouping_names),
        OPTION(0, "repeats", "N", &j->repeats, "independent repeats of each measurement", .low = 1,
               .high = 1e6),
        {0},
    };
    const Option metric[] = {
        OPTION(0, "metrics", "LIST", &j->view.metrics, "only these metrics, separated by commas",
               .names = metric_name, .listed = true),
        OPTION(0, "sort", "KEY", &j->view.sort, "sort the rows by a metric", .names = metric_name),
        OPTION(0, "per-tensor", NULL, &j->view.per_tensor, "add a row for each tensor to the table"),
        OPTION(
            0, "memory", "BYTES", &j->memory,
            "most memory for metrics over all elements of several tensors, 12 bytes per element, or 4 without wasserstein; given, also "
            "for a tensor of over 4 M elements, which with 8 bytes per element is measured several times as fast"),
        {0},
    };
    const Option rest[] = {
        OPTION(0, "min-elements", "N", &j->min_elements, "send tensors of fewer elements as floats",
               .high = 1e15),
        OPTION(0, "skip-nonfinite", NULL, &j->groups.skip_nonfinite, "leave tensors with NaN or Inf out"),
        {0},
    };
    Option *all = NEW_ZERO(j->a, Option, SPARE);
    size_t count = 1;
    if (!all)
        return NULL;
    all[0] = first;
    count = add_rows(all, count, own);
    count = add_rows(all, count, selection);
    if (!j->sums_up)
        count = add_rows(all, count, metric);
    count = add_rows(all, count, rest);
    assert(count < SPARE);
    return all;
}

int compare_job_main(CompareJob *j, const Command *command, int argc, char **argv,
                     Status (*run)(CompareJob *j))
{
    Error err = {0};
    TextList arguments;
    bool helped;
    Command c = *command;
    j->a = arena_open(0);
    j->err = &err;
    j->part.fd = -1;
    j->repeats = j->repeats ? j->repeats : 10;
    j->memory.bytes = j->sums_up ? 0 : host_memory() / 2;
    c.options = all_options(j, command->options);
    c.details = details(j, command->details);
    c.fields = field_names(j, command->fields ? command->fields : "");
    c.common = &j->common;
    c.takes =
        TAKES_SEED | TAKES_THREADS | TAKES_FORMAT | TAKES_OUTPUT | (j->keeps_no_part ? 0 : TAKES_RESUME);
    c.arguments_min = 1;
    c.arguments_max = -1;
    Status status = c.options && c.details && c.fields ? OK : arena_fail(j->a, &err);
    if (status == OK)
        status = cli_parse(&c, argc, argv, &arguments, &helped, j->a, &err);
    if (status == OK && !helped) {
        j->file = arguments.item[0];
        j->hints.files = arguments;
        status = ended(j) ? OK : run(j);
        close_job(j);
    }
    arena_close(j->a);
    return status == OK ? 0 : cli_report(c.program, &err);
}
