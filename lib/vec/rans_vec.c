/* rans_vec.c -- the rANS coder of rans.h with sixteen lanes (coder states). A row is 16 symbols, one per lane.
 * Rows are written from last to first, and read from first to last. */
#include "vec/vec.h"

#include "base/bytes.h"

/* LOW: the least state of a lane; ROW_WORDS: the most bytes that a row can read */
enum { LOW = 1 << 16, ROW_WORDS = 2 * ROW };

#if VEC_BYTES == 64

/* Returns x / f rounded down: for 32-bit numbers, the truncated quotient in double is exact. */
INLINE __m512i divide(__m512i x, __m512i f)
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
        const __m512i q = divide(x, f);
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

INLINE void store_bytes(uint8_t *to, __m512i b)
{
    _mm_storeu_si128((__m128i *)(void *)to, _mm512_cvtepi32_epi8(b));
}

size_t ISA_NAME(rans_get)(const uint32_t *slot, int precision, uint8_t *byte, size_t rows, uint32_t state[16],
                          const uint8_t **at, const uint8_t *end)
{
    const __m128i by = _mm_cvtsi32_si128(precision);
    const __m512i low = _mm512_set1_epi32((1 << precision) - 1), field = _mm512_set1_epi32(0xfff);
    __m512i x = _mm512_loadu_si512(state);
    const uint8_t *p = *at;
    size_t row = 0;
    for (; row < rows && end - p >= ROW_WORDS; row++) {
        const __m512i e = _mm512_i32gather_epi32(_mm512_and_si512(x, low), slot, 4);
        const __m512i f = _mm512_and_si512(_mm512_srli_epi32(e, 12), field);
        store_bytes(byte + ROW * row, _mm512_srli_epi32(e, 24));
        x = _mm512_add_epi32(_mm512_mullo_epi32(f, _mm512_srl_epi32(x, by)), _mm512_and_si512(e, field));
        p = refill(&x, p);
    }
    _mm512_storeu_si512(state, x);
    *at = p;
    return row;
}

size_t ISA_NAME(rans_get_fine)(const uint8_t *slot, const uint32_t *slice, int precision, uint8_t *byte,
                               size_t rows, uint32_t state[16], const uint8_t **at, const uint8_t *end)
{
    const __m128i by = _mm_cvtsi32_si128(precision);
    const __m512i low = _mm512_set1_epi32((1 << precision) - 1);
    __m512i x = _mm512_loadu_si512(state);
    const uint8_t *p = *at;
    size_t row = 0;
    for (; row < rows && end - p >= ROW_WORDS; row++) {
        const __m512i place = _mm512_and_si512(x, low);
        const __m512i b = _mm512_and_si512(_mm512_i32gather_epi32(place, slot, 1), _mm512_set1_epi32(0xff));
        const __m512i s = _mm512_i32gather_epi32(b, slice, 4);
        const __m512i f = _mm512_srli_epi32(s, 16), start = _mm512_and_si512(s, _mm512_set1_epi32(0xffff));
        store_bytes(byte + ROW * row, b);
        x = _mm512_add_epi32(_mm512_mullo_epi32(f, _mm512_srl_epi32(x, by)), _mm512_sub_epi32(place, start));
        p = refill(&x, p);
    }
    _mm512_storeu_si512(state, x);
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
        const bool full = x >= f << (32 - precision);
        store_u16(at - 2, (uint16_t)x); /* overwritten by the next word unless the state is full */
        at -= full ? 2 : 0;
        x >>= full ? 16 : 0;
        state[i % ROW] = (x / f << precision) + x % f + (s & 0xffff);
    }
    return at;
}

size_t ISA_NAME(rans_get)(const uint32_t *slot, int precision, uint8_t *byte, size_t rows, uint32_t state[16],
                          const uint8_t **at, const uint8_t *end)
{
    const uint32_t low = (1u << precision) - 1;
    const uint8_t *p = *at;
    size_t row = 0;
    uint32_t lane[ROW];
    memcpy(lane, state, sizeof lane);
    for (; row < rows && end - p >= ROW_WORDS; row++)
        for (int k = 0; k < ROW; k++) {
            const uint32_t e = slot[lane[k] & low];
            const uint32_t x = (e >> 12 & 0xfff) * (lane[k] >> precision) + (e & 0xfff);
            const bool empty = x < LOW;
            byte[ROW * row + (size_t)k] = (uint8_t)(e >> 24);
            lane[k] = empty ? x << 16 | load_u16(p) : x;
            p += empty ? 2 : 0;
        }
    memcpy(state, lane, sizeof lane);
    *at = p;
    return row;
}

size_t ISA_NAME(rans_get_fine)(const uint8_t *slot, const uint32_t *slice, int precision, uint8_t *byte,
                               size_t rows, uint32_t state[16], const uint8_t **at, const uint8_t *end)
{
    const uint32_t low = (1u << precision) - 1;
    const uint8_t *p = *at;
    size_t row = 0;
    uint32_t lane[ROW];
    memcpy(lane, state, sizeof lane);
    for (; row < rows && end - p >= ROW_WORDS; row++)
        for (int k = 0; k < ROW; k++) {
            const uint32_t place = lane[k] & low, b = slot[place], s = slice[b];
            const uint32_t x = (s >> 16) * (lane[k] >> precision) + place - (s & 0xffff);
            const bool empty = x < LOW;
            byte[ROW * row + (size_t)k] = (uint8_t)b;
            lane[k] = empty ? x << 16 | load_u16(p) : x;
            p += empty ? 2 : 0;
        }
    memcpy(state, lane, sizeof lane);
    *at = p;
    return row;
}

#endif
