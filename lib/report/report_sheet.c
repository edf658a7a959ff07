/* report_sheet.c -- see report_sheet.h. */
#include "report/report_sheet.h"

#include "report/report_terms.h"
#include "base/text.h"

#include <string.h>

static const char *title_of(const char *name, Arena *a)
{
    size_t before;
    const Term *t = term_of_column(name, &before);
    const char *rest = t ? term_rest(t, name + before) : "";
    if (!t)
        return name;
    return text_format(a, "%.*s%s%s%s%s%s", (int)before, name, t->title, *rest ? " " : "", rest,
                       t->unit ? ", " : "", t->unit ? t->unit : "");
}

static Column *columns_of(const Csv *rows, Arena *a)
{
    Column *columns = NEW_ZERO(a, Column, rows->columns + 1);
    for (size_t i = 0; columns && i < rows->columns; i++) {
        columns[i].name = rows->name[i];
        columns[i].title = title_of(rows->name[i], a);
        if (!columns[i].title)
            return NULL;
    }
    return columns;
}

static Value fact_of(const Json *v)
{
    return v->type == JSON_TEXT     ? value_text(v->text)
           : v->type == JSON_BOOL   ? value_bool(v->on)
           : v->type != JSON_NUMBER ? value_none()
           : v->is_whole            ? value_int(v->whole)
                                    : value_real(v->number);
}

Status sheet_facts(ReportSpec *spec, const char *prefix, const Json *meta, Arena *a, Error *err)
{
    size_t count = spec->facts;
    for (const Json *v = meta ? meta->first : NULL; v; v = v->next)
        count++;
    Fact *facts = NEW_ZERO(a, Fact, count + 1);
    if (!facts)
        return arena_fail(a, err);
    if (spec->facts)
        memcpy(facts, spec->meta, spec->facts * sizeof *facts);
    spec->meta = facts;
    for (const Json *v = meta ? meta->first : NULL; v; v = v->next) {
        const char *name = text_format(a, "%s%s", prefix, v->name);
        if (!name)
            return arena_fail(a, err);
        facts[spec->facts++] = (Fact){name, fact_of(v)};
    }
    return OK;
}

static Status put_rows(Report *r, const Csv *rows, Arena *a, Error *err)
{
    Value *value = NEW(a, Value, rows->columns + 1);
    if (!value)
        return arena_fail(a, err);
    for (size_t row = 0; row < rows->rows; row++) {
        for (size_t i = 0; i < rows->columns; i++) {
            const Term *t = term_of_column(rows->name[i], NULL);
            value[i] = stored_value(rows->cell[row * rows->columns + i], t && t->text);
        }
        TRY(report_row(r, value, true, err));
    }
    return OK;
}

Status sheet_write(const Csv *rows, ReportSpec spec, Arena *a, Error *err)
{
    Report *r;
    Column *columns = columns_of(rows, a);
    if (!columns)
        return arena_fail(a, err);
    spec.columns = columns;
    spec.column_count = rows->columns;
    TRY(report_open(&r, &spec, a, err));
    if (put_rows(r, rows, a, err) != OK) {
        report_abandon(r);
        return err->status;
    }
    return report_close(r, err);
}
