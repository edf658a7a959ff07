/* report_sheet.c -- writes rows of a stored result as a report (report_sheet.h). */
#include "report/report_sheet.h"

#include "report/fields.h"
#include "base/text.h"

#include <string.h>

static Column *columns_of(const Csv *rows, size_t shown, Arena *a)
{
    Column *columns = NEW_ZERO(a, Column, rows->columns + 1);
    for (size_t i = 0; columns && i < rows->columns; i++)
        columns[i] = (Column){rows->name[i], i < shown};
    return columns;
}

Status sheet_facts(ReportSpec *spec, const Json *meta, Arena *a, Error *err)
{
    size_t count = 0;
    for (const Json *v = meta ? meta->first : NULL; v; v = v->next)
        count++;
    Fact *facts = NEW(a, Fact, count + 1);
    TRY(arena_check(facts, a, err));
    spec->meta = facts;
    spec->facts = count;
    for (const Json *v = meta ? meta->first : NULL; v; v = v->next)
        *facts++ = (Fact){v->name, stored_json(v)};
    return OK;
}

static Status put_rows(Report *r, const Csv *rows, Arena *a, Error *err)
{
    Value *value = NEW(a, Value, rows->columns + 1);
    TRY(arena_check(value, a, err));
    for (size_t row = 0; row < rows->rows; row++) {
        for (size_t i = 0; i < rows->columns; i++) {
            const Field *f = field_of_column(rows->name[i], NULL);
            value[i] = stored_value(rows->cell[row * rows->columns + i], f && f->text);
        }
        TRY(report_row(r, value, true, err));
    }
    return OK;
}

Status sheet_write(const Csv *rows, size_t shown, ReportSpec spec, Arena *a, Error *err)
{
    Report *r;
    Column *columns = columns_of(rows, shown, a);
    TRY(arena_check(columns, a, err));
    spec.columns = columns;
    spec.column_count = rows->columns;
    TRY(report_open(&r, &spec, a, err));
    return report_finish(r, put_rows(r, rows, a, err), err);
}
