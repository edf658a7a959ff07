/* report_terminal.c -- writes tables for the terminal, aligned. A table wider than the terminal is written as
 * several tables, one below the other, which all have the columns that tell the rows apart (keys). */
#include "report/report_table.h"

#include <string.h>

enum { GAP = 2 }; /* blanks between two columns */

typedef struct {
    const Report *r;
    const size_t *column; /* indices of the `count` shown columns */
    const size_t *width;  /* of each shown column, in characters */
    const bool *left;
    bool *key; /* each of several tables has this column */
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
    bool *left = NEW_ZERO(r->a, bool, room), *key = NEW_ZERO(r->a, bool, room);
    *g = (Grid){r, column, width, left, key, 0};
    if (!column || !width || !left || !key)
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

/* Returns the width of the keys among the first `count` columns, each with a gap behind it. */
static size_t keys_width(const Grid *g, size_t count)
{
    size_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += g->key[i] ? g->width[i] + GAP : 0;
    return sum;
}

/* Returns whether the keys differ between any two rows. */
static bool told_apart(const Grid *g)
{
    for (const TableRow *row = g->r->first; row; row = row->next)
        for (const TableRow *other = row->next; other; other = other->next) {
            size_t i = 0;
            while (i < g->count && (!g->key[i] || !strcmp(cell_at(g, row, i), cell_at(g, other, i))))
                i++;
            if (i == g->count)
                return false;
        }
    return true;
}

/* Takes leading columns as keys until they tell the rows apart, and drops those among them that are not needed for
 * this. Each column of numbers fits beside the keys; there is at least one key. */
static void choose_keys(const Grid *g)
{
    size_t lead = 1;
    g->key[0] = true;
    while (lead + 1 < g->count && !told_apart(g))
        g->key[lead++] = true;
    for (size_t i = 0; i < lead && lead > 1; i++) {
        g->key[i] = false;
        g->key[i] = !told_apart(g);
    }
    size_t widest = 0;
    for (size_t i = lead; i < g->count; i++)
        widest = !g->left[i] && g->width[i] > widest ? g->width[i] : widest;
    while (lead > 1 && keys_width(g, lead) + widest > g->r->spec.width)
        g->key[--lead] = false;
    g->key[0] |= keys_width(g, lead) == 0;
}

/* Writes the keys before column `from`, and columns `from` to `to` - 1, of one row. */
static void put_line(const Grid *g, const TableRow *row, size_t from, size_t to, TextBuf *out)
{
    size_t at = 0;
    for (size_t i = 0; i < to; i++) {
        if (i < from && !g->key[i])
            continue;
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

static void put_part(const Grid *g, size_t from, size_t to, TextBuf *out)
{
    text_add(out, g->r->spec.color ? "\033[1m" : "");
    put_line(g, NULL, from, to, out);
    text_add(out, g->r->spec.color ? "\033[0m\n" : "\n");
    for (const TableRow *row = g->r->first; row; row = row->next) {
        put_line(g, row, from, to, out);
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
        put_part(&g, 0, g.count, out);
        return;
    }
    choose_keys(&g);
    for (size_t from = 0, to; from < g.count; from = to) {
        to = from + 1;
        while (to < g.count && keys_width(&g, from) + columns_width(&g, from, to + 1) <= most)
            to++;
        text_add(out, from ? "\n" : "");
        put_part(&g, from, to, out);
    }
}

const ReportWriter report_table = {.end = end_table};
