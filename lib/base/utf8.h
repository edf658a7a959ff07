/* utf8.h -- the characters of UTF-8, and which of them may reach a terminal. */
#ifndef ATOMO_UTF8_H
#define ATOMO_UTF8_H

#include "base/base.h"

/* Returns the length in bytes of the UTF-8 character at s, where `left` bytes are left; 0: no valid character
 * (overlong forms and surrogates are not valid). */
size_t text_utf8(const char *s, size_t left);

/* The code point of the character of `length` bytes at s. */
uint32_t text_code(const char *s, size_t length);

/* True for a character (text_utf8 gives its length) that steers a terminal instead of being seen: controls, line ends, and those
 * that reverse the direction of writing or take no room. */
bool text_steers(const char *s, size_t length);

/* Replaces such characters, and bytes that are no UTF-8, by '?', in place. */
void text_make_printable(char *text);

#endif
