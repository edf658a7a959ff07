/* plot_data.c -- reads the rows of stored results for a figure, and joins, selects and sorts them. */
#include "report/plot.h"
#include "report/plot_names.h"
#include "report/report_stored.h"

#include <stdlib.h>
#include <string.h>

size_t plot_columns(const PlotKind *kind)
{
    size_t count = 0;
    while (kind->columns[count].name && !(kind->columns[count].use & PLOT_READ))
        count++;
    return count;
}

/* Adds the first character of s; '?' for a byte that is not UTF-8, and for a character that controls a terminal.
 * Returns its number of bytes. */
static size_t put_plain(TextBuf *out, const char *s)
{
    const size_t bytes = text_utf8(s, strnlen(s, 4));
    if (!bytes || text_steers(s, bytes))
        text_add(out, "?");
    else if (strchr("\",\\", *s))
        text_addf(out, "%%%02X", (unsigned)*s);
    else
        text_add_bytes(out, s, bytes);
    return bytes ? bytes : 1;
}

char *plot_name(const char *s, Arena *a)
{
    TextBuf out = {.arena = a};
    if (*s && !s[strspn(s, " \t\r\n")]) /* gnuplot takes a text of blanks for a missing value */
        text_addf(&out, "(%zu blank%s)", strlen(s), s[1] ? "s" : "");
    else
        while (*s)
            s += put_plain(&out, s);
    return text_done(&out);
}

char *plot_plain(const char *s, Arena *a)
{
    static const char *const codes[] = {"%2C", "%22", "%5C"};
    char *out = text_copy(a, s), *to = out;
    for (; out && *s; to++) {
        size_t k = 0;
        while (k < countof(codes) && strncmp(s, codes[k], 3) != 0)
            k++;
        *to = k < countof(codes) ? ",\"\\"[k] : *s;
        s += k < countof(codes) ? 3 : 1;
    }
    if (out)
        *to = 0;
    return out;
}

Status plot_load(Csv *out, const char *path, Arena *a, Error *err)
{
    Stored stored;
    TRY(stored_load(&stored, path, a, err));
    if (!stored.whole)
        return FAIL(err, ERR_CORRUPT, "%s: it has no list of \"results\"", path);
    if (stored.schema && !result_known(stored.schema))
        return FAIL(err, ERR_CORRUPT, "%s: its schema, %s, is none of those known here", path, stored.schema);
    *out = stored.table;
    static const char *const facts[] = {"repeats", "workers", "seed"};
    for (size_t i = 0; i < countof(facts); i++) {
        const Json *fact = json_member(stored.meta, facts[i]);
        if (!fact || fact->type != JSON_NUMBER || csv_has(out, facts[i]))
            continue;
        const char *text = text_format(a, "%.17g", fact->number);
        TRY(arena_check(text, a, err));
        TRY(csv_insert(out, out->columns, facts[i], text, a, err));
    }
    return OK;
}

static size_t join_names(const char **name, const Csv *all, const Csv *more)
{
    size_t count = all->columns;
    for (size_t i = 0; i < all->columns; i++)
        name[i] = all->name[i];
    for (size_t i = 0; i < more->columns; i++)
        if (!csv_has(all, more->name[i]))
            name[count++] = more->name[i];
    return count;
}

Status plot_append(Csv *all, const Csv *more, Arena *a, Error *err)
{
    Csv out = {.rows = all->rows + more->rows, .name = NEW(a, const char *, all->columns + more->columns)};
    TRY(arena_check(out.name, a, err));
    out.columns = join_names(out.name, all, more);
    out.cell = arena_take(a, out.rows, out.columns * sizeof *out.cell);
    TRY(arena_check(out.cell, a, err));
    const char **cell = out.cell;
    for (size_t row = 0; row < out.rows; row++)
        for (size_t k = 0; k < out.columns; k++)
            *cell++ = row < all->rows ? csv_cell(all, row, out.name[k])
                                      : csv_cell(more, row - all->rows, out.name[k]);
    *all = out;
    return OK;
}

static bool any_is_whole(const Csv *data, const char *column)
{
    for (size_t i = 0; i < data->rows; i++)
        if (!strcmp(csv_cell(data, i, column), "*"))
            return true;
    return false;
}

Status plot_selection(const Csv *data, size_t **row, size_t *count, Arena *a, Error *err)
{
    const bool whole = any_is_whole(data, "tensor"), steps = any_is_whole(data, "step");
    *count = 0;
    *row = NEW(a, size_t, data->rows);
    TRY(arena_check(*row, a, err));
    for (size_t i = 0; i < data->rows; i++)
        if ((!whole || !strcmp(csv_cell(data, i, "tensor"), "*")) &&
            (!steps || !strcmp(csv_cell(data, i, "step"), "*")))
            (*row)[(*count)++] = i;
    return OK;
}

Status plot_pick(const PlotKind *kind, const Csv *data, bool (*keep)(const Value *row), Value **rows,
                 size_t *count, Arena *a, Error *err)
{
    const size_t columns = plot_columns(kind), name = columns - 1;
    size_t *row, of;
    TRY(plot_selection(data, &row, &of, a, err));
    Value *to = *rows = NEW(a, Value, of * columns);
    TRY(arena_check(to, a, err));
    for (size_t i = 0; i < of; i++) {
        for (size_t k = 0; k < name; k++) /* NaN if the cell has no number */
            to[k] = value_real(csv_real(data, row[i], kind->columns[k].name));
        to[name] = value_text(plot_name(csv_cell(data, row[i], kind->columns[name].name), a));
        TRY(arena_check(to[name].text, a, err));
        to += keep(to) ? columns : 0;
    }
    *count = (size_t)(to - *rows) / columns;
    return OK;
}

/* ---- order ---- */

typedef struct {
    double x;
    size_t line, row;
} RowPlace;

static int compare(const void *left, const void *right)
{
    const RowPlace *l = left, *r = right;
    if (l->line != r->line)
        return l->line < r->line ? -1 : 1;
    if (l->x != r->x)
        return l->x < r->x ? -1 : 1;
    return l->row < r->row ? -1 : 1;
}

Status plot_sort(const PlotKind *kind, Value *rows, size_t count, size_t by, size_t x, Arena *a, Error *err)
{
    const size_t columns = plot_columns(kind);
    RowPlace *place = NEW(a, RowPlace, count);
    Value *old = NEW(a, Value, count * columns);
    Names lines;
    TRY(arena_check(place && old, a, err));
    TRY(names_open(&lines, count, a, err));
    memcpy(old, rows, count * columns * sizeof *rows);
    for (size_t i = 0; i < count; i++)
        place[i] = (RowPlace){value_number(&rows[i * columns + x]),
                              names_number(&lines, rows[i * columns + by].text), i};
    qsort(place, count, sizeof *place, compare);
    for (size_t i = 0; i < count; i++)
        memcpy(rows + i * columns, old + place[i].row * columns, columns * sizeof *rows);
    return OK;
}
