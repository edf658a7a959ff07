/* text.c -- strings; see text.h. */
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

char *text_slice(Arena *a, const char *s, size_t length)
{
    char *copy = NEW(a, char, length + 1);
    if (!copy)
        return NULL;
    memcpy(copy, s, length);
    copy[length] = 0;
    return copy;
}

char *text_copy(Arena *a, const char *s)
{
    return text_slice(a, s, strlen(s));
}

char *text_format(Arena *a, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const int length = vsnprintf(NULL, 0, format, args);
    char *s = NEW(a, char, (size_t)length + 1);
    if (s)
        vsnprintf(s, (size_t)length + 1, format, again);
    va_end(again);
    va_end(args);
    return s;
}

void text_reserve(TextBuf *t, size_t length)
{
    if (t->failed || length < t->cap - t->size) /* `<` keeps one byte free for the NUL */
        return;
    const size_t need = t->size + length + 64, cap = need > 2 * t->cap ? need : 2 * t->cap;
    char *data = NEW(t->arena, char, cap);
    t->failed = !data;
    if (t->failed)
        return;
    if (t->size)
        memcpy(data, t->data, t->size);
    t->data = data;
    t->cap = cap;
}

void text_add_bytes(TextBuf *t, const char *s, size_t length)
{
    text_reserve(t, length);
    if (t->failed)
        return;
    memcpy(t->data + t->size, s, length);
    t->size += length;
}

void text_add(TextBuf *t, const char *s)
{
    text_add_bytes(t, s, strlen(s));
}

void text_addf(TextBuf *t, const char *format, ...)
{
    char few[256];
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    const size_t length = (size_t)vsnprintf(few, sizeof few, format, args);
    if (length < sizeof few) {
        text_add_bytes(t, few, length);
    } else {
        char *many = NEW(t->arena, char, length + 1);
        t->failed |= !many;
        if (many) {
            vsnprintf(many, length + 1, format, again);
            text_add_bytes(t, many, length);
        }
    }
    va_end(again);
    va_end(args);
}

void text_wrap(TextBuf *t, const char *s, size_t indent, size_t most)
{
    for (size_t column = indent, bytes; *s; s += bytes + strspn(s + bytes, " ")) {
        bytes = strcspn(s, " ");
        const size_t word = text_characters(s, bytes), gap = column > indent;
        const bool full = gap && column + gap + word > most;
        if (full)
            text_addf(t, "\n%*s", (int)indent, "");
        else
            text_add(t, gap ? " " : "");
        text_add_bytes(t, s, bytes);
        column = (full ? indent : column + gap) + word;
    }
}

char *text_done(TextBuf *t)
{
    text_add_bytes(t, "", 0); /* makes room for the NUL if nothing was added */
    if (t->failed)
        return NULL;
    t->data[t->size] = 0;
    return t->data;
}

/* Writes v with `digits` significant digits. A number below ten million has all digits before the decimal
 * point: "1000", not "1e+03". */
static void put_digits(char out[32], int digits, double v)
{
    int whole = 1; /* number of digits before the decimal point */
    for (double size = fabs(v); size >= 10 && whole < 8; size /= 10)
        whole++;
    snprintf(out, 32, "%.*g", whole < 8 && digits < whole ? whole : digits, v);
}

/* No two numbers of 15 digits are one double, but for the smallest. So the fewest digits are those of 15 without zeros at their end, or 16, or 17. */
char *text_double(char out[32], double v)
{
    const bool whole = v == trunc(v) && fabs(v) < 1e7;
    snprintf(out, 32, whole ? "%.0f" : "%.14e", v);
    if (whole)
        return out;
    const bool exact = strtod(out, NULL) == v, tiny = fabs(v) < DBL_MIN;
    int digits = tiny ? 1 : exact ? 15 : 16;
    for (size_t at = strcspn(out, "e"); digits > 1 && exact && out[at - 1] == '0'; at--)
        digits--;
    for (; digits <= 17; digits++) {
        put_digits(out, digits, v);
        if ((exact && !tiny) || digits == 17 || strtod(out, NULL) == v)
            break;
    }
    return out;
}

bool text_to_int(const char *s, int64_t *v)
{
    char *end;
    errno = 0;
    const long long parsed = strtoll(s, &end, 10);
    if (end == s || *end || errno || isspace((unsigned char)*s) || *s == '+')
        return false;
    *v = parsed;
    return true;
}

bool text_to_real(const char *s, double *v)
{
    char *end;
    const double parsed = strtod(s, &end);
    const bool hex = strpbrk(s, "xX") != NULL;
    if (end == s || *end || isspace((unsigned char)*s) || *s == '+' || hex || isnan(parsed) ||
        (isinf(parsed) && !strpbrk(s, "iI")))
        return false;
    *v = parsed;
    return true;
}

bool text_to_size(const char *s, uint64_t *bytes)
{
    static const char units[] = "KMGT";
    char *end;
    if (!isdigit((unsigned char)*s) || strpbrk(s, "xX"))
        return false;
    double v = strtod(s, &end);
    const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    const int power = unit ? (int)(unit - units) + 1 : 0;
    end += unit != NULL;
    const bool decimal = *end == 'B';
    v = decimal ? v * pow(1000, power) : ldexp(v, 10 * power);
    end += decimal ? 1 : unit && !strncmp(end, "iB", 2) ? 2 : 0;
    if (*end || v >= 0x1p53)
        return false;
    *bytes = (uint64_t)v;
    return true;
}

static bool differ(char a, char b)
{
    return tolower((unsigned char)a) != tolower((unsigned char)b);
}

/* Returns the edit distance of s and t, where swapping two neighbouring characters is one edit. May return
 * most + 1 for any distance above `most`, and does so if s or t is longer than LONGEST. */
static size_t distance(const char *s, const char *t, size_t most)
{
    enum { LONGEST = 63 };
    const size_t m = strlen(s), n = strlen(t);
    if (m > LONGEST || n > LONGEST || (m > n ? m - n : n - m) > most)
        return most + 1;
    size_t d[LONGEST + 1][LONGEST + 1];
    for (size_t i = 0; i <= m; i++)
        d[i][0] = i;
    for (size_t j = 0; j <= n; j++)
        d[0][j] = j;
    for (size_t i = 1; i <= m; i++)
        for (size_t j = 1; j <= n; j++) {
            size_t best = d[i - 1][j - 1] + differ(s[i - 1], t[j - 1]);
            if (d[i - 1][j] + 1 < best)
                best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best)
                best = d[i][j - 1] + 1;
            if (i > 1 && j > 1 && !differ(s[i - 1], t[j - 2]) && !differ(s[i - 2], t[j - 1]) &&
                d[i - 2][j - 2] + 1 < best)
                best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    return d[m][n];
}

/* True if s and t are equal up to the end of the shorter one, ignoring case. */
static bool same_start(const char *s, const char *t)
{
    while (*s && *t && !differ(*s, *t))
        s++, t++;
    return !*s || !*t;
}

/* Returns the first name that begins with s; NULL: there is none, or s has fewer than three characters. */
static const char *longer_name(const char *s, TextName name, const void *data)
{
    enum { START = 3 };
    const size_t length = strlen(s);
    const char *candidate;
    for (size_t i = 0; length >= START && (candidate = name(data, i)); i++)
        if (!strncasecmp(s, candidate, length))
            return candidate;
    return NULL;
}

const char *text_nearest(const char *s, TextName name, const void *data)
{
    const char *nearest = longer_name(s, name, data), *candidate;
    size_t most = nearest ? 1 : strlen(s) / 3 + 1;
    for (size_t i = 0; (candidate = name(data, i)); i++) {
        const size_t d = distance(s, candidate, most);
        const bool wins_tie = !nearest || (same_start(s, candidate) && !same_start(s, nearest));
        if (d < most || (d == most && wins_tie)) {
            most = d;
            nearest = candidate;
        }
    }
    return nearest;
}

Status text_unknown(Error *err, const char *s, TextName name, const void *data, const char *format, ...)
{
    char text[sizeof err->text];
    const char *near = text_nearest(s, name, data);
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return near ? FAIL(err, ERR_USAGE, "%s (did you mean %s?)", text, near)
                : FAIL(err, ERR_USAGE, "%s", text);
}

const char *text_names(char *out, size_t size, TextName name, const void *data)
{
    const char *each;
    size_t used = 0;
    *out = 0;
    for (size_t i = 0; used < size && (each = name(data, i)); i++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "", each);
    return out;
}

const char *text_list_name(const void *names, size_t i)
{
    return ((const char *const *)names)[i];
}

static bool same(char p, char c)
{
    return p == c || ((p == '.' || p == '/') && (c == '.' || c == '/'));
}

/* True when c is in the character class ("[a-z]") of a glob. p points behind the class's '['; *past is set to
 * the character behind its ']'. */
static bool in_class(const char *p, char c, const char **past)
{
    const bool negated = *p == '!' || *p == '^';
    bool hit = false;
    p += negated;
    for (const char *first = p; *p && (*p != ']' || p == first); p++) {
        char low = *p;
        if (p[1] == '-' && p[2] && p[2] != ']')
            p += 2;
        hit |= low <= c && c <= *p;
    }
    *past = *p ? p + 1 : p;
    return hit != negated;
}

bool text_glob(const char *p, const char *s)
{
    const char *star = NULL, *retry = NULL;
    while (*s) {
        const bool quoted = *p == '\\' && p[1]; /* a backslash quotes the next character */
        const char *literal = p + quoted, *past = literal + (*literal != 0);
        if (*p == '*') {
            star = p++;
            retry = s;
            continue;
        }
        if (*p == '[' ? in_class(p + 1, *s, &past) : *p && (*p == '?' || same(*literal, *s))) {
            p = past;
            s++;
        } else if (star) { /* mismatch: lets the last '*' match one character more, and tries again */
            p = star + 1;
            s = ++retry;
        } else {
            return false;
        }
    }
    while (*p == '*')
        p++;
    return !*p;
}

const char *text_s(size_t count)
{
    return count == 1 ? "" : "s";
}

const char *text_are(size_t count)
{
    return count == 1 ? "is" : "are";
}

bool text_ends(const char *s, const char *ending)
{
    const size_t length = strlen(s), end = strlen(ending);
    return length >= end && !strcmp(s + length - end, ending);
}

bool text_listed(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (!strncmp(at, name, length) && (at[length] == ',' || !at[length]))
            return true;
    }
    return false;
}

char *text_printable(Arena *a, const char *s)
{
    char *out = text_copy(a, s);
    if (out)
        text_make_printable(out);
    return out;
}
