/* report_rows.c -- writes rows of cells with chosen columns, in the order of one field (report.h). */
#include "report/report.h"

#include <stdlib.h>
#include <string.h>

Status sort_check(const char *sort, Error *err)
{
    const char *rest = sort + strcspn(sort, ":");
    return !*rest || !strcmp(rest, ":desc")
               ? OK
               : FAIL(err, ERR_USAGE, "--sort %.60s: want FIELD or FIELD:desc", sort);
}

bool sort_is_by(const char *sort, const char *field)
{
    const size_t length = strlen(field);
    return sort && !strncmp(sort, field, length) && (!sort[length] || sort[length] == ':');
}

typedef struct {
    const Value *value;
    size_t row;
    int sign; /* -1: downwards */
} SortKey;

static double number(const Value *v)
{
    return v->type == VALUE_BOOL ? (double)v->on : value_number(v);
}

enum { NUMBER, TEXT, NOTHING };

static int class_of(const Value *v)
{
    return !isnan(number(v)) ? NUMBER : v->type == VALUE_TEXT ? TEXT : NOTHING;
}

static int compare(const void *x, const void *y)
{
    const SortKey *v = x, *w = y;
    const int class = class_of(v->value), other = class_of(w->value);
    const double a = number(v->value), b = number(w->value);
    if (class != other)
        return class - other;
    const int order = class == TEXT ? strcmp(v->value->text, w->value->text) : (a > b) - (a < b);
    return order ? v->sign * order : (v->row > w->row) - (v->row < w->row);
}

static size_t key_column(const RowSet *s)
{
    size_t i = 0;
    while (s->sort && i + 1 < s->stride && !sort_is_by(s->sort, s->columns[i].name))
        i++;
    return i;
}

static Status write_group(const RowSet *s, size_t first, SortKey *key, Value *row, Report *r, Error *err)
{
    const size_t count = s->rows - first < s->group ? s->rows - first : s->group, by = key_column(s);
    for (size_t k = 0; k < count; k++)
        key[k] = (SortKey){&s->cell[(first + k) * s->stride + by], first + k, s->sort && strchr(s->sort, ':') ? -1 : 1};
    if (s->sort)
        qsort(key, count, sizeof *key, compare);
    for (size_t k = 0; k < count; k++) {
        const size_t at = key[k].row;
        const Value *cell = s->cell + at * s->stride;
        if (s->have && !s->have[at])
            continue;
        for (size_t i = 0; i < s->count; i++)
            row[i] = cell[cell[s->written[i].at].type == VALUE_NONE ? s->written[i].instead : s->written[i].at];
        TRY(report_row(r, row, !s->shown || s->shown[at], err));
    }
    return OK;
}

Status rows_write(const RowSet *s, ReportSpec spec, Arena *a, Error *err)
{
    Report *r;
    Column *columns = NEW(a, Column, s->count + 1);
    SortKey *key = NEW(a, SortKey, s->group + 1);
    Value *row = NEW(a, Value, s->count + 1);
    TRY(arena_check(columns && key && row, a, err));
    for (size_t i = 0; i < s->count; i++)
        columns[i] = s->written[i].column;
    spec.columns = columns;
    spec.column_count = s->count;
    TRY(report_open(&r, &spec, a, err));
    for (size_t first = 0; first < s->rows; first += s->group)
        TRY(write_group(s, first, key, row, r, err));
    return report_close(r, err);
}
