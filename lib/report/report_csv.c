/* report_csv.c -- RFC 4180 with a header row and plain line ends: a field with a comma, a quote or a line end
 * is quoted, quotes inside are doubled. What does not exist is empty; an empty text is "". */
#include "report/report_writer.h"

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

static const ValueForm form = {"", put_text, put_shape};

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
        report_put_value(out, &form, &values[i]);
    }
    text_add(out, "\n");
}

static void end(const Report *r, TextBuf *out)
{
    (void)r, (void)out;
}

const ReportWriter report_csv = {begin, row, end};
