/* planes_vec.c -- converts groups of 64 codes to bit planes (planes.h) and back. Plane k of a group is a
 * 64-bit word with bit k of each code. Codes of 32 bits are converted one byte at a time. */
#include "math/vec/lane.h"
#include "base/bytes.h"

/* ---- groups of 64 codes of a byte each ---- */

#if VEC_BYTES == 64

INLINE void pack_group(const uint8_t *code, int width, uint8_t *plane)
{
    const __m512i v = _mm512_loadu_si512(code);
    for (int k = 0; k < width; k++) {
        const uint64_t word = _mm512_test_epi8_mask(v, _mm512_set1_epi8((char)(1 << k)));
        memcpy(plane + 8 * k, &word, 8);
    }
}

INLINE void unpack_group(const uint8_t *plane, int width, uint8_t *code)
{
    __m512i v = _mm512_setzero_si512();
    for (int k = 0; k < width; k++) {
        uint64_t word;
        memcpy(&word, plane + 8 * k, 8);
        v = _mm512_or_si512(v, _mm512_maskz_set1_epi8(word, (char)(1 << k)));
    }
    _mm512_storeu_si512(code, v);
}

#elif VEC_BYTES == 32

/* movemask gathers the top bit of each byte, so bit k is first shifted there. The 16-bit shift by at most 7
 * also moves bits of the lower byte into the upper byte, but never into its top bit. */
INLINE void pack_group(const uint8_t *code, int width, uint8_t *plane)
{
    const __m256i low = _mm256_loadu_si256((const __m256i *)(const void *)code),
                  high = _mm256_loadu_si256((const __m256i *)(const void *)(code + 32));
    for (int k = 0; k < width; k++) {
        const __m128i by = _mm_cvtsi32_si128(7 - k);
        const uint32_t a = (uint32_t)_mm256_movemask_epi8(_mm256_sll_epi16(low, by)),
                       b = (uint32_t)_mm256_movemask_epi8(_mm256_sll_epi16(high, by));
        const uint64_t word = a | (uint64_t)b << 32;
        memcpy(plane + 8 * k, &word, 8);
    }
}

INLINE __m256i spread(uint32_t word, int k)
{
    const __m256i which = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303),
                  bit = _mm256_set1_epi64x((int64_t)0x8040201008040201);
    const __m256i bytes = _mm256_shuffle_epi8(_mm256_set1_epi32((int)word), which);
    const __m256i set = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit), bit);
    return _mm256_and_si256(set, _mm256_set1_epi8((char)(1 << k)));
}

INLINE void unpack_group(const uint8_t *plane, int width, uint8_t *code)
{
    __m256i low = _mm256_setzero_si256(), high = low;
    for (int k = 0; k < width; k++) {
        uint32_t a, b;
        memcpy(&a, plane + 8 * k, 4);
        memcpy(&b, plane + 8 * k + 4, 4);
        low = _mm256_or_si256(low, spread(a, k));
        high = _mm256_or_si256(high, spread(b, k));
    }
    _mm256_storeu_si256((__m256i *)(void *)code, low);
    _mm256_storeu_si256((__m256i *)(void *)(code + 32), high);
}

#else

#define EVERY_BYTE UINT64_C(0x0101010101010101)

/* Works on eight codes at a time: the multiplication gathers bit 0 of eight bytes in the top byte of the
 * product. */
INLINE void pack_group(const uint8_t *code, int width, uint8_t *plane)
{
    for (int j = 0; j < 8; j++) {
        const uint64_t v = load_u64(code + 8 * j);
        for (int k = 0; k < width; k++)
            plane[8 * k + j] = (uint8_t)(((v >> k & EVERY_BYTE) * UINT64_C(0x0102040810204080)) >> 56);
    }
}

INLINE void unpack_group(const uint8_t *plane, int width, uint8_t *code)
{
    for (int j = 0; j < 8; j++) {
        uint64_t v = 0;
        for (int k = 0; k < width; k++) {
            const uint64_t one = plane[8 * k + j] * EVERY_BYTE & UINT64_C(0x8040201008040201);
            v |= ((one + 0x7f * EVERY_BYTE) >> 7 & EVERY_BYTE)
                 << k; /* 1 for each non-zero byte, moved to bit k */
        }
        store_u64(code + 8 * j, v);
    }
}

#endif

/* ---- any number of groups; every call of the two functions below has a constant `width`, which unrolls
 * their loops over planes ---- */

enum { PLANE_GROUP = 64 };

INLINE void pack_all(const uint8_t *code, size_t groups, int width, uint8_t *plane)
{
    for (size_t g = 0; g < groups; g++)
        pack_group(code + g * PLANE_GROUP, width, plane + g * 8 * (size_t)width);
}

INLINE void unpack_all(const uint8_t *plane, size_t groups, int width, uint8_t *code)
{
    for (size_t g = 0; g < groups; g++)
        unpack_group(plane + g * 8 * (size_t)width, width, code + g * PLANE_GROUP);
}

void ISA_NAME(pack8)(const uint8_t *code, size_t groups, int width, uint8_t *plane)
{
    WITH_8(width, pack_all(code, groups, N, plane))
}

void ISA_NAME(unpack8)(const uint8_t *plane, size_t groups, int width, uint8_t *code)
{
    WITH_8(width, unpack_all(plane, groups, N, code))
}

void ISA_NAME(pack32)(const uint32_t *code, size_t groups, int width, uint8_t *plane)
{
    for (size_t g = 0; g < groups; g++, code += PLANE_GROUP)
        for (int low = 0; low < width; low += 8) {
            uint8_t byte[PLANE_GROUP];
            const int planes = width - low < 8 ? width - low : 8;
            for (int i = 0; i < PLANE_GROUP; i++)
                byte[i] = (uint8_t)(code[i] >> low);
            pack_group(byte, planes, plane);
            plane += 8 * planes;
        }
}

void ISA_NAME(unpack32)(const uint8_t *plane, size_t groups, int width, uint32_t *code)
{
    for (size_t g = 0; g < groups; g++, code += PLANE_GROUP) {
        memset(code, 0, PLANE_GROUP * sizeof *code);
        for (int low = 0; low < width; low += 8) {
            uint8_t byte[PLANE_GROUP];
            const int planes = width - low < 8 ? width - low : 8;
            unpack_group(plane, planes, byte);
            for (int i = 0; i < PLANE_GROUP; i++)
                code[i] |= (uint32_t)byte[i] << low;
            plane += 8 * planes;
        }
    }
}

/* ---- packs five trits (digits in base 3) into a byte, and back. A group is 320 trits t[0], ...,
 * t[319] in 64 bytes; byte j is the sum over i of t[j + 64 i] 3^i, so the loops need no shuffles. A trit is 0,
 * 1 (plus) or 2 (minus); its code is 0, 1 or 3 ---- */

enum { TRIT_BYTES = 64, TRITS = 320 };

void ISA_NAME(pack_trits)(const uint8_t *code, size_t groups, uint8_t *byte)
{
    for (size_t g = 0; g < groups; g++, code += TRITS, byte += TRIT_BYTES) {
        uint8_t sum[TRIT_BYTES] = {0};
        for (int i = 4; i >= 0; i--)
            for (int j = 0; j < TRIT_BYTES; j++) {
                const uint8_t c = code[i * TRIT_BYTES + j];
                sum[j] = (uint8_t)(sum[j] * 3 + c - (c >> 1));
            }
        memcpy(byte, sum, TRIT_BYTES);
    }
}

bool ISA_NAME(unpack_trits)(const uint8_t *byte, size_t groups, uint8_t *code)
{
    uint8_t most[TRIT_BYTES] = {0};
    for (size_t g = 0; g < groups; g++, code += TRITS, byte += TRIT_BYTES) {
        uint16_t left[TRIT_BYTES];
        for (int j = 0; j < TRIT_BYTES; j++) {
            most[j] = byte[j] > most[j] ? byte[j] : most[j];
            left[j] = byte[j];
        }
        for (int i = 0; i < 5; i++)
            for (int j = 0; j < TRIT_BYTES; j++) {
                const uint16_t third = (uint16_t)(left[j] * 171u >> 9); /* exact below 256 */
                const uint8_t trit = (uint8_t)(left[j] - 3 * third);
                code[i * TRIT_BYTES + j] = (uint8_t)(trit + (trit >> 1));
                left[j] = third;
            }
    }
    for (int j = 1; j < TRIT_BYTES; j++)
        most[0] = most[j] > most[0] ? most[j] : most[0];
    return most[0] < 243;
}
