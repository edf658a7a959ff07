/* report_html.c -- writes escaped text and data: URIs as HTML (report_html.h). */
#include "report/report_html.h"

#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

static const char *entity(char c)
{
    return c == '&'    ? "&amp;"
           : c == '<'  ? "&lt;"
           : c == '>'  ? "&gt;"
           : c == '"'  ? "&quot;"
           : c == '\'' ? "&#39;"
                       : NULL;
}

void html_text(TextBuf *out, const char *s)
{
    while (*s) {
        const size_t length = text_utf8(s, strnlen(s, 4));
        if (length == 0 || text_steers(s, length))
            text_add(out, "\xef\xbf\xbd");
        else if (entity(*s))
            text_add(out, entity(*s));
        else
            text_add_bytes(out, s, length);
        s += length ? length : 1;
    }
}

void html_addf(TextBuf *out, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    for (const char *at; (at = strstr(format, "%s")); format = at + 2) {
        text_add_bytes(out, format, (size_t)(at - format));
        html_text(out, va_arg(args, const char *));
    }
    text_add(out, format);
    va_end(args);
}

static void put_data_uri(TextBuf *out, const char *type, const char *data, size_t size)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *b = (const unsigned char *)data;
    text_addf(out, "data:%s;base64,", type);
    for (size_t i = 0; i < size; i += 3) {
        const uint32_t v = (uint32_t)b[i] << 16 | (uint32_t)(i + 1 < size ? b[i + 1] : 0) << 8 |
                           (uint32_t)(i + 2 < size ? b[i + 2] : 0);
        const char four[] = {digit[v >> 18], digit[v >> 12 & 63], i + 1 < size ? digit[v >> 6 & 63] : '=',
                             i + 2 < size ? digit[v & 63] : '='};
        text_add_bytes(out, four, sizeof four);
    }
}

void html_picture(TextBuf *out, const char *type, const char *data, size_t size, const char *label,
                  const char *caption)
{
    html_addf(out, "<figure><img alt=\"%s\" src=\"", label);
    put_data_uri(out, type, data, size);
    html_addf(out, "\"><figcaption>%s</figcaption></figure>\n", caption);
}
