/* report_json.c -- one object {"schema": .., "meta": {..}, "results": [..]}, a row a line, and strict: NaN
 * and Inf are null, control characters are escaped, bytes that are no UTF-8 become U+FFFD. */
#include "report/report_writer.h"

#include <string.h>

static void put_text(TextBuf *out, const char *text)
{
    static const char special[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
    text_add(out, "\"");
    for (const char *s = text; *s;) {
        const size_t length = text_utf8(s, strnlen(s, 4));
        const char *escape = strchr(special, *s);
        if (escape)
            text_addf(out, "\\%c", letter[escape - special]);
        else if ((unsigned char)*s < 0x20 || *s == 0x7f)
            text_addf(out, "\\u%04x", (unsigned)*s);
        else if (length)
            text_add_bytes(out, s, length);
        else
            text_add(out, "\xef\xbf\xbd");
        s += length ? length : 1;
    }
    text_add(out, "\"");
}

static void put_shape(TextBuf *out, const Shape *shape)
{
    text_add(out, "[");
    for (int i = 0; i < shape->rank; i++)
        text_addf(out, "%s%zu", i ? ", " : "", shape->dim[i]);
    text_add(out, "]");
}

static const ValueForm form = {"null", put_text, put_shape};

static void put_row(TextBuf *out, const Column *columns, size_t count, const Value *values)
{
    text_add(out, "{");
    for (size_t i = 0; i < count; i++) {
        text_add(out, i ? ", " : "");
        put_text(out, columns[i].name);
        text_add(out, ": ");
        report_put_value(out, &form, &values[i]);
    }
    text_add(out, "}");
}

char *report_json_row(const Column *columns, size_t count, const Value *values, Arena *a)
{
    TextBuf out = {.arena = a};
    put_row(&out, columns, count, values);
    return text_done(&out);
}

static void begin(const Report *r, TextBuf *out)
{
    text_add(out, "{\"schema\": ");
    put_text(out, r->spec.schema);
    text_add(out, ",\n\"meta\": {");
    for (size_t i = 0; i < r->spec.facts; i++) {
        text_add(out, i ? ",\n  " : "\n  ");
        put_text(out, r->spec.meta[i].name);
        text_add(out, ": ");
        report_put_value(out, &form, &r->spec.meta[i].value);
    }
    text_add(out, "},\n\"results\": [");
}

static void row(const Report *r, const Value *values, TextBuf *out)
{
    text_add(out, r->rows ? ",\n  " : "\n  ");
    put_row(out, r->spec.columns, r->spec.column_count, values);
}

static void end(const Report *r, TextBuf *out)
{
    (void)r;
    text_add(out, "\n]}\n");
}

const ReportWriter report_json = {begin, row, end};
