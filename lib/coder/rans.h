/* rans.h -- rANS (range asymmetric numeral systems, Duda 2013) with a table of frequencies: codes symbols to
 * within about a thousandth of their entropy. The least frequency of a symbol is 1 / 2^12, or 1 / 2^15 if the
 * result is then shorter.
 *
 * Direction: the writer takes the symbols from last to first and fills its buffer from the end, so that the reader
 * reads forwards. There are 1, 4 or 16 coder states (lanes), and symbol i belongs to lane i mod lanes. Each lane
 * has a 32-bit state in [2^16, 2^32); all lanes share one sequence of 16-bit words. When the state of a reader's
 * lane falls below 2^16, the lane takes the next word. Every lane of a writer starts at state 2^16, so every lane
 * of a reader must end at state 2^16; readers check this.
 *
 *     table  = precision:4 detail:4 gamma(1 + runs)  { gamma(left out) gamma(listed) } x runs  { weight } x symbols
 *     stream = { state:32 } x lanes  { word:16 } x ...
 *
 * `precision` is the number of bits of the frequencies: they add up to 2^precision. The table lists the symbols
 * that occur as runs of consecutive symbols: each run says how many symbols of the alphabet are left out (in the
 * first run: this number plus one) and how many symbols are listed after the left-out symbols. Then each listed
 * symbol has a weight w, and `detail` says how many bits below the highest bit of a weight are sent at most: b =
 * floor(log2 w) is sent as a step (code_table.h) from the previous weight's b (from 6 for the first weight), then
 * the min(b, detail) bits below the highest bit; the remaining bits of w are 0. The frequency of a symbol is its
 * weight's share of 2^precision (rans_share). A table of one symbol or none has no weights, detail 0 and precision
 * 12; its stream is empty.
 *
 * Streams carry bytes: the symbols themselves if the alphabet has at most RANS_BYTES symbols, else the symbols'
 * ranks in the table, which lists at most RANS_BYTES symbols. */
#ifndef ATOMO_RANS_H
#define ATOMO_RANS_H

#include "base/bits.h"

enum {
    RANS_ALPHABET = 1 << 16,
    RANS_BYTES = 256,
    RANS_LANES = 16, /* at most */
    RANS_PRECISION_LEAST = 4,
    /* the usual precision (bits of a frequency); for a higher precision the reader needs two table look-ups for
     * each symbol */
    RANS_PRECISION = 12,
    RANS_PRECISION_MOST = 15,
    RANS_SLOTS = 1 << RANS_PRECISION,
    RANS_FINE_SLOTS = 1 << RANS_PRECISION_MOST,
    RANS_DETAIL = 3, /* rounded weights are sent with at most 3 bits below their highest bit */
    /* weights that equal the frequencies are sent with all of their bits, at most 15 below the highest bit */
    RANS_EXACT = 15,
};

typedef struct {
    uint32_t alphabet; /* 1 .. RANS_ALPHABET */
    uint32_t present;  /* number of symbols in the table, which lists the symbols that occur */
    int precision;
    unsigned detail;
    uint16_t symbol[RANS_BYTES];    /* (present) rising */
    uint16_t weight[RANS_BYTES];    /* (present) */
    uint16_t frequency[RANS_BYTES]; /* (present) frequencies, which add up to 2^precision */
} Rans;

static inline bool rans_ranks(const Rans *r)
{
    return r->alphabet > RANS_BYTES;
}
static inline uint32_t rans_byte(const Rans *r, uint32_t rank)
{
    return rans_ranks(r) ? rank : r->symbol[rank];
}

/* ---- tables ---- */

/* Sets each symbol's frequency to its weight's share of 2^precision, rounded, and at least 1; then changes
 * frequencies by one, where the change costs the fewest bits, until their sum is 2^precision. There are r->present
 * weights, each at least 1, with a sum below 2^47. */
void rans_share(Rans *r, const uint64_t *weight);

/* Chooses the table's precision (bits of a frequency) and detail (bits of a weight below its highest bit), and the
 * symbols' weights, so that table and stream together are short. Symbol s < alphabet occurs count[s] < 2^47 times.
 * False when more than RANS_BYTES symbols occur. */
bool rans_build(Rans *r, uint32_t alphabet, const uint64_t *count);

/* Returns the exact bits of the table. */
uint64_t rans_table_bits(const Rans *r);
/* Estimates the bits of a stream in which symbol s occurs count[s] times, to within 9 bits for each lane (coder
 * state) plus a thousandth; the exact number depends on the final states. The estimate is the same on every
 * machine. */
uint64_t rans_bits(const Rans *r, const uint64_t *count, unsigned lanes);

void rans_table_put(const Rans *r, BitWriter *w);
/* Reads a table; false for tables that rans_table_put does not write, such as one with symbols beyond the alphabet or
 * more than 2^precision symbols. */
bool rans_table_get(Rans *r, uint32_t alphabet, BitReader *in);

/* ---- streams ---- */

/* Returns an upper bound on the bytes of a stream of n symbols: a word for each symbol and a state for each lane. */
static inline size_t rans_most(size_t n, unsigned lanes)
{
    return 2 * n + 4 * (size_t)lanes;
}

/* Look-up tables of writers and readers; the fields of an entry are listed from the high end. A symbol with
 * frequency f owns f of the 2^precision slots, the first of which is `start`: slice[byte] = frequency:16 |
 * start:16, and slot[low bits of a state] = byte:8 | frequency:12 | slot - start:12. If the precision is above
 * RANS_PRECISION, fine[low bits of a state] holds the byte alone, and frequency and start come from slice[byte]. */
typedef struct {
    const Rans *rans;
    uint32_t slice[RANS_BYTES];
} RansWriter;
typedef struct {
    const Rans *rans;
    uint32_t slice[RANS_BYTES];
    union {
        uint32_t slot[RANS_SLOTS];
        /* 3 more bytes, since the vector kernels load four bytes at once */
        uint8_t fine[RANS_FINE_SLOTS + 3];
    };
} RansReader;
void rans_writer(RansWriter *w, const Rans *r);
void rans_reader(RansReader *reader, const Rans *r);
/* Returns the number of bytes of a RansReader that a table of this precision uses. */
size_t rans_reader_size(const Rans *r);

/* Writes the stream of n bytes so that it ends at `end`, and returns its length in bytes. lanes (coder states): 1,
 * 4 or RANS_LANES. */
size_t rans_put(const RansWriter *w, unsigned lanes, const uint8_t *byte, size_t n, uint8_t *end);

/* The coder states of a stream that is read in pieces; the length of every piece but the last is a multiple of the
 * number of lanes (states). */
typedef struct {
    unsigned lanes;
    uint32_t state[RANS_LANES];
} RansLanes;
bool rans_open(const RansReader *r, RansLanes *l, unsigned lanes, Reader *in);
bool rans_pull(const RansReader *r, RansLanes *l, Reader *in, size_t n, uint8_t *byte);
/* True when all words have been read and every lane's state is 2^16, the state from which writers start. */
bool rans_ended(const RansReader *r, const RansLanes *l, const Reader *in);

#endif
