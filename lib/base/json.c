/* json.c -- parses JSON by recursive descent, with a function for each kind of value. */
#include "base/json.h"

#include "base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 64, NUMBER_MAX = 400 };

/* The state of the parser. Strings and numbers are copied one after another into one buffer, each with a NUL
 * at its end. The copies are no longer than the JSON data: each NUL takes the place of a closing quote, or
 * of the character before a number. */
typedef struct {
    const char *start, *at, *end;
    char *to; /* where the next text will be written */
    int depth;
    Arena *a;
    Error *err;
} Parser;

static Status refuse(const Parser *p, const char *why)
{
    return FAIL(p->err, ERR_CORRUPT, "JSON, byte %zu: %s", (size_t)(p->at - p->start), why);
}

static char peek(const Parser *p)
{
    return p->at < p->end ? *p->at : 0;
}

static bool take(Parser *p, char c)
{
    if (p->at == p->end || *p->at != c)
        return false;
    p->at++;
    return true;
}

static void skip_space(Parser *p)
{
    while (p->at < p->end && (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r'))
        p->at++;
}

/* ---- text ---- */

static bool take_hex(Parser *p, uint32_t *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++) {
        const char c = peek(p);
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0)
            return false;
        *code = *code * 16 + (uint32_t)digit;
        p->at++;
    }
    return true;
}

/* Reads the code point of a \u escape into *code. If the escape is a high surrogate, reads the next escape
 * too. Returns false if the code point is not valid. */
static bool take_code_point(Parser *p, uint32_t *code)
{
    uint32_t low;
    if (!take_hex(p, code) || *code == 0 || (*code >= 0xdc00 && *code < 0xe000))
        return false;
    if (*code < 0xd800 || *code >= 0xe000)
        return true;
    if (!take(p, '\\') || !take(p, 'u') || !take_hex(p, &low) || low < 0xdc00 || low >= 0xe000)
        return false;
    *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
    return true;
}

/* The first byte tells how many follow, each of which has six bits of the code. */
static char *put_utf8(char *to, uint32_t code)
{
    static const uint8_t first[] = {0, 0xc0, 0xe0, 0xf0};
    int more = (code >= 0x80) + (code >= 0x800) + (code >= 0x10000);
    *to++ = (char)(first[more] | code >> 6 * more);
    while (more-- > 0)
        *to++ = (char)(0x80 | (code >> 6 * more & 0x3f));
    return to;
}

static bool take_escape(Parser *p, char **to)
{
    static const char letters[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    uint32_t code;
    const char c = peek(p);
    const char *known = c ? strchr(letters, c) : NULL;
    if (known) {
        p->at++;
        *(*to)++ = values[known - letters];
        return true;
    }
    if (!take(p, 'u') || !take_code_point(p, &code))
        return false;
    *to = put_utf8(*to, code);
    return true;
}

static Status read_string(Parser *p, const char **out)
{
    if (!take(p, '"'))
        return refuse(p, "want a string");
    /* the text may be written over the data, because a decoded escape sequence is shorter than the escape
     * sequence */
    char *to = p->to;
    while (!take(p, '"')) {
        if (p->at == p->end)
            return refuse(p, "the string does not end");
        const size_t length = text_utf8(p->at, (size_t)(p->end - p->at));
        if (take(p, '\\')) {
            if (!take_escape(p, &to))
                return refuse(p, "no such escape");
        } else if (length == 0 || (unsigned char)*p->at < 0x20) {
            return refuse(p, "a string holds a byte that JSON does not allow there");
        } else {
            memmove(to, p->at, length);
            to += length;
            p->at += length;
        }
    }
    *to = 0;
    *out = p->to;
    p->to = to + 1;
    return OK;
}

/* ---- numbers ---- */

static bool skip_digits(Parser *p)
{
    const char *from = p->at;
    while (peek(p) >= '0' && peek(p) <= '9')
        p->at++;
    return p->at > from;
}

/* Skips a number of the form -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)?; sets *plain to true when it has no
 * fraction and no exponent. */
static bool skip_number(Parser *p, bool *plain)
{
    take(p, '-');
    if (!take(p, '0') && !skip_digits(p))
        return false;
    *plain = peek(p) != '.' && peek(p) != 'e' && peek(p) != 'E';
    if (take(p, '.') && !skip_digits(p))
        return false;
    if (take(p, 'e') || take(p, 'E')) {
        if (!take(p, '+'))
            take(p, '-');
        return skip_digits(p);
    }
    return true;
}

static Status read_number(Parser *p, Json *v)
{
    char *text = p->to;
    const char *from = p->at;
    bool plain;
    if (!skip_number(p, &plain))
        return refuse(p, "want a value");
    const size_t length = (size_t)(p->at - from);
    if (length > NUMBER_MAX)
        return refuse(p, "a number of more than 400 characters");
    memmove(text, from, length);
    text[length] = 0;
    v->type = JSON_NUMBER;
    v->text = text;
    p->to += length + 1;
    v->number = strtod(text, NULL);
    if (!isfinite(v->number))
        return refuse(p, "a number beyond double");
    v->is_whole = plain && fabs(v->number) < 0x1p63;
    if (v->is_whole)
        v->whole = strtoll(text, NULL, 10);
    return OK;
}

/* ---- values ---- */

static Status read_value(Parser *p, Json *v);

/* Reads a member of an object or an element of an array. Unless `first`, a comma must precede the item. */
static Status read_item(Parser *p, Json *item, char close, bool first)
{
    if (!first && !take(p, ','))
        return refuse(p, close == '}' ? "want ',' or '}'" : "want ',' or ']'");
    skip_space(p);
    if (close == '}') {
        TRY(read_string(p, &item->name));
        skip_space(p);
        if (!take(p, ':'))
            return refuse(p, "want ':'");
    }
    TRY(read_value(p, item));
    skip_space(p);
    return OK;
}

static Status read_items(Parser *p, Json *v, char close)
{
    const Json **link = &v->first;
    if (++p->depth > DEPTH_MAX)
        return refuse(p, "more than 64 levels deep");
    skip_space(p);
    for (bool more = !take(p, close); more; more = !take(p, close)) {
        Json *item = NEW_ZERO(p->a, Json, 1);
        TRY(arena_check(item, p->a, p->err));
        TRY(read_item(p, item, close, !v->first));
        *link = item;
        link = &item->next;
    }
    p->depth--;
    return OK;
}

static bool take_word(Parser *p, const char *word)
{
    const size_t length = strlen(word);
    if ((size_t)(p->end - p->at) < length || memcmp(p->at, word, length))
        return false;
    p->at += length;
    return true;
}

static Status read_value(Parser *p, Json *v)
{
    skip_space(p);
    if (peek(p) == '"') {
        v->type = JSON_TEXT;
        return read_string(p, &v->text);
    }
    if (take(p, '{')) {
        v->type = JSON_OBJECT;
        return read_items(p, v, '}');
    }
    if (take(p, '[')) {
        v->type = JSON_ARRAY;
        return read_items(p, v, ']');
    }
    if (take_word(p, "null"))
        return OK;
    v->on = take_word(p, "true");
    if (v->on || take_word(p, "false")) {
        v->type = JSON_BOOL;
        return OK;
    }
    return read_number(p, v);
}

Status json_read(const Json **out, const char *data, size_t size, Arena *a, Error *err)
{
    Parser p = {.start = data, .at = data, .end = data + size, .a = a, .err = err};
    Json *v = NEW_ZERO(a, Json, 1);
    p.to = NEW(a, char, size + 1);
    TRY(arena_check(v && p.to, a, err));
    TRY(read_value(&p, v));
    skip_space(&p);
    if (p.at < p.end)
        return refuse(&p, "something stands behind the value");
    *out = v;
    return OK;
}

const Json *json_member(const Json *object, const char *name)
{
    if (!object || object->type != JSON_OBJECT)
        return NULL;
    for (const Json *m = object->first; m; m = m->next)
        if (!strcmp(m->name, name))
            return m;
    return NULL;
}

/* ---- writing ---- */

void json_put_text(TextBuf *out, const char *text)
{
    static const char special[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
    text_add(out, "\"");
    for (const char *s = text; *s;) {
        size_t plain = 0;
        while (s[plain] >= ' ' && s[plain] < 127 && s[plain] != '"' && s[plain] != '\\')
            plain++;
        const size_t length = plain ? plain : text_utf8(s, strnlen(s, 4));
        const char *escape = plain ? NULL : strchr(special, *s);
        if (escape)
            text_addf(out, "\\%c", letter[escape - special]);
        else if (!plain && length && length < 4 && text_steers(s, length))
            text_addf(out, "\\u%04x", (unsigned)text_code(s, length));
        else if (length)
            text_add_bytes(out, s, length);
        else
            text_add(out, "\xef\xbf\xbd");
        s += length ? length : 1;
    }
    text_add(out, "\"");
}
