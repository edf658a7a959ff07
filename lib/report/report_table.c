/* report_table.c -- formats the cells of tables for people, and writes Markdown and LaTeX. Real numbers have the
 * significant digits of their field, numbers of bytes a decimal unit. A mean over draws has the digits that
 * its standard error supports. A value from a single draw begins with "~". */
#include "report/report_table.h"

#include "report/fields.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers ---- */

/* Writes v with `digits` significant digits: 0.01234, 1.500, 123456, 1.2e-07. Magnitudes from 1e-4 to 1e7
 * (after rounding) are written without an exponent. */
static void put_real(TextBuf *out, double v, int digits)
{
    char rounded[48];
    snprintf(rounded, sizeof rounded, "%.*e", digits - 1, v);
    const double size = fabs(strtod(rounded, NULL));
    if (v == 0) {
        text_add(out, "0");
    } else if (size < 1e-4 || size >= 1e7) {
        text_addf(out, "%.*e", digits - 1, v);
    } else {
        const int magnitude = (int)floor(log10(size));
        text_addf(out, "%.*f", magnitude < digits - 1 ? digits - 1 - magnitude : 0, v);
    }
}

/* ---- bytes ---- */

double byte_unit(double bytes, const char **name)
{
    static const char *const names[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    double unit = 1;
    size_t i = 0;
    for (; fabs(bytes) >= 999.95 * unit && i + 1 < countof(names); unit *= 1000)
        i++;
    *name = names[i];
    return unit;
}

/* Writes a number of bytes in a unit, without the unit's name. */
static void put_in_unit(TextBuf *out, double v, double unit, int digits)
{
    if (unit == 1 && v == floor(v))
        text_addf(out, "%.0f", v);
    else
        put_real(out, v / unit, digits);
}

/* ---- printing means with standard errors ---- */

/* A standard error below UNSEEN units of the last printed digit is not printed. A repetition with another
 * seed would change this digit with probability below 1/40. */
#define UNSEEN 0.02

static int magnitude_of(double v)
{
    return (int)floor(log10(fabs(v)));
}

/* Returns v in units of 10^exponent, rounded to a multiple of 10^last. */
static const char *rounded(double v, int exponent, int last, Arena *a)
{
    const double unit = pow(10, last);
    return text_format(a, "%.*f", last < exponent ? exponent - last : 0,
                       last > exponent ? round(v / unit) * unit / pow(10, exponent) : v / pow(10, exponent));
}

/* A mean and its standard error as texts: (1.27 +- 0.03)e-07. The standard error has one significant digit, or two
 * if the first is 1. The mean is rounded to the same decimal place, but has at most `digits` significant digits. */
typedef struct {
    const char *value, *se; /* `se` is "" where other seeds would not change a digit of `value`; `value` NULL: out of memory */
    int exponent;           /* 0: none */
} Uncertain;

static Uncertain uncertain_of(double v, double se, int digits, Arena *a)
{
    const int top = v == 0 ? magnitude_of(se) : magnitude_of(v), end = top - digits + 1;
    if (!(se >= UNSEEN * pow(10, end))) {
        TextBuf out = {.arena = a};
        put_real(&out, v, digits);
        return (Uncertain){text_done(&out), "", 0};
    }
    const int own = magnitude_of(se) - (se / pow(10, magnitude_of(se)) < 1.95), last = own > end ? own : end;
    const int largest = top > magnitude_of(se) ? top : magnitude_of(se);
    const int exponent = largest < -4 || largest >= 7 ? largest : 0;
    const Uncertain u = {rounded(v, exponent, last, a), rounded(se, exponent, own < last ? own : last, a),
                         exponent};
    return u.se ? u : (Uncertain){0};
}

/* ---- cells ---- */

static void put_number(TextBuf *out, const char *column, const Value *v)
{
    const int digits = field_digits(column);
    if (field_counts_bytes(column)) {
        const char *name;
        put_in_unit(out, value_number(v), byte_unit(value_number(v), &name), digits);
        text_addf(out, " %s", name);
    } else if (v->type == VALUE_INT) {
        text_addf(out, "%lld", (long long)v->whole);
    } else {
        put_real(out, v->real, digits);
    }
}

/* Returns a value as text for people, "-" if it does not exist. NULL: out of memory. */
static const char *cell_text(const char *column, const Value *v, Arena *a)
{
    TextBuf out = {.arena = a};
    if (v->type == VALUE_TEXT)
        return text_printable(a, v->text);
    if (v->type == VALUE_BOOL)
        return v->on ? "yes" : "no";
    if (v->type != VALUE_SHAPE && !isfinite(value_number(v)))
        return "-";
    if (v->type != VALUE_SHAPE)
        put_number(&out, column, v);
    for (int i = 0; v->type == VALUE_SHAPE && i < v->shape->rank; i++)
        text_addf(&out, "%s%zu", i ? "x" : "", v->shape->dim[i]);
    return text_done(&out);
}

/* ---- means over draws: the expected value if the codec knows more of it than the draws, else the mean; with its standard
 * error, or "exact" ---- */

Beside report_beside(const Column *columns, size_t count, size_t column)
{
    Beside b = {count, count, count};
    for (size_t i = count; i-- > 0;)
        switch (field_beside(columns[column].name, columns[i].name)) {
        case BESIDE_NOT:
            break;
        case BESIDE_SE:
            b.se = i;
            break;
        case BESIDE_EXACT:
            b.exact = i;
            break;
        case BESIDE_EXACT_SE:
            b.exact_se = i;
            break;
        }
    return b;
}

static const char *uncertain_cell(const char *column, double v, double se, Arena *a)
{
    const char *name = NULL;
    const double unit = field_counts_bytes(column) ? byte_unit(v, &name) : 1;
    const Uncertain u = uncertain_of(v / unit, se / unit, field_digits(column), a);
    TextBuf out = {.arena = a};
    if (!u.value)
        return NULL;
    text_addf(&out, u.exponent ? "(%s" : "%s", u.value);
    if (*u.se)
        text_addf(&out, " +- %s", u.se);
    if (u.exponent)
        text_addf(&out, ")e%+03d", u.exponent);
    if (name)
        text_addf(&out, " %s", name);
    return text_done(&out);
}

static double number_at(const Value *row, size_t column, size_t count)
{
    return column < count ? value_number(&row[column]) : NAN;
}

Shown report_shown(const Column *columns, size_t count, const Value *row, size_t column, const Beside *beside,
                   Arena *a)
{
    const char *name = columns[column].name;
    const double exact = number_at(row, beside->exact, count);
    Shown s = {.number = value_number(&row[column]), .se = number_at(row, beside->se, count), .type = row[column].type};
    const bool better = !isnan(exact) && !isnan(s.number) && s.se != 0;
    const Value best = better ? value_real(exact) : row[column];
    if (better) {
        s.number = exact;
        s.se = beside->exact_se == count ? 0 : number_at(row, beside->exact_se, count);
    }
    s.rough = isnan(s.se) && (better || beside->se < count) && isfinite(s.number) && s.number != 0;
    if (s.se > 0 && !isnan(s.number)) {
        s.cell = uncertain_cell(name, s.number, s.se, a);
        return s;
    }
    s.cell = cell_text(name, &best, a);
    if (s.cell && (s.rough || (better && s.se == 0 && exact != 0)))
        s.cell = text_format(a, s.rough ? "~%s" : "%s exact", s.cell);
    s.se = NAN;
    return s;
}

bool report_keep(Report *r, const Value *row)
{
    const size_t columns = r->spec.column_count;
    TableRow *kept = arena_zeroed(r->a, 1, sizeof *kept + columns * sizeof *kept->cell);
    if (!kept)
        return false;
    for (size_t i = 0; i < columns; i++) {
        if (!r->title[i])
            continue;
        const Beside beside = report_beside(r->spec.columns, columns, i);
        kept->cell[i] = report_shown(r->spec.columns, columns, row, i, &beside, r->a);
        if (row[i].type == VALUE_NONE && r->spec.absent)
            kept->cell[i].cell = r->spec.absent;
        if (!kept->cell[i].cell)
            return false;
    }
    *(r->last ? &r->last->next : &r->first) = kept;
    r->last = kept;
    return true;
}

/* True for the columns `step` and `worker` of a table with a column `tensor`. Their numbers identify a
 * tensor, so they are left-aligned like names. */
static bool is_place(const Report *r, size_t column)
{
    const char *name = r->spec.columns[column].name;
    bool tensors = false;
    for (size_t i = 0; i < r->spec.column_count; i++)
        tensors |= !strcmp(r->spec.columns[i].name, "tensor");
    return tensors && (!strcmp(name, "step") || !strcmp(name, "worker"));
}

bool report_left(const Report *r, size_t column)
{
    bool numbers = false;
    if (is_place(r, column))
        return true;
    for (const TableRow *row = r->first; row; row = row->next) {
        const ValueType type = row->cell[column].type;
        if (type == VALUE_TEXT || type == VALUE_BOOL)
            return true;
        numbers |= type != VALUE_NONE;
    }
    return !numbers;
}

/* ---- Markdown, with markup characters escaped ---- */

/* True when *s is a markup character. An underscore within a word is not. */
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

static void put_md_line(const Report *r, const TableRow *row, TextBuf *out)
{
    text_add(out, "|");
    for (size_t i = 0; i < r->spec.column_count; i++) {
        const char *title = r->title[i];
        if (!title)
            continue;
        text_add(out, " ");
        put_escaped(out, row ? row->cell[i].cell : title);
        text_add(out, " |");
    }
    text_add(out, "\n");
}

static void put_md(const Report *r, TextBuf *out)
{
    put_md_line(r, NULL, out);
    text_add(out, "|");
    for (size_t i = 0; i < r->spec.column_count; i++)
        if (r->title[i])
            text_add(out, report_left(r, i) ? " :--- |" : " ---: |");
    text_add(out, "\n");
    for (const TableRow *row = r->first; row; row = row->next)
        put_md_line(r, row, out);
}

/* ---- LaTeX: a tabular of the package booktabs, with the facts about the run as comments ----
 *
 * \phantom digits after shorter numbers align the decimal points, so that no further package is needed. A column of bytes has one
 * unit, in its heading. Standard errors have a column of their own under the same heading. */

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

/* name and value may come from an untrusted file */
static void put_comment(TextBuf *out, const Fact *fact)
{
    if (fact->value.type != VALUE_TEXT || !*fact->value.text)
        return;
    const char *name = text_printable(out->arena, fact->name), *value = text_printable(out->arena, fact->value.text);
    out->failed |= !name || !value;
    text_addf(out, "%% %s: %s\n", name ? name : "", value ? value : "");
}

/* ---- columns ---- */

enum { NO_POINT = -1 };

typedef struct {
    const char *name, *title;
    double unit;           /* of numbers of bytes; else 1 */
    const char *unit_name; /* NULL: the column has no numbers of bytes */
    int after;             /* most digits after a decimal point; NO_POINT: no number has a point */
    bool left, uncertain;  /* uncertain: a cell has a standard error */
} TexColumn;

static bool is_number(const Shown *cell)
{
    return (cell->type == VALUE_INT || cell->type == VALUE_REAL) && isfinite(cell->number);
}

/* Sets the unit of column i. */
static void take_unit(const Report *r, size_t i, TexColumn *l)
{
    double least = INFINITY, most = 0;
    if (!field_counts_bytes(l->name))
        return;
    for (const TableRow *row = r->first; row; row = row->next)
        if (is_number(&row->cell[i]) && row->cell[i].number > 0) {
            least = fmin(least, row->cell[i].number);
            most = fmax(most, row->cell[i].number);
        }
    if (most > 0)
        l->unit = byte_unit(sqrt(least) * sqrt(most), &l->unit_name);
}

/* Returns a number as text, in the column's unit; `value` NULL: out of memory. */
static Uncertain number_text(const TexColumn *l, const Shown *cell, Arena *a)
{
    const int digits = field_digits(l->name);
    TextBuf out = {.arena = a};
    if (!isnan(cell->se))
        return uncertain_of(cell->number / l->unit, cell->se / l->unit, digits, a);
    if (l->unit_name)
        put_in_unit(&out, cell->number, l->unit, digits);
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

static TexColumn *tex_columns(const Report *r)
{
    TexColumn *all = NEW_ZERO(r->a, TexColumn, r->spec.column_count + 1);
    for (size_t i = 0; all && i < r->spec.column_count; i++) {
        TexColumn *l = &all[i];
        if (!r->title[i])
            continue;
        *l = (TexColumn){r->spec.columns[i].name, r->title[i], 1, NULL, NO_POINT, report_left(r, i), false};
        take_unit(r, i, l);
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
static void put_tex_number(TextBuf *out, const char *number, int after)
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
static void put_uncertain(TextBuf *out, const TexColumn *l, const Uncertain *u)
{
    text_add(out, u->exponent && *u->se ? "(" : "");
    if (u->exponent)
        text_add(out, u->value);
    else
        put_tex_number(out, u->value, l->left ? NO_POINT : l->after);
    if (l->uncertain)
        text_add(out, " & ");
    if (*u->se)
        text_addf(out, "$\\pm$ %s", u->se);
    if (u->exponent)
        text_addf(out, *u->se ? ")$\\cdot10^{%d}$" : "$\\cdot10^{%d}$", u->exponent);
}

static void put_tex_heading(const TexColumn *l, TextBuf *out)
{
    text_add(out, l->uncertain ? "\\multicolumn{2}{c}{" : "");
    report_put_tex(out, l->title);
    text_addf(out, "%s%s%s", l->unit_name ? ", " : "", l->unit_name ? l->unit_name : "", l->uncertain ? "}" : "");
}

static void put_tex_cell(const Report *r, const TexColumn *l, const Shown *cell, TextBuf *out)
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

static void put_tex_line(const Report *r, const TexColumn *l, const TableRow *row, TextBuf *out)
{
    const char *between = "";
    for (size_t i = 0; i < r->spec.column_count; i++) {
        if (!r->title[i])
            continue;
        text_add(out, between);
        if (row)
            put_tex_cell(r, &l[i], &row->cell[i], out);
        else
            put_tex_heading(&l[i], out);
        between = " & ";
    }
    text_add(out, " \\\\\n");
}

static void put_latex(const Report *r, TextBuf *out)
{
    const TexColumn *l = tex_columns(r);
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
    put_tex_line(r, l, NULL, out);
    text_add(out, "\\midrule\n");
    for (const TableRow *row = r->first; row; row = row->next)
        put_tex_line(r, l, row, out);
    text_add(out, "\\bottomrule\n\\end{tabular}\n");
}

void report_put_table(const Report *r, TextBuf *out)
{
    (r->spec.format == FORMAT_MD ? put_md : put_latex)(r, out);
}
