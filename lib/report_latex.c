/* report_latex.c -- the human table as a booktabs tabular; where it came from stands in comments. */
#include "report_table.h"

#include <string.h>

static void put_escaped(TextBuf *out, const char *s)
{
    static const struct {
        char plain;
        const char *tex;
    } specials[] = {{'\\', "\\textbackslash{}"}, {'~', "\\textasciitilde{}"}, {'^', "\\textasciicircum{}"},
                    {'<', "\\textless{}"},       {'>', "\\textgreater{}"},    {'|', "\\textbar{}"}};
    for (; *s; s++) {
        size_t i = 0;
        while (i < countof(specials) && specials[i].plain != *s)
            i++;
        if (i < countof(specials)) {
            text_add(out, specials[i].tex);
        } else {
            text_add(out, strchr("&%$#_{}", *s) ? "\\" : "");
            text_add_bytes(out, s, 1);
        }
    }
}

static void put_comment(TextBuf *out, const Fact *fact)
{
    if (fact->value.type != VALUE_TEXT)
        return;
    text_addf(out, "%% %s: ", fact->name);
    for (const char *s = fact->value.text; *s; s++)
        text_add_bytes(out, (unsigned char)*s < 0x20 ? "?" : s, 1);
    text_add(out, "\n");
}

static void put_line(const Report *r, const TableRow *row, TextBuf *out)
{
    const char *between = "";
    for (size_t i = 0; i < r->spec.column_count; i++) {
        const char *title = r->spec.columns[i].title;
        if (!title)
            continue;
        text_add(out, between);
        put_escaped(out, row ? row->cell[i] : title);
        between = " & ";
    }
    text_add(out, " \\\\\n");
}

static void end(const Report *r, TextBuf *out)
{
    for (size_t i = 0; i < r->spec.facts; i++)
        put_comment(out, &r->spec.meta[i]);
    text_add(out, "\\begin{tabular}{");
    for (size_t i = 0; i < r->spec.column_count; i++)
        if (r->spec.columns[i].title)
            text_add(out, report_left(r, i) ? "l" : "r");
    text_add(out, "}\n\\toprule\n");
    put_line(r, NULL, out);
    text_add(out, "\\midrule\n");
    for (const TableRow *row = r->first; row; row = row->next)
        put_line(r, row, out);
    text_add(out, "\\bottomrule\n\\end{tabular}\n");
}

const ReportWriter report_latex = {report_begin_nothing, NULL, end};
