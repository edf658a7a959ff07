/* report_html.c -- see report_html.h. */
#include "page/report_html.h"

#include <stdint.h>
#include <string.h>

/* ---- text ---- */

static const char *entity(char c)
{
    return c == '&'    ? "&amp;"
           : c == '<'  ? "&lt;"
           : c == '>'  ? "&gt;"
           : c == '"'  ? "&quot;"
           : c == '\'' ? "&#39;"
                       : NULL;
}

/* C1 controls, which are c2 80 to c2 9f, are none of a text either. */
static bool is_control(const char *s)
{
    const unsigned char c = (unsigned char)s[0];
    return c < 0x20 || c == 0x7f || (c == 0xc2 && (unsigned char)s[1] < 0xa0);
}

void html_text(TextBuf *out, const char *s)
{
    while (*s) {
        const size_t length = text_utf8(s, strnlen(s, 4));
        if (length == 0 || is_control(s))
            text_add(out, "\xef\xbf\xbd");
        else if (entity(*s))
            text_add(out, entity(*s));
        else
            text_add_bytes(out, s, length);
        s += length ? length : 1;
    }
}

void html_data_uri(TextBuf *out, const char *type, const char *data, size_t size)
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

/* ---- drawings ---- */

static const char *const drawing[] = {
    "svg",     "g",      "defs",     "desc",     "title",          "path",
    "rect",    "circle", "ellipse",  "line",     "polyline",       "polygon",
    "use",     "text",   "tspan",    "filter",   "feFlood",        "feComposite",
    "pattern", "marker", "clipPath", "textPath", "radialGradient", "linearGradient",
    "stop"};

static bool is_drawing(const char *name, size_t length)
{
    for (size_t i = 0; i < countof(drawing); i++)
        if (strlen(drawing[i]) == length && !memcmp(drawing[i], name, length))
            return true;
    return false;
}

typedef struct {
    TextBuf *out;
    const char *prefix;
} Svg;

static bool is_name(const char *name, size_t length, const char *wanted)
{
    return strlen(wanted) == length && !memcmp(name, wanted, length);
}

/* The value with the prefix behind every '#' of a reference; false where it refers to something else. */
static bool put_references(Svg *s, const char *value, size_t length)
{
    static const char url[] = "url(";
    for (size_t i = 0; i < length; i++) {
        text_add_bytes(s->out, value + i, 1);
        if (length - i >= 4 && !strncasecmp(value + i, url, 4)) {
            if (i + 4 == length || value[i + 4] != '#')
                return false;
            text_addf(s->out, "%.4s%s", value + i + 1, s->prefix);
            i += 4;
        }
    }
    return true;
}

/* name='value', of which the name has been read; `value` without its quotes. */
static bool put_attribute(Svg *s, const char *name, size_t length, const char *value, size_t size)
{
    const bool event = length >= 2 && !strncasecmp(name, "on", 2);
    const bool reference = is_name(name, length, "href") || is_name(name, length, "xlink:href");
    if (event || is_name(name, length, "style") || memchr(value, '\\', size))
        return false;
    text_addf(s->out, " %.*s=\"", (int)length, name);
    if (is_name(name, length, "id")) {
        text_addf(s->out, "%s%.*s", s->prefix, (int)size, value);
    } else if (reference) {
        if (size == 0 || *value != '#')
            return false;
        text_addf(s->out, "#%s%.*s", s->prefix, (int)size - 1, value + 1);
    } else if (!put_references(s, value, size)) {
        return false;
    }
    text_add(s->out, "\"");
    return true;
}

static const char space[] = " \t\r\n";

/* What stands between an element's name and its '>'; NULL: no plain drawing. A value with the other quote in it would
 * end the quotes that are written. */
static const char *put_attributes(Svg *s, const char *at)
{
    for (;;) {
        at += strspn(at, space);
        if (*at == '>' || !strncmp(at, "/>", 2))
            return at;
        const size_t length = strcspn(at, " \t\r\n=<>\"'/");
        const char *quote = at + length;
        if (length == 0 || quote[0] != '=' || (quote[1] != '"' && quote[1] != '\''))
            return NULL;
        const char *value = quote + 2, *end = strchr(value, quote[1]);
        if (!end || memchr(value, '"', (size_t)(end - value)) || memchr(value, '<', (size_t)(end - value)) ||
            !put_attribute(s, at, length, value, (size_t)(end - value)))
            return NULL;
        at = end + 1;
    }
}

/* One tag, from its '<' to behind its '>'. */
static const char *put_tag(Svg *s, const char *at)
{
    const bool closes = at[1] == '/';
    const char *name = at + 1 + closes;
    const size_t length = strcspn(name, " \t\r\n/>");
    if (!is_drawing(name, length))
        return NULL;
    text_addf(s->out, "<%s%.*s", closes ? "/" : "", (int)length, name);
    at = put_attributes(s, name + length);
    if (!at)
        return NULL;
    const size_t tail = *at == '/' ? 2 : 1;
    text_add_bytes(s->out, at, tail);
    return at + tail;
}

static bool put_elements(Svg *s, const char *at, const char *end)
{
    while (at < end) {
        const size_t text = strcspn(at, "<");
        text_add_bytes(s->out, at, text);
        at += text;
        if (at < end)
            at = put_tag(s, at);
        if (!at)
            return false;
    }
    return true;
}

bool html_svg(TextBuf *out, const char *svg, size_t size, const char *prefix, const char *label)
{
    const size_t before = out->size;
    const char *start = memmem(svg, size, "<svg", 4), *end = svg + size;
    Svg s = {.out = out, .prefix = prefix};
    while (end > svg && strchr(space, end[-1]))
        end--;
    if (!start || strlen(svg) != size)
        return false;
    text_add(out, "<svg role=\"img\" aria-label=\"");
    html_text(out, label);
    text_add(out, "\"");
    const char *at = put_attributes(&s, start + 4);
    if (at && *at == '>' && put_elements(&s, at, end))
        return true;
    out->size = before;
    return false;
}
