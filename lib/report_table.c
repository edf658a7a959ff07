/* report_table.c -- the formats people read: the aligned table of the terminal and Markdown. Columns without
 * a title are left out. A real number shows so many significant digits, a count of bytes its decimal unit. */
#include "report_table.h"

#include <math.h>
#include <string.h>

/* ---- cells ---- */

static bool counts_bytes(const char *name)
{
    const size_t length = strlen(name);
    return !strncmp(name, "bytes", 5) || (length > 6 && !strcmp(name + length - 6, "_bytes"));
}

/* So many significant digits without an exponent where that is readable: 0.01234, 1.500, 123456, 1.2e-07. */
static void put_real(TextBuf *out, double v, int digits)
{
    const double size = fabs(v);
    if (v == 0) {
        text_add(out, "0");
    } else if (size < 1e-4 || size >= 1e7) {
        text_addf(out, "%.*e", digits - 1, v);
    } else {
        const int magnitude = (int)floor(log10(size));
        text_addf(out, "%.*f", magnitude < digits - 1 ? digits - 1 - magnitude : 0, v);
    }
}

static void put_bytes(TextBuf *out, double v, int digits)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    size_t unit = 0;
    while (fabs(v) >= 999.95 && unit + 1 < countof(units)) {
        v /= 1000;
        unit++;
    }
    if (unit == 0 && v == floor(v))
        text_addf(out, "%.0f", v);
    else
        put_real(out, v, digits);
    text_addf(out, " %s", units[unit]);
}

static void put_number(TextBuf *out, const Column *column, const Value *v)
{
    const int digits = column->digits ? column->digits : 4;
    if (counts_bytes(column->name))
        put_bytes(out, v->type == VALUE_INT ? (double)v->whole : v->real, digits);
    else if (v->type == VALUE_INT)
        text_addf(out, "%lld", (long long)v->whole);
    else
        put_real(out, v->real, digits);
}

/* Control characters could steer the terminal, and a line end would tear the row. */
static void put_printable(TextBuf *out, const char *s)
{
    for (; *s; s++)
        text_add_bytes(out, (unsigned char)*s < 0x20 || *s == 0x7f ? "?" : s, 1);
}

const char *report_cell(const Column *column, const Value *v, Arena *a)
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

bool report_keep(Report *r, const Value *row)
{
    const size_t columns = r->spec.column_count;
    TableRow *kept = NEW_ZERO(r->a, TableRow, 1);
    if (!kept)
        return false;
    kept->cell = NEW_ZERO(r->a, const char *, columns + 1);
    kept->type = NEW_ZERO(r->a, ValueType, columns + 1);
    if (!kept->cell || !kept->type)
        return false;
    for (size_t i = 0; i < columns; i++) {
        if (!r->spec.columns[i].title)
            continue;
        kept->cell[i] = row[i].type == VALUE_NONE && r->spec.absent
                            ? r->spec.absent
                            : report_cell(&r->spec.columns[i], &row[i], r->a);
        kept->type[i] = row[i].type;
        if (!kept->cell[i])
            return false;
    }
    *(r->last ? &r->last->next : &r->first) = kept;
    r->last = kept;
    return true;
}

bool report_left(const Report *r, size_t column)
{
    bool numbers = false;
    for (const TableRow *row = r->first; row; row = row->next) {
        const ValueType type = row->type[column];
        if (type == VALUE_TEXT || type == VALUE_BOOL)
            return true;
        numbers |= type != VALUE_NONE;
    }
    return !numbers;
}

void report_begin_nothing(const Report *r, TextBuf *out)
{
    (void)r, (void)out;
}

/* ---- alignment ---- */

/* Characters, not bytes: continuation bytes of UTF-8 take no place of their own. */
static size_t width_of(const char *s)
{
    size_t width = 0;
    for (; *s; s++)
        width += ((unsigned char)*s & 0xc0) != 0x80;
    return width;
}

static size_t column_width(const Report *r, size_t column)
{
    size_t width = width_of(r->spec.columns[column].title);
    for (const TableRow *row = r->first; row; row = row->next) {
        const size_t cell = width_of(row->cell[column]);
        width = cell > width ? cell : width;
    }
    return width;
}

static void put_spaces(TextBuf *out, size_t count)
{
    while (count-- > 0)
        text_add(out, " ");
}

static void put_cell(TextBuf *out, const char *cell, size_t width, bool left, bool last)
{
    const size_t gap = width - width_of(cell);
    put_spaces(out, left ? 0 : gap);
    text_add(out, cell);
    put_spaces(out, left && !last ? gap : 0);
}

static void put_line(const Report *r, const TableRow *row, const size_t *width, const bool *left,
                     TextBuf *out)
{
    const char *between = "";
    size_t last = r->spec.column_count;
    while (last > 0 && !r->spec.columns[last - 1].title)
        last--;
    for (size_t i = 0; i < last; i++) {
        if (!r->spec.columns[i].title)
            continue;
        text_add(out, between);
        put_cell(out, row ? row->cell[i] : r->spec.columns[i].title, width[i], left[i], i + 1 == last);
        between = "  ";
    }
}

static void end_table(const Report *r, TextBuf *out)
{
    const size_t columns = r->spec.column_count;
    size_t *width = NEW_ZERO(r->a, size_t, columns + 1);
    bool *left = NEW_ZERO(r->a, bool, columns + 1);
    out->failed |= !width || !left;
    if (out->failed)
        return;
    for (size_t i = 0; i < columns; i++)
        if (r->spec.columns[i].title) {
            width[i] = column_width(r, i);
            left[i] = report_left(r, i);
        }
    text_add(out, r->spec.color ? "\033[1m" : "");
    put_line(r, NULL, width, left, out);
    text_add(out, r->spec.color ? "\033[0m\n" : "\n");
    for (const TableRow *row = r->first; row; row = row->next) {
        put_line(r, row, width, left, out);
        text_add(out, "\n");
    }
}

const ReportWriter report_table = {report_begin_nothing, NULL, end_table};
