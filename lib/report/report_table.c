/* report_table.c -- formats the cells of tables for people, and writes Markdown. Real numbers have the
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

void put_real(TextBuf *out, double v, int digits)
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

const char *const report_units[] = {"B", "kB", "MB", "GB", "TB", "PB"};

size_t report_unit_of(double v)
{
    size_t unit = 0;
    for (v = fabs(v); v >= 999.95 && unit + 1 < countof(report_units); v /= 1000)
        unit++;
    return unit;
}

size_t report_unit(double least, double most)
{
    return report_unit_of(sqrt(least) * sqrt(most));
}

double report_in_unit(double v, size_t unit)
{
    for (size_t i = 0; i < unit; i++)
        v /= 1000;
    return v;
}

void report_put_bytes(TextBuf *out, double v, size_t unit, int digits)
{
    if (unit == 0 && v == floor(v))
        text_addf(out, "%.0f", v);
    else
        put_real(out, report_in_unit(v, unit), digits);
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

Uncertain report_uncertain(double v, double se, int digits, Arena *a)
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

static void put_bytes(TextBuf *out, double v, int digits)
{
    const size_t unit = report_unit_of(v);
    report_put_bytes(out, v, unit, digits);
    text_addf(out, " %s", report_units[unit]);
}

static void put_number(TextBuf *out, const char *column, const Value *v)
{
    const int digits = field_digits(column);
    if (field_counts_bytes(column))
        put_bytes(out, value_number(v), digits);
    else if (v->type == VALUE_INT)
        text_addf(out, "%lld", (long long)v->whole);
    else
        put_real(out, v->real, digits);
}

/* A character becomes "?" if it could steer the terminal or break the row, or is no valid UTF-8. */
static void put_printable(TextBuf *out, const char *s)
{
    while (*s) {
        const size_t length = text_utf8(s, strnlen(s, 4));
        const bool shown = length && !text_steers(s, length);
        text_add_bytes(out, shown ? s : "?", shown ? length : 1);
        s += length ? length : 1;
    }
}

/* Returns a value as text for people, "-" if it does not exist. NULL: out of memory. */
static const char *cell_text(const char *column, const Value *v, Arena *a)
{
    TextBuf out = {.arena = a};
    switch (v->type) {
    case VALUE_NONE:
        text_add(&out, "-");
        break;
    case VALUE_TEXT:
        put_printable(&out, v->text);
        break;
    case VALUE_BOOL:
        text_add(&out, v->on ? "yes" : "no");
        break;
    case VALUE_INT:
        put_number(&out, column, v);
        break;
    case VALUE_REAL:
        if (isfinite(v->real))
            put_number(&out, column, v);
        else
            text_add(&out, "-");
        break;
    case VALUE_SHAPE:
        for (int i = 0; i < v->shape->rank; i++)
            text_addf(&out, "%s%zu", i ? "x" : "", v->shape->dim[i]);
        break;
    }
    return text_done(&out);
}

/* ---- means over draws: the expected value if the codec knows more of it than the draws, else the mean; with its standard
 * error, or "exact" ---- */

/* Returns the index of the first column c for which is(name of `column`, name of c) is true; `count`: none. */
static size_t find_beside(const Column *columns, size_t count, size_t column,
                          bool (*is)(const char *, const char *))
{
    size_t i = 0;
    while (i < count && !is(columns[column].name, columns[i].name))
        i++;
    return i;
}

Beside report_beside(const Column *columns, size_t count, size_t column)
{
    return (Beside){find_beside(columns, count, column, field_is_se),
                    find_beside(columns, count, column, field_is_exact),
                    find_beside(columns, count, column, field_is_exact_se)};
}

static const char *uncertain_cell(const char *column, double v, double se, Arena *a)
{
    const bool bytes = field_counts_bytes(column);
    const size_t unit = bytes ? report_unit_of(v) : 0;
    const Uncertain u =
        report_uncertain(report_in_unit(v, unit), report_in_unit(se, unit), field_digits(column), a);
    TextBuf out = {.arena = a};
    if (!u.value)
        return NULL;
    text_addf(&out, u.exponent ? "(%s" : "%s", u.value);
    if (*u.se)
        text_addf(&out, " +- %s", u.se);
    if (u.exponent)
        text_addf(&out, ")e%+03d", u.exponent);
    if (bytes)
        text_addf(&out, " %s", report_units[unit]);
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

static void end_md(const Report *r, TextBuf *out)
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

const ReportWriter report_md = {.end = end_md};
