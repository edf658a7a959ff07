/* bench_inspect.c -- inspect FILE.h5: describes the tensors of a dump. */
#include "bench_commands.h"

#include "app/inspect.h"
#include "app/memory.h"
#include "app/notes.h"

typedef struct {
    Common common;
    Selection selection;
    DumpHints hints;
    bool histogram, spectrum;
    int64_t bins;
    int reshape;
    Arena *forever, *scratch;
    Error *err;
} Options;

/* Returns true if the selected tensors are of several steps or workers. */
static bool repeats(const Dump *d, const size_t *index, size_t count)
{
    const TensorInfo *first = dump_tensor(d, index[0]), *last = dump_tensor(d, index[count - 1]);
    return first->step_address != last->step_address || first->worker_address != last->worker_address;
}

enum { LARGE = 1 << 22 }; /* elements of a tensor whose singular values are computed without a copy */

/* Returns memory for the n elements of a tensor. A large tensor gets the second half of an array of doubles, `*wide`,
 * for its spectrum. */
static float *take_tensor(const Options *o, size_t n, double **wide)
{
    *wide = n > LARGE && !o->histogram ? NEW(o->scratch, double, n) : NULL;
    return *wide ? (float *)(void *)*wide + n : NEW(o->scratch, float, n);
}

/* Says how much memory the largest tensor will take; refuses a tensor that does not fit. */
static Status check_memory(const Options *o, const Dump *d, const size_t *index, size_t count)
{
    const TensorInfo *largest = dump_tensor(d, index[0]);
    for (size_t i = 1; i < count; i++)
        largest = dump_tensor(d, index[i])->shape.n > largest->shape.n ? dump_tensor(d, index[i]) : largest;
    const size_t n = largest->shape.n;
    const uint64_t need = (uint64_t)n * (o->histogram ? sizeof(float) : sizeof(double));
    if (o->common.verbose)
        memory_note("%.200s: memory for the largest tensor%s %.4g MB", largest->path,
                    o->histogram ? "" : " and its singular values", 1e-6 * (double)need);
    return memory_check(need, largest->path, n, o->err) == OK ? OK : error_at(o->err, "%s", dump_file(d));
}

static const char stopped_line[] = "inspect: stopped";

static Status write_all(const Options *o, Dump *d, const size_t *index, size_t count, Report *to,
                        const InspectView *view, Error *lost)
{
    for (size_t i = 0; i < count; i++) {
        if (cli_stopped())
            return FAIL(o->err, ERR_STOPPED, "%s", stopped_line);
        const ArenaMark mark = arena_mark(o->scratch);
        const TensorInfo *info = dump_tensor(d, index[i]);
        double *wide;
        float *x = take_tensor(o, info->shape.n, &wide);
        TRY(arena_check(x, o->scratch, o->err));
        TRY(dump_read(d, index[i], x, o->err));
        const Inspected t = {.info = info,
                             .x = x,
                             .wide = wide,
                             .about = describe(x, info->shape.n),
                             .bins = (size_t)o->bins,
                             .reshape = (Reshape)o->reshape,
                             .lost = lost};
        if (view->write(&t, to, o->scratch, o->err) != OK)
            return error_at(o->err, "%s", info->path);
        arena_rewind(o->scratch, mark);
    }
    return OK;
}

static Status inspect(const Options *o, Dump *d, const char *path)
{
    const InspectView *view = &inspect_views[o->histogram  ? INSPECT_HISTOGRAM
                                             : o->spectrum ? INSPECT_SPECTRUM
                                                           : INSPECT_RECORD];
    const Fact facts[] = {{"input", value_text(path)}, {"skipped", value_int((int64_t)dump_skipped(d))}};
    Report *report;
    size_t *index, count;
    TRY(dump_select(d, &o->selection, o->forever, &index, &count, o->err));
    TRY(check_memory(o, d, index, count));
    const ReportSpec spec = {.schema = "atomo-inspect/1",
                             .meta = facts,
                             .facts = countof(facts),
                             .columns = view->columns,
                             .column_count = view->count - (repeats(d, index, count) ? 0 : view->cell)};
    TRY(cli_report_open(&report, &o->common, &spec, o->forever, o->err));
    Error lost = {.status = OK};
    const Status written = write_all(o, d, index, count, report, view, &lost);
    /* A file without spectra does not replace an older one where another start may compute them. */
    const bool keeps = o->common.output && (lost.status == ERR_MEMORY || lost.status == ERR_IO);
    const Status finished = report_finish(report, written == OK && keeps ? lost.status : written, o->err);
    if (written != OK || lost.status == OK)
        return finished;
    /* A tensor's spectrum could not be computed. The error is reported now, after the results of all tensors
     * are written. */
    *o->err = lost;
    return error_at(o->err, "%s", path);
}

static Status run(void *options, const TextList *arguments)
{
    Options *o = options;
    const char *path = arguments->item[0];
    Dump *d;
    if (o->histogram && o->spectrum)
        return FAIL(o->err, ERR_USAGE, "inspect: --histogram and --spectrum are two tables; want one");
    TRY(dump_open_as(&d, path, &o->hints, o->forever, o->err));
    const Status status = inspect(o, d, path);
    if (status == OK && !o->common.quiet)
        notes_dump(d, &(Progress){0});
    dump_close(d);
    return status;
}

int bench_inspect(int argc, char **argv)
{
    Error err;
    Options o = {.bins = 100, .forever = arena_open(0), .scratch = arena_open(0), .err = &err};
    const Option options[] = {
        OPTION('t', "tensor", "GLOB", &o.selection.tensors,
               "only tensors whose path or name matches; repeatable"),
        OPTION(0, "kind", "GLOB", &o.selection.kind, "only tensors of this kind, such as conv, fc or bias"),
        OPTION('s', "step", "GLOB", &o.selection.step, "only these steps, by group or number"),
        OPTION(0, "worker", "GLOB", &o.selection.worker, "only these workers, by group or number"),
        OPTIONS_HINTS(&o.hints),
        OPTION(0, "histogram", NULL, &o.histogram, "a row for each bin of each tensor's histogram"),
        OPTION(0, "spectrum", NULL, &o.spectrum, "a row for each singular value of each tensor"),
        OPTION(0, "bins", "N", &o.bins, "number of bins of a histogram", .low = 1, .high = 1e6),
        OPTION(0, "reshape", "R", &o.reshape, "how a tensor becomes a matrix", .choices = reshape_names),
        {0},
    };
    const Command command = {
        .program = "atomo-bench",
        .command = "inspect",
        .usage = "FILE.h5",
        .brief = "describe each tensor: norms, zeros, singular values, and the quantities of the ATOMO paper",
        .examples = "FILE.h5\n"
                    "FILE.h5 -t 'fc*' --spectrum -o spectrum.csv\n"
                    "FILE.h5 --histogram -o histogram.csv\n",
        .details =
            "NaN and infinities are counted in nonfinite and ignored elsewhere; such a tensor has no spectrum.\n"
            "theorem 6 names the atoms with less variance at equal cost: svd if (rows + cols) nuclear^2 <= l1^2.\n"
            "qsgd = s and terngrad = s are the budgets s at which ATOMO on entries equals them: l1/l2 and l1/linf.\n",
        .options = options,
        .common = &o.common,
        .takes = TAKES_FORMAT | TAKES_OUTPUT,
        .arguments_min = 1,
        .arguments_max = 1,
    };
    const int code = cli_run(&command, argc, argv, run, &o, o.forever, &err);
    arena_close(o.scratch);
    return code;
}
