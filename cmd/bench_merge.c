/* bench_merge.c -- merge FILE.h5 -c SPEC... --workers 4,8,...,512: aggregate many workers' payloads. */
#include "bench.h"

#include "bench_job.h"

#include "../lib/team.h"

#include <string.h>

enum { NUMBERS_MOST = 64, WORKERS_MOST = 1 << 20 };

typedef struct {
    Job job; /* stays first: the job's hooks know it as that */
    const char *text;
    double noise;
    Team team;
    size_t done; /* records of vectors, for progress */
    size_t numbers;
    size_t number[NUMBERS_MOST]; /* of workers, as they were asked for */
} Merge;

/* Without -c: what adds undecoded, and what does not. */
static const char *const usual_set[] = {"none", "randk", "sign", "qsgd", "terngrad", "svd", "topk"};
static const char all_numbers[] = "4,8,...,512";

/* ---- how many workers ---- */

static Status bad_number(const char *item, const char *text, Error *err)
{
    return FAIL(err, ERR_USAGE,
                "--workers %.60s: \"%.20s\": want numbers from 1 to %d with commas between them", text, item,
                WORKERS_MOST);
}

static Status add_number(Merge *m, size_t number)
{
    for (size_t i = 0; i < m->numbers; i++)
        if (m->number[i] == number)
            return OK;
    if (m->numbers == NUMBERS_MOST)
        return FAIL(m->job.err, ERR_USAGE, "--workers: more than %d numbers", NUMBERS_MOST);
    m->number[m->numbers++] = number;
    return OK;
}

/* "4,8,...,512": between 8 and 512 it goes on by the factor that led from 4 to 8. */
static Status add_between(Merge *m, size_t last)
{
    const size_t n = m->numbers, b = n > 1 ? m->number[n - 1] : 0, a = n > 1 ? m->number[n - 2] : 1;
    size_t next = b;
    if (n < 2 || b % a || b / a < 2)
        return FAIL(m->job.err, ERR_USAGE,
                    "--workers %.60s: want two numbers before the dots, the second a multiple "
                    "of the first",
                    m->text);
    while (next < last) {
        next *= b / a;
        TRY(add_number(m, next));
    }
    return next == last
               ? OK
               : FAIL(m->job.err, ERR_USAGE, "--workers %.60s: by steps of %zu times, %zu is not reached",
                      m->text, b / a, last);
}

static Status read_numbers(Merge *m)
{
    bool dots = false;
    for (const char *at = m->text, *next; at; at = next ? next + 1 : NULL) {
        char item[24];
        int64_t number;
        next = strchr(at, ',');
        snprintf(item, sizeof item, "%.*s", next ? (int)(next - at < 23 ? next - at : 23) : 23, at);
        if (!strcmp(item, "...") && !dots && next) {
            dots = true;
            continue;
        }
        if (!text_to_int(item, &number) || number < 1 || number > WORKERS_MOST)
            return bad_number(item, m->text, m->job.err);
        TRY(dots ? add_between(m, (size_t)number) : add_number(m, (size_t)number));
        dots = false;
    }
    return OK;
}

/* ---- the frame's hooks ---- */

static Status arrange(Job *j)
{
    Merge *m = (Merge *)j;
    TRY(team_make(&m->team, j->dump, &j->list, j->a, j->err));
    m->team.seed = (uint64_t)j->common.seed;
    m->team.noise = m->noise;
    m->team.threads = (int)j->common.threads;
    j->list = m->team.list;
    return OK;
}

static Status load_worker(void *data, const Vector *v, size_t worker, float *x, Error *err)
{
    return team_load(&((Merge *)data)->team, v, worker, x, err);
}

/* Every compressor stands once for each number of workers. */
static size_t workers_at(const Merge *m, size_t k)
{
    return m->number[k % m->numbers];
}

static void figures(Job *j, const Record *r)
{
    Merge *m = (Merge *)j;
    const size_t workers = workers_at(m, r->codec);
    size_t made = 0;
    for (size_t i = 0; i < j->list.count; i++) {
        const Vector *v = &j->list.item[i];
        const bool in = r->level == LEVEL_VECTOR ? v == r->vector
                                                 : r->level == LEVEL_RUN || compare_same_cell(v, r->vector);
        const size_t own = in ? team_made(&m->team, v, workers) : 0;
        made = own > made ? own : made;
    }
    merge_fill(&j->results, r, workers, made);
    if (r->level == LEVEL_VECTOR)
        progress_step(&j->progress, ++m->done);
}

/* ---- running ---- */

static Status note_made(Merge *m)
{
    size_t least = SIZE_MAX, most = 0;
    for (size_t i = 0; i < m->numbers; i++)
        most = m->number[i] > most ? m->number[i] : most;
    for (size_t i = 0; i < m->team.list.count; i++)
        least = m->team.member[i].reals < least ? m->team.member[i].reals : least;
    if (most > least) {
        char noise[32];
        progress_note(
            &m->job.progress,
            "note: %s: it has %zu gradient%s of a tensor; the other workers' are made: g + %s rms(g) N(0, 1)",
            m->job.file, least, least == 1 ? "" : "s", text_double(noise, m->noise));
    }
    return OK;
}

static Status run_number(Merge *m, size_t number)
{
    Job *j = &m->job;
    size_t failures;
    bool *skip = NEW(j->a, bool, j->codecs);
    if (!skip)
        return arena_fail(j->a, j->err);
    for (size_t k = 0; k < j->codecs; k++)
        skip[k] = workers_at(m, k) != number;
    Comparison c = job_comparison(j);
    c.skip = skip;
    c.workers = number;
    c.load_worker = load_worker;
    c.progress = NULL; /* figures tells */
    Arena *work = arena_open(0);
    const Status status = compare_run(&c, &failures, work, j->err);
    arena_close(work);
    return status;
}

static Status run_all(Merge *m, const Codec *const *codec, size_t count)
{
    Job *j = &m->job;
    const Codec **each = NEW(j->a, const Codec *, count * m->numbers);
    if (!each)
        return arena_fail(j->a, j->err);
    for (size_t k = 0; k < count * m->numbers; k++)
        each[k] = codec[k / m->numbers];
    TRY(note_made(m));
    TRY(job_codecs(j, each, count * m->numbers, 0));
    for (size_t i = 0; i < m->numbers; i++)
        TRY(run_number(m, m->number[i]));
    return OK;
}

static Status run(Job *j)
{
    Merge *m = (Merge *)j;
    const TextList usual = {(const char **)(uintptr_t)usual_set, countof(usual_set)};
    const Codec **codec;
    size_t count;
    TRY(read_numbers(m));
    TRY(codec_list(&codec, &count, j->specs.count ? &j->specs : &usual, j->a, j->err));
    TRY(job_open(j));
    return job_finish(j, run_all(m, codec, count), "atomo-merge/1");
}

int bench_merge(int argc, char **argv)
{
    Merge m = {.job = {.own = merge_fields,
                       .figures = figures,
                       .arrange = arrange,
                       .keeps_no_journal = true,
                       .repeats = 1,
                       .view = {.usual = "bytes,bits_per_element,encode_ms,decode_ms,relative_error"}},
               .text = all_numbers,
               .noise = 1};
    const Option options[] = {
        OPTION(0, "workers", "LIST", &m.text, "numbers of workers; 4,8,...,512 goes on by the same factor"),
        OPTION(0, "noise", "X", &m.noise, "of made-up gradients, in units of their tensor's rms", .low = 0,
               .high = 1e6),
        {0},
    };
    const Command command = {
        .program = "atomo-bench",
        .command = "merge",
        .usage = "FILE.h5 [-c SPEC]...",
        .brief = "aggregate many workers' payloads: merge time, decode time, error of the average",
        .details =
            "Workers are the file's worker groups, step by step; where it has none, its steps stand for "
            "workers. Where "
            "there are fewer gradients than workers, worker p of F real ones gets g + X rms(g) N(0, 1), g "
            "that of "
            "worker p mod F; the field synthetic counts them.\n"
            "Every worker encodes its gradient with random numbers of its own, beside those that all share, "
            "from a "
            "state of zeros. Errors are those of the average of the estimates against the average gradient; "
            "the "
            "average is the aggregate's where payloads merge.\n"
            "Fields beside compare's:\n"
            "  workers              how many\n"
            "  synthetic            how many of their gradients are made up\n"
            "  merge_ms             payloads to one aggregate, undecoded; empty where they do not merge\n"
            "  decode_ms            the aggregate to floats; empty where there is none\n"
            "  decode_each_ms       every payload decoded, and the average taken\n"
            "  bytes, bytes_up      of one worker's payloads, on average\n"
            "  bytes_merged         of the aggregate; empty where there is none\n"
            "encode_ms is a worker's share. Without -c: none, randk, sign, qsgd, terngrad, svd, topk. plot "
            "merge draws "
            "it.\n",
        .options = options,
    };
    return job_main(&m.job, &command, argc, argv, run);
}
