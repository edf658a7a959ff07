/* report_verify.c -- writes the verdicts of the command `verify`, or a summary of each statement
 * (report_verify.h). */
#include "report/report_verify.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- columns ---- */

static const Column records[] = {
    {"statement", false}, {"tensor", false}, {"left", false},   {"right", false},    {"tolerance", false},
    {"passed", false},    {"step", false},   {"worker", false}, {"relation", false}, {"note", false},
};

enum { STEP_COLUMN = 1 };
static const Column each_columns[] = {
    {"statement", true}, {"step", true},  {"worker", true},    {"tensor", true}, {"left", true},
    {"relation", true},  {"right", true}, {"tolerance", true}, {"passed", true}, {"note", true},
};

static const Column summary_columns[] = {
    {"statement", true}, {"checked", true},  {"failed", true}, {"not_applicable", true}, {"closest", true},
    {"left", true},      {"relation", true}, {"right", true},  {"tolerance", true},
};

/* ---- rows ---- */

static Value step_of(const Vector *v)
{
    return v->step_group ? value_int(v->step) : value_none();
}

static Value worker_of(const Vector *v)
{
    return v->worker_group ? value_int(v->worker) : value_none();
}

static Status put_each(VerifyReport *r, const char *name, const Vector *at, const VerifyVerdict *v,
                       Error *err)
{
    /* tables keep their rows until the end, and `v` does not live so long */
    const char *note = r->people ? text_copy(r->a, v->note) : v->note;
    const Value row[] = {
        value_text(name),
        step_of(at),
        worker_of(at),
        value_text(at->name),
        value_real(v->left),
        value_text(relation_names[v->relation]),
        value_real(v->right),
        value_real(v->tolerance),
        value_bool(verdict_holds(v)),
        value_text(note),
    };
    static_assert(countof(row) == countof(each_columns), "a value for each column");
    static_assert(countof(row) == countof(records), "the same columns");
    Value record[countof(records)];
    TRY(arena_check(note, r->a, err));
    for (size_t k = 0; k < countof(records); k++)
        record[k] = row[report_column(each_columns, records[k].name)];
    return report_row(r->report, r->people ? row : record, true, err);
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

/* ---- writing the report ---- */

Status verify_report_open(VerifyReport *r, ReportSpec spec, bool per_tensor, bool several, Arena *a,
                          Error *err)
{
    const bool people = spec.format != FORMAT_CSV && spec.format != FORMAT_JSON;
    Column *columns = NEW(a, Column, countof(each_columns));
    *r = (VerifyReport){.each = per_tensor || !people, .people = people, .several = several, .a = a};
    r->tally = NEW_ZERO(a, VerifyTally, statement_count());
    TRY(arena_check(r->tally && columns, a, err));
    memcpy(columns, each_columns, sizeof each_columns);
    if (!several)
        columns[STEP_COLUMN].shown = columns[STEP_COLUMN + 1].shown = false;
    spec.columns = !people ? records : r->each ? columns : summary_columns;
    spec.column_count = !people   ? countof(records)
                        : r->each ? countof(each_columns)
                                  : countof(summary_columns);
    return report_open(&r->report, &spec, a, err);
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

Status verify_report_put(VerifyReport *r, size_t statement, const Vector *vector, const VerifyVerdict *v,
                         Error *err)
{
    const char *name = statement_at(statement)->name;
    count(&r->tally[statement], vector, v);
    count(&r->all, NULL, v);
    if (!v->applies || !r->each)
        return OK;
    return put_each(r, name, vector, v, err);
}

Status verify_report_close(VerifyReport *r, Error *err)
{
    Status status = OK;
    for (size_t i = 0; i < statement_count() && !r->each && status == OK; i++)
        status = put_summary(r, statement_at(i)->name, &r->tally[i], err);
    if (!r->each && status == OK)
        status = put_summary(r, "all", &r->all, err);
    return report_finish(r->report, status, err);
}

char *verify_failures(const VerifyReport *r, Arena *a)
{
    for (size_t i = 0; i < statement_count(); i++) {
        const VerifyTally *t = &r->tally[i];
        if (!t->failed)
            continue;
        char left[32], right[32];
        return text_format(a, "%zu of %zu checks failed: %s on %s: %s, want %s %s", r->all.failed,
                           r->all.checked, statement_at(i)->name, t->at->name,
                           text_double(left, t->worst.left), relation_names[t->worst.relation],
                           text_double(right, t->worst.right));
    }
    return text_copy(a, "");
}
