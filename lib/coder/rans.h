/* rans.h -- rANS (range asymmetric numeral systems, Duda 2013) with a table of frequencies: the code is on
 * average about a thousandth longer than the entropy, and up to 2 % longer below 1/2 bit per symbol.
 * Frequencies are multiples of 1 / 2^12, or of another power from 1 / 2^4 to 1 / 2^15 if this makes the code
 * shorter.
 *
 * Direction: the writer takes the symbols from last to first and fills its buffer from the end, so that the
 * reader reads forwards. There are 1, 4 or 16 coder states (lanes), and symbol i belongs to lane i mod lanes.
 * Each lane has a 32-bit state in [2^16, 2^32); all lanes share one sequence of 16-bit words. When the state of
 * a reader's lane falls below 2^16, the lane takes the next word. Every lane of a writer starts at state 2^16,
 * so every lane of a reader must end at state 2^16; readers check this.
 *
 *     table  = precision:4 detail:4 gamma(1 + runs)  { gamma(left out) gamma(listed) } x runs
 *              { weight } x symbols
 *     stream = { state:32 } x lanes  { word:16 } x ...
 *
 * `precision` is the number of bits of the frequencies: they add up to 2^precision. The table lists the symbols
 * that occur, as runs of consecutive symbols. A run gives the number of symbols of the alphabet that are left
 * out before it (in the first run: this number plus one), and its own length. Then follows a weight w for each
 * listed symbol. First comes b = floor(log2 w), as its difference from the b of the previous weight, in the
 * code of elias.h (the first weight's difference is from 6). Then come the min(b, detail) bits below the
 * highest bit of w. The remaining bits of w are 0. The frequency of a symbol is its weight's share of
 * 2^precision (rans_share). A table of at most one symbol has no weights, detail 0 and precision 12, and its
 * stream is empty.
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
    /* The usual precision (bits of a frequency). For a higher precision the reader looks into two tables per
     * symbol. */
    RANS_PRECISION = 12,
    RANS_PRECISION_MOST = 15,
    RANS_SLOTS = 1 << RANS_PRECISION,
    RANS_FINE_SLOTS = 1 << RANS_PRECISION_MOST,
    RANS_DETAIL = 3, /* rounded weights are sent with at most 3 bits below their highest bit */
    /* If the weights are the frequencies themselves, all bits of a weight are sent: at most 15 below the
     * highest bit. */
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

/* Computes frequencies from weights. A frequency is first the weight's share of 2^precision, rounded, at least
 * 1. Then frequencies are changed by one, where this costs the fewest bits, until their sum is 2^precision.
 * There are r->present weights, each at least 1, with a sum below 2^47. */
void rans_share(Rans *r, const uint64_t *weight);

/* Builds a table for symbols s < alphabet that occur count[s] < 2^47 times. Chooses precision (bits of a
 * frequency), detail (bits of a weight below its highest bit) and weights so that table and stream together are
 * short. Returns false if more than RANS_BYTES symbols occur. */
bool rans_build(Rans *r, uint32_t alphabet, const uint64_t *count);

/* Writes the table unless w is NULL, and returns its bits. */
uint64_t rans_table_put(const Rans *r, BitWriter *w);
/* Estimates the number of bits of a stream in which symbol s occurs count[s] times. The error is at most 9 bits
 * per lane plus a thousandth of the result; plus a fiftieth below 1/16 bit per symbol. The result is the same
 * on every machine. */
uint64_t rans_bits(const Rans *r, const uint64_t *count, unsigned lanes);

/* Reads a table. Returns false if the table is not valid, for example if it has symbols beyond the alphabet or
 * more than 2^precision symbols. */
bool rans_table_get(Rans *r, uint32_t alphabet, BitReader *in);

/* ---- streams ---- */

/* Returns an upper bound on the bytes of a stream of n symbols: 2 bytes for each symbol and 4 for each lane's
 * state. */
static inline size_t rans_most(size_t n, unsigned lanes)
{
    return 2 * n + 4 * (size_t)lanes;
}

/* How a symbol is encoded, except by the kernel for sixteen lanes. Not set if only one symbol is present. */
typedef struct {
    /* ceil(2^64 / frequency): the quotient of a 32-bit number by the frequency is the high word of its product with
     * `inverse`. With frequency 1 this would be 2^64; then `inverse` is 2^64 - 1, the quotient is 1 too low, and
     * `start` corrects the new state. */
    uint64_t inverse;
    uint32_t limit;             /* if a state is at least `limit`, its low 16 bits are written first */
    uint16_t start, complement; /* complement: 2^precision - frequency */
} RansStep;

/* Tables for writing and for reading. A symbol with frequency f owns f consecutive slots of the 2^precision
 * slots, and `start` is its first slot. An entry of `slice` is frequency:16 start:16, from high to low, for one
 * byte. The reader takes the number of a slot from the low bits of a state. An entry of `slot` is byte:8
 * frequency:12 offset:12 for one slot; the offset counts from `start`. If the precision is above
 * RANS_PRECISION, the reader uses `fine` instead of `slot`. `fine` has only each slot's byte; `slice` has the
 * frequency and the start. */
typedef struct {
    const Rans *rans;
    uint32_t slice[RANS_BYTES];
    RansStep step[RANS_BYTES];
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
/* Returns how many bytes of a RansReader are used with the precision of table `r`. */
size_t rans_reader_size(const Rans *r);

/* Writes the stream of n symbols into the bytes before `end`, and returns the stream's length in bytes. `lanes`
 * is 1, 4 or RANS_LANES. */
size_t rans_put(const RansWriter *w, unsigned lanes, const uint8_t *byte, size_t n, uint8_t *end);

/* Writes several streams with one lane each, as rans_put with `lanes` = 1 does, but faster, since their states do not
 * wait for each other. Stream k has the n symbols at byte[k]; its length in bytes is written to size[k]. */
enum { RANS_SEVERAL = 4 };
void rans_put_several(const RansWriter *const w[RANS_SEVERAL], const uint8_t *const byte[RANS_SEVERAL],
                      size_t n, uint8_t *const end[RANS_SEVERAL], size_t size[RANS_SEVERAL]);

/* The states of the lanes while a stream is read by several calls of rans_pull_several. In every call but the last, the
 * number of symbols must be a multiple of the number of lanes. */
typedef struct {
    unsigned lanes;
    uint32_t state[RANS_LANES];
} RansLanes;
bool rans_open(const RansReader *r, RansLanes *l, unsigned lanes, Reader *in);
/* Reads the next n symbols of each of `count` streams with the same number of lanes; good[k] is false if stream k is
 * damaged. RANS_SEVERAL streams with one lane, or RANS_RUNS (kernels.h) with sixteen, are read faster together. */
void rans_pull_several(const RansReader *const r[], RansLanes *const l[], Reader *const in[], size_t count, size_t n,
                       uint8_t *const byte[], bool good[]);
/* Returns whether all words have been read and every lane's state is 2^16, the state from which writers
 * start. */
bool rans_ended(const RansReader *r, const RansLanes *l, const Reader *in);

#endif
