/* report_query.c -- chooses rows and columns of a stored result, and writes them. */
#include "report/report_stored.h"
#include "report/fields.h"

#include "compress/spec.h"

#include <string.h>

typedef struct {
    const Csv *t;
    size_t *row, rows;
    Written *column;
    size_t columns, shown;
    Arena *a;
    Error *err;
} Pick;

/* ---- names ---- */

static const char *column_name(const void *table, size_t i)
{
    const Csv *t = table;
    return i < t->columns ? t->name[i] : NULL;
}

static Status find_column(const Pick *p, const char *option, const char *name, size_t *column)
{
    *column = p->t->columns;
    if (!*name)
        return FAIL(p->err, ERR_USAGE, "%s: a column's name is empty; want one such as %s", option,
                    p->t->columns ? p->t->name[0] : "compressor");
    *column = csv_find(p->t, name);
    if (*column < p->t->columns)
        return OK;
    text_unknown(p->err, name, column_name, p->t, "%s: the result has no column \"%s\"", option, name);
    return error_hint(p->err,
                      "the first line of atomo-bench report RESULT -f csv has the names of all columns");
}

/* ---- rows ---- */

/* True if the cell has the value: an equal text, a number of equal value such as 0.50 and 0.5, or the spec of an equal codec. */
static bool has_value(const char *cell, const char *value, bool spec)
{
    double v, w;
    return !strcmp(cell, value) || (text_to_real(cell, &v) && text_to_real(value, &w) && v == w) || (spec && spec_equal(cell, value));
}

static Status keep_where(Pick *p, const char *condition)
{
    const char *equals = strchr(condition, '=');
    const bool unlike = equals && equals > condition && equals[-1] == '!';
    const char *name =
        equals ? text_slice(p->a, condition, (size_t)(equals - condition) - unlike) : condition;
    size_t column, kept = 0;
    TRY(arena_check(name, p->a, p->err));
    if (!equals)
        return FAIL(p->err, ERR_USAGE, "--where %s: want FIELD=VALUE or FIELD!=VALUE", condition);
    TRY(find_column(p, "--where", name, &column));
    for (size_t i = 0; i < p->rows; i++)
        if (has_value(csv_at(p->t, p->row[i], column), equals + 1, !strcmp(name, "compressor")) != unlike)
            p->row[kept++] = p->row[i];
    p->rows = kept;
    return kept ? OK : FAIL(p->err, ERR_USAGE, "--where %s: no row is left", condition);
}

static Status choose_rows(Pick *p, const Query *q, const ResultKind *kind)
{
    const bool leading = !q->all && !q->where.count && kind;
    RowRank *rank = NEW_ZERO(p->a, RowRank, p->t->rows);
    size_t lead = 0;
    p->row = NEW(p->a, size_t, p->t->rows);
    TRY(arena_check(rank && p->row, p->a, p->err));
    if (leading)
        result_rank(kind, p->t, rank);
    for (size_t i = 0; i < p->t->rows; i++)
        lead += rank[i] == ROW_LEAD;
    for (size_t i = 0; i < p->t->rows; i++)
        if (lead == 0 || rank[i] == ROW_LEAD)
            p->row[p->rows++] = i;
    for (size_t i = 0; i < q->where.count; i++)
        TRY(keep_where(p, q->where.item[i]));
    return OK;
}

/* ---- columns ---- */

/* True if a picked row has a value other than "*" in this column. */
static bool has_values(const Pick *p, size_t column)
{
    for (size_t i = 0; i < p->rows; i++) {
        const char *cell = csv_at(p->t, p->row[i], column);
        if (*cell && strcmp(cell, "*"))
            return true;
    }
    return false;
}

/* Finds the columns for the name FIELD or FIELD/OTHER. A column whose own name has the slash comes first. */
static Status find_source(const Pick *p, const char *name, Written *out)
{
    const char *slash = csv_has(p->t, name) ? NULL : strchr(name, '/');
    const char *field = slash ? text_slice(p->a, name, (size_t)(slash - name)) : name;
    TRY(arena_check(field, p->a, p->err));
    TRY(find_column(p, "--columns", field, &out->at));
    out->instead = out->at;
    out->column.name = p->t->name[out->at];
    return slash ? find_column(p, "--columns", slash + 1, &out->instead) : OK;
}

static Status name_columns(Pick *p, const char *list)
{
    for (const char *at = list, *next; at; at = next) {
        const size_t length = strcspn(at, ",");
        const char *name = text_slice(p->a, at, length);
        next = at[length] ? at + length + 1 : NULL;
        TRY(arena_check(name, p->a, p->err));
        if (p->columns == p->t->columns)
            return FAIL(p->err, ERR_USAGE, "--columns: more names than the result's %zu columns", p->columns);
        TRY(find_source(p, name, &p->column[p->columns]));
        p->columns++;
    }
    return OK;
}

/* True if `column` has the standard errors or exact values of a column of the table (with `chosen`: of a
 * shown column). */
static bool is_beside(const Pick *p, size_t column, bool chosen)
{
    for (size_t i = 0; i < (chosen ? p->shown : p->t->columns); i++)
        if (field_beside(p->t->name[chosen ? p->column[i].at : i], p->t->name[column]))
            return true;
    return false;
}

static void add_column(Pick *p, size_t i)
{
    p->column[p->columns++] = (Written){{p->t->name[i], false}, i, i};
}

static Status choose_columns(Pick *p, const Query *q, const ResultKind *kind)
{
    const char *usual = kind ? kind->usual : NULL;
    const size_t own = p->t->columns - q->remark; /* the last column is the remark */
    p->column = NEW(p->a, Written, 2 * p->t->columns + 1);
    TRY(arena_check(p->column, p->a, p->err));
    if (q->columns)
        TRY(name_columns(p, q->columns));
    for (size_t i = 0; i < own && !q->columns; i++) {
        const bool second = q->people && (is_beside(p, i, false) || !strcmp(p->t->name[i], "spec"));
        if ((has_values(p, i) || q->empty) && (usual ? text_listed(usual, p->t->name[i]) : !second))
            add_column(p, i);
    }
    if (q->remark)
        add_column(p, own);
    p->shown = p->columns;
    for (size_t i = 0; i < p->shown; i++)
        p->column[i].column.shown = true;
    for (size_t i = 0; i < own && q->people; i++)
        if (is_beside(p, i, true))
            add_column(p, i);
    return OK;
}

/* Sets *cell to the values of the chosen rows, and *columns to the names of the result's columns. */
static Status read_cells(const Pick *p, Value **cell, Column **columns)
{
    const size_t stride = p->t->columns;
    *cell = arena_take(p->a, p->rows + 1, (stride + 1) * sizeof(Value));
    *columns = NEW_ZERO(p->a, Column, stride + 1);
    TRY(arena_check(*cell && *columns, p->a, p->err));
    for (size_t k = 0; k < stride; k++) {
        const Field *f = field_of_column(p->t->name[k], NULL);
        (*columns)[k].name = p->t->name[k];
        for (size_t i = 0; i < p->rows; i++)
            (*cell)[i * stride + k] = stored_value(csv_at(p->t, p->row[i], k), f && f->text);
    }
    return OK;
}

static Status check_sort(const Pick *p, const char *sort)
{
    size_t column;
    const char *name = text_slice(p->a, sort, strcspn(sort, ":"));
    TRY(arena_check(name, p->a, p->err));
    TRY(sort_check(sort, p->err));
    return find_column(p, "--sort", name, &column);
}

Status query_write(const Query *q, const Csv *t, const ResultKind *kind, ReportSpec spec, Arena *a, Error *err)
{
    Pick p = {.t = t, .a = a, .err = err};
    Value *cell;
    Column *columns;
    TRY(choose_rows(&p, q, kind));
    if (q->sort)
        TRY(check_sort(&p, q->sort));
    TRY(choose_columns(&p, q, kind));
    TRY(read_cells(&p, &cell, &columns));
    return rows_write(&(RowSet){.columns = columns,
                                .stride = t->columns,
                                .cell = cell,
                                .rows = p.rows,
                                .group = p.rows,
                                .written = p.column,
                                .count = p.columns,
                                .sort = q->sort},
                      spec, a, err);
}
