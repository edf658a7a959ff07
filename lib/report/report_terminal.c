/* report_terminal.c -- writes tables for the terminal, aligned. A table wider than the terminal is written as
 * several tables, one below the other, which all begin with the columns that tell the rows apart. */
#include "report/report_table.h"

#include <string.h>

enum { GAP = 2 }; /* blanks between two columns */

typedef struct {
    const Report *r;
    const size_t *column; /* indices of the `count` shown columns */
    const size_t *width;  /* of each shown column, in characters */
    const bool *left;
    size_t count;
} Grid;

static size_t width_of(const char *s)
{
    return text_characters(s, strlen(s));
}

/* Returns the cell of a row in shown column i; `row` NULL: the heading. */
static const char *cell_at(const Grid *g, const TableRow *row, size_t i)
{
    return row ? row->cell[g->column[i]].cell : g->r->title[g->column[i]];
}

static bool grid_open(Grid *g, const Report *r)
{
    const size_t room = r->spec.column_count + 1;
    size_t *column = NEW_ZERO(r->a, size_t, room), *width = NEW_ZERO(r->a, size_t, room);
    bool *left = NEW_ZERO(r->a, bool, room);
    *g = (Grid){r, column, width, left, 0};
    if (!column || !width || !left)
        return false;
    for (size_t i = 0; i < r->spec.column_count; i++)
        if (r->title[i])
            column[g->count++] = i;
    for (size_t i = 0; i < g->count; i++) {
        left[i] = report_left(r, column[i]);
        width[i] = width_of(r->title[column[i]]);
        for (const TableRow *row = r->first; row; row = row->next) {
            const size_t cell = width_of(row->cell[column[i]].cell);
            width[i] = cell > width[i] ? cell : width[i];
        }
    }
    return true;
}

/* Returns the width of the shown columns `from` to `to` - 1, each with a gap behind it. */
static size_t columns_width(const Grid *g, size_t from, size_t to)
{
    size_t sum = 0;
    for (size_t i = from; i < to; i++)
        sum += g->width[i] + GAP;
    return sum;
}

static bool told_apart(const Grid *g, size_t columns)
{
    for (const TableRow *row = g->r->first; row; row = row->next)
        for (const TableRow *other = row->next; other; other = other->next) {
            size_t i = 0;
            while (i < columns && !strcmp(cell_at(g, row, i), cell_at(g, other, i)))
                i++;
            if (i == columns)
                return false;
        }
    return true;
}

/* Returns how many leading columns each of the tables repeats: the fewest that tell the rows apart, within
 * two thirds of the terminal, and at least one. */
static size_t repeated_columns(const Grid *g)
{
    size_t columns = 1;
    while (columns + 1 < g->count && columns_width(g, 0, columns + 1) <= g->r->spec.width / 3 * 2 &&
           !told_apart(g, columns))
        columns++;
    return columns;
}

/* Writes the `repeated` first columns and columns `from` to `to` - 1 of one row. */
static void put_line(const Grid *g, const TableRow *row, size_t repeated, size_t from, size_t to,
                     TextBuf *out)
{
    size_t at = 0;
    for (size_t i = 0; i < to; i = i + 1 == repeated ? from : i + 1) {
        const char *cell = cell_at(g, row, i);
        const size_t blank = g->width[i] - width_of(cell);
        const bool last = i + 1 == to;
        text_addf(out, "%*s", g->left[i] ? 0 : (int)blank, "");
        if (last && g->left[i] && g->r->spec.width && at + g->width[i] > g->r->spec.width)
            text_wrap(out, cell, at, g->r->spec.width);
        else
            text_add(out, cell);
        text_addf(out, "%*s", last ? 0 : GAP + (g->left[i] ? (int)blank : 0), "");
        at += g->width[i] + GAP;
    }
}

static void put_part(const Grid *g, size_t repeated, size_t from, size_t to, TextBuf *out)
{
    text_add(out, g->r->spec.color ? "\033[1m" : "");
    put_line(g, NULL, repeated, from, to, out);
    text_add(out, g->r->spec.color ? "\033[0m\n" : "\n");
    for (const TableRow *row = g->r->first; row; row = row->next) {
        put_line(g, row, repeated, from, to, out);
        text_add(out, "\n");
    }
}

static void end_table(const Report *r, TextBuf *out)
{
    Grid g;
    out->failed |= !grid_open(&g, r);
    if (out->failed || !g.count)
        return;
    const size_t most = r->spec.width + GAP; /* the last column has no gap behind it */
    if (!r->spec.width || columns_width(&g, 0, g.count) <= most) {
        put_part(&g, 1, 1, g.count, out);
        return;
    }
    const size_t repeated = repeated_columns(&g), used = columns_width(&g, 0, repeated);
    for (size_t from = repeated, to; from < g.count; from = to) {
        to = from + 1;
        while (to < g.count && used + columns_width(&g, from, to + 1) <= most)
            to++;
        text_add(out, from > repeated ? "\n" : "");
        put_part(&g, repeated, from, to, out);
    }
}

const ReportWriter report_table = {.end = end_table};
