/* indices.c -- writes and reads an index set as Golomb gaps or as a bitmap, whichever is shorter.
 *
 * Most gaps are written by twos with one bits_put and read with one table look-up. The loop that reads a unary quotient is bounded: it
 * stops at the end of the payload. */
#include "coder/indices.h"
#include "coder/elias.h"

#include <math.h>

/* The code number of a Golomb code in payloads. The numbers 0, 1, 2, ... mean m = 1, 2, 3, 4, 5, 6, 7, 8, 10,
 * 12, 14, 16, 20, ... */
typedef uint8_t GolombCode;
enum { GOLOMB_CODES = 160 };

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

static uint64_t golomb_m(GolombCode code)
{
    return code < 3 ? code + 1u : (4 + (code - UINT64_C(3)) % 4) << (code - 3) / 4;
}

/* Splits gap >> shift into quotient * ratio + *top, and returns the quotient. */
static inline uint64_t split(const Golomb *g, uint64_t gap, unsigned *top)
{
    const uint64_t v = gap >> g->shift;
    const uint64_t q = g->ratio == 1 ? v : (uint64_t)((unsigned __int128)v * g->inverse >> 64);
    *top = (unsigned)(v - q * g->ratio);
    return q;
}

/* ---- sets of indices ---- */

static const size_t *list_run(const Indices *set, size_t run, size_t room[INDEX_RUN], size_t *count)
{
    (void)run, (void)room;
    *count = set->count;
    return set->data;
}

Indices indices_list(const size_t *index, size_t count)
{
    return (Indices){.count = count, .runs = 1, .data = index, .run = list_run};
}

static const size_t *bits_run(const Indices *set, size_t run, size_t room[INDEX_RUN], size_t *count)
{
    const uint64_t *bits = set->data;
    size_t k = 0;
    for (size_t w = run * (INDEX_RUN / 64); w < (run + 1) * (INDEX_RUN / 64); w++)
        for (uint64_t left = bits[w]; left; left &= left - 1)
            room[k++] = 64 * w + (size_t)__builtin_ctzll(left);
    *count = k;
    return room;
}

Indices indices_bits(const uint64_t *bits, size_t n, size_t count)
{
    return (Indices){.count = count, .runs = (n + INDEX_RUN - 1) / INDEX_RUN, .data = bits, .run = bits_run};
}

/* ---- total code length of a set's gaps in Golomb codes ---- */

/* NEAR: codes tried at once. Gaps below SHORT are first counted, in TURNS counters in turn, since increments of one
 * counter wait for each other. */
enum { NEAR = 3, SHORT = 1024, TURNS = 4 };

/* Returns the bits of a gap's code. */
static uint64_t gap_bits(const Golomb *g, uint64_t gap)
{
    unsigned top;
    const uint64_t q = split(g, gap, &top);
    return q + 1 + g->binary.bits[top] + g->shift;
}

/* Counts the bits that gaps take in each of the Golomb codes `first` .. `first` + `codes` - 1. */
typedef struct {
    Golomb g[NEAR];
    size_t codes;
    uint64_t times[TURNS][SHORT]; /* how often each short gap occurs */
    uint64_t bits[NEAR];          /* the bits of all long gaps in each code */
} Count;

/* `next` is the index after the previous one. */
static void count_gaps(Count *c, const size_t *index, size_t count, size_t next)
{
    for (size_t i = 0; i < count; i++) {
        const size_t gap = index[i] - next;
        next = index[i] + 1;
        if (__builtin_expect(gap < SHORT, 1))
            c->times[i % TURNS][gap]++;
        else
            for (size_t k = 0; k < c->codes; k++)
                c->bits[k] += gap_bits(&c->g[k], gap);
    }
}

static void count_close(const Count *c, uint64_t bits[NEAR])
{
    memcpy(bits, c->bits, sizeof c->bits);
    for (size_t gap = 0; gap < SHORT; gap++) {
        const uint64_t all = c->times[0][gap] + c->times[1][gap] + c->times[2][gap] + c->times[3][gap];
        for (size_t k = 0; k < c->codes && all; k++)
            bits[k] += all * gap_bits(&c->g[k], gap);
    }
}

/* Sets bits[k] to the bits of the set's gaps in code `first` + k. */
static void count_bits(const Indices *set, GolombCode first, size_t codes, uint64_t bits[NEAR])
{
    Count c = {.codes = codes};
    for (size_t k = 0; k < codes; k++)
        c.g[k] = open_code((GolombCode)(first + k));
    for (size_t r = 0, next = 0; r < set->runs; r++) {
        size_t room[INDEX_RUN], count;
        const size_t *index = set->run(set, r, room, &count);
        count_gaps(&c, index, count, next);
        next = count ? index[count - 1] + 1 : next;
    }
    count_close(&c, bits);
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
    size_t r = set->runs, count, room[INDEX_RUN];
    const size_t *index;
    do
        index = set->run(set, --r, room, &count);
    while (count == 0);
    return index[count - 1];
}

/* Returns a code in which the gaps of `set` take few bits, and sets *bits to their number. The search starts
 * at a good code for geometrically distributed gaps with the same mean. It goes to smaller and to larger m
 * until the bits stop falling, so gaps of another distribution may have a better code. `set` must not be
 * empty. */
static GolombCode golomb_best(const Indices *set, uint64_t *bits)
{
    GolombCode best = code_for((double)set->count / ((double)last_index(set) + 1));
    const int first = best < 1 ? 0 : best > GOLOMB_CODES - NEAR ? GOLOMB_CODES - NEAR : best - 1;
    uint64_t near[NEAR];
    count_bits(set, (GolombCode)first, NEAR, near);
    *bits = near[best - first];
    for (int step = -1; step <= 1; step += 2)
        for (int code = best + step; code >= 0 && code < GOLOMB_CODES; code += step) {
            const bool known = code >= first && code < first + NEAR;
            uint64_t b[NEAR] = {known ? near[code - first] : 0};
            if (!known)
                count_bits(set, (GolombCode)code, 1, b);
            if (b[0] >= *bits)
                break;
            *bits = b[0];
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

/* Suppose that each index is in the set with probability `density` (0 < density <= 1), independently. Returns
 * the expected number of bits per gap in the best code. */
static double golomb_mean_bits(double density)
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

static uint64_t low_bits(const Golomb *g, uint64_t gap)
{
    return gap & ((UINT64_C(1) << g->shift) - 1);
}

static void put_gap(BitWriter *w, const Golomb *g, uint64_t gap)
{
    unsigned top;
    uint64_t q = split(g, gap, &top);
    const unsigned bits = g->binary.bits[top];
    for (; q > 16; q -= 16)
        bits_put(w, 0, 16);
    bits_put(w, UINT64_C(1) << bits | g->binary.code[top], (unsigned)q + 1 + bits);
    bits_put(w, low_bits(g, gap), g->shift);
}

/* The code words of short gaps; 0: it has more than WORD_BITS bits. */
enum { WORD_BITS = BITS_MAX / 2, WORDS_FROM = 4096 };

static void fill_words(const Golomb *g, uint64_t word[SHORT])
{
    for (uint64_t gap = 0; gap < SHORT; gap++) {
        unsigned top;
        split(g, gap, &top);
        const uint64_t length = gap_bits(g, gap), high = UINT64_C(1) << g->binary.bits[top] | g->binary.code[top];
        word[gap] = length <= WORD_BITS ? word_make(high << g->shift | low_bits(g, gap), (unsigned)length) : 0;
    }
}

static inline uint64_t word_of(const uint64_t *word, uint64_t gap)
{
    return gap < SHORT ? word[gap] : 0;
}

/* Writes the gaps of a run, two short ones at once. `next` is the index after the previous one. */
static void put_run(BitWriter *writer, const Golomb *g, const uint64_t *word, const size_t *index,
                    size_t count, size_t next)
{
    BitWriter w = *writer;
    size_t i = 0;
    for (; word && i + 2 <= count; i += 2) {
        const uint64_t gap[2] = {index[i] - next, index[i + 1] - index[i] - 1}, a = word_of(word, gap[0]),
                       b = word_of(word, gap[1]);
        next = index[i + 1] + 1;
        if (__builtin_expect(a && b, 1)) {
            word_put(&w, words_join(a, b));
        } else {
            BitWriter long_ones = w; /* a copy, so that the compiler keeps w in registers */
            put_gap(&long_ones, g, gap[0]);
            put_gap(&long_ones, g, gap[1]);
            w = long_ones;
        }
    }
    *writer = w;
    for (; i < count; i++) {
        put_gap(writer, g, index[i] - next);
        next = index[i] + 1;
    }
}

/* Writes the gaps of `set`, which take `bits` bits. */
static void golomb_put(GolombCode code, const Indices *set, uint64_t bits, Buf *out)
{
    const Golomb g = open_code(code);
    const size_t bytes = (size_t)((bits + 7) / 8);
    BitWriter w = bits_writer(buf_room(out, bytes), bytes);
    uint64_t word[SHORT];
    const bool many = set->count >= WORDS_FROM;
    if (many)
        fill_words(&g, word);
    for (size_t r = 0, next = 0; r < set->runs; r++) {
        size_t room[INDEX_RUN], count;
        const size_t *index = set->run(set, r, room, &count);
        put_run(&w, &g, many ? word : NULL, index, count, next);
        next = count ? index[count - 1] + 1 : next;
    }
    bits_close(&w);
    assert(!w.full && w.at == w.end);
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

/* The gaps in the next LOOK_BITS bits of a stream, at most LOOK_GAPS: lane k of `places` is the index of gap k, counted
 * from the index after the previous one. span: indices from there to behind the last one. */
enum { LOOK_BITS = 11, LOOK_GAPS = 4, LOOK_FROM = 1 << 14 };

typedef struct {
    uint64_t places[1 << LOOK_BITS];
    struct {
        uint16_t span;
        uint8_t gaps, bits;
    } part[1 << LOOK_BITS];
} Look;

static void look_fill(Look *look, const Golomb *g)
{
    const uint64_t m = (uint64_t)g->ratio << g->shift;
    for (unsigned k = 0; k < 1u << LOOK_BITS; k++) {
        uint8_t bytes[8] = {(uint8_t)(k << 5 >> 8), (uint8_t)(k << 5)};
        BitReader r = bits_reader((Bytes){bytes, sizeof bytes});
        uint64_t q, rest;
        look->places[k] = 0;
        look->part[k].span = look->part[k].gaps = look->part[k].bits = 0;
        for (unsigned gap = 0; gap < LOOK_GAPS && take_short(&r, g, &q, &rest) && r.at <= LOOK_BITS; gap++) {
            const uint64_t place = look->part[k].span + q * m + rest;
            look->places[k] |= place << 16 * gap;
            look->part[k].span = (uint16_t)(place + 1);
            look->part[k].gaps = (uint8_t)(gap + 1);
            look->part[k].bits = (uint8_t)r.at;
        }
    }
}

/* Reads indices below `end`, from `next` on, while at least eight bytes of the stream and LOOK_GAPS places of `to` are
 * left. Returns the number of indices. */
static size_t look_some(const Look *look, BitReader *r, size_t *next, size_t end, uint16_t *to, size_t most)
{
    const uint64_t last = r->size < 8 ? 0 : 8 * (uint64_t)(r->size - 8);
    uint64_t at = r->at, from = *next % BLOCK;
    const uint64_t room = from + (end - *next);
    size_t count = 0;
    while (at < last && count + LOOK_GAPS <= most) {
        const uint64_t bits = __builtin_bswap64(load_u64(r->data + (at >> 3))) << (at & 7);
        const size_t k = bits >> (64 - LOOK_BITS);
        if (look->part[k].gaps == 0 || from + look->part[k].span > room)
            break;
        const uint64_t places = look->places[k] + from * UINT64_C(0x0001000100010001);
        for (int gap = 0; gap < LOOK_GAPS; gap++)
            to[count + (size_t)gap] = (uint16_t)(places >> 16 * gap);
        count += look->part[k].gaps;
        from += look->part[k].span;
        at += look->part[k].bits;
    }
    *next += from - *next % BLOCK;
    r->at = at;
    return count;
}

/* Reads set->count indices, each below n, into `set`. Returns false if the bytes end too soon, if an index is
 * not below n, or if a padding bit is not zero. */
static bool golomb_get(Reader *in, GolombCode code, size_t n, Places *set)
{
    const Golomb g = open_code(code);
    const uint64_t m = (uint64_t)g.ratio << g.shift, most = n / m;
    BitReader r = bits_reader((Bytes){in->at, reader_left(in)});
    size_t next = 0, block = 0, end = BLOCK;
    Look look;
    const bool many = set->count >= LOOK_FROM;
    if (many)
        look_fill(&look, &g);
    set->before[0] = 0;
    for (size_t i = 0; i < set->count; i++) {
        uint64_t q, rest;
        if (many && next < end)
            i += look_some(&look, &r, &next, end < n ? end : n, set->at + i, set->count - 1 - i);
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

/* ---- the set: gaps or a bitmap ---- */

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

void indices_put(const Indices *set, size_t n, Buf *out)
{
    buf_varint(out, set->count);
    if (set->count == 0 || set->count == n)
        return;
    uint64_t bits;
    const GolombCode code = golomb_best(set, &bits);
    const bool gaps = bits <= n;
    buf_u8(out, gaps ? code : BITMAP);
    if (gaps)
        golomb_put(code, set, bits, out);
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
