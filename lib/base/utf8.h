/* utf8.h -- decodes characters of UTF-8, and tells which characters are safe to print on a terminal. */
#ifndef ATOMO_UTF8_H
#define ATOMO_UTF8_H

#include "base/base.h"

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

#endif
