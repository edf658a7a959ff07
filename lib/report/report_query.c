/* report_query.c -- chooses rows of a stored result, sorts them, then chooses columns. */
#include "report/report_query.h"
#include "report/fields.h"
#include "report/report_sort.h"

#include "compress/spec.h"

#include <string.h>

/* A column to show (`at`); where its cell is empty, the cell of the column `instead` is shown. */
typedef struct {
    size_t at, instead;
} Source;

typedef struct {
    const Csv *t;
    size_t *row, rows;
    Source *column;
    size_t columns, shown;
    Arena *a;
    Error *err;
} Pick;

static const char *cell_at(const Csv *t, size_t row, size_t column)
{
    return t->cell[row * t->columns + column];
}

static const char *cell_of(const Pick *p, size_t row, Source from)
{
    const char *cell = cell_at(p->t, row, from.at);
    return *cell ? cell : cell_at(p->t, row, from.instead);
}

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

/* True if the cell has the value; a spec also if it is an equal codec's. *last: a spec that is not, to spare a second look. */
static bool has_value(const char *cell, const char *value, bool spec, const char **last)
{
    if (stored_same(cell, value))
        return true;
    if (!spec || (*last && !strcmp(*last, cell)))
        return false;
    const bool equal = spec_equal(cell, value);
    *last = equal ? *last : cell;
    return equal;
}

static Status keep_where(Pick *p, const char *condition)
{
    const char *equals = strchr(condition, '=');
    const bool unlike = equals && equals > condition && equals[-1] == '!';
    const char *name =
        equals ? text_slice(p->a, condition, (size_t)(equals - condition) - unlike) : condition;
    const char *last = NULL;
    size_t column, kept = 0;
    TRY(arena_check(name, p->a, p->err));
    if (!equals)
        return FAIL(p->err, ERR_USAGE, "--where %s: want FIELD=VALUE or FIELD!=VALUE", condition);
    TRY(find_column(p, "--where", name, &column));
    for (size_t i = 0; i < p->rows; i++)
        if (has_value(cell_at(p->t, p->row[i], column), equals + 1, !strcmp(name, "compressor"), &last) != unlike)
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
        kind->rank(p->t, rank);
    for (size_t i = 0; i < p->t->rows; i++)
        lead += rank[i] == ROW_LEAD;
    for (size_t i = 0; i < p->t->rows; i++)
        if (lead == 0 || rank[i] == ROW_LEAD)
            p->row[p->rows++] = i;
    for (size_t i = 0; i < q->where.count; i++)
        TRY(keep_where(p, q->where.item[i]));
    return OK;
}

/* ---- order ---- */

static Status sort_rows(Pick *p, const char *sort)
{
    const char *name = text_slice(p->a, sort, strcspn(sort, ":"));
    SortKey *key = NEW(p->a, SortKey, p->rows + 1);
    size_t column;
    TRY(arena_check(name && key, p->a, p->err));
    TRY(sort_check(sort, p->err));
    TRY(find_column(p, "--sort", name, &column));
    for (size_t i = 0; i < p->rows; i++)
        key[i] = (SortKey){stored_value(cell_at(p->t, p->row[i], column), false), i};
    sort_keys(key, p->rows, sort);
    size_t *row = NEW(p->a, size_t, p->rows + 1);
    TRY(arena_check(row, p->a, p->err));
    for (size_t i = 0; i < p->rows; i++)
        row[i] = p->row[key[i].row];
    p->row = row;
    return OK;
}

/* ---- columns ---- */

/* True if a picked row has a value other than "*" in this column. */
static bool has_values(const Pick *p, size_t column)
{
    for (size_t i = 0; i < p->rows; i++) {
        const char *cell = cell_at(p->t, p->row[i], column);
        if (*cell && strcmp(cell, "*"))
            return true;
    }
    return false;
}

/* Finds the columns for the name FIELD or FIELD/OTHER. A column whose own name has the slash comes first. */
static Status find_source(const Pick *p, const char *name, Source *out)
{
    const char *slash = csv_has(p->t, name) ? NULL : strchr(name, '/');
    const char *field = slash ? text_slice(p->a, name, (size_t)(slash - name)) : name;
    TRY(arena_check(field, p->a, p->err));
    TRY(find_column(p, "--columns", field, &out->at));
    out->instead = out->at;
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
        if (field_is_beside(p->t->name[chosen ? p->column[i].at : i], p->t->name[column]))
            return true;
    return false;
}

static void add_beside(Pick *p)
{
    for (size_t i = 0; i < p->t->columns; i++)
        if (is_beside(p, i, true))
            p->column[p->columns++] = (Source){i, i};
}

static Status choose_columns(Pick *p, const Query *q, const ResultKind *kind)
{
    const char *usual = kind ? kind->usual : NULL;
    p->column = NEW(p->a, Source, 2 * p->t->columns + 1);
    TRY(arena_check(p->column, p->a, p->err));
    if (q->columns)
        TRY(name_columns(p, q->columns));
    for (size_t i = 0; i < p->t->columns && !q->columns; i++) {
        const bool second = q->people && (is_beside(p, i, false) || !strcmp(p->t->name[i], "spec"));
        if (has_values(p, i) && (usual ? text_listed(usual, p->t->name[i]) : !second))
            p->column[p->columns++] = (Source){i, i};
    }
    p->shown = p->columns;
    if (q->people)
        add_beside(p);
    return OK;
}

static Status gather(Csv *out, const Pick *p)
{
    *out = (Csv){.columns = p->columns, .rows = p->rows};
    out->name = NEW(p->a, const char *, p->columns + 1);
    out->cell = arena_take(p->a, p->rows + 1, (p->columns + 1) * sizeof *out->cell);
    TRY(arena_check(out->name && out->cell, p->a, p->err));
    for (size_t k = 0; k < p->columns; k++) {
        out->name[k] = p->t->name[p->column[k].at];
        for (size_t i = 0; i < p->rows; i++)
            out->cell[i * p->columns + k] = cell_of(p, p->row[i], p->column[k]);
    }
    return OK;
}

/* ---- running the query ---- */

Status query_run(Csv *out, size_t *shown, const Query *q, const Csv *t, const ResultKind *kind, Arena *a,
                 Error *err)
{
    Pick p = {.t = t, .a = a, .err = err};
    TRY(choose_rows(&p, q, kind));
    if (q->sort)
        TRY(sort_rows(&p, q->sort));
    TRY(choose_columns(&p, q, kind));
    *shown = p.shown;
    return gather(out, &p);
}
