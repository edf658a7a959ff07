/* bench_compare.c -- compare FILE.h5 -c SPEC...: apply each compressor, report the metrics. */
#include "bench.h"

#include "bench_job.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* Without -c: what the ATOMO paper compares, and element-wise ATOMO at the size that spectral ATOMO turned
 * out to have. */
static const char *const paper_set[] = {"none", "qsgd:bits=1/2/4/8", "terngrad", "svd:rank=1/2/3/4"};
static const char sized_by[] = "svd"; /* rank 3 is the default, so that is its canonical name */

typedef struct {
    Job job;
    Common common;
    TextList specs;
    int grouping;
    int64_t repeats, min_elements;
    Bytecount memory;
} Options;

static uint64_t half_of_memory(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 2 : (uint64_t)1 << 30;
}

/* The mean bits per element of codec k over everything selected; 0: it has no figures. */
static double measured_bits(const Job *j, size_t k)
{
    const Results *r = &j->results;
    const Value *row = r->rows + ((r->places - 1) * r->codecs + k) * r->column_count;
    for (size_t i = 0; i < r->column_count; i++)
        if (!strcmp(r->columns[i].name, "bits_per_element") && row[i].type != VALUE_NONE)
            return row[i].type == VALUE_INT ? (double)row[i].whole : row[i].real;
    return 0;
}

/* The last codec of the paper's set: its rate is known once the others have run. */
static Status set_entry(Job *j)
{
    char spec[64] = "entry";
    const Codec *codec;
    for (size_t k = 0; k + 1 < j->codecs; k++)
        if (!strcmp(j->name[k], sized_by) && measured_bits(j, k) > 0)
            snprintf(spec, sizeof spec, "entry:bits=%.3g", fmin(measured_bits(j, k), 64));
    TRY(codec_open(&codec, spec, j->a, j->err));
    return job_set_codec(j, j->codecs - 1, codec);
}

static Status run_codecs(Options *o)
{
    Job *j = &o->job;
    const bool paper = o->specs.count == 0;
    const TextList all = {(const char **)(uintptr_t)paper_set, countof(paper_set)};
    const Codec **codec;
    size_t count;
    TRY(codec_list(&codec, &count, paper ? &all : &o->specs, j->a, j->err));
    TRY(job_open(j, count + paper));
    for (size_t k = 0; k < count; k++)
        TRY(job_set_codec(j, k, codec[k]));
    TRY(job_begin(j));
    TRY(job_run(j));
    return paper ? set_entry(j) == OK ? job_run(j) : j->err->status : OK;
}

static Status run(Options *o, const char *file)
{
    Job *j = &o->job;
    j->file = file;
    j->groups.grouping = (Grouping)o->grouping;
    j->groups.min_elements = (size_t)o->min_elements;
    j->repeats = (size_t)o->repeats;
    j->memory = o->memory.bytes;
    Status status = run_codecs(o);
    if (j->journal.fd > 0 || status == OK || status == ERR_STOPPED)
        status = job_finish(j, status, "atomo-compare/1");
    job_close(j);
    return status;
}

/* The metrics, as --help lists them. */
static const char *details(Arena *a)
{
    TextBuf text = {.arena = a};
    text_add(
        &text,
        "Without -c: none, qsgd at 1, 2, 4 and 8 bits, terngrad, svd of rank 1 to 4, and entry with as many "
        "bits an element as svd of rank 3 turned out to have on this selection, to three digits.\n"
        "The table has a row for each compressor over everything selected; csv and json have a record for "
        "each step, worker, tensor and compressor, and records \"*\" for what is concatenated.\n"
        "Codecs that keep a state take it from step to step, each worker by itself.\n"
        "--metrics and --sort take these (--sort METRIC:desc turns the order round):\n");
    for (const Metric *m = metrics; m->name; m++)
        text_addf(&text, "  %-20s %s\n", m->name, m->brief);
    return text_done(&text);
}

int bench_compare(int argc, char **argv)
{
    Error err = {0};
    TextList arguments;
    bool helped;
    Options o = {.repeats = 10, .memory = {half_of_memory()}, .job = {.err = &err, .journal = {.fd = -1}}};
    Job *j = &o.job;
    Selection *s = &j->groups.selection;
    j->a = arena_open(0);
    j->common = &o.common;
    j->argc = argc;
    j->argv = argv;
    const Option options[] = {
        OPTION('c', "codec", "SPEC", &o.specs, "a compressor; repeatable; atomo-bench list shows them"),
        OPTION('t', "tensor", "GLOB", &s->tensors, "only tensors whose path or name matches; repeatable"),
        OPTION('s', "step", "GLOB", &s->step, "only these steps, by group or number"),
        OPTION(0, "worker", "GLOB", &s->worker, "only these workers, by group or number"),
        OPTION(0, "group", "G", &o.grouping, "what is compressed together", .choices = grouping_names),
        OPTION(0, "repeats", "N", &o.repeats, "independent repeats", .low = 1, .high = 1e6),
        OPTION(0, "metrics", "LIST", &j->view.metrics, "only these metrics, with commas between them"),
        OPTION(0, "sort", "KEY", &j->view.sort, "sort the compressors by a metric"),
        OPTION(0, "per-tensor", NULL, &j->view.per_tensor, "a row for each tensor in the table, too"),
        OPTION(0, "min-elements", "N", &o.min_elements, "send smaller tensors as floats", .high = 1e15),
        OPTION(0, "memory", "BYTES", &o.memory,
               "most memory for sorting several tensors as one: 12 bytes an element"),
        OPTION(0, "skip-nonfinite", NULL, &j->groups.skip_nonfinite, "leave tensors with NaN or Inf out"),
        {0},
    };
    const Command command = {
        .program = "atomo-bench",
        .command = "compare",
        .usage = "FILE.h5 [-c SPEC]...",
        .brief = "apply each compressor, report the metrics",
        .details = details(j->a),
        .options = options,
        .common = &o.common,
        .takes = TAKES_SEED | TAKES_THREADS | TAKES_FORMAT | TAKES_OUTPUT | TAKES_RESUME,
        .arguments_min = 1,
        .arguments_max = 1,
    };
    Status status = cli_parse(&command, argc, argv, &arguments, &helped, j->a, &err);
    if (status == OK && !helped)
        status = run(&o, arguments.item[0]);
    arena_close(j->a);
    return status == OK ? 0 : cli_report("atomo-bench", &err);
}
