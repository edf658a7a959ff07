/* bench_verify.c -- verify FILE.h5: the statements of the paper, checked on this data. */
#include "bench_commands.h"

#include "app/progress.h"
#include "report/report_verify.h"

#include <sys/stat.h>

typedef struct {
    Common common;
    GroupSpec groups;
    int grouping;
    bool per_tensor;
    int argc;
    char **argv;
    Arena *forever, *scratch;
    Error *err;
} Options;

/* What a vector's checks cost beside its elements, for the bar. */
enum { OVERHEAD = 1 << 16 };

static Status check_vector(const Options *o, Dump *d, const Vector *v, VerifyReport *to)
{
    Subject s;
    float *x = NEW(o->scratch, float, v->shape.n);
    if (!x)
        return arena_fail(o->scratch, o->err);
    TRY(vector_load(d, v, x, o->err));
    TRY(subject_open(&s, &verify_tested, v, x, (uint64_t)o->common.seed, (int)o->common.threads, o->scratch,
                     o->err));
    for (size_t i = 0; i < statement_count(); i++) {
        Verdict verdict;
        if (cli_stopped())
            return FAIL(o->err, ERR_STOPPED, "%s: stopped at %s", dump_file(d), v->name);
        if (statement_check(statement_at(i), &s, &verdict) != OK)
            return error_at(o->err, "%s: %s: %s", dump_file(d), v->name, statement_at(i)->name);
        TRY(verify_report_put(to, i, v, &verdict, o->err));
    }
    return OK;
}

static Status check_all(const Options *o, Dump *d, const VectorList *list, VerifyReport *to)
{
    Progress progress;
    Status status = OK;
    uint64_t done = 0;
    progress_open(&progress, "verifying", list->elements + list->count * OVERHEAD, o->common.quiet);
    for (size_t i = 0; i < list->count && status == OK; i++) {
        const ArenaMark mark = arena_mark(o->scratch);
        status = check_vector(o, d, &list->item[i], to);
        arena_rewind(o->scratch, mark);
        done += list->item[i].shape.n + OVERHEAD;
        progress_step(&progress, done);
        if (o->common.verbose && status == OK)
            progress_note(&progress, "note: finished: %s", list->item[i].name);
    }
    progress_close(&progress);
    return status;
}

static Status open_report(const Options *o, const char *path, const VectorList *list, VerifyReport *to)
{
    const Common *common = &o->common;
    const Vector *first = list->item, *last = list->item + list->count - 1;
    struct stat input = {0};
    Fact *facts;
    size_t count;
    stat(path, &input);
    TRY(report_meta(&facts, &count, o->argc, o->argv, common->seed, common->threads, o->forever, o->err));
    facts[count++] = (Fact){"input", value_text(path)};
    facts[count++] = (Fact){"input_bytes", value_int(input.st_size)};
    facts[count++] = (Fact){"tensors", value_int((int64_t)list->tensors)};
    facts[count++] = (Fact){"elements", value_int((int64_t)list->elements)};
    const ReportSpec spec = {
        .schema = "atomo-verify/1",
        .meta = facts,
        .facts = count,
        .format = (Format)common->format,
        .path = common->output,
        .color = !common->output && cli_color(common),
    };
    return verify_report_open(to, spec, o->per_tensor,
                              first->step != last->step || first->worker != last->worker, o->forever, o->err);
}

static void say(const Options *o, Dump *d, const VectorList *list, const VerifyReport *r)
{
    const char *path = dump_file(d);
    if (o->common.quiet)
        return;
    if (dump_skipped(d))
        fprintf(stderr, "note: %s: %zu datasets hold no floats and are left out\n", path, dump_skipped(d));
    if (list->skipped)
        fprintf(stderr, "note: %s: %zu tensors with NaN or Inf are left out\n", path, list->skipped);
    if (r->each || o->common.output)
        fprintf(stderr,
                "note: %s: %zu of %zu checks passed; %zu times a statement says nothing of a tensor\n", path,
                r->all.checked - r->all.failed, r->all.checked, r->all.absent);
}

static Status verify(const Options *o, Dump *d, const char *path)
{
    VectorList list;
    VerifyReport report;
    TRY(groups_make(&list, d, &o->groups, o->forever, o->err));
    TRY(open_report(o, path, &list, &report));
    const Status status = check_all(o, d, &list, &report);
    if (status != OK && (status != ERR_STOPPED || o->common.output)) {
        report_abandon(report.report);
        return status;
    }
    const Error stopped = *o->err;
    TRY(verify_report_close(&report, o->err));
    say(o, d, &list, &report);
    if (status != OK) {
        *o->err = stopped;
        return status;
    }
    const char *failures = verify_failures(&report, o->forever);
    if (!failures)
        return arena_fail(o->forever, o->err);
    if (!*failures)
        return OK;
    FAIL(o->err, ERR_NUMERIC, "%s: %s", path, failures);
    return o->per_tensor || !report.people ? ERR_NUMERIC
                                           : error_hint(o->err, "--per-tensor shows every check");
}

static Status run(Options *o, const char *path)
{
    Dump *d;
    o->groups.grouping = (Grouping)o->grouping;
    TRY(dump_open(&d, path, o->forever, o->err));
    const Status status = verify(o, d, path);
    dump_close(d);
    return status;
}

/* The statements, as --help lists them. */
static const char *details(Arena *a)
{
    TextBuf text = {.arena = a};
    text_addf(
        &text,
        "csv, json and --per-tensor have a line for each statement and tensor: left should stand in "
        "`relation` to "
        "right, but for `tolerance`. Otherwise the table has a line for each statement, with the tensor that "
        "comes "
        "closest to failing. Exit code 1 when any fails.\n"
        "f(p) = sum lambda_i^2 / p_i and other second moments are in units of |g|^2, levels in units of the "
        "largest "
        "|lambda_i|, norms of matrices in units of the Frobenius norm. What is drawn at random may be off by "
        "Bernstein's bound: a true statement fails one time in 2e9 at most, so a run over 100 tensors raises "
        "a false "
        "alarm less than once in a million.\n"
        "Sums over elements are over all of them. Where only some can be looked at it is %d, one from each "
        "of as many "
        "equal stretches, or a submatrix drawn likewise, of a size said below (else at most %d by %d). "
        "Matrices are "
        "those of svd:reshape=paper; tensors of rank 1 have none. What a codec sends as plain floats is left "
        "out.\n"
        "Misprints of the paper are corrected, and named in brackets:\n",
        VERIFY_PART, VERIFY_LONG, VERIFY_SHORT);
    for (size_t i = 0; i < statement_count(); i++)
        text_addf(&text, "  %-43s %s\n", statement_at(i)->name, statement_at(i)->says);
    return text_done(&text);
}

int bench_verify(int argc, char **argv)
{
    Error err = {.status = OK};
    TextList arguments;
    bool helped;
    Options o = {.argc = argc, .argv = argv, .forever = arena_open(0), .scratch = arena_open(0), .err = &err};
    Selection *s = &o.groups.selection;
    const Option options[] = {
        OPTION('t', "tensor", "GLOB", &s->tensors, "only tensors whose path or name matches; repeatable"),
        OPTION('s', "step", "GLOB", &s->step, "only these steps, by group or number"),
        OPTION(0, "worker", "GLOB", &s->worker, "only these workers, by group or number"),
        OPTION(0, "group", "G", &o.grouping, "what is taken together as one vector",
               .choices = grouping_names),
        OPTION(0, "per-tensor", NULL, &o.per_tensor, "a line for each statement and tensor in the table"),
        OPTION(0, "skip-nonfinite", NULL, &o.groups.skip_nonfinite, "leave tensors with NaN or Inf out"),
        {0},
    };
    const Command command = {
        .program = "atomo-bench",
        .command = "verify",
        .usage = "FILE.h5",
        .brief = "check the paper's statements on this data",
        .details = details(o.forever),
        .options = options,
        .common = &o.common,
        .takes = TAKES_SEED | TAKES_THREADS | TAKES_FORMAT | TAKES_OUTPUT,
        .arguments_min = 1,
        .arguments_max = 1,
    };
    Status status = cli_parse(&command, argc, argv, &arguments, &helped, o.forever, &err);
    if (status == OK && !helped)
        status = run(&o, arguments.item[0]);
    arena_close(o.forever);
    arena_close(o.scratch);
    return status == OK ? 0 : cli_report("atomo-bench", &err);
}
