/* bench_merge.c -- merge FILE.h5 -c SPEC... --workers 4,8,...,512: merges the payloads of 4, 8, ... workers,
 * and reports sizes and errors. */
#include "bench_commands.h"

#include "app/compare_job.h"

#include "base/counts.h"
#include "compress/spec.h"

enum { WORKERS_MOST = 1 << 20 };

typedef struct {
    CompareJob job; /* must be first: hooks cast CompareJob to Merge */
    const char *text;
    int average;
    Counts workers;
} Merge;

/* The codecs that `merge` applies if the user gives no -c. */
static const char *const usual_set[] = {"none", "randk", "sign", "qsgd", "terngrad", "svd", "topk"};
static const char all_numbers[] = "4,8,...,512";

/* ---- records ---- */

/* Returns the number of workers for entry k of the comparison's list of codecs. The list has every codec once
 * for each number of workers. */
static size_t workers_at(const Merge *m, size_t k)
{
    return m->workers.number[k % m->workers.count];
}

static void figures(CompareJob *j, const Record *r)
{
    const Merge *m = (const Merge *)j;
    const size_t workers = workers_at(m, r->codec);
    size_t made = 0;
    for (size_t i = 0; i < j->list.count; i++) {
        const Vector *v = &j->list.item[i];
        const bool in = r->level == LEVEL_VECTOR ? v == r->vector
                                                 : r->level == LEVEL_RUN || compare_same_cell(v, r->vector);
        const size_t own = in ? team_made(&j->team, v, workers) : 0;
        made = own > made ? own : made;
    }
    const bool raw = r->level == LEVEL_VECTOR && r->vector->raw;
    merge_fill(&j->results, r, workers, made, !raw && average_over_senders(j->average, j->codec[r->codec]));
    progress_at(&j->progress, "%s on %s, %zu worker%s", j->name[r->codec],
                r->level == LEVEL_VECTOR ? r->vector->name : "*", workers, text_s(workers));
}

/* ---- running ---- */

static Status note_made(Merge *m)
{
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < m->job.team.list.count; i++)
        least = m->job.team.member[i].reals < least ? m->job.team.member[i].reals : least;
    if (counts_largest(&m->workers) > least) {
        char noise[32];
        progress_note(
            &m->job.progress,
            "note: %s: it has %zu gradient%s of a tensor; the other workers' are made: g + %s rms(g) N(0, 1)",
            m->job.file, least, text_s(least), text_double(noise, m->job.noise));
    }
    return OK;
}

static Status run_number(Merge *m, size_t number)
{
    CompareJob *j = &m->job;
    bool *skip = NEW(j->a, bool, j->codecs);
    TRY(arena_check(skip, j->a, j->err));
    for (size_t k = 0; k < j->codecs; k++)
        skip[k] = workers_at(m, k) != number;
    return compare_job_merge(j, number, skip, NULL);
}

static Status run_all(Merge *m, const Codec *const *codec, size_t count)
{
    CompareJob *j = &m->job;
    const size_t numbers = m->workers.count;
    const Codec **each = NEW(j->a, const Codec *, count *numbers);
    TRY(arena_check(each, j->a, j->err));
    for (size_t k = 0; k < count * numbers; k++)
        each[k] = codec[k / numbers];
    TRY(note_made(m));
    TRY(compare_job_codecs(j, each, count * numbers));
    for (size_t i = 0; i < numbers; i++)
        TRY(run_number(m, m->workers.number[i]));
    return OK;
}

static Status run(CompareJob *j)
{
    Merge *m = (Merge *)j;
    const TextList usual = {(const char **)(uintptr_t)usual_set, countof(usual_set)};
    const Codec **codec;
    size_t count;
    TRY(counts_read(&m->workers, "--workers", m->text, WORKERS_MOST, j->err));
    j->workers = counts_largest(&m->workers);
    j->average = (Average)m->average;
    TRY(codec_list(&codec, &count, j->specs.count ? &j->specs : &usual, j->a, j->err));
    for (size_t k = 0; k < count; k++)
        TRY(average_check(j->average, codec[k], j->err));
    TRY(compare_job_open(j, codec, count));
    return compare_job_finish(j, run_all(m, codec, count), NULL);
}

static const char details[] =
    "Workers are the worker groups of the file, step by step; if it has none, its steps serve as workers. If it has "
    "only F gradients for P workers, each further worker p gets g + X rms(g) N(0, 1), where g is the gradient of worker "
    "p mod F and X is --noise; the field synthetic counts these workers.\n"
    "Every worker encodes its gradient from an empty state, with its own random numbers and those that all workers "
    "share. Errors are those of the average of the estimates against the average gradient; where payloads merge, the "
    "average is the decoded aggregate. With --average senders an element's average is over the workers that sent it.\n"
    "bytes and encode_ms are those of one worker. Without -c: none, randk, sign, qsgd, terngrad, svd, topk. plot merge draws the "
    "results.\n";

int bench_merge(int argc, char **argv)
{
    Merge m = {.job = {.schema = "atomo-merge/1",
                       .own = merge_fields,
                       .figures = figures,
                       .workers = 1, /* until --workers is read */
                       .noise = 1,
                       .keeps_no_part = true,
                       .repeats = 1,
                       .view = {.usual = "bytes,bits_per_element,encode_ms,decode_ms,relative_error"}},
               .text = all_numbers};
    const Option options[] = {
        OPTION(0, "workers", "LIST", &m.text, "numbers of workers; 4,8,...,512 continues at the same ratio"),
        OPTION(0, "noise", "X", &m.job.noise, "noise of made gradients, in units of the tensor's rms", .low = 0,
               .high = 1e6),
        OPTION(0, "average", "A", &m.average, average_help, .choices = average_names),
        {0},
    };
    const Command command = {
        .program = "atomo-bench",
        .command = "merge",
        .usage = "FILE.h5 [-c SPEC]...",
        .brief = "aggregate many workers' payloads: merge time, decode time, error of the average",
        .examples = "FILE.h5 -c qsgd -c powersgd --workers 4,8,16\n"
                    "FILE.h5 -c sign -o merge.csv\n",
        .details = details,
        .options = options,
    };
    return compare_job_main(&m.job, &command, argc, argv, run);
}
