/* golomb.c -- see golomb.h. A code is put with one or two shifts and taken with one table look-up; the
 * quotient's loop reads on only while there are bytes, so it is bounded by the payload's length. */
#include "golomb.h"

#include <math.h>

enum { RATIOS = 8, PEEK = 57 /* bits that an unaligned load of 64 always has */ };

/* Truncated binary for each ratio: the code of top t, and by the next three bits what t was. */
typedef struct {
    uint8_t code[RATIOS], bits[RATIOS];
    uint8_t top[8], taken[8];
} Binary;

typedef struct {
    unsigned ratio, shift;
    uint64_t inverse; /* ceil(2^64 / ratio): quotients by one multiplication, exact under 2^60 */
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
    const unsigned shorter = (2u << low) - g.ratio; /* tops that take `low` bits */
    for (unsigned t = 0; t < g.ratio; t++) {
        const unsigned v = t < shorter ? t : t + shorter;
        g.binary.bits[t] = (uint8_t)(low + (t >= shorter));
        g.binary.code[t] = (uint8_t)(t < shorter ? v : v >> 1 | (v & 1) << low);
        for (unsigned rest = 0; rest < 8; rest += 1u << g.binary.bits[t]) {
            g.binary.top[g.binary.code[t] | rest] = (uint8_t)t;
            g.binary.taken[g.binary.code[t] | rest] = g.binary.bits[t];
        }
    }
    return g;
}

uint64_t golomb_m(GolombCode code)
{
    const Golomb g = open_code(code);
    return (uint64_t)g.ratio << g.shift;
}

/* gap >> shift = quotient * ratio + top */
static inline uint64_t split(const Golomb *g, uint64_t gap, unsigned *top)
{
    const uint64_t v = gap >> g->shift;
    const uint64_t q = g->ratio == 1 ? v : (uint64_t)((unsigned __int128)v * g->inverse >> 64);
    *top = (unsigned)(v - q * g->ratio);
    return q;
}

/* ---- costs ---- */

uint64_t golomb_bits(GolombCode code, const size_t *index, size_t count)
{
    const Golomb g = open_code(code);
    uint64_t bits = 0;
    size_t next = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned top;
        bits += split(&g, index[i] - next, &top) + g.binary.bits[top];
        next = index[i] + 1;
    }
    return bits + count * (1 + g.shift);
}

/* The code whose m is nearest above what a geometric gap wants: -1 / log2(1 - density). */
static GolombCode code_for(double density)
{
    const double m = density < 1 ? -M_LN2 / log1p(-density) : 1;
    GolombCode code = 0;
    while (code < GOLOMB_CODES - 1 && (double)golomb_m(code) < m)
        code++;
    return code;
}

GolombCode golomb_best(const size_t *index, size_t count, uint64_t *bits)
{
    GolombCode best = code_for((double)count / ((double)index[count - 1] + 1));
    *bits = golomb_bits(best, index, count);
    for (int step = -1; step <= 1; step += 2)
        for (int code = best + step; code >= 0 && code < GOLOMB_CODES; code += step) {
            const uint64_t b = golomb_bits((GolombCode)code, index, count);
            if (b >= *bits)
                break;
            *bits = b;
            best = (GolombCode)code;
        }
    return best;
}

/* Sum over gap of density (1 - density)^gap times its length; Q = (1 - density)^m is the chance of one more
 * zero. */
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

typedef struct {
    uint8_t *at;
    uint64_t held; /* bits not yet stored: under 32 between puts */
    unsigned count;
} Put;

/* v < 2^bits, bits <= 32. Stores four whole bytes at a time, so never behind the stream's end. */
static inline void put(Put *w, uint64_t v, unsigned bits)
{
    w->held |= v << w->count;
    w->count += bits;
    if (w->count >= 32) {
        store_u32(w->at, (uint32_t)w->held);
        w->at += 4;
        w->held >>= 32;
        w->count -= 32;
    }
}

static inline void put_gap(Put *w, const Golomb *g, uint64_t gap)
{
    unsigned top;
    uint64_t q = split(g, gap, &top);
    const unsigned bits = g->binary.bits[top];
    for (; q > 24; q -= 24)
        put(w, 0, 24);
    put(w, (1 | (uint64_t)g->binary.code[top] << 1) << q, (unsigned)q + 1 + bits);
    unsigned shift = g->shift;
    uint64_t low = gap & ((UINT64_C(1) << shift) - 1);
    for (; shift > 32; shift -= 32, low >>= 32)
        put(w, (uint32_t)low, 32);
    put(w, low, shift);
}

void golomb_put(GolombCode code, const size_t *index, size_t count, uint64_t bits, Buf *out)
{
    const Golomb g = open_code(code);
    uint8_t *const start = buf_room(out, (size_t)((bits + 7) / 8));
    Put w = {.at = start};
    size_t next = 0;
    for (size_t i = 0; i < count; i++) {
        put_gap(&w, &g, index[i] - next);
        next = index[i] + 1;
    }
    assert((uint64_t)(w.at - start) * 8 + w.count == bits);
    for (unsigned done = 0; done < w.count; done += 8)
        *w.at++ = (uint8_t)(w.held >> done);
}

/* ---- reading ---- */

typedef struct {
    const uint8_t *data;
    uint64_t size, at; /* at, end: in bits */
    uint64_t end;
} Take;

/* At least PEEK bits from here on; zeros behind the end. */
static inline uint64_t peek(const Take *r)
{
    const uint64_t byte = r->at >> 3;
    if (byte + 8 <= r->size)
        return load_u64(r->data + byte) >> (r->at & 7);
    uint64_t v = 0;
    for (uint64_t i = byte; i < r->size; i++)
        v |= (uint64_t)r->data[i] << 8 * (i - byte);
    return v >> (r->at & 7);
}

/* The zeros before the next one; SIZE_MAX when no one comes. */
static inline uint64_t take_unary(Take *r)
{
    uint64_t q = 0;
    while (r->at < r->end) {
        const uint64_t v = peek(r) & ((UINT64_C(1) << PEEK) - 1);
        if (v) {
            const unsigned zeros = (unsigned)__builtin_ctzll(v);
            r->at += zeros + 1;
            return q + zeros;
        }
        r->at += PEEK;
        q += PEEK;
    }
    return SIZE_MAX;
}

static inline uint64_t take_low(Take *r, unsigned bits)
{
    uint64_t v = 0;
    for (unsigned done = 0; done < bits;) {
        const unsigned some = bits - done < 32 ? bits - done : 32;
        v |= (peek(r) & ((UINT64_C(1) << some) - 1)) << done;
        r->at += some;
        done += some;
    }
    return v;
}

bool golomb_get(Reader *in, GolombCode code, size_t n, size_t *index, size_t count)
{
    const Golomb g = open_code(code);
    const uint64_t m = (uint64_t)g.ratio << g.shift, most = n / m;
    Take r = {in->at, reader_left(in), 0, 8 * (uint64_t)reader_left(in)};
    size_t next = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t q = take_unary(&r);
        if (q > most)
            return false;
        const unsigned three = (unsigned)peek(&r) & 7;
        r.at += g.binary.taken[three];
        const uint64_t gap = q * m + ((uint64_t)g.binary.top[three] << g.shift) + take_low(&r, g.shift);
        if (gap >= n - next || r.at > r.end)
            return false;
        index[i] = next + gap;
        next = index[i] + 1;
    }
    const unsigned padding = (unsigned)(-r.at & 7);
    if (padding && peek(&r) & ((1u << padding) - 1))
        return false;
    take_bytes(in, (size_t)((r.at + 7) / 8));
    return true;
}
