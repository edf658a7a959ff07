/* indices.c -- Golomb gaps or a bitmap, whichever is shorter. */
#include "indices.h"

#include "golomb.h"

#include <math.h>

enum { BITMAP = 255 };

static size_t bitmap_bytes(size_t n)
{
    return n / 8 + (n % 8 != 0);
}

size_t indices_bound(size_t n)
{
    return VARINT_MAX + 1 + bitmap_bytes(n);
}

static void put_bitmap(const size_t *index, size_t count, size_t n, Buf *out)
{
    uint8_t *map = buf_room(out, bitmap_bytes(n));
    memset(map, 0, bitmap_bytes(n));
    for (size_t i = 0; i < count; i++)
        map[index[i] / 8] |= (uint8_t)(1u << index[i] % 8);
}

void indices_put(const size_t *index, size_t count, size_t n, Buf *out)
{
    buf_varint(out, count);
    if (count == 0 || count == n)
        return;
    uint64_t bits;
    const GolombCode code = golomb_best(index, count, &bits);
    const bool gaps = bits <= n;
    buf_u8(out, gaps ? code : BITMAP);
    if (gaps)
        golomb_put(code, index, count, bits, out);
    else
        put_bitmap(index, count, n, out);
}

/* True when the map has exactly `count` bits, all under n. */
static bool get_bitmap(Reader *in, size_t n, size_t *index, size_t count)
{
    const size_t bytes = bitmap_bytes(n);
    const uint8_t *map = take_bytes(in, bytes);
    size_t found = 0;
    for (size_t at = 0; map && at < bytes; at += 8) {
        uint64_t word = 0;
        memcpy(&word, map + at, bytes - at < 8 ? bytes - at : 8);
        for (; word; word &= word - 1) {
            const size_t i = 8 * at + (size_t)__builtin_ctzll(word);
            if (i >= n || found == count)
                return false;
            index[found++] = i;
        }
    }
    return map && found == count;
}

static bool get_body(Reader *in, size_t n, size_t *index, size_t count)
{
    if (count == n) {
        for (size_t i = 0; i < n; i++)
            index[i] = i;
        return true;
    }
    const uint8_t form = take_u8(in);
    if (form == BITMAP)
        return get_bitmap(in, n, index, count);
    return form < GOLOMB_CODES && golomb_get(in, form, n, index, count);
}

bool indices_get(Reader *in, size_t n, Arena *scratch, size_t **index, size_t *count)
{
    const uint64_t k = take_varint(in);
    *count = 0;
    /* A gap takes at least one bit, a member of a bitmap too; only the whole set is free. */
    if (in->bad || k > n || (k < n && k / 8 > reader_left(in))) {
        in->bad = true;
        return false;
    }
    *index = NEW(scratch, size_t, k);
    if (!*index)
        return false;
    *count = k;
    if (k && !get_body(in, n, *index, k))
        in->bad = true;
    return !in->bad;
}

double indices_mean_bits(double n, double count)
{
    double body = 0;
    if (count > 0 && count < n)
        body = 8 + 4 + fmin(n, count * golomb_mean_bits(count / n)); /* 4: padding, on average */
    return 8 * (double)varint_size((uint64_t)count) + body;
}
