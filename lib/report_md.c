/* report_md.c -- the human table as a Markdown table; what would be markup in a cell is escaped. */
#include "report_table.h"

#include <string.h>

static void put_escaped(TextBuf *out, const char *s)
{
    for (; *s; s++) {
        if (strchr("|\\`*<[", *s))
            text_add(out, "\\");
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
