/* text.h -- strings: copies in an arena, growing texts, nearest names, conversion of numbers to text and back,
 * globs. */
#ifndef ATOMO_TEXT_H
#define ATOMO_TEXT_H

#include "base/arena.h"

#include <stdarg.h>

typedef struct {
    const char **item;
    size_t count;
} TextList;

/* Return copies in the arena; NULL when the arena is out of memory. */
char *text_copy(Arena *a, const char *s);
char *text_slice(Arena *a, const char *s, size_t length);
char *text_format(Arena *a, const char *format, ...) PRINTF(2);

/* A text that grows in an arena. Errors are sticky: once the arena has run out of memory, further added texts
 * are ignored and text_done returns NULL. */
typedef struct {
    Arena *arena;
    char *data;
    size_t size, cap;
    bool failed;
} TextBuf;

void text_reserve(
    TextBuf *t,
    size_t length); /* makes room for `length` more bytes, so that adding them allocates no memory */
void text_add(TextBuf *t, const char *s);
void text_add_bytes(TextBuf *t, const char *s, size_t length);
void text_addf(TextBuf *t, const char *format, ...) PRINTF(2);
/* Adds the words of `s` in lines of up to `most` characters. The first line goes on in column `indent`, the
 * others begin with as many spaces. */
void text_wrap(TextBuf *t, const char *s, size_t indent, size_t most);
char *text_done(TextBuf *t); /* returns the text with a NUL at its end; NULL when memory ran out */

/* Writes to `out` the shortest decimal that reads back as the same double ("0.01", "1e-09", "inf"); returns
 * `out`. */
char *text_double(char out[32], double v);

/* Parse the whole string s into *v; return false for an empty string, trailing characters or overflow.
 * text_to_real accepts "inf". */
bool text_to_int(const char *s, int64_t *v);
bool text_to_real(const char *s, double *v);
bool text_to_size(const char *s,
                  uint64_t *bytes); /* reads "4096", "512M", "1.5GiB" (powers of 1024), "20kB" (of 1000) */

/* An iterator over names: name(data, i) returns the i-th name, or NULL after the last name. */
typedef const char *(*TextName)(const void *data, size_t i);
/* lets text_names list a NULL-ended array const char *[] */
const char *text_list_name(const void *names, size_t i);

/* Writes "a, b, c" to `out`: all names of the list, or as many as `out` has room for. Returns `out`. */
const char *text_names(char *out, size_t size, TextName name, const void *data);

/* Returns the name nearest to `s` by edit distance with transpositions; NULL when every name is farther than a
 * third of the length of s, plus 1. Of equally near names, one that `s` begins with, or that begins with `s`,
 * wins. If `s` has three characters or more, the first name that begins with it is the nearest: "tern" is near
 * to "terngrad". A name equal to `s` is nearer. */
const char *text_nearest(const char *s, TextName name, const void *data);

/* Fails with ERR_USAGE and the formatted text, followed by " (did you mean NAME?)" when text_nearest finds a
 * NAME near to `s`. */
Status text_unknown(Error *err, const char *s, TextName name, const void *data, const char *format, ...)
    PRINTF(5);

/* Return the ending of a word after a count, and its verb: "%zu tensor%s %s left out". */
const char *text_s(size_t count);   /* "" after 1, else "s" */
const char *text_are(size_t count); /* "is" after 1, else "are" */

bool text_ends(const char *s, const char *ending); /* true when s ends in `ending` */

/* True when `name` is one of the comma-separated names in `list`; NULL is an empty list. */
bool text_listed(const char *list, const char *name);

/* True when the glob, with *, ?, [..] and backslashes before characters that stand for themselves, matches the whole string s; '.' and '/' match each other, and '*'
 * matches '.' and '/' too. */
bool text_glob(const char *pattern, const char *s);

/* ---- UTF-8 ---- */

/* Decodes characters of UTF-8, and tells which characters are safe to print on a terminal. */

/* Returns the length in bytes of the UTF-8 character at s, reading at most `left` bytes; 0: no valid character
 * (overlong forms and surrogates are not valid). */
size_t text_utf8(const char *s, size_t left);

/* True if the `length` bytes are UTF-8 text without a NUL. */
bool text_is_utf8(const char *s, size_t length);

/* Returns the number of characters in the `length` bytes of UTF-8 text at s. */
size_t text_characters(const char *s, size_t length);

/* Returns the code point of the UTF-8 character of `length` bytes at s. */
uint32_t text_code(const char *s, size_t length);

/* `length` is the result of text_utf8 for s. True for a character that controls a terminal instead of being
 * visible: control characters, line ends, and characters that reverse the direction of writing or have no
 * width. */
bool text_steers(const char *s, size_t length);

/* Replaces, in place, characters for which text_steers is true and bytes that are not UTF-8 by '?'. */
void text_make_printable(char *text);
char *text_printable(Arena *a, const char *s); /* a copy that is made printable; NULL: out of memory */

#endif
