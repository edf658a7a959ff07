/* entries_vec.c -- writes quantised codes as the sparse bit stream of levels.h, one SIMD vector of entries at
 * a time. An entry is a non-zero code: its gap (distance in indices to the entry before), its sign and its
 * level.
 *
 * First, the index and the code of each entry are packed into a 32-bit word. Gaps and levels are written in
 * Elias omega code. The omega code of a number v of L + 1 bits is 2 v in binary after a prefix that depends
 * only on L, so one table of 16 words serves for gaps and levels. Before writing, the bits of two neighbouring
 * entries are joined in one word, then the bits of four. */
#include "math/vec/lane.h"

/* ---- a pen: writes the lanes of a vector as bit fields of different lengths, in order, to a BitWriter ----
 *
 * First the bits of two neighbouring lanes are joined in one word, then the bits of four. */

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

/* ---- entries ---- */

#if VEC_BYTES == 64

INLINE size_t keep_set(uint32_t *to, VecU v, VecU code)
{
    const __mmask16 set = _mm512_test_epi32_mask((__m512i)code, (__m512i)code);
    store_u(to, (VecU)_mm512_maskz_compress_epi32(set, (__m512i)v));
    return (size_t)__builtin_popcount(set);
}

#elif VEC_BYTES == 32

/* Stores the lanes of v whose `code` is not zero, without spaces between, and returns their number. Byte k of
 * the last constant is k; pext keeps the bytes of the stored lanes. */
INLINE size_t keep_set(uint32_t *to, VecU v, VecU code)
{
    const unsigned set = (unsigned)_mm256_movemask_ps((__m256)(code != 0));
    const uint64_t wide = _pdep_u64(set, UINT64_C(0x0101010101010101)) * 0xff;
    const __m128i lanes = _mm_cvtsi64_si128((int64_t)_pext_u64(UINT64_C(0x0706050403020100), wide));
    store_u(to, (VecU)_mm256_permutevar8x32_epi32((__m256i)v, _mm256_cvtepu8_epi32(lanes)));
    return (size_t)__builtin_popcount(set);
}

#endif

size_t ISA_NAME(entries8)(const uint8_t *code, size_t n, uint32_t *entry)
{
    size_t count = 0, i = 0;
#if VEC_BYTES > 16
    VecU place = (lane_numbers() + 1) << ENTRY_SHIFT;
    for (; i + LANES <= n; i += LANES, place += (uint32_t)LANES << ENTRY_SHIFT) {
        const VecU c = load_bytes(code + i);
        count += keep_set(entry + count, place | c, c);
    }
#endif
    for (; i < n; i++) {
        entry[count] = (uint32_t)(i + 1) << ENTRY_SHIFT | code[i];
        count += code[i] != 0;
    }
    return count;
}

#if VEC_BYTES > 16

enum { LENGTH_SHIFT = 6, LENGTH_LOW = 63 };

#define HEAD(groups, length) ((uint32_t)(groups) << LENGTH_SHIFT | (length))
#define LONG                 HEAD(0, LENGTH_LOW)

/* omega_heads[L] serves the numbers v with floor(log2 v) = L: the length of the Elias omega code and a word;
 * 2 v XOR this word is the code. The code of 1 is a zero bit. LONG marks codes of 18 bits and more, which the
 * SIMD loop does not write. */
static const uint32_t omega_heads[16] = {HEAD(2, 1),
                                         HEAD(0, 3),
                                         HEAD(2u << 4, 6),
                                         HEAD(3u << 5, 7),
                                         HEAD(20u << 6, 11),
                                         HEAD(21u << 7, 12),
                                         HEAD(22u << 8, 13),
                                         HEAD(23u << 9, 14),
                                         HEAD(56u << 10, 16),
                                         HEAD(57u << 11, 17),
                                         LONG,
                                         LONG,
                                         LONG,
                                         LONG,
                                         LONG,
                                         LONG};
#if VEC_BYTES == 64

typedef VecU Heads;

INLINE Heads load_heads(const uint32_t head[16])
{
    return load_u(head);
}
INLINE VecU head_of(Heads head, VecU v)
{
    const __m512i log = _mm512_sub_epi32(_mm512_set1_epi32(31), _mm512_lzcnt_epi32((__m512i)v));
    return (VecU)_mm512_permutexvar_epi32(_mm512_min_epu32(log, _mm512_set1_epi32(15)), (__m512i)head);
}

#else

typedef struct {
    VecU low, high;
} Heads;

INLINE Heads load_heads(const uint32_t head[16])
{
    return (Heads){load_u(head), load_u(head + LANES)};
}
/* L = floor(log2 v) is the exponent of v as a float; the conversion is exact for v < 2^24. */
INLINE VecU head_of(Heads head, VecU v)
{
    const __m256i log = _mm256_min_epu32((__m256i)(((VecU)real((VecI)v) >> 23) - 127), _mm256_set1_epi32(15));
    const __m256 low = (__m256)_mm256_permutevar8x32_epi32((__m256i)head.low, log);
    const __m256 high = (__m256)_mm256_permutevar8x32_epi32((__m256i)head.high, log);
    return (VecU)_mm256_blendv_ps(low, high, (__m256)_mm256_slli_epi32(log, 28));
}
#endif

INLINE WordsU omega(Heads head, VecU v)
{
    const VecU h = head_of(head, v);
    return (WordsU){(v + v) ^ (h >> LENGTH_SHIFT), h & LENGTH_LOW};
}

/* The bits of an entry are gap, sign, level: at most 17 + 1 + 13 = 31 bits, unless the gap's code is LONG. */
INLINE WordsU entry_words(VecU gap, VecU code, int bits, Heads gap_heads, Heads level_heads)
{
    const WordsU g = omega(gap_heads, gap), l = omega(level_heads, code & ((1u << bits) - 1));
    const VecU with_sign = (code >> bits) << l.length | l.bits;
    return (WordsU){g.bits << (l.length + 1) | with_sign, g.length + l.length + 1};
}

size_t ISA_NAME(put_entries)(const uint32_t *entry, size_t count, int bits, BitWriter *writer)
{
    uint32_t level_head[16];
    memcpy(level_head, omega_heads, sizeof level_head);
    if (bits == 1)
        level_head[0] = HEAD(2, 0); /* level 1 takes no bits where it is the only non-zero level */
    const Heads gap_heads = load_heads(omega_heads), level_heads = load_heads(level_head);
    Pen pen = pen_open(writer);
    size_t i = 0;
    for (; i < count && writer->end - pen.at >= PEN_ROOM; i += LANES) {
        const VecU here = load_u(entry + i), before = load_u(entry + i - 1);
        const VecU gap = (here >> ENTRY_SHIFT) - (before >> ENTRY_SHIFT);
        const VecU meant = (VecU)(lane_numbers() < (uint32_t)(count - i));
        WordsU words = entry_words(gap, here & ((1u << ENTRY_SHIFT) - 1), bits, gap_heads, level_heads);
        words.bits &= meant, words.length &= meant;
        if (!put_lanes(&pen, words))
            break;
    }
    pen_close(pen, writer);
    return i < count ? i : count;
}

#else

size_t ISA_NAME(put_entries)(const uint32_t *entry, size_t count, int bits, BitWriter *writer)
{
    (void)entry, (void)count, (void)bits, (void)writer;
    return 0;
}

#endif

/* ---- splits codes into classes of magnitudes and the bits that a class leaves open (symbols.h, kind 3) ---- */

size_t ISA_NAME(split_classes)(const uint32_t *code, size_t n, int width, int lead, uint16_t *symbol,
                               BitWriter *writer)
{
    size_t i = 0;
#if VEC_BYTES > 16
    const uint32_t magnitudes = (UINT32_C(1) << (width - 1)) - 1;
    Pen pen = pen_open(writer);
    for (; i + LANES <= n && writer->end - pen.at >= PEN_ROOM; i += LANES) {
        const VecU c = load_u(code + i), m = c & magnitudes;
        /* the exponent of m as a float is floor(log2 m), as m < 2^24 */
        const VecI above = (VecI)((VecU)real((VecI)m) >> 23) - (127 + lead);
        const VecU open = (VecU)(above & (VecI)(above > 0)), class = (open << lead) + (m >> open);
        if (!put_lanes(&pen, (WordsU){m & ((set_u(1) << open) - 1), open}))
            break;
        store_halves((uint8_t *)(symbol + i), 2 * class + (c >> (width - 1)));
    }
    pen_close(pen, writer);
#else
    (void)code, (void)n, (void)width, (void)lead, (void)symbol, (void)writer;
#endif
    return i;
}
