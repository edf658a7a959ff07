/* rans_vec.c -- the rANS coder of rans.h with sixteen lanes (coder states). A row is 16 symbols, one per lane.
 * Rows are written from last to first, and read from first to last.
 *
 * Each branch below has a type `Lanes`, PACKS of which make a row, and the functions on it that differ: `look...`
 * reads a table, `push` encodes symbols into states, `refill` reads words into states. */
#include "math/vec/lane.h"

#include "base/bytes.h"

/* LOW: the least state of a lane; ROW_WORDS: the most bytes that a row can read */
enum { LOW = 1 << 16, ROW_WORDS = 2 * ROW };

#if VEC_BYTES == 16

enum { PACKS = ROW };
typedef uint32_t Lanes;

INLINE Lanes look(const uint32_t *table, Lanes at)
{
    return table[at];
}
INLINE Lanes look_bytes(const uint8_t *table, Lanes at)
{
    return table[at];
}
INLINE Lanes look_symbols(const uint32_t *slice, const uint8_t *byte)
{
    return slice[*byte];
}
INLINE void store_symbols(uint8_t *p, Lanes symbol)
{
    *p = (uint8_t)symbol;
}

INLINE Lanes push(Lanes x, Lanes s, int precision, uint8_t **at)
{
    const uint32_t f = s >> 16, full = 0 - (uint32_t)(x >= f << (32 - precision)); /* all bits or none: no branch */
    store_u16(*at - 2, (uint16_t)x); /* overwritten by the next word unless the state is full */
    *at -= full & 2;
    x >>= full & 16;
    return (x / f << precision) + x % f + (s & 0xffff);
}

INLINE const uint8_t *refill(Lanes *x, const uint8_t *p)
{
    const uint32_t empty = 0 - (uint32_t)(*x < LOW);
    *x = *x << (empty & 16) | (load_u16(p) & empty);
    return p + (empty & 2);
}

#else

enum { PACKS = PARTS };
typedef VecU Lanes;

INLINE void store_symbols(uint8_t *p, Lanes symbol)
{
    store_bytes(p, symbol);
}

#if VEC_BYTES == 64

INLINE Lanes look(const uint32_t *table, Lanes at)
{
    return (Lanes)_mm512_i32gather_epi32((__m512i)at, table, 4);
}
INLINE Lanes look_bytes(const uint8_t *table, Lanes at)
{
    return (Lanes)_mm512_i32gather_epi32((__m512i)at, table, 1) & 0xff;
}
INLINE Lanes look_symbols(const uint32_t *slice, const uint8_t *byte)
{
    return look(slice, load_bytes(byte));
}
INLINE VecF unsigned_real(Lanes x)
{
    return (VecF)_mm512_cvtepu32_ps((__m512i)x);
}

/* Writes the low words of the lanes in the set `full` in front of `at`; returns where they begin. */
INLINE uint8_t *write_words(Lanes x, uint64_t full, uint8_t *at)
{
    const int words = __builtin_popcountll(full);
    at -= 2 * words;
    _mm256_mask_storeu_epi16(at, (__mmask16)((1u << words) - 1),
                             _mm512_cvtepi32_epi16(_mm512_maskz_compress_epi32((__mmask16)full, (__m512i)x)));
    return at;
}

/* Returns the words at p: one for each lane of the set `empty`, in order. */
INLINE Lanes read_words(const uint8_t *p, uint64_t empty)
{
    return (Lanes)_mm512_maskz_expand_epi32((__mmask16)empty, (__m512i)load_halves(p));
}

#else

/* For each set m of 8 lanes: LISTED lists the lanes of the set; WORD tells which two bytes of 8 words become lane j, where the
 * lanes of the set take the words in order, and the others zeros. */
#define BEFORE(m, j) __builtin_popcount((m) & ((1 << (j)) - 1))
#define WORD(m, j)   ((m) >> (j) & 1 ? 0x80800100u + 0x202u * (uint32_t)BEFORE(m, j) : 0x80808080u)
#define PLACE(m, j)  (uint64_t)((m) >> (j) & 1 ? (j) : 0) << 8 * BEFORE(m, j)
#define WORDS(m)     {WORD(m, 0), WORD(m, 1), WORD(m, 2), WORD(m, 3), WORD(m, 4), WORD(m, 5), WORD(m, 6), WORD(m, 7)}
#define LISTED(m)    PLACE(m, 0) | PLACE(m, 1) | PLACE(m, 2) | PLACE(m, 3) | PLACE(m, 4) | PLACE(m, 5) | PLACE(m, 6) | PLACE(m, 7)
#define SETS4(M, m)  M(m), M((m) + 1), M((m) + 2), M((m) + 3)
#define SETS16(M, m) SETS4(M, m), SETS4(M, (m) + 4), SETS4(M, (m) + 8), SETS4(M, (m) + 12)
#define SETS64(M, m) SETS16(M, m), SETS16(M, (m) + 16), SETS16(M, (m) + 32), SETS16(M, (m) + 48)
#define SETS(M)      SETS64(M, 0), SETS64(M, 64), SETS64(M, 128), SETS64(M, 192)
static const VecU spread_words[] = {SETS(WORDS)};
static const uint64_t listed_lanes[] = {SETS(LISTED)};

INLINE Lanes permuted(Lanes v, uint64_t lanes)
{
    const __m256i index = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((int64_t)lanes));
    return (Lanes)_mm256_permutevar8x32_epi32((__m256i)v, index);
}

/* Eight loads are faster than a gather on most CPUs with AVX2. */
#define LOOK(table, i)                                                                                       \
    (Lanes)                                                                                                  \
    {                                                                                                        \
        (table)[i(0)], (table)[i(1)], (table)[i(2)], (table)[i(3)], (table)[i(4)], (table)[i(5)], (table)[i(6)], \
            (table)[i(7)]                                                                                    \
    }
#define LANE(i) ((i) & 1 ? pair[(i) / 2] >> 32 : (uint32_t)pair[(i) / 2])
#define BYTE(i) byte[i]

INLINE Lanes look(const uint32_t *table, Lanes at)
{
    const VecQ pair = (VecQ)at;
    return LOOK(table, LANE);
}
INLINE Lanes look_bytes(const uint8_t *table, Lanes at)
{
    const VecQ pair = (VecQ)at;
    return LOOK(table, LANE);
}
INLINE Lanes look_symbols(const uint32_t *slice, const uint8_t *byte)
{
    return LOOK(slice, BYTE);
}

/* Lanes from 2^31 on are negative as ints; they lose their lowest bit. */
INLINE VecF unsigned_real(Lanes x)
{
    const VecF half = real((VecI)(x >> 1));
    return (VecF)_mm256_blendv_ps((__m256)real((VecI)x), (__m256)(half + half), (__m256)x);
}

INLINE uint8_t *write_words(Lanes x, uint64_t full, uint8_t *at)
{
    const int words = __builtin_popcountll(full);
    /* the words end where the 16 bytes before `at` end */
    store_halves(at - 16, permuted(x & 0xffff, listed_lanes[full] << ((64 - 8 * words) & 63)));
    return at - 2 * words;
}

INLINE Lanes read_words(const uint8_t *p, uint64_t empty)
{
    const __m128i words = _mm_loadu_si128((const __m128i *)(const void *)p);
    return (Lanes)_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(words), (__m256i)spread_words[empty]);
}

#endif

/* Encodes symbols with the slices s into the states x; writes the low words of full states in front of *at.
 * Then x < f 2^(32 - precision), and the precision is 12 or more, so x / f < 2^20. The quotient in float, divided by
 * 1 + 2^-21, is less than x / f, and by less than 1: rounded down, it is the quotient or one less. The remainder tells which.
 * (A lane of 2^31 or more has f > 2^(precision - 1): the bit that it loses does not matter.) */
INLINE Lanes push(Lanes x, Lanes s, int precision, uint8_t **at)
{
    const Lanes f = s >> 16;
    const VecI full = x >= f << (32 - precision);
    *at = write_words(x, lane_bits(full), *at);
    x = pick(full, x >> 16, x);
    const Lanes q = (Lanes)whole(unsigned_real(x) / (real((VecI)f) * (1 + 0x1p-21f))), rest = x - q * f;
    const VecI under = (VecI)f > (VecI)rest;
    return (q << precision) + (~(Lanes)under & ((1u << precision) - f)) + rest + (s & 0xffff);
}

/* Refills each state of x below LOW with a 16-bit word from p. Returns the address behind the last word. */
INLINE const uint8_t *refill(Lanes *x, const uint8_t *p)
{
    const VecI empty = (VecI)(*x >> 16) == 0;
    const uint64_t set = lane_bits(empty);
    *x = *x << ((Lanes)empty & 16) | read_words(p, set);
    return p + 2 * __builtin_popcountll(set);
}

#endif

uint8_t *ISA_NAME(rans_put)(const uint32_t *slice, int precision, const uint8_t *byte, size_t rows,
                            uint32_t state[16], uint8_t *at)
{
    Lanes x[PACKS];
    memcpy(x, state, sizeof x);
    while (rows--)
        for (int k = PACKS - 1; k >= 0; k--)
            x[k] = push(x[k], look_symbols(slice, byte + ROW * rows + ROW / PACKS * k), precision, &at);
    memcpy(state, x, sizeof x);
    return at;
}

/* Finds the symbols at `place`, the low bits of the states. The new state is share * (state >> precision) + offset. */
typedef struct {
    Lanes byte, share, offset;
} Found;

INLINE Found find(bool fine, const RansRun *run, Lanes place)
{
    if (!fine) {
        const Lanes e = look(run->slot, place);
        return (Found){e >> 24, e >> 12 & 0xfff, e & 0xfff};
    }
    const Lanes b = look_bytes(run->slot, place), s = look(run->slice, b);
    return (Found){b, s >> 16, place - (s & 0xffff)};
}

/* Reads rows of each of `runs` runs in turn, since the steps of one wait for each other. */
INLINE size_t get(bool fine, int runs, RansRun *run, size_t rows)
{
    Lanes x[RANS_RUNS][PACKS];
    RansRun r[RANS_RUNS];
    const int precision = run->precision;
    size_t row = 0;
    bool more = true;
    for (int j = 0; j < runs; j++) {
        r[j] = run[j];
        memcpy(x[j], r[j].state, sizeof x[j]);
        more &= r[j].end - r[j].at >= ROW_WORDS;
    }
    for (; row < rows && more; row++) {
        for (int k = 0; k < PACKS; k++)
            for (int j = 0; j < runs; j++) {
                const Lanes state = x[j][k];
                const Found f = find(fine, &r[j], state & ((1u << precision) - 1));
                store_symbols(r[j].byte + ROW * row + ROW / PACKS * k, f.byte);
                x[j][k] = f.share * (state >> precision) + f.offset;
                r[j].at = refill(&x[j][k], r[j].at);
            }
        for (int j = 0; j < runs; j++)
            more &= r[j].end - r[j].at >= ROW_WORDS;
    }
    for (int j = 0; j < runs; j++) {
        memcpy(run[j].state, x[j], sizeof x[j]);
        run[j].at = r[j].at;
    }
    return row;
}

size_t ISA_NAME(rans_get)(RansRun *run, int runs, size_t rows)
{
    return runs == 1 ? get(false, 1, run, rows) : get(false, RANS_RUNS, run, rows);
}

size_t ISA_NAME(rans_get_fine)(RansRun *run, int runs, size_t rows)
{
    return runs == 1 ? get(true, 1, run, rows) : get(true, RANS_RUNS, run, rows);
}
