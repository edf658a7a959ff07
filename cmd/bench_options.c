/* bench_options.c -- the command line of the commands that compare codecs (bench_job.h). */
#include "bench_job.h"

#include <assert.h>
#include <unistd.h>

static uint64_t half_of_memory(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 2 : (uint64_t)1 << 30;
}

/* What the command says of itself, and the metrics, as --help lists them. */
static const char *details(const Job *j, const char *own)
{
    TextBuf text = {.arena = j->a};
    text_add(&text, own);
    if (!j->arrange && !j->sums_up)
        text_add(&text, "Codecs that keep a state take it from step to step, each worker by itself: all "
                        "repeats of a step start "
                        "from the same state, and repeat 0 moves it on, so variance and bias are those given "
                        "that state.\n");
    if (j->sums_up)
        return text_done(&text);
    text_add(
        &text,
        "The table has a row for each compressor over everything selected; csv and json have a record for "
        "each step, worker, tensor and compressor, and records \"*\" for what is concatenated.\n"
        "--metrics and --sort take these (--sort METRIC:desc turns the order round); where none of those "
        "named is a "
        "time, nothing is timed, which is faster for small tensors:\n");
    for (const Metric *m = metrics; m->name; m++)
        text_addf(&text, "  %-20s %s\n", m->name, m->brief);
    return text_done(&text);
}

/* Rows up to {0}, into `all` behind the `count` that it has. */
static size_t add_rows(Option *all, size_t count, const Option *rows)
{
    for (; rows->type != CLI_END; rows++)
        all[count++] = *rows;
    return count;
}

static const Option *all_options(Job *j, const Option *own)
{
    enum { SPARE = 32 };
    Selection *s = &j->groups.selection;
    const Option first[] = {
        OPTION('c', "codec", "SPEC", &j->specs, "a compressor; repeatable; atomo-bench list shows them"),
        {0},
    };
    const Option selection[] = {
        OPTION('t', "tensor", "GLOB", &s->tensors, "only tensors whose path or name matches; repeatable"),
        OPTION('s', "step", "GLOB", &s->step, "only these steps, by group or number"),
        OPTION(0, "worker", "GLOB", &s->worker, "only these workers, by group or number"),
        OPTION(0, "group", "G", &j->grouping, "what is compressed together", .choices = grouping_names),
        OPTION(0, "repeats", "N", &j->repeats, "independent repeats", .low = 1, .high = 1e6),
        {0},
    };
    const Option metric[] = {
        OPTION(0, "metrics", "LIST", &j->view.metrics, "only these metrics, with commas between them"),
        OPTION(0, "sort", "KEY", &j->view.sort, "sort the compressors by a metric"),
        OPTION(0, "per-tensor", NULL, &j->view.per_tensor, "a row for each tensor in the table, too"),
        OPTION(0, "memory", "BYTES", &j->memory,
               "most memory for sorting several tensors as one: 12 bytes an element"),
        {0},
    };
    const Option rest[] = {
        OPTION(0, "min-elements", "N", &j->min_elements, "send smaller tensors as floats", .high = 1e15),
        OPTION(0, "skip-nonfinite", NULL, &j->groups.skip_nonfinite, "leave tensors with NaN or Inf out"),
        {0},
    };
    Option *all = NEW_ZERO(j->a, Option, SPARE);
    size_t count = 0;
    if (!all)
        return NULL;
    count = add_rows(all, count, first); /* as everywhere */
    count = add_rows(all, count, own);
    count = add_rows(all, count, selection);
    if (!j->sums_up)
        count = add_rows(all, count, metric);
    count = add_rows(all, count, rest);
    assert(count < SPARE);
    return all;
}

int job_main(Job *j, const Command *command, int argc, char **argv, Status (*run)(Job *j))
{
    Error err = {0};
    TextList arguments;
    bool helped;
    Command c = *command;
    j->a = arena_open(0);
    j->err = &err;
    j->journal.fd = -1;
    j->argc = argc;
    j->argv = argv;
    j->repeats = j->repeats ? j->repeats : 10;
    j->memory.bytes = j->sums_up ? 0 : half_of_memory();
    c.options = all_options(j, command->options);
    c.details = details(j, command->details);
    c.common = &j->common;
    c.takes =
        TAKES_SEED | TAKES_THREADS | TAKES_FORMAT | TAKES_OUTPUT | (j->keeps_no_journal ? 0 : TAKES_RESUME);
    c.arguments_min = c.arguments_max = 1;
    Status status = c.options && c.details ? OK : arena_fail(j->a, &err);
    if (status == OK)
        status = cli_parse(&c, argc, argv, &arguments, &helped, j->a, &err);
    if (status == OK && !helped) {
        j->file = arguments.item[0];
        status = run(j);
        job_close(j);
    }
    arena_close(j->a);
    return status == OK ? 0 : cli_report(c.program, &err);
}
