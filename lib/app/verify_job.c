/* verify_job.c -- implements verify_job.h. */
#include "app/verify_job.h"

#include "app/notes.h"
#include "report/report_verify.h"

#include <sys/stat.h>

/* Fixed cost of checking one vector, expressed as a number of elements, for the progress bar. */
enum { OVERHEAD = 1 << 16 };

static Status check_vector(const VerifyJob *o, Dump *d, const Vector *v, VerifyReport *to)
{
    VerifySubject s;
    float *x = NEW(o->scratch, float, v->shape.n);
    TRY(arena_check(x, o->scratch, o->err));
    TRY(vector_load(d, v, x, o->err));
    TRY(subject_open(&s, o->methods, v, x, (uint64_t)o->common.seed, (int)o->common.threads, o->scratch,
                     o->err));
    for (size_t i = 0; i < statement_count(); i++) {
        VerifyVerdict verdict;
        if (cli_stopped())
            return FAIL(o->err, ERR_STOPPED, "%s: stopped at %s", dump_file(d), v->name);
        if (statement_check(statement_at(i), &s, &verdict) != OK)
            return error_at(o->err, "%s: %s: %s", dump_file(d), v->name, statement_at(i)->name);
        TRY(verify_report_put(to, i, v, &verdict, o->err));
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

static Status open_report(const VerifyJob *o, const char *path, const VectorList *list, VerifyReport *to)
{
    const Common *common = &o->common;
    const Vector *first = list->item, *last = list->item + list->count - 1;
    struct stat input = {0};
    Fact *facts;
    size_t count;
    stat(path, &input);
    TRY(cli_meta(&facts, &count, common, o->forever, o->err));
    facts[count++] = (Fact){"input", value_text(path)};
    facts[count++] = (Fact){"input_bytes", value_int(input.st_size)};
    facts[count++] = (Fact){"tensors", value_int((int64_t)list->tensors)};
    facts[count++] = (Fact){"elements", value_int((int64_t)list->elements)};
    const ReportSpec spec = cli_spec(common, "atomo-verify/1", facts, count);
    return verify_report_open(to, spec, o->per_tensor,
                              first->step_address != last->step_address ||
                                  first->worker_address != last->worker_address,
                              o->forever, o->err);
}

static void note_result(const VerifyJob *o, Dump *d, const VectorList *list, const VerifyReport *r)
{
    const char *path = dump_file(d);
    if (o->common.quiet)
        return;
    notes_dump(d, &(Progress){0});
    if (list->skipped)
        fprintf(stderr, "note: %s: %zu tensor%s with NaN or Inf %s left out\n", path, list->skipped,
                text_s(list->skipped), text_are(list->skipped));
    if (r->each || o->common.output)
        fprintf(stderr,
                "note: %s: %zu of %zu checks passed; %zu time%s a statement does not apply to a tensor\n",
                path, r->all.checked - r->all.failed, r->all.checked, r->all.absent, text_s(r->all.absent));
}

static Status verify(const VerifyJob *o, Dump *d, const char *path)
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
    note_result(o, d, &list, &report);
    if (status != OK) {
        *o->err = stopped;
        return status;
    }
    const char *failures = verify_failures(&report, o->forever);
    TRY(arena_check(failures, o->forever, o->err));
    if (!*failures)
        return OK;
    FAIL(o->err, ERR_NUMERIC, "%s: %s", path, failures);
    return o->per_tensor || !report.people ? ERR_NUMERIC
                                           : error_hint(o->err, "--per-tensor shows every check");
}

Status verify_job_run(VerifyJob *o, const char *path)
{
    Dump *d;
    o->groups.grouping = (Grouping)o->grouping;
    TRY(dump_open_as(&d, path, &o->hints, o->forever, o->err));
    const Status status = verify(o, d, path);
    dump_close(d);
    return status;
}
