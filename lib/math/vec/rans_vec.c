/* rans_vec.c -- the rANS coder of rans.h with sixteen lanes (coder states). A row is 16 symbols, one per lane.
 * Rows are written from last to first, and read from first to last. */
#include "math/vec/lane.h"

#include "base/bytes.h"

/* LOW: the least state of a lane; ROW_WORDS: the most bytes that a row can read */
enum { LOW = 1 << 16, ROW_WORDS = 2 * ROW };

/* In each branch below, `get` reads rows with one of two look-ups of the symbols at `place`, the low bits of the
 * states: `find` in a table of slots, `find_fine` in a table of bytes (`slot`) and one of slices (`slice`). Both return
 * each symbol's byte, its share, and an offset: the new state is share * (state >> precision) + offset. */

#if VEC_BYTES == 64

/* Returns x / f rounded down: for 32-bit numbers, the truncated quotient in double is exact. */
INLINE __m512i divide_counts(__m512i x, __m512i f)
{
    const __m512d low = _mm512_div_pd(_mm512_cvtepu32_pd(_mm512_castsi512_si256(x)),
                                      _mm512_cvtepu32_pd(_mm512_castsi512_si256(f)));
    const __m512d high = _mm512_div_pd(_mm512_cvtepu32_pd(_mm512_extracti64x4_epi64(x, 1)),
                                       _mm512_cvtepu32_pd(_mm512_extracti64x4_epi64(f, 1)));
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvttpd_epu32(low)), _mm512_cvttpd_epu32(high), 1);
}

uint8_t *ISA_NAME(rans_put)(const uint32_t *slice, int precision, const uint8_t *byte, size_t rows,
                            uint32_t state[16], uint8_t *at)
{
    const __m128i up = _mm_cvtsi32_si128(32 - precision), by = _mm_cvtsi32_si128(precision);
    __m512i x = _mm512_loadu_si512(state);
    while (rows--) {
        const __m512i b =
            _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)(byte + ROW * rows)));
        const __m512i s = _mm512_i32gather_epi32(b, slice, 4);
        const __m512i f = _mm512_srli_epi32(s, 16), start = _mm512_and_si512(s, _mm512_set1_epi32(0xffff));
        const __mmask16 full = _mm512_cmpge_epu32_mask(x, _mm512_sll_epi32(f, up));
        const int words = __builtin_popcount(full);
        at -= 2 * words;
        _mm256_mask_storeu_epi16(at, (__mmask16)((1u << words) - 1),
                                 _mm512_cvtepi32_epi16(_mm512_maskz_compress_epi32(full, x)));
        x = _mm512_mask_srli_epi32(x, full, x, 16);
        const __m512i q = divide_counts(x, f);
        const __m512i rest = _mm512_sub_epi32(x, _mm512_mullo_epi32(q, f));
        x = _mm512_add_epi32(_mm512_add_epi32(_mm512_sll_epi32(q, by), rest), start);
    }
    _mm512_storeu_si512(state, x);
    return at;
}

/* Refills each state of x below LOW with a 16-bit word from p. Returns the address behind the last word. */
INLINE const uint8_t *refill(__m512i *x, const uint8_t *p)
{
    const __mmask16 empty = _mm512_cmplt_epu32_mask(*x, _mm512_set1_epi32(LOW));
    const __m512i words = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)p));
    *x = _mm512_mask_or_epi32(*x, empty, _mm512_slli_epi32(*x, 16), _mm512_maskz_expand_epi32(empty, words));
    return p + 2 * __builtin_popcount(empty);
}

typedef __m512i Lanes;
typedef struct {
    Lanes byte, share, offset;
} Symbols;
typedef Symbols FindSymbols(const void *slot, const uint32_t *slice, Lanes place);

INLINE Symbols find(const void *slot, const uint32_t *slice, Lanes place)
{
    const Lanes e = _mm512_i32gather_epi32(place, slot, 4), field = _mm512_set1_epi32(0xfff);
    (void)slice;
    return (Symbols){_mm512_srli_epi32(e, 24), _mm512_and_si512(_mm512_srli_epi32(e, 12), field),
                     _mm512_and_si512(e, field)};
}

INLINE Symbols find_fine(const void *slot, const uint32_t *slice, Lanes place)
{
    const Lanes b = _mm512_and_si512(_mm512_i32gather_epi32(place, slot, 1), _mm512_set1_epi32(0xff)),
                s = _mm512_i32gather_epi32(b, slice, 4);
    return (Symbols){b, _mm512_srli_epi32(s, 16),
                     _mm512_sub_epi32(place, _mm512_and_si512(s, _mm512_set1_epi32(0xffff)))};
}

INLINE size_t get(FindSymbols *find_symbols, const void *slot, const uint32_t *slice, int precision,
                  uint8_t *byte, size_t rows, uint32_t state[16], const uint8_t **at, const uint8_t *end)
{
    const __m128i by = _mm_cvtsi32_si128(precision);
    const Lanes low = _mm512_set1_epi32((1 << precision) - 1);
    Lanes x = _mm512_loadu_si512(state);
    const uint8_t *p = *at;
    size_t row = 0;
    for (; row < rows && end - p >= ROW_WORDS; row++) {
        const Symbols f = find_symbols(slot, slice, _mm512_and_si512(x, low));
        store_bytes(byte + ROW * row, (VecU)f.byte);
        x = _mm512_add_epi32(_mm512_mullo_epi32(f.share, _mm512_srl_epi32(x, by)), f.offset);
        p = refill(&x, p);
    }
    _mm512_storeu_si512(state, x);
    *at = p;
    return row;
}

#elif VEC_BYTES == 32

enum { HALVES = 2 };

/* For each set bit of `set`, from low to high, a byte with the number of the bit. Each bit of `wide` is eight bits. */
INLINE uint64_t set_numbers(uint64_t wide)
{
    return _pext_u64(UINT64_C(0x0706050403020100), wide);
}
INLINE uint64_t widened(unsigned set)
{
    return _pdep_u64(set, UINT64_C(0x0101010101010101)) * 0xff;
}
INLINE __m256i permuted(__m256i v, uint64_t lanes)
{
    return _mm256_permutevar8x32_epi32(v, _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((int64_t)lanes)));
}
INLINE unsigned lanes_set(__m256i mask)
{
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(mask));
}

/* Returns x / f rounded down, for f < 2^16 and quotients below 2^31: the truncated quotient in double is exact. */
INLINE __m128i divide4(__m128i x, __m128i f)
{
    const __m256d shifted = _mm256_cvtepi32_pd(_mm_xor_si128(x, _mm_set1_epi32(INT32_MIN)));
    return _mm256_cvttpd_epi32(
        _mm256_div_pd(_mm256_add_pd(shifted, _mm256_set1_pd(0x1p31)), _mm256_cvtepi32_pd(f)));
}
INLINE __m256i divide_counts(__m256i x, __m256i f)
{
    return _mm256_inserti128_si256(
        _mm256_castsi128_si256(divide4(_mm256_castsi256_si128(x), _mm256_castsi256_si128(f))),
        divide4(_mm256_extracti128_si256(x, 1), _mm256_extracti128_si256(f, 1)), 1);
}

/* Encodes eight symbols into the states x; writes the low words of full states in front of `at`. */
INLINE __m256i push(__m256i x, __m256i s, __m128i up, __m128i by, uint8_t **at)
{
    const __m256i f = _mm256_srli_epi32(s, 16), start = _mm256_and_si256(s, _mm256_set1_epi32(0xffff));
    const __m256i limit = _mm256_sll_epi32(f, up), full = _mm256_cmpeq_epi32(_mm256_max_epu32(x, limit), x);
    const unsigned set = lanes_set(full), words = (unsigned)__builtin_popcount(set);
    /* the words end where the 16 bytes before `at` end */
    const uint64_t last = set_numbers(widened(set)) << ((64 - 8 * words) & 63);
    const __m256i low = permuted(_mm256_and_si256(x, _mm256_set1_epi32(0xffff)), last);
    _mm_storeu_si128((__m128i *)(void *)(*at - 16),
                     _mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1)));
    *at -= 2 * words;
    x = _mm256_blendv_epi8(x, _mm256_srli_epi32(x, 16), full);
    const __m256i q = divide_counts(x, f), rest = _mm256_sub_epi32(x, _mm256_mullo_epi32(q, f));
    return _mm256_add_epi32(_mm256_add_epi32(_mm256_sll_epi32(q, by), rest), start);
}

uint8_t *ISA_NAME(rans_put)(const uint32_t *slice, int precision, const uint8_t *byte, size_t rows,
                            uint32_t state[16], uint8_t *at)
{
    const __m128i up = _mm_cvtsi32_si128(32 - precision), by = _mm_cvtsi32_si128(precision);
    __m256i x[HALVES] = {_mm256_loadu_si256((const __m256i *)(const void *)state),
                         _mm256_loadu_si256((const __m256i *)(const void *)(state + LANES))};
    while (rows--)
        for (int h = HALVES - 1; h >= 0; h--) {
            const __m256i b = (__m256i)load_bytes(byte + ROW * rows + LANES * h);
            x[h] = push(x[h], _mm256_i32gather_epi32((const int *)slice, b, 4), up, by, &at);
        }
    memcpy(state, x, sizeof x);
    return at;
}

/* Refills each state of x below LOW with a 16-bit word from p. Returns the address behind the last word. */
INLINE const uint8_t *refill(__m256i *x, const uint8_t *p)
{
    const __m256i empty = _mm256_cmpeq_epi32(_mm256_srli_epi32(*x, 16), _mm256_setzero_si256());
    const unsigned set = lanes_set(empty);
    const __m256i words = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)(const void *)p));
    const __m256i own = permuted(words, _pdep_u64(UINT64_C(0x0706050403020100), widened(set)));
    *x = _mm256_blendv_epi8(*x, _mm256_or_si256(_mm256_slli_epi32(*x, 16), own), empty);
    return p + 2 * __builtin_popcount(set);
}

typedef __m256i Lanes;
typedef struct {
    Lanes byte, share, offset;
} Symbols;
typedef Symbols FindSymbols(const void *slot, const uint32_t *slice, Lanes place);

INLINE Symbols find(const void *slot, const uint32_t *slice, Lanes place)
{
    const Lanes e = _mm256_i32gather_epi32(slot, place, 4), field = _mm256_set1_epi32(0xfff);
    (void)slice;
    return (Symbols){_mm256_srli_epi32(e, 24), _mm256_and_si256(_mm256_srli_epi32(e, 12), field),
                     _mm256_and_si256(e, field)};
}

INLINE Symbols find_fine(const void *slot, const uint32_t *slice, Lanes place)
{
    const Lanes b = _mm256_and_si256(_mm256_i32gather_epi32(slot, place, 1), _mm256_set1_epi32(0xff)),
                s = _mm256_i32gather_epi32((const int *)slice, b, 4);
    return (Symbols){b, _mm256_srli_epi32(s, 16),
                     _mm256_sub_epi32(place, _mm256_and_si256(s, _mm256_set1_epi32(0xffff)))};
}

INLINE size_t get(FindSymbols *find_symbols, const void *slot, const uint32_t *slice, int precision,
                  uint8_t *byte, size_t rows, uint32_t state[16], const uint8_t **at, const uint8_t *end)
{
    const __m128i by = _mm_cvtsi32_si128(precision);
    const Lanes low = _mm256_set1_epi32((1 << precision) - 1);
    Lanes x[HALVES];
    memcpy(x, state, sizeof x);
    const uint8_t *p = *at;
    size_t row = 0;
    for (; row < rows && end - p >= ROW_WORDS; row++)
        for (int h = 0; h < HALVES; h++) {
            const Symbols f = find_symbols(slot, slice, _mm256_and_si256(x[h], low));
            store_bytes(byte + ROW * row + LANES * h, (VecU)f.byte);
            x[h] = _mm256_add_epi32(_mm256_mullo_epi32(f.share, _mm256_srl_epi32(x[h], by)), f.offset);
            p = refill(&x[h], p);
        }
    memcpy(state, x, sizeof x);
    *at = p;
    return row;
}

#else

uint8_t *ISA_NAME(rans_put)(const uint32_t *slice, int precision, const uint8_t *byte, size_t rows,
                            uint32_t state[16], uint8_t *at)
{
    for (size_t i = ROW * rows; i-- > 0;) {
        const uint32_t s = slice[byte[i]], f = s >> 16;
        uint32_t x = state[i % ROW];
        const uint32_t full = 0 - (uint32_t)(x >= f << (32 - precision)); /* all bits or none: no branch */
        store_u16(at - 2, (uint16_t)x); /* overwritten by the next word unless the state is full */
        at -= full & 2;
        x >>= full & 16;
        state[i % ROW] = (x / f << precision) + x % f + (s & 0xffff);
    }
    return at;
}

typedef uint32_t Lanes;
typedef struct {
    Lanes byte, share, offset;
} Symbols;
typedef Symbols FindSymbols(const void *slot, const uint32_t *slice, Lanes place);

INLINE Symbols find(const void *slot, const uint32_t *slice, Lanes place)
{
    const uint32_t e = ((const uint32_t *)slot)[place];
    (void)slice;
    return (Symbols){e >> 24, e >> 12 & 0xfff, e & 0xfff};
}

INLINE Symbols find_fine(const void *slot, const uint32_t *slice, Lanes place)
{
    const uint32_t b = ((const uint8_t *)slot)[place], s = slice[b];
    return (Symbols){b, s >> 16, place - (s & 0xffff)};
}

INLINE size_t get(FindSymbols *find_symbols, const void *slot, const uint32_t *slice, int precision,
                  uint8_t *byte, size_t rows, uint32_t state[16], const uint8_t **at, const uint8_t *end)
{
    const uint32_t low = (1u << precision) - 1;
    const uint8_t *p = *at;
    size_t row = 0;
    uint32_t lane[ROW];
    memcpy(lane, state, sizeof lane);
    for (; row < rows && end - p >= ROW_WORDS; row++)
        for (int k = 0; k < ROW; k++) {
            const Symbols f = find_symbols(slot, slice, lane[k] & low);
            const uint32_t x = f.share * (lane[k] >> precision) + f.offset;
            const uint32_t empty = 0 - (uint32_t)(x < LOW); /* all bits or none: no branch */
            byte[ROW * row + (size_t)k] = (uint8_t)f.byte;
            lane[k] = x << (empty & 16) | (load_u16(p) & empty);
            p += empty & 2;
        }
    memcpy(state, lane, sizeof lane);
    *at = p;
    return row;
}

#endif

size_t ISA_NAME(rans_get)(const uint32_t *slot, int precision, uint8_t *byte, size_t rows, uint32_t state[16],
                          const uint8_t **at, const uint8_t *end)
{
    return get(find, slot, NULL, precision, byte, rows, state, at, end);
}

size_t ISA_NAME(rans_get_fine)(const uint8_t *slot, const uint32_t *slice, int precision, uint8_t *byte,
                               size_t rows, uint32_t state[16], const uint8_t **at, const uint8_t *end)
{
    return get(find_fine, slot, slice, precision, byte, rows, state, at, end);
}
