/* pen.h -- writes the lanes of a vector as bit fields of different lengths, in order, to a BitWriter. First the bits of
 * two neighbouring lanes are joined in one word, then the bits of four. */
#ifndef ATOMO_PEN_H
#define ATOMO_PEN_H

#include "math/vec/lane.h"

#if VEC_BYTES > 16

/* the bytes that must be free before the fields of a vector are written */
enum { PEN_ROOM = 4 * LANES + 8 };

typedef struct {
    VecU bits, length;
} WordsU;
typedef struct {
    VecQ bits, length;
} WordsQ;

#if VEC_BYTES == 64

INLINE VecQ swap_pairs(VecQ v)
{
    return (VecQ)_mm512_permutex_epi64((__m512i)v, 0xb1);
}
INLINE bool any_above(VecQ v, uint64_t most)
{
    return _mm512_cmpgt_epu64_mask((__m512i)v, _mm512_set1_epi64((int64_t)most)) != 0;
}

#else

INLINE VecQ swap_pairs(VecQ v)
{
    return (VecQ)_mm256_shuffle_epi32((__m256i)v, 0x4e);
}
INLINE bool any_above(VecQ v, uint64_t most)
{
    return any((VecI)(v > most));
}

#endif

/* Joins each pair of 32-bit lanes to one 64-bit lane: bits of the even lane, then of the odd lane. */
INLINE WordsQ merge_two(WordsU w)
{
    const VecQ bits = (VecQ)w.bits, length = (VecQ)w.length;
    return (WordsQ){(bits & 0xffffffff) << (length >> 32) | bits >> 32,
                    (length & 0xffffffff) + (length >> 32)};
}

/* Joins each pair of 64-bit lanes: bits of the even lane, then of the odd lane. Valid if their lengths add up
 * to at most 64. */
INLINE WordsQ merge_four(WordsQ w)
{
    const VecQ length = swap_pairs(w.length);
    return (WordsQ){w.bits << length | swap_pairs(w.bits), w.length + length};
}

/* A BitWriter without the member `end`, so that it fits in three registers. The caller checks that PEN_ROOM bytes
 * are free. */
typedef struct {
    uint8_t *at;
    uint64_t held;
    unsigned count;
} Pen;

INLINE Pen put_words(Pen pen, WordsQ words, size_t step)
{
    uint64_t bits[LANES / 2], length[LANES / 2];
    memcpy(bits, &words.bits, sizeof bits);
    memcpy(length, &words.length, sizeof length);
    uint8_t *at = pen.at;
    uint64_t held = pen.held, count = pen.count;
    for (size_t i = 0; i < LANES / 2; i += step) {
        held |= bits[i] << (63 - count - length[i]) << 1;
        count += length[i];
        store_u64(at, __builtin_bswap64(held));
        at += count >> 3;
        held <<= count & ~UINT64_C(7);
        count &= 7;
    }
    return (Pen){at, held, (unsigned)count};
}

INLINE Pen pen_open(const BitWriter *w)
{
    return (Pen){w->at, w->held, w->count};
}
INLINE void pen_close(Pen pen, BitWriter *w)
{
    w->at = pen.at, w->held = pen.held, w->count = pen.count;
}

/* Writes the fields of all lanes, each of at most 32 bits. Returns false, and writes nothing, if two neighbouring fields
 * have more than BITS_MAX bits together. */
INLINE bool put_lanes(Pen *pen, WordsU words)
{
    const WordsQ two = merge_two(words), four = merge_four(two);
    if (__builtin_expect(!any_above(four.length, BITS_MAX), 1))
        *pen = put_words(*pen, four, 2);
    else if (!any_above(two.length, BITS_MAX))
        *pen = put_words(*pen, two, 1);
    else
        return false;
    return true;
}

#endif

#endif
