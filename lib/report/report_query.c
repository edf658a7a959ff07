/* report_query.c -- see report_query.h: rows are chosen, then sorted, then columns, and last laid across. */
#include "report/report_query.h"

#include "base/text_map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where a column's cells come from: where one holds nothing, from `instead`. */
typedef struct {
    size_t at, instead;
} Source;

typedef struct {
    const Csv *t;
    size_t *row, rows;
    Source *column;
    size_t columns;
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

static const char *name_of(const Pick *p, size_t k)
{
    return p->t->name[p->column[k].at];
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
    return text_unknown(p->err, name, column_name, p->t, "%s: the result has no column \"%s\"", option, name);
}

/* ---- rows ---- */

static Status keep_where(Pick *p, const char *condition)
{
    const char *equals = strchr(condition, '=');
    const bool unlike = equals && equals > condition && equals[-1] == '!';
    const char *name =
        equals ? text_slice(p->a, condition, (size_t)(equals - condition) - unlike) : condition;
    size_t column, kept = 0;
    if (!name)
        return arena_fail(p->a, p->err);
    if (!equals)
        return FAIL(p->err, ERR_USAGE, "--where %s: want FIELD=VALUE or FIELD!=VALUE", condition);
    TRY(find_column(p, "--where", name, &column));
    for (size_t i = 0; i < p->rows; i++)
        if (stored_same(cell_at(p->t, p->row[i], column), equals + 1) != unlike)
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
    if (!rank || !p->row)
        return arena_fail(p->a, p->err);
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

typedef struct {
    double number; /* NaN: a text, or nothing */
    const char *text;
    size_t at, row;
    bool down;
} Key;

/* Numbers, then texts, then what does not exist, whichever way; equal ones as they stand. */
static int by_key(const void *x, const void *y)
{
    const Key *v = x, *w = y;
    const int v_sort = !*v->text ? 2 : isnan(v->number), w_sort = !*w->text ? 2 : isnan(w->number);
    const int order = v_sort ? strcmp(v->text, w->text) : (v->number > w->number) - (v->number < w->number);
    if (v_sort != w_sort)
        return v_sort - w_sort;
    return order ? (v->down ? -order : order) : (v->at > w->at) - (v->at < w->at);
}

static Status sort_rows(Pick *p, const char *sort)
{
    const size_t length = strcspn(sort, ":");
    const char *name = text_slice(p->a, sort, length);
    Key *key = NEW(p->a, Key, p->rows + 1);
    size_t column;
    if (!name || !key)
        return arena_fail(p->a, p->err);
    if (sort[length] && strcmp(sort + length, ":desc"))
        return FAIL(p->err, ERR_USAGE, "--sort %s: want FIELD or FIELD:desc", sort);
    TRY(find_column(p, "--sort", name, &column));
    for (size_t i = 0; i < p->rows; i++) {
        const char *cell = cell_at(p->t, p->row[i], column);
        key[i] = (Key){.number = NAN, .text = cell, .at = i, .row = p->row[i], .down = sort[length]};
        if (!text_to_real(cell, &key[i].number))
            key[i].number = NAN;
    }
    qsort(key, p->rows, sizeof *key, by_key);
    for (size_t i = 0; i < p->rows; i++)
        p->row[i] = key[i].row;
    return OK;
}

/* ---- columns ---- */

/* Whether the rows at hand say something there; "*" alone says nothing. */
static bool says_something(const Pick *p, size_t column)
{
    for (size_t i = 0; i < p->rows; i++) {
        const char *cell = cell_at(p->t, p->row[i], column);
        if (*cell && strcmp(cell, "*"))
            return true;
    }
    return false;
}

/* FIELD, or FIELD/OTHER; a column that is called so itself goes first. */
static Status find_source(const Pick *p, const char *name, Source *out)
{
    const char *slash = csv_has(p->t, name) ? NULL : strchr(name, '/');
    const char *field = slash ? text_slice(p->a, name, (size_t)(slash - name)) : name;
    if (!field)
        return arena_fail(p->a, p->err);
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
        if (!name)
            return arena_fail(p->a, p->err);
        if (p->columns == p->t->columns)
            return FAIL(p->err, ERR_USAGE, "--columns: more names than the result's %zu columns", p->columns);
        TRY(find_source(p, name, &p->column[p->columns]));
        p->columns++;
    }
    return OK;
}

static Status choose_columns(Pick *p, const Query *q, const ResultKind *kind)
{
    const char *usual = kind ? kind->usual : NULL;
    p->column = NEW(p->a, Source, p->t->columns + 1);
    if (!p->column)
        return arena_fail(p->a, p->err);
    if (q->columns)
        return name_columns(p, q->columns);
    for (size_t i = 0; i < p->t->columns; i++)
        if (says_something(p, i) && (!usual || text_listed(usual, p->t->name[i])))
            p->column[p->columns++] = (Source){i, i};
    return OK;
}

static Status gather(Csv *out, const Pick *p)
{
    *out = (Csv){.columns = p->columns, .rows = p->rows};
    out->name = NEW(p->a, const char *, p->columns + 1);
    out->cell = arena_take(p->a, p->rows + 1, (p->columns + 1) * sizeof *out->cell);
    if (!out->name || !out->cell)
        return arena_fail(p->a, p->err);
    for (size_t k = 0; k < p->columns; k++) {
        out->name[k] = name_of(p, k);
        for (size_t i = 0; i < p->rows; i++)
            out->cell[i * p->columns + k] = cell_of(p, p->row[i], p->column[k]);
    }
    return OK;
}

/* ---- across ---- */

/* The values of a column; `number[i]` is that of row i. */
typedef struct {
    TextMap map;
    size_t *number;
} Values;

static Status values_of(Values *v, const Pick *p, Source from)
{
    TRY(text_map_open(&v->map, p->rows, p->a, p->err));
    v->number = NEW(p->a, size_t, p->rows + 1);
    if (!v->number)
        return arena_fail(p->a, p->err);
    for (size_t i = 0; i < p->rows; i++)
        v->number[i] = text_map_number(&v->map, cell_of(p, p->row[i], from));
    return OK;
}

/* "svd", or of several columns "svd bytes". */
static const char *across_name(const Pick *p, const char *value, size_t column)
{
    return p->columns == 2 ? value : text_format(p->a, "%s %s", value, name_of(p, column));
}

/* Two rows in one place of the table, of which one would hide the other: ERR_USAGE. */
static Status check_places(const Pick *p, const Values *down, const Values *over, const char *field)
{
    bool *taken = NEW_ZERO(p->a, bool, down->map.count * over->map.count + 1);
    if (!taken)
        return arena_fail(p->a, p->err);
    for (size_t i = 0; i < p->rows; i++) {
        bool *place = &taken[down->number[i] * over->map.count + over->number[i]];
        if (*place) {
            FAIL(p->err, ERR_USAGE, "--across %s: more than one row is %s %s and %s %s", field, name_of(p, 0),
                 down->map.text[down->number[i]], field, over->map.text[over->number[i]]);
            return error_hint(p->err, "--where FIELD=VALUE leaves those of one step, worker or setting");
        }
        *place = true;
    }
    return OK;
}

enum { ACROSS_MOST = 200 };

static Status lay_across(Csv *out, const Pick *p, const char *field)
{
    Values down, over;
    size_t column;
    TRY(find_column(p, "--across", field, &column));
    if (p->columns < 2)
        return FAIL(p->err, ERR_USAGE, "--across %s: want --columns with a field for the rows, then others",
                    field);
    TRY(values_of(&down, p, p->column[0]));
    TRY(values_of(&over, p, (Source){column, column}));
    const size_t each = p->columns - 1;
    *out = (Csv){.columns = 1 + over.map.count * each, .rows = down.map.count};
    if (out->columns > ACROSS_MOST)
        return FAIL(p->err, ERR_USAGE, "--across %s: %zu columns, more than %d", field, out->columns,
                    ACROSS_MOST);
    TRY(check_places(p, &down, &over, field));
    out->name = NEW(p->a, const char *, out->columns);
    out->cell = arena_take(p->a, out->rows + 1, out->columns * sizeof *out->cell);
    if (!out->name || !out->cell)
        return arena_fail(p->a, p->err);
    out->name[0] = name_of(p, 0);
    for (size_t i = 1; i < out->columns; i++)
        if (!(out->name[i] = across_name(p, over.map.text[(i - 1) / each], 1 + (i - 1) % each)))
            return arena_fail(p->a, p->err);
    for (size_t i = 0; i < out->rows * out->columns; i++)
        out->cell[i] = i % out->columns ? "" : down.map.text[i / out->columns];
    for (size_t i = 0; i < p->rows; i++)
        for (size_t k = 0; k < each; k++)
            out->cell[down.number[i] * out->columns + 1 + over.number[i] * each + k] =
                cell_of(p, p->row[i], p->column[1 + k]);
    return OK;
}

/* ---- all of it ---- */

Status query_run(Csv *out, const Query *q, const Csv *t, const ResultKind *kind, Arena *a, Error *err)
{
    Pick p = {.t = t, .a = a, .err = err};
    TRY(choose_rows(&p, q, kind));
    if (q->sort)
        TRY(sort_rows(&p, q->sort));
    TRY(choose_columns(&p, q, kind));
    return q->across ? lay_across(out, &p, q->across) : gather(out, &p);
}
