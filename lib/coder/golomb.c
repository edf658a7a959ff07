/* golomb.c -- writes and reads Golomb codes (golomb.h). Most gaps are written with one bits_put and read with
 * one table look-up. The loop that reads a unary quotient is bounded: it stops at the end of the payload. */
#include "coder/golomb.h"

#include "base/bits.h"

#include <math.h>

enum { RATIOS = 8, PEEK = 57 /* bits_peek returns at least this many valid bits */ };

/* Truncated binary codes of the numbers 0 .. ratio - 1. With the Golomb parameter m = ratio 2^shift, the coded
 * number is top = floor((gap mod m) / 2^shift). The encoder looks up `code` and its length `bits` by top. The
 * decoder looks up `top` and the code's length `taken` by the next three bits of the stream. */
typedef struct {
    uint8_t code[RATIOS], bits[RATIOS];
    uint8_t top[8], taken[8];
} Binary;

typedef struct {
    unsigned ratio, shift;
    /* ceil(2^64 / ratio): v / ratio is the high word of v * inverse, exact for v < 2^60. Not used for ratio
     * 1. */
    uint64_t inverse;
    Binary binary;
} Golomb;

static Golomb open_code(GolombCode code)
{
    Golomb g = {.ratio = code + 1u};
    if (code >= 3) {
        g.ratio = 4 + (code - 3u) % 4;
        g.shift = (code - 3u) / 4;
    }
    g.inverse = UINT64_MAX / g.ratio + 1;
    unsigned low = 0; /* floor(log2 ratio) */
    while (2u << low <= g.ratio)
        low++;
    /* truncated binary: a number t < shorter takes `low` bits, any other t takes low + 1 bits */
    const unsigned shorter = (2u << low) - g.ratio;
    for (unsigned t = 0; t < g.ratio; t++) {
        const unsigned bits = low + (t >= shorter), code_of_t = t < shorter ? t : t + shorter;
        g.binary.bits[t] = (uint8_t)bits;
        g.binary.code[t] = (uint8_t)code_of_t;
        for (unsigned rest = 0; rest < 8u >> bits; rest++) {
            g.binary.top[code_of_t << (3 - bits) | rest] = (uint8_t)t;
            g.binary.taken[code_of_t << (3 - bits) | rest] = (uint8_t)bits;
        }
    }
    return g;
}

uint64_t golomb_m(GolombCode code)
{
    const Golomb g = open_code(code);
    return (uint64_t)g.ratio << g.shift;
}

/* Splits gap >> shift into quotient * ratio + *top, and returns the quotient. */
static inline uint64_t split(const Golomb *g, uint64_t gap, unsigned *top)
{
    const uint64_t v = gap >> g->shift;
    const uint64_t q = g->ratio == 1 ? v : (uint64_t)((unsigned __int128)v * g->inverse >> 64);
    *top = (unsigned)(v - q * g->ratio);
    return q;
}

/* ---- total code length of a set's gaps in Golomb codes ---- */

static const size_t *whole_list(const Indices *set, size_t run, size_t *count)
{
    (void)run;
    *count = set->count;
    return set->data;
}

Indices indices_list(const size_t *index, size_t count)
{
    return (Indices){.count = count, .runs = 1, .data = index, .run = whole_list};
}

enum { NEAR = 3 };

/* Counts the bits that the gaps take in each of the Golomb codes `first` .. `first` + `codes` - 1. Reads the
 * set once only, because calls of `set->run` may be slow. */
static void count_bits(const Indices *set, GolombCode first, size_t codes, uint64_t bits[NEAR])
{
    Golomb g[NEAR];
    size_t start = 0;
    for (size_t k = 0; k < codes; k++) {
        g[k] = open_code((GolombCode)(first + k));
        bits[k] = set->count * (1 + g[k].shift);
    }
    for (size_t r = 0; r < set->runs; r++) {
        size_t count;
        const size_t *index = set->run(set, r, &count);
        for (size_t k = 0; k < codes; k++) {
            uint64_t sum = 0;
            size_t next = start;
            for (size_t i = 0; i < count; i++) {
                unsigned top;
                sum += split(&g[k], index[i] - next, &top) + g[k].binary.bits[top];
                next = index[i] + 1;
            }
            bits[k] += sum;
        }
        start = count ? index[count - 1] + 1 : start;
    }
}

uint64_t golomb_bits(GolombCode code, const Indices *set)
{
    uint64_t bits[NEAR];
    count_bits(set, code, 1, bits);
    return bits[0];
}

/* Returns the code with the least m >= -1 / log2(1 - density). If gaps are geometrically distributed, this
 * code or the code with the next smaller m is the best. */
static GolombCode code_for(double density)
{
    const double m = density < 1 ? -M_LN2 / log1p(-density) : 1;
    GolombCode code = 0;
    while (code < GOLOMB_CODES - 1 && (double)golomb_m(code) < m)
        code++;
    return code;
}

static size_t last_index(const Indices *set)
{
    size_t r = set->runs, count;
    const size_t *index;
    do
        index = set->run(set, --r, &count);
    while (count == 0);
    return index[count - 1];
}

GolombCode golomb_best(const Indices *set, uint64_t *bits)
{
    GolombCode best = code_for((double)set->count / ((double)last_index(set) + 1));
    const int first = best < 1 ? 0 : best > GOLOMB_CODES - NEAR ? GOLOMB_CODES - NEAR : best - 1;
    uint64_t near[NEAR];
    count_bits(set, (GolombCode)first, NEAR, near);
    *bits = near[best - first];
    for (int step = -1; step <= 1; step += 2)
        for (int code = best + step; code >= 0 && code < GOLOMB_CODES; code += step) {
            const bool known = code >= first && code < first + NEAR;
            const uint64_t b = known ? near[code - first] : golomb_bits((GolombCode)code, set);
            if (b >= *bits)
                break;
            *bits = b;
            best = (GolombCode)code;
        }
    return best;
}

/* Returns the mean code length when gaps are geometrically distributed: the sum over gaps of density (1 -
 * density)^gap times the gap's code length. Q = (1 - density)^m is the probability that the unary quotient has
 * one more zero. */
static double mean_bits(GolombCode code, double density)
{
    const Golomb g = open_code(code);
    const double step = log1p(-density) * ldexp(1, (int)g.shift), Q = exp(step * g.ratio);
    double bits = 1 + Q / -expm1(step * g.ratio) + g.shift;
    for (unsigned t = 0; t < g.ratio; t++)
        bits += g.binary.bits[t] * exp(step * t) * expm1(step) / expm1(step * g.ratio);
    return bits;
}

double golomb_mean_bits(double density)
{
    if (density >= 1)
        return 1;
    const GolombCode near = code_for(density);
    double best = mean_bits(near, density);
    if (near > 0)
        best = fmin(best, mean_bits((GolombCode)(near - 1), density));
    return best;
}

/* ---- writing ---- */

static inline void put_gap(BitWriter *w, const Golomb *g, uint64_t gap)
{
    /* apart: the number of low bits that a second bits_put writes; 0 if the code fits in one bits_put */
    unsigned top, apart = 0;
    uint64_t q = split(g, gap, &top);
    const uint64_t low = gap & ((UINT64_C(1) << g->shift) - 1);
    uint64_t code = UINT64_C(1) << g->binary.bits[top] | g->binary.code[top];
    unsigned bits = 1u + g->binary.bits[top];
    if (g->shift <= 32) {
        code = code << g->shift | low;
        bits += g->shift;
    } else {
        apart = g->shift;
    }
    for (; q > 16; q -= 16)
        bits_put(w, 0, 16);
    bits_put(w, code, (unsigned)q + bits);
    if (apart)
        bits_put(w, low, apart);
}

void golomb_put(GolombCode code, const Indices *set, uint64_t bits, Buf *out)
{
    const Golomb g = open_code(code);
    const size_t bytes = (size_t)((bits + 7) / 8);
    uint8_t *const start = buf_room(out, bytes);
    BitWriter w = bits_writer(start, bytes);
    size_t next = 0;
    for (size_t r = 0; r < set->runs; r++) {
        size_t count;
        const size_t *index = set->run(set, r, &count);
        for (size_t i = 0; i < count; i++) {
            put_gap(&w, &g, index[i] - next);
            next = index[i] + 1;
        }
    }
    bits_close(&w);
    assert(!w.full && w.at == start + bytes);
}

/* ---- reading ---- */

/* Reads a unary number: returns the number of zero bits before the next 1 bit, and skips that 1 bit too. Sets
 * r->bad when no 1 bit follows. */
static inline uint64_t take_unary(BitReader *r)
{
    uint64_t q = 0;
    for (; !r->bad; q += PEEK) {
        const uint64_t v = bits_peek(r) >> (64 - PEEK);
        if (v) {
            const unsigned zeros = (unsigned)__builtin_clzll(v) - (64 - PEEK);
            bits_skip(r, zeros + 1);
            return q + zeros;
        }
        bits_skip(r, PEEK);
    }
    return q;
}

static inline uint64_t take_remainder(BitReader *r, const Golomb *g)
{
    const unsigned three = (unsigned)(bits_peek(r) >> 61);
    bits_skip(r, g->binary.taken[three]);
    return (uint64_t)g->binary.top[three] << g->shift | (g->shift ? bits_get(r, g->shift) : 0);
}

/* Reads a gap's quotient and rest with a single bits_peek. Returns false and reads nothing if the gap's code
 * may be longer than the bits that bits_peek returns; that is rare. */
static inline bool take_short(BitReader *r, const Golomb *g, uint64_t *q, uint64_t *rest)
{
    uint64_t v = bits_peek(r);
    const unsigned zeros = v ? (unsigned)__builtin_clzll(v) : 64;
    if (zeros + 4 + g->shift > PEEK)
        return false;
    v = v << zeros << 1;
    const unsigned three = (unsigned)(v >> 61), taken = g->binary.taken[three];
    *q = zeros;
    *rest = (uint64_t)g->binary.top[three] << g->shift | v << taken >> 1 >> (63 - g->shift);
    bits_skip(r, zeros + 1 + taken + g->shift);
    return true;
}

bool golomb_get(Reader *in, GolombCode code, size_t n, Places *set)
{
    const Golomb g = open_code(code);
    const uint64_t m = (uint64_t)g.ratio << g.shift, most = n / m;
    BitReader r = bits_reader((Bytes){in->at, reader_left(in)});
    size_t next = 0, block = 0, end = BLOCK;
    set->before[0] = 0;
    for (size_t i = 0; i < set->count; i++) {
        uint64_t q, rest;
        if (!take_short(&r, &g, &q, &rest)) {
            q = take_unary(&r);
            rest = take_remainder(&r, &g);
        }
        if (r.bad || q > most || q * m + rest >= n - next)
            return false;
        next += q * m + rest;
        for (; next >= end; end += BLOCK)
            set->before[++block] = i;
        set->at[i] = (uint16_t)(next % BLOCK);
        next++;
    }
    while (block < blocks_of(n))
        set->before[++block] = set->count;
    const unsigned padding = (unsigned)(-r.at & 7);
    if (padding && bits_get(&r, padding))
        return false;
    take_bytes(in, (size_t)(r.at / 8));
    return true;
}
