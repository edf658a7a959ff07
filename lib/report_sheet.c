/* report_sheet.c -- see report_sheet.h. */
#include "report_sheet.h"

#include "report_terms.h"
#include "text.h"

#include <string.h>

/* A field laid across is "svd bytes": the title is that of the field. */
static const char *title_of(const char *name, Arena *a)
{
    const char *space = strrchr(name, ' '), *field = space ? space + 1 : name;
    const Term *t = term_find(field);
    const char *rest = t ? term_rest(t, field) : "";
    if (!t)
        return name;
    return text_format(a, "%.*s%s%s%s%s%s", (int)(field - name), name, t->title, *rest ? " " : "", rest,
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

static Status facts_of(Fact **facts, size_t *count, const Json *meta, Arena *a, Error *err)
{
    size_t all = 0;
    for (const Json *v = meta ? meta->first : NULL; v; v = v->next)
        all++;
    *facts = NEW_ZERO(a, Fact, all + 1);
    *count = 0;
    if (!*facts)
        return arena_fail(a, err);
    for (const Json *v = meta ? meta->first : NULL; v; v = v->next)
        (*facts)[(*count)++] = (Fact){v->name, v->type == JSON_TEXT     ? value_text(v->text)
                                               : v->type == JSON_BOOL   ? value_bool(v->on)
                                               : v->type != JSON_NUMBER ? value_none()
                                               : v->is_whole            ? value_int(v->whole)
                                                                        : value_real(v->number)};
    return OK;
}

static Status put_rows(Report *r, const Csv *rows, Arena *a, Error *err)
{
    Value *value = NEW(a, Value, rows->columns + 1);
    if (!value)
        return arena_fail(a, err);
    for (size_t row = 0; row < rows->rows; row++) {
        for (size_t i = 0; i < rows->columns; i++) {
            const Term *t = term_find(rows->name[i]);
            value[i] = stored_value(rows->cell[row * rows->columns + i], t && t->text);
        }
        TRY(report_row(r, value, true, err));
    }
    return OK;
}

Status sheet_write(const Csv *rows, const Stored *from, ReportSpec spec, Arena *a, Error *err)
{
    Fact *facts;
    Report *r;
    Column *columns = columns_of(rows, a);
    if (!columns)
        return arena_fail(a, err);
    TRY(facts_of(&facts, &spec.facts, from->meta, a, err));
    spec.meta = facts;
    spec.columns = columns;
    spec.column_count = rows->columns;
    TRY(report_open(&r, &spec, a, err));
    if (put_rows(r, rows, a, err) != OK) {
        report_abandon(r);
        return err->status;
    }
    return report_close(r, err);
}
