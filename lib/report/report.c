/* report.c -- takes the rows of a report, turns them into one text in its format, and writes that when the report is closed. */
#include "base/csv.h"
#include "base/json.h"
#include "base/outfile.h"
#include "report/fields.h"
#include "report/report_table.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

const char *const report_formats[] = {"table", "csv", "json", "md", "latex", NULL};

/* ---- CSV and JSON ----
 *
 * CSV follows RFC 4180, with a header row and "\n" as the line end. A field with a comma, a quote or a line
 * end is quoted, and a quote in it is doubled. A value that does not exist is an empty field; an empty text is
 * "". A text that a spreadsheet would take for a formula gets an apostrophe in front (csv.h).
 *
 * JSON: {"schema": .., "meta": {..}, "results": [..]}, with one record of the result per line. It is strict
 * JSON: NaN and infinities become null. Control characters of terminals are escaped, and bytes that are not
 * UTF-8 become U+FFFD. */

static void put_csv_text(TextBuf *out, const char *s)
{
    const char *guard = csv_guarded(*s) ? CSV_GUARD : "", *quote = *s && !strpbrk(s, ",\"\r\n") ? "" : "\"";
    text_addf(out, "%s%s", quote, guard);
    for (const char *end; (end = strchr(s, '"')); s = end + 1) {
        text_add_bytes(out, s, (size_t)(end - s));
        text_add(out, "\"\"");
    }
    text_addf(out, "%s%s", s, quote);
}

static void put_value(TextBuf *out, const Value *v, bool json)
{
    char number[32];
    if (v->type == VALUE_NONE || (v->type == VALUE_REAL && !isfinite(v->real))) {
        text_add(out, json ? "null" : "");
    } else if (v->type == VALUE_TEXT) {
        (json ? json_put_text : put_csv_text)(out, v->text);
    } else if (v->type == VALUE_SHAPE) {
        text_add(out, json ? "[" : v->shape->rank ? "" : "\"\"");
        for (int i = 0; i < v->shape->rank; i++)
            text_addf(out, "%s%zu", !i ? "" : json ? ", " : "x", v->shape->dim[i]);
        text_add(out, json ? "]" : "");
    } else if (v->type == VALUE_INT) {
        text_addf(out, "%lld", (long long)v->whole);
    } else {
        text_add(out, v->type == VALUE_REAL ? text_double(number, v->real) : v->on ? "true" : "false");
    }
}

static void csv_begin(Report *r)
{
    for (size_t i = 0; i < r->spec.column_count; i++) {
        text_add(&r->text, i ? "," : "");
        put_csv_text(&r->text, r->spec.columns[i].name);
    }
    text_add(&r->text, "\n");
}

/* On a terminal, characters that steer it become '?'. Files have them as they are. */
static void csv_row(Report *r, const Value *values)
{
    TextBuf line = {.arena = r->a};
    for (size_t i = 0; i < r->spec.column_count; i++) {
        text_add(&line, i ? "," : "");
        put_value(&line, &values[i], false);
    }
    char *text = text_done(&line);
    r->text.failed |= !text;
    if (text && !r->spec.path && !r->spec.text && isatty(STDOUT_FILENO))
        text_make_printable(text);
    text_add(&r->text, text ? text : "");
    text_add(&r->text, "\n");
}

static void put_json_row(TextBuf *out, const Column *columns, size_t count, const Value *values)
{
    text_add(out, "{");
    for (size_t i = 0; i < count; i++) {
        text_add(out, i ? ", " : "");
        json_put_text(out, columns[i].name);
        text_add(out, ": ");
        put_value(out, &values[i], true);
    }
    text_add(out, "}");
}

char *report_json_row(const Column *columns, size_t count, const Value *values, Arena *a)
{
    TextBuf out = {.arena = a};
    put_json_row(&out, columns, count, values);
    return text_done(&out);
}

static void json_begin(Report *r)
{
    TextBuf *out = &r->text;
    text_add(out, "{\"schema\": ");
    json_put_text(out, r->spec.schema);
    text_add(out, ",\n\"meta\": {");
    for (size_t i = 0; i < r->spec.facts; i++) {
        text_add(out, i ? ",\n  " : "\n  ");
        json_put_text(out, r->spec.meta[i].name);
        text_add(out, ": ");
        put_value(out, &r->spec.meta[i].value, true);
    }
    text_add(out, "},\n\"results\": [");
}

static void json_row(Report *r, const Value *values)
{
    text_add(&r->text, r->rows ? ",\n  " : "\n  ");
    put_json_row(&r->text, r->spec.columns, r->spec.column_count, values);
}

/* ---- headings of tables ---- */

static const Value *fact(const Report *r, const char *name)
{
    for (size_t i = 0; i < r->spec.facts; i++)
        if (!strcmp(r->spec.meta[i].name, name) && r->spec.meta[i].value.type == VALUE_INT)
            return &r->spec.meta[i].value;
    return NULL;
}

/* Returns the index of the column called `name`; the number of columns if there is none. */
static size_t find_column(const Report *r, const char *name)
{
    size_t i = 0;
    while (i < r->spec.column_count && strcmp(r->spec.columns[i].name, name) != 0)
        i++;
    return i;
}

/* Returns "R = 10, 4 workers, seeds 1 to 3" of a report with the fact `repeats`, or with the fact `workers` and no column of that
 * name; else "". */
static const char *run_facts(const Report *r)
{
    const Value *repeats = fact(r, "repeats"), *seed = fact(r, "seed"), *seeds = fact(r, "seeds");
    const Value *workers = find_column(r, "workers") < r->spec.column_count ? NULL : fact(r, "workers");
    TextBuf out = {.arena = r->a};
    if (repeats)
        text_addf(&out, "R = %lld", (long long)repeats->whole);
    if (workers)
        text_addf(&out, "%s%lld worker%s", repeats ? ", " : "", (long long)workers->whole, text_s((size_t)workers->whole));
    if (seed && (repeats || workers))
        text_addf(&out, seeds && seeds->whole > 1 ? ", seeds %lld to %lld" : ", seed %lld", (long long)seed->whole,
                  (long long)(seed->whole + (seeds ? seeds->whole : 1) - 1));
    return text_done(&out);
}

/* Returns the heading of a column; the column of compressors (else the first column) also has the facts about the run. '?' stands
 * for characters that steer a terminal: the column's name may come from a file. NULL: out of memory. */
static const char *heading(const Report *r, size_t column)
{
    const char *head = field_heading(r->spec.columns[column].name, r->spec.format != FORMAT_LATEX, r->a), *facts = run_facts(r);
    const size_t named = find_column(r, "compressor"), first = named < r->spec.column_count ? named : 0;
    if (!head || !facts)
        return NULL;
    const char *text = text_format(r->a, column == first && *facts ? "%s (%s)" : "%s", head, facts);
    return text ? text_printable(r->a, text) : NULL;
}

/* Sets the headings of the shown columns. False: out of memory. */
static bool head_columns(Report *r)
{
    r->title = NEW_ZERO(r->a, const char *, r->spec.column_count + 1);
    for (size_t i = 0; r->title && i < r->spec.column_count; i++)
        if (r->spec.columns[i].shown && !(r->title[i] = heading(r, i)))
            return false;
    return r->title;
}

/* ---- tables for the terminal ----
 *
 * A table wider than the terminal is written as several tables, one below the other, which all have the columns that tell the rows
 * apart (keys). A cell that is still too wide takes several lines. */

enum { GAP = 2 };    /* blanks between two columns */
enum { LEAST = 12 }; /* a column with longer texts is not narrowed below this width */

typedef struct {
    size_t at;        /* index in the report */
    size_t width;     /* in characters; longer cells take several lines */
    bool left, key;   /* key: each of several tables has this column */
    const char *rest; /* the part of the cell that is not written yet */
} GridColumn;

typedef struct {
    const Report *r;
    GridColumn *column; /* those that are shown */
    size_t count;
} Grid;

static size_t width_of(const char *s)
{
    return text_characters(s, strlen(s));
}

/* Returns the cell of a row in shown column i; `row` NULL: the heading. */
static const char *cell_at(const Grid *g, const TableRow *row, size_t i)
{
    return row ? row->cell[g->column[i].at].cell : g->r->title[g->column[i].at];
}

/* Returns the width of the widest cell of shown column i; without its heading. */
static size_t cells_width(const Grid *g, size_t i)
{
    size_t widest = 0;
    for (const TableRow *row = g->r->first; row; row = row->next)
        widest = size_most(widest, width_of(cell_at(g, row, i)));
    return widest;
}

static bool grid_open(Grid *g, const Report *r)
{
    *g = (Grid){r, NEW_ZERO(r->a, GridColumn, r->spec.column_count + 1), 0};
    for (size_t i = 0; g->column && i < r->spec.column_count; i++)
        if (r->title[i]) {
            GridColumn *c = &g->column[g->count];
            *c = (GridColumn){.at = i, .left = report_left(r, i)};
            c->width = size_most(width_of(r->title[i]), cells_width(g, g->count++));
        }
    return g->column;
}

/* Returns the width of the keys before column `from` and of the columns `from` to `to` - 1, each with a gap behind it. */
static size_t part_width(const Grid *g, size_t from, size_t to)
{
    size_t sum = 0;
    for (size_t i = 0; i < to; i++)
        sum += i >= from || g->column[i].key ? g->column[i].width + GAP : 0;
    return sum;
}

/* Returns whether the keys differ between any two rows. */
static bool told_apart(const Grid *g)
{
    for (const TableRow *row = g->r->first; row; row = row->next)
        for (const TableRow *other = row->next; other; other = other->next) {
            size_t i = 0;
            while (i < g->count && (!g->column[i].key || !strcmp(cell_at(g, row, i), cell_at(g, other, i))))
                i++;
            if (i == g->count)
                return false;
        }
    return true;
}

/* Narrows the widest keys until `room` characters hold them, and drops the last ones where that does not suffice. */
static void fit_keys(Grid *g, size_t lead, size_t room)
{
    GridColumn *c = g->column;
    for (size_t i = 0; i < lead; i++) /* a long heading takes several lines */
        c[i].width = size_least(c[i].width, size_most(cells_width(g, i), LEAST));
    while (part_width(g, lead, lead) > room) {
        size_t widest = 0;
        for (size_t i = 1; i < lead; i++)
            widest = c[i].key && (!c[widest].key || c[i].width > c[widest].width) ? i : widest;
        if (c[widest].width > LEAST)
            c[widest].width--;
        else
            c[--lead].key = false;
    }
    c[0].key |= part_width(g, lead, lead) == 0;
}

/* Takes leading columns as keys until they tell the rows apart, and drops those among them that are not needed for
 * this. Each column fits beside the keys, a text in several lines; there is at least one key. */
static void choose_keys(Grid *g)
{
    size_t lead = 1, widest = 0;
    g->column[0].key = true;
    while (lead + 1 < g->count && !told_apart(g))
        g->column[lead++].key = true;
    for (size_t i = 0; i < lead && lead > 1; i++) {
        g->column[i].key = false;
        g->column[i].key = !told_apart(g);
    }
    for (size_t i = lead; i < g->count; i++)
        widest = size_most(widest, g->column[i].left ? size_least(g->column[i].width, LEAST) : g->column[i].width);
    fit_keys(g, lead, g->r->spec.width - size_least(g->r->spec.width, widest));
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
static void put_grid_row(const Grid *g, const TableRow *row, size_t from, size_t to, TextBuf *out)
{
    bool more = true;
    for (size_t i = 0; i < to; i++)
        g->column[i].rest = cell_at(g, row, i);
    while (more) {
        size_t blanks = 0;
        more = false;
        for (GridColumn *c = g->column; c < g->column + to; c++) {
            if (c < g->column + from && !c->key)
                continue;
            const size_t bytes = line_of(c->rest, c->width), shown = text_characters(c->rest, bytes);
            const size_t blank = c->width > shown ? c->width - shown : 0;
            text_addf(out, "%*s", bytes ? (int)(blanks + (c->left ? 0 : blank)) : 0, "");
            text_add_bytes(out, c->rest, bytes);
            blanks = GAP + (bytes ? (c->left ? blank : 0) : blanks + blank);
            c->rest += bytes + strspn(c->rest + bytes, " ");
            more |= *c->rest;
        }
        text_add(out, more ? "\n" : "");
    }
}

static void put_part(const Grid *g, size_t from, size_t to, TextBuf *out)
{
    text_add(out, g->r->spec.color ? "\033[1m" : "");
    put_grid_row(g, NULL, from, to, out);
    text_add(out, g->r->spec.color ? "\033[0m\n" : "\n");
    for (const TableRow *row = g->r->first; row; row = row->next) {
        put_grid_row(g, row, from, to, out);
        text_add(out, "\n");
    }
}

static void put_terminal(const Report *r, TextBuf *out)
{
    Grid g;
    out->failed |= !grid_open(&g, r);
    if (out->failed || !g.count)
        return;
    const size_t most = r->spec.width + GAP; /* the last column has no gap behind it */
    if (!r->spec.width || part_width(&g, 0, g.count) <= most) {
        put_part(&g, 0, g.count, out);
        return;
    }
    choose_keys(&g);
    bool first = true;
    for (size_t from = 0, to; from < g.count; from = to) {
        to = from + 1;
        const size_t room = most - size_least(most, part_width(&g, from, from) + GAP); /* of a column on its own */
        g.column[from].width = size_least(g.column[from].width, size_most(room, LEAST));
        while (to < g.count && part_width(&g, from, to + 1) <= most)
            to++;
        if (to < g.count && part_width(&g, to, to) == part_width(&g, 0, to))
            continue; /* the next part has all these columns, which are keys */
        text_add(out, first ? "" : "\n");
        first = false;
        put_part(&g, from, to, out);
    }
}

/* ---- a report ---- */

static bool is_table(const Report *r)
{
    return r->spec.format != FORMAT_CSV && r->spec.format != FORMAT_JSON;
}

static bool begin(Report *r, const ReportSpec *spec, Arena *a)
{
    *r = (Report){.spec = *spec, .a = a, .text = {.arena = a}};
    if (is_table(r))
        return head_columns(r);
    (spec->format == FORMAT_CSV ? csv_begin : json_begin)(r);
    return true;
}

static bool put_row(Report *r, const Value *row, bool shown)
{
    const bool table = is_table(r);
    if (!table)
        (r->spec.format == FORMAT_CSV ? csv_row : json_row)(r, row);
    r->rows += shown || !table;
    return !table || !shown || report_keep(r, row);
}

static char *end(Report *r)
{
    if (is_table(r))
        (r->spec.format == FORMAT_TABLE ? put_terminal : report_put_table)(r, &r->text);
    text_add(&r->text, r->spec.format == FORMAT_JSON ? "\n]}\n" : "");
    return text_done(&r->text);
}

Status report_open(Report **out, const ReportSpec *spec, Arena *a, Error *err)
{
    *out = NEW(a, Report, 1);
    return arena_check(*out && begin(*out, spec, a), a, err);
}

Status report_row(Report *r, const Value *row, bool shown, Error *err)
{
    return arena_check(put_row(r, row, shown), r->a, err);
}

Status report_close(Report *r, Error *err)
{
    const char *text = end(r), *path = r->spec.path ? r->spec.path : "-";
    TRY(arena_check(text, r->a, err));
    if (r->spec.text) {
        *r->spec.text = text;
        return OK;
    }
    TRY(outfile_save(path, text, r->text.size, r->a, err));
    if (r->spec.say && !outfile_is_stdout(path))
        fprintf(r->spec.say, "wrote %s: %zu record%s\n", path, r->rows, text_s(r->rows));
    return OK;
}

Status report_finish(Report *r, Status written, Error *err)
{
    return written == OK ? report_close(r, err) : written;
}

char *report_text(const ReportSpec *spec, const Value *rows, size_t count, Arena *a)
{
    Report r;
    bool good = begin(&r, spec, a);
    for (size_t i = 0; i < count && good; i++)
        good = put_row(&r, rows + i * spec->column_count, true);
    return good ? end(&r) : NULL;
}

size_t report_column(const Column *columns, const char *name)
{
    size_t i = 0;
    while (strcmp(columns[i].name, name) != 0)
        i++;
    return i;
}
