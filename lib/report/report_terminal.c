/* report_terminal.c -- writes tables for the terminal, aligned. A table wider than the terminal is written as
 * several tables, one below the other, which all have the columns that tell the rows apart (keys). A cell that
 * is still too wide takes several lines. */
#include "report/report_table.h"

#include <string.h>

enum { GAP = 2 };    /* blanks between two columns */
enum { LEAST = 12 }; /* a column with longer texts is not narrowed below this width */

typedef struct {
    const Report *r;
    const size_t *column; /* indices of the `count` shown columns */
    size_t *width;        /* of each shown column, in characters; longer cells take several lines */
    const bool *left;
    bool *key;         /* each of several tables has this column */
    const char **rest; /* of each shown column: the part of the cell that is not written yet */
    size_t count;
} Grid;

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t width_of(const char *s)
{
    return text_characters(s, strlen(s));
}

/* Returns the cell of a row in shown column i; `row` NULL: the heading. */
static const char *cell_at(const Grid *g, const TableRow *row, size_t i)
{
    return row ? row->cell[g->column[i]].cell : g->r->title[g->column[i]];
}

/* Returns the width of the widest cell of shown column i; without its heading. */
static size_t cells_width(const Grid *g, size_t i)
{
    size_t widest = 0;
    for (const TableRow *row = g->r->first; row; row = row->next) {
        const size_t cell = width_of(cell_at(g, row, i));
        widest = cell > widest ? cell : widest;
    }
    return widest;
}

static bool grid_open(Grid *g, const Report *r)
{
    const size_t room = r->spec.column_count + 1;
    size_t *column = NEW_ZERO(r->a, size_t, room), *width = NEW_ZERO(r->a, size_t, room);
    bool *left = NEW_ZERO(r->a, bool, room), *key = NEW_ZERO(r->a, bool, room);
    const char **rest = NEW(r->a, const char *, room);
    *g = (Grid){r, column, width, left, key, rest, 0};
    if (!column || !width || !left || !key || !rest)
        return false;
    for (size_t i = 0; i < r->spec.column_count; i++)
        if (r->title[i])
            column[g->count++] = i;
    for (size_t i = 0; i < g->count; i++) {
        left[i] = report_left(r, column[i]);
        width[i] = larger(width_of(r->title[column[i]]), cells_width(g, i));
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

/* Returns the width of the widest word of s. */
static size_t word_width(const char *s)
{
    size_t widest = 0;
    for (size_t bytes; *s; s += bytes + strspn(s + bytes, " ")) {
        bytes = strcspn(s, " ");
        widest = larger(widest, text_characters(s, bytes));
    }
    return widest;
}

/* Narrows the keys until `room` characters hold them: their headings take several lines, and then the widest cells do.
 * Drops the last keys where this does not suffice. */
static void fit_keys(const Grid *g, size_t lead, size_t room)
{
    size_t least = 0;
    for (size_t i = 0; i < lead; i++) {
        g->width[i] = larger(word_width(cell_at(g, NULL, i)), cells_width(g, i));
        least += g->key[i] ? smaller(g->width[i], LEAST) + GAP : 0;
    }
    for (; lead > 1 && least > room; g->key[lead] = false) {
        lead--;
        least -= g->key[lead] ? smaller(g->width[lead], LEAST) + GAP : 0;
    }
    g->key[0] |= keys_width(g, lead) == 0;
    while (keys_width(g, lead) > room) {
        size_t widest = 0;
        for (size_t i = 1; i < lead; i++)
            widest = g->key[i] && (!g->key[widest] || g->width[i] > g->width[widest]) ? i : widest;
        if (g->width[widest] <= LEAST)
            return;
        g->width[widest]--;
    }
}

/* Takes leading columns as keys until they tell the rows apart, and drops those among them that are not needed for
 * this. Each column fits beside the keys, a text in several lines; there is at least one key. */
static void choose_keys(const Grid *g)
{
    size_t lead = 1, widest = 0;
    g->key[0] = true;
    while (lead + 1 < g->count && !told_apart(g))
        g->key[lead++] = true;
    for (size_t i = 0; i < lead && lead > 1; i++) {
        g->key[i] = false;
        g->key[i] = !told_apart(g);
    }
    for (size_t i = lead; i < g->count; i++)
        widest = larger(widest, g->left[i] ? smaller(g->width[i], LEAST) : g->width[i]);
    fit_keys(g, lead, g->r->spec.width - smaller(g->r->spec.width, widest));
}

/* True if a word may be cut behind s[0]: between the parts of a spec, a path or a name. */
static bool ends_part(const char *s)
{
    return strchr("/|,:+;=_", s[0]) || (s[0] == '.' && !strchr("0123456789", s[1]));
}

/* Returns how many bytes of s a line of `width` characters shows: all, or those before the last blank, or the last
 * parts that fit, or as many as fit. */
static size_t line_of(const char *s, size_t width)
{
    size_t fit = 0, blank = 0, part = 0;
    for (size_t next; s[fit]; fit = next) {
        const size_t bytes = text_utf8(s + fit, strnlen(s + fit, 4));
        next = fit + (bytes ? bytes : 1);
        blank = s[fit] == ' ' ? fit : blank;
        if (text_characters(s, next) > width)
            return blank ? blank : part ? part : fit ? fit : next;
        part = ends_part(s + fit) ? next : part;
    }
    return fit;
}

/* Writes the keys before column `from`, and columns `from` to `to` - 1, of one row. */
static void put_row(const Grid *g, const TableRow *row, size_t from, size_t to, TextBuf *out)
{
    bool more = true;
    for (size_t i = 0; i < to; i++)
        g->rest[i] = cell_at(g, row, i);
    while (more) {
        size_t blanks = 0;
        more = false;
        for (size_t i = 0; i < to; i++) {
            if (i < from && !g->key[i])
                continue;
            const char *cell = g->rest[i];
            const size_t bytes = line_of(cell, g->width[i]), shown = text_characters(cell, bytes);
            const size_t blank = g->width[i] > shown ? g->width[i] - shown : 0;
            text_addf(out, "%*s", bytes ? (int)(blanks + (g->left[i] ? 0 : blank)) : 0, "");
            text_add_bytes(out, cell, bytes);
            blanks = GAP + (bytes ? (g->left[i] ? blank : 0) : blanks + blank);
            g->rest[i] = cell + bytes + strspn(cell + bytes, " ");
            more |= *g->rest[i];
        }
        text_add(out, more ? "\n" : "");
    }
}

static void put_part(const Grid *g, size_t from, size_t to, TextBuf *out)
{
    text_add(out, g->r->spec.color ? "\033[1m" : "");
    put_row(g, NULL, from, to, out);
    text_add(out, g->r->spec.color ? "\033[0m\n" : "\n");
    for (const TableRow *row = g->r->first; row; row = row->next) {
        put_row(g, row, from, to, out);
        text_add(out, "\n");
    }
}

void report_put_terminal(const Report *r, TextBuf *out)
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
    bool first = true;
    for (size_t from = 0, to; from < g.count; from = to) {
        to = from + 1;
        const size_t room = most - smaller(most, keys_width(&g, from) + GAP); /* of a column on its own */
        g.width[from] = smaller(g.width[from], larger(room, LEAST));
        while (to < g.count && keys_width(&g, from) + columns_width(&g, from, to + 1) <= most)
            to++;
        if (to < g.count && keys_width(&g, to) == columns_width(&g, 0, to))
            continue; /* the next part has all these columns, which are keys */
        text_add(out, first ? "" : "\n");
        first = false;
        put_part(&g, from, to, out);
    }
}
