/* report_page_table.c -- writes escaped text, data: URIs and the rows of a result as HTML (report_page.h). */
#include "report/report_page.h"
#include "base/text.h"
#include "report/report_table.h"

#include <stdint.h>
#include <string.h>

/* ---- text and pictures ---- */

static const char *entity(char c)
{
    return c == '&'    ? "&amp;"
           : c == '<'  ? "&lt;"
           : c == '>'  ? "&gt;"
           : c == '"'  ? "&quot;"
           : c == '\'' ? "&#39;"
                       : NULL;
}

void html_text(TextBuf *out, const char *s)
{
    while (*s) {
        const size_t length = text_utf8(s, strnlen(s, 4));
        if (length == 0 || text_steers(s, length))
            text_add(out, "\xef\xbf\xbd");
        else if (entity(*s))
            text_add(out, entity(*s));
        else
            text_add_bytes(out, s, length);
        s += length ? length : 1;
    }
}

void html_addf(TextBuf *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    for (const char *at; (at = strstr(format, "%s")); format = at + 2) {
        text_add_bytes(out, format, (size_t)(at - format));
        html_text(out, va_arg(args, const char *));
    }
    text_add(out, format);
    va_end(args);
}

static void put_data_uri(TextBuf *out, const char *type, const char *data, size_t size)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *b = (const unsigned char *)data;
    text_addf(out, "data:%s;base64,", type);
    for (size_t i = 0; i < size; i += 3) {
        const uint32_t v = (uint32_t)b[i] << 16 | (uint32_t)(i + 1 < size ? b[i + 1] : 0) << 8 |
                           (uint32_t)(i + 2 < size ? b[i + 2] : 0);
        const char four[] = {digit[v >> 18], digit[v >> 12 & 63], i + 1 < size ? digit[v >> 6 & 63] : '=',
                             i + 2 < size ? digit[v & 63] : '='};
        text_add_bytes(out, four, sizeof four);
    }
}

void html_picture(TextBuf *out, const char *type, const char *data, size_t size, const char *name)
{
    html_addf(out, "<figure><img alt=\"%s\" src=\"", name);
    put_data_uri(out, type, data, size);
    html_addf(out, "\"><figcaption>%s</figcaption></figure>\n", name);
}

/* ---- tables ---- */

typedef struct {
    const Field *field; /* NULL: no command writes this field */
    const char *name;
    bool numbers;     /* every value is a number */
    Beside beside;    /* the columns with its standard error and exact value */
    bool shown, rare; /* rare: shown only when the user asks for all columns */
} PageColumn;

/* ---- columns ---- */

static Value value_at(const PageTable *t, const PageColumn *c, size_t row, size_t column)
{
    return stored_value(csv_at(t->rows, row, column), c->field && c->field->text);
}

/* Sets `numbers`, `shown` and `rare` of column c from the rows of one rank (shown first, or shown on
 * request). A column without values is not shown; a column with only "*" is rare. */
static void look_at(PageColumn *c, const PageTable *t, size_t column, RowRank rank)
{
    bool stars = true;
    c->numbers = true;
    for (size_t row = 0; row < t->rows->rows; row++) {
        if (t->rank[row] != rank)
            continue;
        const Value v = value_at(t, c, row, column);
        c->shown |= v.type != VALUE_NONE;
        c->numbers &= v.type == VALUE_NONE || v.type == VALUE_INT || v.type == VALUE_REAL;
        stars &= !strcmp(csv_at(t->rows, row, column), "*");
    }
    c->rare |= stars;
    c->shown &= rank != ROW_MORE || !c->rare; /* the further rows have the usual columns only, which keeps pages small */
}

static Column *names_of(const PageTable *t, Arena *a)
{
    Column *names = NEW_ZERO(a, Column, t->rows->columns + 1);
    for (size_t i = 0; names && i < t->rows->columns; i++)
        names[i].name = t->rows->name[i];
    return names;
}

static PageColumn *columns_of(const PageTable *t, const Column *names, RowRank rank, Arena *a)
{
    PageColumn *columns = NEW_ZERO(a, PageColumn, t->rows->columns + 1);
    for (size_t i = 0; columns && i < t->rows->columns; i++) {
        PageColumn *c = &columns[i];
        c->name = t->rows->name[i];
        c->field = field_of_column(c->name, NULL);
        c->rare = t->usual ? !text_listed(t->usual, c->name) : !strcmp(c->name, "spec");
        c->beside = report_beside(names, t->rows->columns, i);
        look_at(c, t, i, rank);
    }
    return columns;
}

static void put_heading(TextBuf *out, const PageColumn *c, Arena *a)
{
    const char *heading = field_heading(c->name, false, a), *meaning = field_meaning(c->name);
    html_addf(out, "<th scope=\"col\" class=\"%s%s\" title=\"%s%s%s\">%s</th>", c->numbers ? "n" : "t", c->rare ? " more" : "",
              c->name, *meaning ? ": " : "", meaning, heading ? heading : "");
    out->failed |= !heading;
}

/* ---- cells ---- */

enum { LONG = 48 };

/* The row that is written next; one PageRow serves all rows of a table in turn. */
typedef struct {
    const PageTable *table;
    const Column *names;
    const PageColumn *columns;
    Value *value; /* (columns) the row's values */
} PageRow;

/* Writes the number as tables show it, with its standard error behind a "±". */
static void put_number(TextBuf *out, const PageRow *row, size_t column, Arena *a)
{
    char exact[32];
    const size_t count = row->table->rows->columns;
    const Shown shown = report_shown(row->names, count, row->value, column, &row->columns[column].beside, a);
    const char *sign = shown.cell ? strstr(shown.cell, "+-") : NULL;
    text_addf(out, " data-v=\"%s\">", text_double(exact, shown.number));
    if (sign)
        text_addf(out, "%.*s\xc2\xb1%s", (int)(sign - shown.cell), shown.cell, sign + 2);
    else
        text_add(out, shown.cell ? shown.cell : "");
    out->failed |= !shown.cell;
}

static void put_cell(TextBuf *out, const PageRow *row, size_t column, const char *cell, Arena *a)
{
    const PageColumn *c = &row->columns[column];
    const Value *v = &row->value[column];
    const bool number = v->type == VALUE_INT || v->type == VALUE_REAL, none = v->type == VALUE_NONE;
    const bool wide = v->type == VALUE_TEXT && strlen(cell) > LONG;
    text_addf(out, "<td class=\"%s%s%s%s\"", c->numbers ? "n" : "t", none ? " none" : "", wide ? " wide" : "",
              c->rare ? " more" : "");
    if (number) {
        put_number(out, row, column, a);
    } else {
        text_add(out, ">");
        html_text(out, none ? "\xe2\x80\x93" : v->type == VALUE_BOOL ? v->on ? "yes" : "no" : cell);
    }
    text_add(out, "</td>");
}

/* ---- tables ---- */

static void put_row(TextBuf *out, PageRow *r, size_t row, Arena *a)
{
    const PageTable *t = r->table;
    for (size_t i = 0; i < t->rows->columns; i++)
        r->value[i] = value_at(t, &r->columns[i], row, i);
    text_add(out, "<tr>");
    for (size_t i = 0; i < t->rows->columns; i++)
        if (r->columns[i].shown)
            put_cell(out, r, i, csv_at(t->rows, row, i), a);
    text_add(out, "</tr>\n");
}

static size_t rows_most(const PageTable *t)
{
    const size_t rows = CELLS_MOST / (t->rows->columns + 1);
    return rows < 100 ? 100 : rows > ROWS_MOST ? ROWS_MOST : rows;
}

static void put_table(TextBuf *out, const PageTable *t, RowRank rank, Arena *a)
{
    const Column *names = names_of(t, a);
    const PageColumn *columns = names ? columns_of(t, names, rank, a) : NULL;
    PageRow r = {t, names, columns, NEW(a, Value, t->rows->columns + 1)};
    size_t shown = 0, rare = 0, rows = 0;
    out->failed |= !columns || !r.value;
    for (size_t i = 0; columns && i < t->rows->columns; i++) {
        shown += columns[i].shown;
        rare += columns[i].shown && columns[i].rare;
    }
    if (rare)
        text_addf(out,
                  "<input type=\"checkbox\" class=\"all\" id=\"%s-%d\"><label for=\"%s-%d\">all %zu "
                  "columns</label>\n",
                  t->id, rank, t->id, rank, shown);
    html_addf(
        out,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s of %s\"><table>\n<thead><tr>",
        rank == ROW_MORE ? "more rows" : "rows", t->file);
    for (size_t i = 0; columns && i < t->rows->columns; i++)
        if (columns[i].shown)
            put_heading(out, &columns[i], a);
    text_add(out, "</tr></thead>\n<tbody>\n");
    for (size_t row = 0; !out->failed && row < t->rows->rows && rows < rows_most(t); row++)
        if (t->rank[row] == rank) {
            put_row(out, &r, row, a);
            rows++;
        }
    text_add(out, "</tbody></table></div>\n");
}

static size_t count_ranked(const PageTable *t, RowRank rank)
{
    size_t count = 0;
    for (size_t row = 0; row < t->rows->rows; row++)
        count += t->rank[row] == rank;
    return count;
}

static void put_first(TextBuf *out, const PageTable *t, size_t all)
{
    if (all <= rows_most(t))
        return;
    text_addf(out, "<p class=\"soft\">The first %zu of %zu rows; all are in ", rows_most(t), all);
    html_addf(out, "%s.</p>\n", t->file);
}

void page_table(TextBuf *out, const PageTable *t, Arena *a)
{
    const size_t lead = count_ranked(t, ROW_LEAD), more = count_ranked(t, ROW_MORE),
                 rest = count_ranked(t, ROW_COUNT);
    if (lead) {
        put_first(out, t, lead);
        put_table(out, t, ROW_LEAD, a);
    }
    if (more) {
        text_addf(out, "<details><summary>%zu %srow%s</summary>\n", more, lead ? "more " : "", text_s(more));
        put_first(out, t, more);
        put_table(out, t, ROW_MORE, a);
        text_add(out, "</details>\n");
    }
    if (rest) {
        text_addf(out, "<p class=\"soft\">%zu more row%s, of steps without a test, %s only in ", rest,
                  text_s(rest), text_are(rest));
        html_addf(out, "%s.</p>\n", t->file);
    }
}
