/* rans.h -- asymmetric numeral systems over a table of frequencies (Duda 2013): symbols at their entropy, to
 * a thousandth or so. No symbol has a share below one in 2^12, or in 2^15 where that is shorter.
 *
 * READ ME FIRST, the direction surprises: the writer goes through the symbols backwards and fills its bytes
 * backwards, so that the reader goes forwards. Symbol i belongs to lane i mod lanes. Each lane has a 32-bit state
 * of its own in [2^16, 2^32); all lanes share one sequence of 16-bit words. A reader's lane whose state falls
 * under 2^16 takes the next word. Every writer starts at state 2^16, so every reader must end there: this is the
 * check of a stream.
 *
 *     table  = precision:4 detail:4 gamma(1 + runs)  { gamma(left out) gamma(listed) } x runs  { weight } x symbols
 *     stream = { state:32 } x lanes  { word:16 } x ...
 *
 * The table lists its symbols in runs: how many symbols of the alphabet a run leaves out (in the first run: one
 * more than that), and how many it lists behind them. A weight w is a step (code_table.h) to b = floor(log2 w), from
 * 6 at first, and the min(b, detail) bits below its highest bit; the bits below those are 0. Frequencies are the
 * weights' shares of 2^precision (rans_share). A table of one symbol or none has no weights, detail 0 and
 * precision 12; its stream is empty.
 *
 * Streams carry bytes: the symbols themselves where the alphabet fits a byte, else the symbol's rank in the
 * table, which has RANS_BYTES symbols at most. */
#ifndef ATOMO_RANS_H
#define ATOMO_RANS_H

#include "base/bits.h"

enum {
    RANS_ALPHABET = 1 << 16,
    RANS_BYTES = 256,
    RANS_LANES = 16, /* at most */
    RANS_PRECISION_LEAST = 4,
    RANS_PRECISION = 12, /* of most streams; a finer one takes the reader two look-ups a symbol */
    RANS_PRECISION_MOST = 15,
    RANS_SLOTS = 1 << RANS_PRECISION,
    RANS_FINE_SLOTS = 1 << RANS_PRECISION_MOST,
    RANS_DETAIL = 3, /* a table's detail, at most, or: */
    RANS_EXACT = 15, /* weights are the frequencies */
};

typedef struct {
    uint32_t alphabet; /* 1 .. RANS_ALPHABET */
    uint32_t present;  /* symbols of the table */
    int precision;
    unsigned detail;
    uint16_t symbol[RANS_BYTES];    /* (present) rising */
    uint16_t weight[RANS_BYTES];    /* (present) */
    uint16_t frequency[RANS_BYTES]; /* (present) adds up to 2^precision */
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

/* Sets the frequencies to the shares of these weights (present of them, each 1 or more, under 2^47 in all) at
 * r->precision: rounded shares, none 0; then single units move where that costs least, until the sum is right. */
void rans_share(Rans *r, const uint64_t *weight);

/* Chooses precision, detail and weights for these counts (alphabet of them, each under 2^47) so that table and
 * symbols are short together; false when more than RANS_BYTES symbols occur. */
bool rans_build(Rans *r, uint32_t alphabet, const uint64_t *count);

/* Returns the exact bits of the table. */
uint64_t rans_table_bits(const Rans *r);
/* Bits of a stream of symbols as often as `count` says, to 9 bits a lane and a thousandth (the states decide when a
 * word is due): the same number on every machine. */
uint64_t rans_bits(const Rans *r, const uint64_t *count, unsigned lanes);

void rans_table_put(const Rans *r, BitWriter *w);
/* False for a table that no writer writes: symbols beyond the alphabet, more than 2^precision of them. */
bool rans_table_get(Rans *r, uint32_t alphabet, BitReader *in);

/* ---- streams ---- */

/* Returns an upper bound on the bytes of a stream. */
static inline size_t rans_most(size_t n, unsigned lanes)
{
    return 2 * n + 4 * (size_t)lanes;
}

/* Look-up tables of writers and readers: `slice` by byte, frequency:16 | start:16; `slot` by the low bits of a
 * state, byte:8 | frequency:12 | slot - start:12, from the high end; `fine`, where the precision is above
 * RANS_PRECISION, the byte alone, whose slice has the rest. */
typedef struct {
    const Rans *rans;
    uint32_t slice[RANS_BYTES];
} RansWriter;
typedef struct {
    const Rans *rans;
    uint32_t slice[RANS_BYTES];
    union {
        uint32_t slot[RANS_SLOTS];
        uint8_t fine[RANS_FINE_SLOTS + 3]; /* read four at a time */
    };
} RansReader;
void rans_writer(RansWriter *w, const Rans *r);
void rans_reader(RansReader *reader, const Rans *r);
/* Returns how many bytes of a RansReader are used for this table. */
size_t rans_reader_size(const Rans *r);

/* Writes the stream so that it ends at `end`, and returns its bytes. lanes: 1, 4 or RANS_LANES. */
size_t rans_put(const RansWriter *w, unsigned lanes, const uint8_t *byte, size_t n, uint8_t *end);

/* A stream may be read in pieces; each but the last is a multiple of the lanes. */
typedef struct {
    unsigned lanes;
    uint32_t state[RANS_LANES];
} RansLanes;
bool rans_open(const RansReader *r, RansLanes *l, unsigned lanes, Reader *in);
bool rans_pull(const RansReader *r, RansLanes *l, Reader *in, size_t n, uint8_t *byte);
/* True when nothing is left and every lane is at the state where writers begin. */
bool rans_ended(const RansReader *r, const RansLanes *l, const Reader *in);

/* Reads exactly n bytes from exactly this stream; else false. */
bool rans_get(const RansReader *r, unsigned lanes, Bytes in, size_t n, uint8_t *byte);

#endif
