/* bench_merge.c -- merge FILE -c SPEC... --workers 4,8,...,512: merges the payloads of 4, 8, ... workers,
 * and reports sizes and errors. */
#include "bench_commands.h"

#include "app/compare_job.h"

#include "base/counts.h"
#include "base/text.h"
#include "compress/spec.h"

#include <string.h>

enum { WORKERS_MOST = 1 << 20 };

/* How payloads travel, in the order of Shots. */
static const char *const exchanges[] = {"allgather", "twoshot", "ring"};

/* An entry of the comparison's list of codecs, which has every codec once for each exchange and number of workers. */
typedef struct {
    size_t workers;
    Shots shots;
    const char *topology;
} MergeEntry;

typedef struct {
    CompareJob job; /* must be first: hooks cast CompareJob to Merge */
    const char *text, *topologies;
    bool asked[countof(exchanges)]; /* values of --topology */
    size_t ways;                    /* number of them */
    int average;
    Counts workers;
    MergeEntry *entry; /* (job.codecs) */
} Merge;

/* The codecs that `merge` applies if the user gives no -c. */
static const char *const usual_set[] = {"none", "randk", "sign", "qsgd", "terngrad", "svd", "topk"};
static const char all_numbers[] = "4,8,...,512";

/* ---- records ---- */

static void figures(CompareJob *j, const Record *r)
{
    const Merge *m = (const Merge *)j;
    const MergeEntry *entry = &m->entry[r->codec];
    const size_t workers = entry->workers;
    size_t made = 0;
    for (size_t i = 0; i < j->list.count; i++) {
        const Vector *v = &j->list.item[i];
        const bool in = r->level == LEVEL_VECTOR ? v == r->vector
                                                 : r->level == LEVEL_RUN || compare_same_cell(v, r->vector);
        const size_t own = in ? team_made(&j->team, v, workers) : 0;
        made = own > made ? own : made;
    }
    const bool raw = r->level == LEVEL_VECTOR && r->vector->raw;
    merge_fill(&j->results, r, workers, entry->topology, made, !raw && average_over_senders(j->average, j->codec[r->codec]));
    progress_at(&j->progress, "%s on %s, %zu worker%s", j->name[r->codec],
                r->level == LEVEL_VECTOR ? r->vector->name : "*", workers, text_s(workers));
}

/* ---- running ---- */

static void note_made(Merge *m)
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
}

static Status run_number(Merge *m, size_t number, Shots shots)
{
    CompareJob *j = &m->job;
    bool *skip = NEW(j->a, bool, j->codecs);
    TRY(arena_check(skip, j->a, j->err));
    for (size_t k = 0; k < j->codecs; k++)
        skip[k] = m->entry[k].workers != number || m->entry[k].shots != shots;
    j->shots = shots;
    return compare_job_merge(j, number, skip, NULL);
}

/* Adds the entries of a codec. Where payloads add, all exchanges give the same mean, so one entry stands for them. */
static size_t add_entries(Merge *m, const Codec *codec, const Codec **each, size_t rows)
{
    const bool any = m->ways > 1 && codec_adds(codec);
    for (size_t s = 0, ways = 0; s < countof(exchanges); s++) {
        if (!m->asked[s] || (any && ways++))
            continue;
        for (size_t i = 0; i < m->workers.count; i++) {
            m->entry[rows] = (MergeEntry){m->workers.number[i], (Shots)s, any ? "any" : exchanges[s]};
            each[rows++] = codec;
        }
    }
    return rows;
}

static Status run_all(Merge *m, const Codec *const *codec, size_t count)
{
    CompareJob *j = &m->job;
    const size_t most = count * m->workers.count * m->ways;
    const Codec **each = NEW(j->a, const Codec *, most);
    size_t rows = 0;
    m->entry = NEW(j->a, MergeEntry, most);
    TRY(arena_check(each && m->entry, j->a, j->err));
    for (size_t k = 0; k < count; k++)
        rows = add_entries(m, codec[k], each, rows);
    note_made(m);
    TRY(compare_job_codecs(j, each, rows));
    for (size_t i = 0; i < m->workers.count; i++)
        for (size_t s = 0; s < countof(exchanges); s++)
            if (m->asked[s])
                TRY(run_number(m, m->workers.number[i], (Shots)s));
    return OK;
}

static const char *exchange_name(const void *data, size_t i)
{
    (void)data;
    return i < countof(exchanges) ? exchanges[i] : NULL;
}

static Status read_topologies(Merge *m)
{
    CompareJob *j = &m->job;
    char *rest = NULL, *copy = text_copy(j->a, m->topologies);
    TRY(arena_check(copy, j->a, j->err));
    for (char *item = strtok_r(copy, ",", &rest); item; item = strtok_r(NULL, ",", &rest)) {
        size_t s = 0;
        while (s < countof(exchanges) && strcmp(exchanges[s], item) != 0)
            s++;
        if (s == countof(exchanges))
            return text_unknown(j->err, item, exchange_name, NULL,
                                "--topology: \"%.40s\": want allgather, twoshot or ring", item);
        m->ways += !m->asked[s];
        m->asked[s] = true;
    }
    return m->ways ? OK : FAIL(j->err, ERR_USAGE, "--topology: there is none");
}

/* Shows the exchange, the last column, in tables of several exchanges. */
static Status show_topology(CompareJob *j)
{
    Column *column = NEW(j->a, Column, merge_fields.count);
    TRY(arena_check(column, j->a, j->err));
    memcpy(column, merge_fields.column, merge_fields.count * sizeof *column);
    column[merge_fields.count - 1].shown = true;
    j->own.column = column;
    return OK;
}

static Status run(CompareJob *j)
{
    Merge *m = (Merge *)j;
    const TextList usual = {(const char **)(uintptr_t)usual_set, countof(usual_set)};
    const Codec **codec;
    size_t count;
    TRY(counts_read(&m->workers, "--workers", m->text, WORKERS_MOST, j->err));
    TRY(read_topologies(m));
    if (m->ways > 1)
        TRY(show_topology(j));
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
    "average is the decoded aggregate. With twoshot each worker "
    "owns a part of the tensor: it averages all workers' payloads of the part, and encodes the mean again. With ring each "
    "part goes from worker to worker, each of which adds its own and encodes the sum. merge_ms is then the time in which an "
    "owner encodes its mean.\nWith --average senders an element's average is over the workers that sent it.\n"
    "With several --topology a codec whose payloads add has one row for all of them, with topology any.\n"
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
               .text = all_numbers,
               .topologies = "allgather"};
    const Option options[] = {
        OPTION(0, "workers", "LIST", &m.text, "numbers of workers; 4,8,...,512 continues at the same ratio"),
        OPTION(0, "noise", "X", &m.job.noise, "noise of made gradients, in units of the tensor's rms", .low = 0,
               .high = 1e6),
        OPTION(0, "topology", "LIST", &m.topologies,
               "allgather, twoshot, ring or several of them: how payloads that do not add travel; the last two quantise sums again; "
               "through a server (ps) the mean is that of allgather",
               .names = exchange_name, .listed = true),
        OPTION(0, "average", "A", &m.average, average_help, .choices = average_names),
        {0},
    };
    const Command command = {
        .program = "atomo-bench",
        .command = "merge",
        .usage = "FILE... [-c SPEC]...",
        .brief = "aggregate many workers' payloads: merge time, decode time, error of the average",
        .examples = "FILE -c qsgd -c powersgd --workers 4,8,16\n"
                    "FILE -c sign -o merge.csv\n",
        .details = details,
        .options = options,
    };
    return compare_job_main(&m.job, &command, argc, argv, run);
}
