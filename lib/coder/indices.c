/* indices.c -- writes and reads an index set as Golomb gaps or as a bitmap, whichever is shorter. */
#include "coder/indices.h"

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

static void put_bitmap(const Indices *set, size_t n, Buf *out)
{
    uint8_t *map = buf_room(out, bitmap_bytes(n));
    memset(map, 0, bitmap_bytes(n));
    for (size_t r = 0; r < set->runs; r++) {
        size_t room[INDEX_RUN], count;
        const size_t *index = set->run(set, r, room, &count);
        for (size_t i = 0; i < count; i++)
            map[index[i] / 8] |= (uint8_t)(1u << index[i] % 8);
    }
}

void indices_put(const Indices *set, size_t n, int threads, Arena *scratch, Buf *out)
{
    buf_varint(out, set->count);
    if (set->count == 0 || set->count == n)
        return;
    uint64_t bits;
    const GolombCode code = golomb_best(set, threads, &bits);
    const bool gaps = bits <= n;
    buf_u8(out, gaps ? code : BITMAP);
    if (gaps)
        golomb_put(code, set, bits, threads, scratch, out);
    else
        put_bitmap(set, n, out);
}

/* Reads a bitmap of n bits into `set`; true when exactly set->count bits are set and all bits from n on are
 * 0. */
static bool get_bitmap(Reader *in, size_t n, Places *set)
{
    const size_t bytes = bitmap_bytes(n);
    const uint8_t *map = take_bytes(in, bytes);
    size_t found = 0;
    for (size_t at = 0; map && at < bytes; at += 8) {
        uint64_t word = 0;
        memcpy(&word, map + at, bytes - at < 8 ? bytes - at : 8);
        if (8 * at % BLOCK == 0)
            set->before[8 * at / BLOCK] = found;
        for (; word; word &= word - 1) {
            const size_t i = 8 * at + (size_t)__builtin_ctzll(word);
            if (i >= n || found == set->count)
                return false;
            set->at[found++] = (uint16_t)(i % BLOCK);
        }
    }
    set->before[blocks_of(n)] = found;
    return map && found == set->count;
}

static void get_all(size_t n, Places *set)
{
    for (size_t b = 0; b <= blocks_of(n); b++)
        set->before[b] = b * BLOCK < n ? b * BLOCK : n;
    for (size_t i = 0; i < n; i++)
        set->at[i] = (uint16_t)(i % BLOCK);
}

static bool get_body(Reader *in, size_t n, Places *set)
{
    if (set->count == 0 || set->count == n) {
        memset(set->before, 0, (blocks_of(n) + 1) * sizeof *set->before);
        if (set->count)
            get_all(n, set);
        return true;
    }
    const uint8_t form = take_u8(in);
    if (form == BITMAP)
        return get_bitmap(in, n, set);
    return form < GOLOMB_CODES && golomb_get(in, form, n, set);
}

bool indices_get(Reader *in, size_t n, Arena *scratch, Places *set)
{
    const uint64_t k = take_varint(in);
    *set = (Places){0};
    /* Each of the k indices takes at least 1 bit, so k cannot exceed the bits that are left. A set of all n
     * indices is an exception: it takes no bits. */
    if (in->bad || k > n || (k < n && k / 8 > reader_left(in))) {
        in->bad = true;
        return false;
    }
    set->at = NEW(scratch, uint16_t, k);
    set->before = NEW(scratch, size_t, blocks_of(n) + 1);
    if (!set->at || !set->before)
        return false;
    set->count = k;
    in->bad |= !get_body(in, n, set);
    return !in->bad;
}

double indices_mean_bits(double n, double count)
{
    double body = 0;
    if (count > 0 && count < n)
        /* 8 bits for the byte `form`, and 4 bits for the mean padding to a whole byte */
        body = 8 + 4 + fmin(n, count * golomb_mean_bits(count / n));
    return 8 * (double)varint_size((uint64_t)count) + body;
}
