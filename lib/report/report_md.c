/* report_md.c -- the human table as a Markdown table; what would be markup in a cell is escaped. */
#include "report/report_table.h"

#include <ctype.h>
#include <string.h>

/* Within a word an underscore is no markup. */
static bool is_markup(const char *start, const char *s)
{
    const bool inside = s > start && isalnum((unsigned char)s[-1]) && isalnum((unsigned char)s[1]);
    return strchr("|\\`*<[&~", *s) || (*s == '_' && !inside);
}

static void put_escaped(TextBuf *out, const char *text)
{
    for (const char *s = text; *s; s++) {
        text_add(out, is_markup(text, s) ? "\\" : "");
        text_add_bytes(out, s, 1);
    }
}

static void put_line(const Report *r, const TableRow *row, TextBuf *out)
{
    text_add(out, "|");
    for (size_t i = 0; i < r->spec.column_count; i++) {
        const char *title = r->spec.columns[i].title;
        if (!title)
            continue;
        text_add(out, " ");
        put_escaped(out, row ? row->cell[i] : title);
        text_add(out, " |");
    }
    text_add(out, "\n");
}

static void end(const Report *r, TextBuf *out)
{
    put_line(r, NULL, out);
    text_add(out, "|");
    for (size_t i = 0; i < r->spec.column_count; i++)
        if (r->spec.columns[i].title)
            text_add(out, report_left(r, i) ? " :--- |" : " ---: |");
    text_add(out, "\n");
    for (const TableRow *row = r->first; row; row = row->next)
        put_line(r, row, out);
}

const ReportWriter report_md = {report_begin_nothing, NULL, end};
