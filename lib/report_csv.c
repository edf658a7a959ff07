/* report_csv.c -- RFC 4180 with a header row and plain line ends: a field with a comma, a quote or a line end
 * is quoted, quotes inside are doubled. What does not exist is empty; an empty text is "". */
#include "report_writer.h"

#include <math.h>
#include <string.h>

static void put_text(TextBuf *out, const char *s)
{
    if (*s && !strpbrk(s, ",\"\r\n")) {
        text_add(out, s);
        return;
    }
    text_add(out, "\"");
    for (const char *quote; (quote = strchr(s, '"')); s = quote + 1) {
        text_add_bytes(out, s, (size_t)(quote - s));
        text_add(out, "\"\"");
    }
    text_addf(out, "%s\"", s);
}

static void put_shape(TextBuf *out, const Shape *shape)
{
    for (int i = 0; i < shape->rank; i++)
        text_addf(out, "%s%zu", i ? "x" : "", shape->dim[i]);
    if (shape->rank == 0)
        text_add(out, "\"\"");
}

static void put_value(TextBuf *out, const Value *v)
{
    char number[32];
    switch (v->type) {
    case VALUE_NONE:
        break;
    case VALUE_TEXT:
        put_text(out, v->text);
        break;
    case VALUE_INT:
        text_addf(out, "%lld", (long long)v->whole);
        break;
    case VALUE_REAL:
        text_add(out, isfinite(v->real) ? text_double(number, v->real) : "");
        break;
    case VALUE_BOOL:
        text_add(out, v->on ? "true" : "false");
        break;
    case VALUE_SHAPE:
        put_shape(out, v->shape);
        break;
    }
}

static void begin(const Report *r, TextBuf *out)
{
    for (size_t i = 0; i < r->spec.column_count; i++) {
        text_add(out, i ? "," : "");
        put_text(out, r->spec.columns[i].name);
    }
    text_add(out, "\n");
}

static void row(const Report *r, const Value *values, TextBuf *out)
{
    for (size_t i = 0; i < r->spec.column_count; i++) {
        text_add(out, i ? "," : "");
        put_value(out, &values[i]);
    }
    text_add(out, "\n");
}

static void end(const Report *r, TextBuf *out)
{
    (void)r, (void)out;
}

const ReportWriter report_csv = {begin, row, end};
