/* utf8.c -- characters of UTF-8; declared in text.h. */
#include "base/text.h"

#include <string.h>

size_t text_utf8(const char *text, size_t left)
{
    const unsigned char *s = (const unsigned char *)text;
    const size_t length = left == 0     ? 0
                          : s[0] < 0x80 ? 1
                          : s[0] < 0xc2 ? 0
                          : s[0] < 0xe0 ? 2
                          : s[0] < 0xf0 ? 3
                          : s[0] < 0xf5 ? 4
                                        : 0;
    if (length > left)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    const bool overlong = length > 2 && ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90));
    const bool surrogate = length == 3 && s[0] == 0xed && s[1] >= 0xa0;
    const bool beyond = length == 4 && s[0] == 0xf4 && s[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : length;
}

bool text_is_utf8(const char *text, size_t length)
{
    for (size_t i = 0, step; i < length; i += step)
        if (!text[i] || !(step = text_utf8(text + i, length - i)))
            return false;
    return true;
}

size_t text_characters(const char *text, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

uint32_t text_code(const char *text, size_t length)
{
    const unsigned char *s = (const unsigned char *)text;
    uint32_t c = length > 1 ? s[0] & (0x7fu >> length) : s[0];
    for (size_t i = 1; i < length; i++)
        c = c << 6 | (s[i] & 0x3f);
    return c;
}

bool text_steers(const char *text, size_t length)
{
    static const struct {
        uint32_t from, to;
    } ranges[] = {{0, 0x1f},        {0x7f, 0x9f},     {0x61c, 0x61c},   {0x200b, 0x200f},
                  {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xe0000, 0xe007f}};
    const uint32_t c = text_code(text, length);
    for (size_t i = 0; i < countof(ranges); i++)
        if (c >= ranges[i].from && c <= ranges[i].to)
            return true;
    return false;
}

void text_make_printable(char *text)
{
    char *to = text;
    for (const char *s = text; *s;) {
        const size_t length = text_utf8(s, strnlen(s, 4));
        if (!length || text_steers(s, length))
            *to++ = '?';
        else
            to = (char *)memmove(to, s, length) + length;
        s += length ? length : 1;
    }
    *to = 0;
}
