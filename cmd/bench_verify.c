/* bench_verify.c -- verify FILE: checks the statements of the ATOMO paper on a dump. */
#include "bench_commands.h"

#include "app/notes.h"
#include "measure/verify.h"
#include "report/report.h"

#include <assert.h>
#include <math.h>
#include <string.h>

typedef struct {
    Common common;
    DumpHints hints;
    GroupSpec groups;
    int grouping;
    bool per_tensor; /* true: a row for each statement and tensor */
    Arena *forever, *scratch; /* forever: until the report is written; scratch: while one vector is checked */
    Error *err;
} VerifyJob;

/* ---- the rows ----
 *
 * CSV, JSON and --per-tensor have a row for each verdict (a statement on a vector). Other tables have a row for each statement,
 * with the vector on which it holds by the least margin. */

/* The verdicts on one statement, or on all statements. */
typedef struct {
    size_t checked, failed, absent; /* `absent`: vectors to which the statement does not apply */
    VerifyVerdict worst;
    const Vector *at;
} VerifyTally;

typedef struct {
    Report *report;
    bool each;          /* a row for each verdict */
    VerifyTally *tally; /* (statements) */
    VerifyTally all;
} VerifyReport;

enum { STEP_COLUMN = 1 };
static const Column each_columns[] = {
    {"statement", true}, {"step", true},  {"worker", true},    {"tensor", true}, {"left", true},
    {"relation", true},  {"right", true}, {"tolerance", true}, {"passed", true}, {"note", true},
};

static const Column summary_columns[] = {
    {"statement", true}, {"checked", true},  {"failed", true}, {"not_applicable", true}, {"closest", true},
    {"left", true},      {"relation", true}, {"right", true},  {"tolerance", true},
};

static Status put_each(VerifyReport *r, const char *name, const Vector *at, const VerifyVerdict *v,
                       Error *err)
{
    const Value row[] = {
        value_text(name),
        at->step_group ? value_int(at->step) : value_none(),
        at->worker_group ? value_int(at->worker) : value_none(),
        value_text(at->name),
        value_real(v->left),
        value_text(relation_names[v->relation]),
        value_real(v->right),
        value_real(v->tolerance),
        value_bool(verdict_holds(v)),
        value_text(v->note),
    };
    static_assert(countof(row) == countof(each_columns), "a value for each column");
    return report_row(r->report, row, true, err);
}

static Status put_summary(VerifyReport *r, const char *name, const VerifyTally *t, Error *err)
{
    const bool worst = t->at;
    const VerifyVerdict *v = &t->worst;
    const Value none = value_none();
    const Value row[] = {
        value_text(name),
        value_int((int64_t)t->checked),
        value_int((int64_t)t->failed),
        value_int((int64_t)t->absent),
        worst ? value_text(t->at->name) : none,
        worst ? value_real(v->left) : none,
        worst ? value_text(relation_names[v->relation]) : none,
        worst ? value_real(v->right) : none,
        worst ? value_real(v->tolerance) : none,
    };
    static_assert(countof(row) == countof(summary_columns), "a value for each column");
    return report_row(r->report, row, true, err);
}

static void count(VerifyTally *t, const Vector *at, const VerifyVerdict *v)
{
    t->absent += !v->applies;
    t->checked += v->applies;
    t->failed += v->applies && !verdict_holds(v);
    if (v->applies && at && (!t->at || verdict_strain(v) > verdict_strain(&t->worst))) {
        t->worst = *v;
        t->at = at;
    }
}

static Status report_put(VerifyReport *r, size_t statement, const Vector *vector, const VerifyVerdict *v,
                         Error *err)
{
    count(&r->tally[statement], vector, v);
    count(&r->all, NULL, v);
    return v->applies && r->each ? put_each(r, statement_at(statement)->name, vector, v, err) : OK;
}

static Status report_end(VerifyReport *r, Error *err)
{
    Status status = OK;
    for (size_t i = 0; i < statement_count() && !r->each && status == OK; i++)
        status = put_summary(r, statement_at(i)->name, &r->tally[i], err);
    if (!r->each && status == OK)
        status = put_summary(r, "all", &r->all, err);
    return report_finish(r->report, status, err);
}

/* ERR_NUMERIC, with the worst failure of the first failed statement, unless all hold. */
static Status verify_check(const VerifyReport *r, const char *file, Error *err)
{
    char left[32], right[32];
    for (size_t i = 0; i < statement_count(); i++) {
        const VerifyTally *t = &r->tally[i];
        if (t->failed)
            return FAIL(err, ERR_NUMERIC, "%s: %zu of %zu checks failed: %s on %s: %s, want %s %s", file, r->all.failed, r->all.checked,
                        statement_at(i)->name, t->at->name, text_double(left, t->worst.left), relation_names[t->worst.relation],
                        text_double(right, t->worst.right));
    }
    return OK;
}

/* ---- checking ---- */

/* Fixed cost of checking one vector, expressed as a number of elements, for the progress bar. */
enum { OVERHEAD = 1 << 16 };

static Status check_vector(const VerifyJob *o, Dump *d, const Vector *v, VerifyReport *to)
{
    VerifySubject s;
    float *x = NEW(o->scratch, float, v->shape.n);
    TRY(arena_check(x, o->scratch, o->err));
    TRY(vector_load(d, v, x, o->err));
    TRY(subject_open(&s, v, x, (uint64_t)o->common.seed, (int)o->common.threads, o->scratch, o->err));
    for (size_t i = 0; i < statement_count(); i++) {
        VerifyVerdict verdict;
        if (cli_stopped())
            return FAIL(o->err, ERR_STOPPED, "%s: stopped at %s", dump_file(d), v->name);
        if (statement_check(statement_at(i), &s, &verdict) != OK)
            return error_at(o->err, "%s: %s: %s", dump_file(d), v->name, statement_at(i)->name);
        TRY(report_put(to, i, v, &verdict, o->err));
    }
    return OK;
}

static Status check_all(const VerifyJob *o, Dump *d, const VectorList *list, VerifyReport *to)
{
    Progress progress;
    Status status = OK;
    uint64_t done = 0;
    progress_open(&progress, "verifying", "elements", list->elements + list->count * OVERHEAD,
                  o->common.quiet);
    for (size_t i = 0; i < list->count && status == OK; i++) {
        const ArenaMark mark = arena_mark(o->scratch);
        status = check_vector(o, d, &list->item[i], to);
        arena_rewind(o->scratch, mark);
        done += list->item[i].shape.n + OVERHEAD;
        progress_at(&progress, "%s", list->item[i].name);
        progress_step(&progress, done);
        if (o->common.verbose && status == OK)
            progress_note(&progress, "note: finished: %s", list->item[i].name);
    }
    progress_close(&progress);
    return status;
}

static Status open_report(const VerifyJob *o, const Dump *d, const VectorList *list, VerifyReport *to)
{
    const Common *common = &o->common;
    const Vector *first = list->item, *last = list->item + list->count - 1;
    struct timespec changed;
    int64_t bytes;
    Fact *facts;
    size_t count;
    TRY(dump_stat(d, &bytes, &changed, o->err));
    TRY(cli_meta(&facts, &count, common, o->forever, o->err));
    facts[count++] = (Fact){"input", value_text(dump_file(d))};
    facts[count++] = (Fact){"input_bytes", value_int(bytes)};
    facts[count++] = (Fact){"tensors", value_int((int64_t)list->tensors)};
    facts[count++] = (Fact){"elements", value_int((int64_t)list->elements)};
    ReportSpec spec = cli_spec(common, "atomo-verify/1", facts, count);
    *to = (VerifyReport){.each = o->per_tensor || spec.format == FORMAT_CSV || spec.format == FORMAT_JSON};
    to->tally = NEW_ZERO(o->forever, VerifyTally, statement_count());
    Column *columns = NEW(o->forever, Column, countof(each_columns));
    TRY(arena_check(to->tally && columns, o->forever, o->err));
    memcpy(columns, each_columns, sizeof each_columns);
    if (first->step_address == last->step_address && first->worker_address == last->worker_address)
        columns[STEP_COLUMN].shown = columns[STEP_COLUMN + 1].shown = false;
    spec.columns = to->each ? columns : summary_columns;
    spec.column_count = to->each ? countof(each_columns) : countof(summary_columns);
    return report_open(&to->report, &spec, o->forever, o->err);
}

static void note_result(const VerifyJob *o, Dump *d, const VectorList *list, const VerifyReport *r)
{
    const char *path = dump_file(d);
    if (o->common.quiet)
        return;
    notes_dump(d, list, &(Progress){0});
    if (r->each || o->common.output)
        fprintf(stderr,
                "note: %s: %zu of %zu checks passed; %zu time%s a statement does not apply to a tensor\n",
                path, r->all.checked - r->all.failed, r->all.checked, r->all.absent, text_s(r->all.absent));
}

static Status verify(const VerifyJob *o, Dump *d)
{
    VectorList list;
    VerifyReport report;
    TRY(groups_make(&list, d, &o->groups, o->forever, o->err));
    TRY(open_report(o, d, &list, &report));
    const Status status = check_all(o, d, &list, &report);
    if (status != OK && (status != ERR_STOPPED || o->common.output))
        return status;
    const Error stopped = *o->err;
    TRY(report_end(&report, o->err));
    note_result(o, d, &list, &report);
    if (status != OK) {
        *o->err = stopped;
        return status;
    }
    const Status holds = verify_check(&report, dump_file(d), o->err);
    return holds == OK || report.each ? holds : error_hint(o->err, "--per-tensor shows every check");
}

static const char *details(Arena *a)
{
    TextBuf text = {.arena = a};
    text_addf(
        &text,
        "csv, json and --per-tensor have a row for each statement and tensor; it passes if left and right are in `relation` "
        "up to `tolerance`. Otherwise the table has a row for each statement, with the tensor that comes closest to "
        "failing. The exit code is 1 if any check fails.\n"
        "f(p) = sum lambda_i^2 / p_i and other second moments are in units of |g|^2, water levels in units of the largest "
        "|lambda_i|, norms of matrices in units of the Frobenius norm. Means over random draws have a tolerance by "
        "Bernstein's inequality: a true statement fails with probability 5e-10 at most, so a run over 100 tensors raises "
        "a false alarm less than once in a million.\n"
        "Sums over elements use all of them. Statements that cannot use all elements use %d, the first of as many "
        "equal stretches, or a submatrix likewise, whose size the list below says (otherwise at most %d by %d). "
        "Matrices are those of svd:reshape=paper; tensors of rank 1 have none. Tensors that a codec sends as plain floats "
        "are left out.\n"
        "Misprints of the paper are corrected, and named in brackets:\n",
        VERIFY_PART, VERIFY_LONG, VERIFY_SHORT);
    for (size_t i = 0; i < statement_count(); i++)
        text_addf(&text, "  %-43s %s\n", statement_at(i)->name, statement_at(i)->says);
    return text_done(&text);
}

/* After a signal, no file is written, but a report on stdout has the checks made so far. */
static Status run(void *options, const TextList *arguments)
{
    VerifyJob *o = options;
    Dump *d;
    o->groups.grouping = (Grouping)o->grouping;
    o->hints.files = *arguments;
    TRY(dump_open_as(&d, arguments->item[0], &o->hints, o->forever, o->err));
    const Status status = verify(o, d);
    dump_close(d);
    return status;
}

int bench_verify(int argc, char **argv)
{
    Error err = {.status = OK};
    VerifyJob o = {.forever = arena_open(0), .scratch = arena_open(0), .err = &err};
    const Option options[] = {
        OPTIONS_SELECTION(&o.groups.selection),
        OPTIONS_HINTS(&o.hints),
        OPTION(0, "group", "G", &o.grouping, "check each tensor, each kind of tensors, or all as one vector",
               .choices = grouping_names),
        OPTION(0, "per-tensor", NULL, &o.per_tensor, "a row for each statement and tensor in the table"),
        OPTION(0, "skip-nonfinite", NULL, &o.groups.skip_nonfinite, "leave tensors with NaN or Inf out"),
        {0},
    };
    const Command command = {
        .program = "atomo-bench",
        .command = "verify",
        .usage = "FILE...",
        .brief = "check the statements of the ATOMO paper on a dump",
        .examples = "FILE\n"
                    "FILE -t 'fc*'\n",
        .details = details(o.forever),
        .options = options,
        .common = &o.common,
        .takes = TAKES_SEED | TAKES_THREADS | TAKES_FORMAT | TAKES_OUTPUT,
        .arguments_min = 1,
        .arguments_max = -1,
    };
    const int code = cli_run(&command, argc, argv, run, &o, o.forever, &err);
    arena_close(o.scratch);
    return code;
}
