/* metrics_text.c -- converts a Tally to text for a journal, and back. The text is the Tally's memory in
 * hexadecimal digits, in the byte order of this machine: its numbers, the sums of each decoded repeat, and
 * its flags. */
#include "measure/metrics.h"

#include <stddef.h>
#include <string.h>

/* The members of Tally from `n` to `spread` take multiples of 8 bytes without padding, so they are copied
 * together. */
enum { FIRST = offsetof(Tally, n), NUMBERS = offsetof(Tally, unbiased) - FIRST, FLAGS = 7 };
_Static_assert(NUMBERS % 8 == 0 && FIRST % 8 == 0, "numbers have no padding");

static size_t sums_size(const Tally *t)
{
    return t->decoded * sizeof *t->error;
}

static size_t grown_size(const Tally *t)
{
    return t->decoded * sizeof *t->grown;
}

static size_t text_size(const Tally *t)
{
    return 2 * (NUMBERS + sums_size(t) + grown_size(t) + FLAGS);
}

static char *put_hex(char *to, const void *from, size_t size)
{
    static const char digit[] = "0123456789abcdef";
    const unsigned char *byte = from;
    for (size_t i = 0; i < size; i++) {
        *to++ = digit[byte[i] >> 4];
        *to++ = digit[byte[i] & 15];
    }
    return to;
}

char *tally_text(const Tally *t, Arena *a)
{
    const unsigned char flag[FLAGS] = {t->unbiased,   t->along_known,  t->signs_known,     t->fixed_size,
                                       t->size_known, t->spread_known, t->percentile_known};
    char *text = arena_take(a, text_size(t) + 1, 1);
    if (!text)
        return NULL;
    char *end = put_hex(text, (const char *)t + FIRST, NUMBERS);
    end = put_hex(end, t->error, sums_size(t));
    end = put_hex(end, t->grown, grown_size(t));
    *put_hex(end, flag, FLAGS) = 0;
    return text;
}

static int hex_value(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads `size` bytes, written as hexadecimal digits, and moves `*text` past them. Returns false at any other
 * character. */
static bool take_hex(const char **text, void *to, size_t size)
{
    unsigned char *byte = to;
    for (size_t i = 0; i < size; i++, *text += 2) {
        const int high = hex_value((*text)[0]), low = high < 0 ? -1 : hex_value((*text)[1]);
        if (low < 0)
            return false;
        byte[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

bool tally_read(Tally *t, const char *text)
{
    unsigned char flag[FLAGS];
    if (strlen(text) != text_size(t))
        return false;
    if (!take_hex(&text, (char *)t + FIRST, NUMBERS) || !take_hex(&text, t->error, sums_size(t)) ||
        !take_hex(&text, t->grown, grown_size(t)) || !take_hex(&text, flag, FLAGS))
        return false;
    t->unbiased = flag[0];
    t->along_known = flag[1];
    t->signs_known = flag[2];
    t->fixed_size = flag[3];
    t->size_known = flag[4];
    t->spread_known = flag[5];
    t->percentile_known = flag[6];
    return true;
}
