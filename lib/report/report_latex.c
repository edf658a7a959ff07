/* report_latex.c -- writes a table as LaTeX (a tabular of the package booktabs), with the facts about the run
 * as comments.
 *
 * \phantom digits after shorter numbers align the decimal points, so that no further package is needed. A
 * column of bytes has one unit, in its heading. Standard errors have a column of their own under the same
 * heading. */
#include "report/report_table.h"

#include "base/text.h"
#include "report/fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void report_put_tex(TextBuf *out, const char *s)
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

/* Writes a text inside a LaTeX comment: each line end is followed by "%". Other characters that steer a terminal
 * become "?". */
static void put_in_comment(TextBuf *out, const char *s)
{
    for (size_t length; *s; s += length ? length : 1) {
        length = text_utf8(s, strnlen(s, 4));
        if (*s == '\n')
            text_add(out, s[1] ? "\n%     " : "");
        else if (length && !text_steers(s, length))
            text_add_bytes(out, s, length);
        else
            text_add(out, "?");
    }
}

/* name and value may come from an untrusted file */
static void put_comment(TextBuf *out, const Fact *fact)
{
    if (fact->value.type != VALUE_TEXT || !*fact->value.text)
        return;
    text_add(out, "% ");
    put_in_comment(out, fact->name);
    text_add(out, ": ");
    put_in_comment(out, fact->value.text);
    text_add(out, "\n");
}

/* ---- columns ---- */

enum { NO_UNIT = -1, NO_POINT = -1 };

typedef struct {
    const char *name, *title;
    int unit;             /* index into report_units; NO_UNIT: the column has no numbers of bytes */
    int after;            /* most digits after a decimal point; NO_POINT: no number has a point */
    bool left, uncertain; /* uncertain: a cell has a standard error */
} Layout;

static bool is_number(const Shown *cell)
{
    return (cell->type == VALUE_INT || cell->type == VALUE_REAL) && isfinite(cell->number);
}

static int unit_of(const Report *r, size_t i)
{
    double least = INFINITY, most = 0;
    if (!field_counts_bytes(r->spec.columns[i].name))
        return NO_UNIT;
    for (const TableRow *row = r->first; row; row = row->next)
        if (is_number(&row->cell[i]) && row->cell[i].number > 0) {
            least = fmin(least, row->cell[i].number);
            most = fmax(most, row->cell[i].number);
        }
    return most > 0 ? (int)report_unit(least, most) : NO_UNIT;
}

/* Returns a number as text, in the column's unit; `value` NULL: out of memory. */
static Uncertain number_text(const Layout *l, const Shown *cell, Arena *a)
{
    const size_t unit = l->unit == NO_UNIT ? 0 : (size_t)l->unit;
    const int digits = field_digits(l->name);
    TextBuf out = {.arena = a};
    if (!isnan(cell->se))
        return report_uncertain(report_in_unit(cell->number, unit), report_in_unit(cell->se, unit), digits,
                                a);
    if (l->unit != NO_UNIT)
        report_put_bytes(&out, cell->number, unit, digits);
    else if (cell->type == VALUE_INT)
        text_add(&out, cell->cell);
    else
        put_real(&out, cell->number, digits);
    return (Uncertain){text_done(&out), "", 0};
}

static int digits_after(const char *number)
{
    const char *point = strchr(number, '.');
    return !point || strchr(number, 'e') ? NO_POINT : (int)strlen(point + 1);
}

static Layout *layout_of(const Report *r)
{
    Layout *all = NEW_ZERO(r->a, Layout, r->spec.column_count + 1);
    for (size_t i = 0; all && i < r->spec.column_count; i++) {
        Layout *l = &all[i];
        if (!r->title[i])
            continue;
        *l =
            (Layout){r->spec.columns[i].name, r->title[i], unit_of(r, i), NO_POINT, report_left(r, i), false};
        for (const TableRow *row = r->first; row; row = row->next) {
            const Shown *cell = &row->cell[i];
            const Uncertain number = is_number(cell) ? number_text(l, cell, r->a) : (Uncertain){"", "", 0};
            if (!number.value)
                return NULL;
            const int after = number.exponent ? NO_POINT : digits_after(number.value);
            l->after = after > l->after ? after : l->after;
            l->uncertain |= *number.se;
        }
    }
    return all;
}

/* ---- cells ---- */

/* Writes a number for LaTeX: "-1.2e-07" as a product with a power of ten; in other numbers the hyphen becomes
 * a minus sign, and phantom digits fill up to `after` digits after the point. */
static void put_number(TextBuf *out, const char *number, int after)
{
    const char *e = strchr(number, 'e');
    const int own = digits_after(number);
    if (e) {
        text_addf(out, "$%.*s\\cdot10^{%d}$", (int)(e - number), number, atoi(e + 1));
        return;
    }
    text_addf(out, "%s%s", *number == '-' ? "$-$" : "", number + (*number == '-'));
    if (own < after)
        text_addf(out, "\\phantom{%s%.*s}", own == NO_POINT ? "." : "", after - (own > 0 ? own : 0),
                  "00000000000000000");
}

/* Writes a mean and, in the next column, its standard error: "1.27 & $\\pm$ 0.03", or with a common power of
 * ten "(1.27 & $\\pm$ $0.03)\\cdot10^{-7}$". */
static void put_uncertain(TextBuf *out, const Layout *l, const Uncertain *u)
{
    text_add(out, u->exponent && *u->se ? "(" : "");
    if (u->exponent)
        text_add(out, u->value);
    else
        put_number(out, u->value, l->left ? NO_POINT : l->after);
    if (l->uncertain)
        text_add(out, " & ");
    if (*u->se)
        text_addf(out, "$\\pm$ %s", u->se);
    if (u->exponent)
        text_addf(out, *u->se ? ")$\\cdot10^{%d}$" : "$\\cdot10^{%d}$", u->exponent);
}

static void put_heading(const Layout *l, TextBuf *out)
{
    text_add(out, l->uncertain ? "\\multicolumn{2}{c}{" : "");
    report_put_tex(out, l->title);
    text_addf(out, "%s%s%s", l->unit == NO_UNIT ? "" : ", ", l->unit == NO_UNIT ? "" : report_units[l->unit],
              l->uncertain ? "}" : "");
}

static void put_cell(const Report *r, const Layout *l, const Shown *cell, TextBuf *out)
{
    if (is_number(cell)) {
        const Uncertain number = number_text(l, cell, r->a);
        out->failed |= !number.value;
        text_add(out, cell->rough ? "$\\sim$" : "");
        if (!out->failed)
            put_uncertain(out, l, &number);
        return;
    }
    if (cell->type != VALUE_TEXT && !strcmp(cell->cell, "-"))
        text_add(out, "--");
    else
        report_put_tex(out, cell->cell);
    text_add(out, l->uncertain ? " &" : "");
}

static void put_line(const Report *r, const Layout *l, const TableRow *row, TextBuf *out)
{
    const char *between = "";
    for (size_t i = 0; i < r->spec.column_count; i++) {
        if (!r->title[i])
            continue;
        text_add(out, between);
        if (row)
            put_cell(r, &l[i], &row->cell[i], out);
        else
            put_heading(&l[i], out);
        between = " & ";
    }
    text_add(out, " \\\\\n");
}

static void end(const Report *r, TextBuf *out)
{
    const Layout *l = layout_of(r);
    out->failed |= !l;
    if (out->failed)
        return;
    for (size_t i = 0; i < r->spec.facts; i++)
        put_comment(out, &r->spec.meta[i]);
    text_add(out, "\\begin{tabular}{");
    for (size_t i = 0; i < r->spec.column_count; i++)
        if (r->title[i])
            text_add(out, l[i].left ? "l" : l[i].uncertain ? "r@{\\,}l" : "r");
    text_add(out, "}\n\\toprule\n");
    put_line(r, l, NULL, out);
    text_add(out, "\\midrule\n");
    for (const TableRow *row = r->first; row; row = row->next)
        put_line(r, l, row, out);
    text_add(out, "\\bottomrule\n\\end{tabular}\n");
}

const ReportWriter report_latex = {.end = end};
