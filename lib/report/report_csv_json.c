/* report_csv_json.c -- writes a result as CSV or as JSON.
 *
 * CSV follows RFC 4180, with a header row and "\n" as the line end. A field with a comma, a quote or a line
 * end is quoted, and a quote in it is doubled. A value that does not exist is an empty field; an empty text is
 * "". A text that a spreadsheet would take for a formula gets an apostrophe in front (csv.h).
 *
 * JSON: {"schema": .., "meta": {..}, "results": [..]}, with one record of the result per line. It is strict
 * JSON: NaN and infinities become null. Control characters of terminals are escaped, and bytes that are not
 * UTF-8 become U+FFFD. */
#include "report/report_table.h"

#include "base/csv.h"
#include "base/json.h"

#include <math.h>
#include <string.h>

typedef struct {
    const char *none;
    void (*text)(TextBuf *out, const char *s);
    void (*shape)(TextBuf *out, const Shape *shape);
} ValueForm;

static void put_value(TextBuf *out, const ValueForm *form, const Value *v)
{
    char number[32];
    switch (v->type) {
    case VALUE_NONE:
        text_add(out, form->none);
        break;
    case VALUE_TEXT:
        form->text(out, v->text);
        break;
    case VALUE_INT:
        text_addf(out, "%lld", (long long)v->whole);
        break;
    case VALUE_REAL:
        text_add(out, isfinite(v->real) ? text_double(number, v->real) : form->none);
        break;
    case VALUE_BOOL:
        text_add(out, v->on ? "true" : "false");
        break;
    case VALUE_SHAPE:
        form->shape(out, v->shape);
        break;
    }
}

/* ---- CSV ---- */

static const char *guard_of(const char *s)
{
    return csv_guarded(*s) ? CSV_GUARD : "";
}

static void put_quoted(TextBuf *out, const char *s)
{
    text_addf(out, "\"%s", guard_of(s));
    for (const char *quote; (quote = strchr(s, '"')); s = quote + 1) {
        text_add_bytes(out, s, (size_t)(quote - s));
        text_add(out, "\"\"");
    }
    text_addf(out, "%s\"", s);
}

static void put_csv_text(TextBuf *out, const char *s)
{
    if (*s && !strpbrk(s, ",\"\r\n"))
        text_addf(out, "%s%s", guard_of(s), s);
    else
        put_quoted(out, s);
}

static void put_csv_shape(TextBuf *out, const Shape *shape)
{
    for (int i = 0; i < shape->rank; i++)
        text_addf(out, "%s%zu", i ? "x" : "", shape->dim[i]);
    if (shape->rank == 0)
        text_add(out, "\"\"");
}

static const ValueForm csv_form = {"", put_csv_text, put_csv_shape};

static void csv_begin(const Report *r, TextBuf *out)
{
    for (size_t i = 0; i < r->spec.column_count; i++) {
        text_add(out, i ? "," : "");
        (i == 0 && r->spec.quoted ? put_quoted : put_csv_text)(out, r->spec.columns[i].name);
    }
    text_add(out, "\n");
}

static void csv_row(const Report *r, const Value *values, TextBuf *out)
{
    for (size_t i = 0; i < r->spec.column_count; i++) {
        text_add(out, i ? "," : "");
        put_value(out, &csv_form, &values[i]);
    }
    text_add(out, "\n");
}

const ReportWriter report_csv = {csv_begin, csv_row, NULL};

/* ---- JSON ---- */

static void put_json_shape(TextBuf *out, const Shape *shape)
{
    text_add(out, "[");
    for (int i = 0; i < shape->rank; i++)
        text_addf(out, "%s%zu", i ? ", " : "", shape->dim[i]);
    text_add(out, "]");
}

static const ValueForm json_form = {"null", json_put_text, put_json_shape};

static void put_json_row(TextBuf *out, const Column *columns, size_t count, const Value *values)
{
    text_add(out, "{");
    for (size_t i = 0; i < count; i++) {
        text_add(out, i ? ", " : "");
        json_put_text(out, columns[i].name);
        text_add(out, ": ");
        put_value(out, &json_form, &values[i]);
    }
    text_add(out, "}");
}

char *report_json_row(const Column *columns, size_t count, const Value *values, Arena *a)
{
    TextBuf out = {.arena = a};
    put_json_row(&out, columns, count, values);
    return text_done(&out);
}

static void json_begin(const Report *r, TextBuf *out)
{
    text_add(out, "{\"schema\": ");
    json_put_text(out, r->spec.schema);
    text_add(out, ",\n\"meta\": {");
    for (size_t i = 0; i < r->spec.facts; i++) {
        text_add(out, i ? ",\n  " : "\n  ");
        json_put_text(out, r->spec.meta[i].name);
        text_add(out, ": ");
        put_value(out, &json_form, &r->spec.meta[i].value);
    }
    text_add(out, "},\n\"results\": [");
}

static void json_row(const Report *r, const Value *values, TextBuf *out)
{
    text_add(out, r->rows ? ",\n  " : "\n  ");
    put_json_row(out, r->spec.columns, r->spec.column_count, values);
}

static void json_end(const Report *r, TextBuf *out)
{
    (void)r;
    text_add(out, "\n]}\n");
}

const ReportWriter report_json = {json_begin, json_row, json_end};
