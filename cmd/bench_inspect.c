/* bench_inspect.c -- inspect FILE: describes the tensors of a dump, with a record, a histogram or a spectrum of each. */
#include "bench_commands.h"

#include "app/notes.h"
#include "dump/describe.h"

#include <math.h>

/* A tensor that has been read, and the options that describe it. */
typedef struct {
    const TensorInfo *info;
    const float *x;
    Description about;
    size_t bins;
    Reshape reshape;
    bool brief; /* the spectrum of a large tensor is left out */
    Error *lost; /* the first error in computing a spectrum, of any tensor; OK: no error */
} Inspected;

/* A table of the report: its columns, and the function that writes one tensor's rows. The function's caller
 * rewinds `scratch` after the call. */
typedef struct {
    Status (*write)(const Inspected *t, Report *to, Arena *scratch, Error *err);
    const Column *columns;
    size_t count;
    size_t cell; /* last columns, step and worker, that are needed only if a tensor occurs more than once */
} InspectView;

enum { INSPECT_RECORD, INSPECT_HISTOGRAM, INSPECT_SPECTRUM, INSPECT_LIST };

static Value value_count(size_t n)
{
    return value_int((int64_t)n);
}

/* Computes the spectrum of a tensor. On failure, the fields of the spectrum in the tensor's record stay empty.
 * `*t->lost` keeps the first failure of the file. */
static void take_spectrum(Spectrum *s, const Inspected *t, Arena *scratch)
{
    Error err;
    const Shape *shape = &t->info->shape;
    if ((t->brief && spectrum_leads(shape, t->reshape)) || t->info->whole > shape->n) { /* rows do not tell it */
        *s = (Spectrum){.stable_rank = NAN, .nuclear_norm = NAN, .theorem6_left = NAN, .theorem6_right = NAN};
        return;
    }
    if (spectrum_take(s, t->x, shape, t->reshape, &t->about, scratch, &err) == OK ||
        t->lost->status != OK)
        return;
    *t->lost = err;
    error_at(t->lost, "%s", t->info->path);
}

static Value step_of(const TensorInfo *info)
{
    return info->step_group ? value_int(info->step) : value_none();
}

static Value worker_of(const TensorInfo *info)
{
    return info->worker_group ? value_int(info->worker) : value_none();
}

/* ---- a record for each tensor ---- */

static const Column record_columns[] = {
    {"step", true},
    {"worker", true},
    {"tensor", true},
    {"kind", true},
    {"shape", true},
    {"n", true},
    {"min", false},
    {"max", false},
    {"mean", true},
    {"std", true},
    {"l1", true},
    {"l2", true},
    {"linf", true},
    {"zeros", true},
    {"nonfinite", true},
    {"stable_rank", true},
    {"nuclear_norm", true},
    {"theorem6_left", false},
    {"theorem6_right", false},
    {"theorem6_winner", true},
    {"qsgd_budget", true},
    {"terngrad_budget", true},
};

static Status write_record(const Inspected *t, Report *to, Arena *scratch, Error *err)
{
    const Description *d = &t->about;
    const TensorInfo *info = t->info;
    Spectrum s;
    take_spectrum(&s, t, scratch);
    const char *winner = s.theorem6_left <= s.theorem6_right ? "svd" : "entry";
    const bool decided = d->linf > 0 && !isnan(s.theorem6_left);
    const Value row[] = {
        step_of(info),
        worker_of(info),
        value_text(info->name),
        value_text(kind_names[info->kind]),
        value_shape(&info->shape),
        value_count(d->n),
        value_real(d->min),
        value_real(d->max),
        value_real(d->mean),
        value_real(d->std),
        value_real(d->l1),
        value_real(d->l2),
        value_real(d->linf),
        value_count(d->zeros),
        value_count(d->nonfinite),
        value_real(s.stable_rank),
        value_real(s.nuclear_norm),
        value_real(s.theorem6_left),
        value_real(s.theorem6_right),
        value_text(decided ? winner : NULL),
        value_real(d->qsgd_budget),
        value_real(d->terngrad_budget),
    };
    _Static_assert(countof(row) == countof(record_columns), "a value for each column");
    return report_row(to, row, true, err);
}

/* ---- the tables of --histogram and --spectrum ---- */

static const Column histogram_columns[] = {{"tensor", true}, {"bin_low", true}, {"bin_high", true},
                                           {"count", true},  {"step", true},    {"worker", true}};

static Status write_histogram(const Inspected *t, Report *to, Arena *scratch, Error *err)
{
    Histogram h = {.bins = t->bins, .count = NEW(scratch, uint64_t, t->bins)};
    TRY(arena_check(h.count, scratch, err));
    histogram_fill(&h, t->x, t->about.n);
    for (size_t b = 0; b < h.bins; b++) {
        const Value row[] = {value_text(t->info->name),
                             value_real(histogram_edge(&h, b)),
                             value_real(histogram_edge(&h, b + 1)),
                             value_count((size_t)h.count[b]),
                             step_of(t->info),
                             worker_of(t->info)};
        TRY(report_row(to, row, true, err));
    }
    return OK;
}

static const Column spectrum_columns[] = {
    {"tensor", true}, {"index", true}, {"value", true}, {"step", true}, {"worker", true}};

static Status write_spectrum(const Inspected *t, Report *to, Arena *scratch, Error *err)
{
    Spectrum s;
    take_spectrum(&s, t, scratch);
    if (!s.value) {
        const Value none[] = {value_text(t->info->name), value_none(), value_none(), step_of(t->info),
                              worker_of(t->info)};
        return report_row(to, none, true, err);
    }
    for (size_t i = 0; i < s.k; i++) {
        const Value row[] = {value_text(t->info->name), value_count(i + 1), value_real(s.value[i]),
                             step_of(t->info), worker_of(t->info)};
        TRY(report_row(to, row, true, err));
    }
    return OK;
}

/* ---- the table of --list, from what the files' headers say ---- */

static const Column list_columns[] = {{"tensor", true}, {"shape", true}, {"n", true},    {"type", true},
                                      {"bytes", true},  {"file", true},  {"step", true}, {"worker", true}};

static Status write_list(const Dump *d, const size_t *index, size_t count, Report *to, Error *err)
{
    for (size_t i = 0; i < count; i++) {
        const TensorInfo *t = dump_tensor(d, index[i]);
        const size_t item = array_item_bytes[t->type];
        const Value row[] = {value_text(t->name),
                             value_shape(&t->shape),
                             value_count(t->shape.n),
                             item ? value_text(array_type_names[t->type]) : value_none(),
                             item ? value_count(item * t->shape.n) : value_none(),
                             value_text(dump_tensor_file(d, index[i])),
                             step_of(t),
                             worker_of(t)};
        TRY(report_row(to, row, true, err));
    }
    return OK;
}

static const InspectView inspect_views[] = {
    [INSPECT_RECORD] = {write_record, record_columns, countof(record_columns), 0},
    [INSPECT_HISTOGRAM] = {write_histogram, histogram_columns, countof(histogram_columns), 2},
    [INSPECT_LIST] = {NULL, list_columns, countof(list_columns), 2},
    [INSPECT_SPECTRUM] = {write_spectrum, spectrum_columns, countof(spectrum_columns), 2},
};

/* ---- the command ---- */

typedef struct {
    Common common;
    Selection selection;
    DumpHints hints;
    bool histogram, spectrum, list;
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

static Status write_all(const Options *o, Dump *d, const size_t *index, size_t count, Report *to,
                        const InspectView *view, Error *lost)
{
    for (size_t i = 0; i < count; i++) {
        if (cli_stopped())
            return FAIL(o->err, ERR_STOPPED, "inspect: stopped");
        const ArenaMark mark = arena_mark(o->scratch);
        const TensorInfo *info = dump_tensor(d, index[i]);
        const size_t n = info->shape.n;
        TRY(memory_check((uint64_t)n * (o->histogram ? 4 : 12), dump_file(d), info->path, n, o->err));
        float *x = NEW(o->scratch, float, n);
        TRY(arena_check(x, o->scratch, o->err));
        TRY(dump_read(d, index[i], x, o->err));
        const Inspected t = {.info = info,
                             .x = x,
                             .about = describe(x, info->shape.n),
                             .bins = (size_t)o->bins,
                             .reshape = (Reshape)o->reshape,
                             .brief = !o->spectrum,
                             .lost = lost};
        if (view->write(&t, to, o->scratch, o->err) != OK)
            return error_at(o->err, "%s", info->path);
        arena_rewind(o->scratch, mark);
    }
    return OK;
}

static Status inspect(const Options *o, Dump *d, const char *path)
{
    const InspectView *view = &inspect_views[o->list       ? INSPECT_LIST
                                             : o->histogram ? INSPECT_HISTOGRAM
                                             : o->spectrum ? INSPECT_SPECTRUM
                                                           : INSPECT_RECORD];
    const Fact facts[] = {{"input", value_text(path)},
                          {"skipped", value_int((int64_t)dump_skipped(d))},
                          {"leading_values_only", value_int(SPECTRUM_LEADING)}};
    Report *report;
    size_t *index, count, large = 0;
    TRY(dump_select(d, &o->selection, o->forever, &index, &count, o->err));
    for (size_t i = 0; i < count && !o->list && !o->histogram; i++)
        large += spectrum_leads(&dump_tensor(d, index[i])->shape, (Reshape)o->reshape);
    const ReportSpec spec = {.schema = "atomo-inspect/1",
                             .meta = facts,
                             .facts = countof(facts) - !(large && o->spectrum),
                             .columns = view->columns,
                             .column_count = view->count - (repeats(d, index, count) ? 0 : view->cell)};
    TRY(cli_report_open(&report, &o->common, &spec, o->forever, o->err));
    Error lost = {.status = OK};
    const Status written = o->list ? write_list(d, index, count, report, o->err) : write_all(o, d, index, count, report, view, &lost);
    const Status finished = report_finish(report, written, o->err);
    if (o->hints.sample && !o->common.quiet)
        fprintf(stderr, "note: %s: of each tensor %lld random rows are described, of a vector 256 times as many elements, without spectra\n", path,
                (long long)o->hints.sample);
    if (large && !o->common.quiet && o->spectrum)
        fprintf(stderr, "note: %s: of %zu tensor%s with more than 1024 rows and columns the %d largest singular values, approximately\n",
                path, large, text_s(large), SPECTRUM_LEADING);
    else if (large && !o->common.quiet)
        fprintf(stderr, "note: %s: the spectra of %zu tensor%s with more than 1024 rows and columns are left out; --spectrum has their largest values\n",
                path, large, text_s(large));
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
    if (o->histogram + o->spectrum + o->list > 1)
        return FAIL(o->err, ERR_USAGE, "inspect: --list, --histogram and --spectrum are different tables; want one");
    if (o->hints.sample && (o->list || o->spectrum))
        return FAIL(o->err, ERR_USAGE, "--sample: not with --list or --spectrum");
    o->hints.files = *arguments;
    TRY(dump_open_as(&d, path, &o->hints, o->forever, o->err));
    dump_draw(d, (uint64_t)o->common.seed);
    const Status status = inspect(o, d, path);
    if (status == OK && !o->common.quiet)
        notes_dump(d, NULL, &(Progress){0});
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
        OPTION(0, "list", NULL, &o.list, "a row for each tensor with shape, type, bytes and file, from the files' headers alone"),
        OPTION(0, "histogram", NULL, &o.histogram, "a row for each bin of each tensor's histogram"),
        OPTION(0, "spectrum", NULL, &o.spectrum, "a row for each singular value of each tensor; for each of the 64 largest, approximately, beyond 1024 rows and columns"),
        OPTION(0, "sample", "K", &o.hints.sample, "describe K random rows of each matrix instead of all", .low = 1, .high = 1e9),
        OPTION(0, "bins", "N", &o.bins, "number of bins of a histogram", .low = 1, .high = 1e6),
        OPTION(0, "reshape", "R", &o.reshape, "how a tensor becomes a matrix", .choices = reshape_names),
        {0},
    };
    const Command command = {
        .program = "atomo-bench",
        .command = "inspect",
        .usage = "FILE...",
        .brief = "describe each tensor: norms, zeros, singular values, and the quantities of the ATOMO paper",
        .examples = "FILE\n"
                    "FILE -t 'fc*' --spectrum -o spectrum.csv\n"
                    "FILE --histogram -o histogram.csv\n",
        .details =
            "NaN and infinities are counted in nonfinite and ignored elsewhere; such a tensor has no spectrum.\n"
            "theorem 6 names the atoms with less variance at equal cost: svd if (rows + cols) nuclear^2 <= l1^2.\n"
            "s of qsgd and s of terngrad are the expected numbers of entries at which entry-wise ATOMO equals 1-bit QSGD and TernGrad: "
            "l1/l2 and l1/linf.\n",
        .options = options,
        .common = &o.common,
        .takes = TAKES_SEED | TAKES_FORMAT | TAKES_OUTPUT,
        .arguments_min = 1,
        .arguments_max = -1,
    };
    const int code = cli_run(&command, argc, argv, run, &o, o.forever, &err);
    arena_close(o.scratch);
    return code;
}
