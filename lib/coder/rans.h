/* rans.h -- asymmetric numeral systems over a table of frequencies (Duda 2013): symbols at their entropy, to
 * a thousandth or so, and no symbol below a share of one in 2^12, or 2^15 where that is shorter.
 *
 * READ ME FIRST, it surprises: the writer goes through the symbols backwards, and fills its bytes backwards,
 * so that the reader goes forwards. Symbol i belongs to lane i mod lanes, each lane a 32-bit state of its own
 * in [2^16, 2^32); all share one sequence of 16-bit words. A reader's lane that falls under 2^16 takes the
 * next word. Writers start at 2^16 in every lane, so readers must end there: that is the check.
 *
 *     table  = precision:4 gamma(1 + symbols)  { gamma(1 + symbols left out before it) frequency } x symbols
 *     coarse = 0:4 precision:4 detail:2 gamma(runs)  { left out, listed } x runs  { weight } x symbols
 *     stream = { state:32 } x lanes  { word:16 } x ...
 *
 * A frequency is gamma(step) and the bits below its highest one: step as in code_table.h, for the number of
 * those bits, the first against 6. The last symbol's is not sent: the frequencies add up to 2^precision. An
 * only symbol has neither frequency nor stream. Few symbols on many levels need less than their frequencies: a
 * coarse table has weights, of which `detail` bits behind the highest are sent and the rest is 0, and frequencies
 * are their shares (rans_share). Runs are two gammas, of 1 + what is left out before the first.
 *
 * Streams carry bytes: the symbols themselves where the alphabet fits a byte, else the symbol's rank among
 * those of the table, which then has RANS_BYTES symbols at most. */
#ifndef ATOMO_RANS_H
#define ATOMO_RANS_H

#include "base/bits.h"

enum {
    RANS_ALPHABET = 1 << 16,
    RANS_BYTES = 256,
    RANS_LANES = 16,      /* at most */
    RANS_COARSE = 4,      /* coarse tables, with this many bits of detail less one */
    RANS_FIRST_CLASS = 6, /* what the first step of a table is from */
    RANS_LOG_BITS = 16,
    RANS_PRECISION_LEAST = 4,
    RANS_PRECISION = 12, /* of long streams; beyond it, reading looks up twice */
    RANS_PRECISION_MOST = 15,
    RANS_SLOTS = 1 << RANS_PRECISION,
    RANS_FINE_SLOTS = 1 << RANS_PRECISION_MOST,
};

typedef struct {
    uint32_t alphabet; /* 1 .. RANS_ALPHABET */
    uint32_t present;
    int precision;
    uint16_t symbol[RANS_BYTES]; /* (present) rising */
    uint16_t frequency[RANS_BYTES];
    unsigned coarse;             /* 0: the table is not coarse; else its detail + 1 */
    uint16_t weight[RANS_BYTES]; /* of a coarse one */
} Rans;

static inline bool rans_ranks(const Rans *r)
{
    return r->alphabet > RANS_BYTES;
}
static inline uint32_t rans_byte(const Rans *r, uint32_t rank)
{
    return rans_ranks(r) ? rank : r->symbol[rank];
}

/* Frequencies of these weights (present of them, each 1 or more, under 2^47 in all) at r->precision: rounded shares
 * of 2^precision, none 0; then those are moved by one that cost least, until the sum is right. */
void rans_share(Rans *r, const uint64_t *weight);

/* log2 v in units of 2^-RANS_LOG_BITS, cut off. */
uint32_t rans_log2(uint32_t v);

/* The weights of a coarse table (r->coarse, r->precision) for these counts by place in the table, and their shares. */
void rans_coarsen(Rans *r, const uint64_t *count);

/* Frequencies for these counts (alphabet of them, each under 2^47), with the table at which it and the
 * symbols are shortest; false when more than RANS_BYTES symbols occur. */
bool rans_build(Rans *r, uint32_t alphabet, const uint64_t *count);

/* Bits of the table, exactly; of a stream of symbols as often as `count` says, to 9 bits a lane and a
 * thousandth (how the states meet their words decides): the same number on every machine. */
uint64_t rans_table_bits(const Rans *r);
uint64_t rans_bits(const Rans *r, const uint64_t *count, unsigned lanes);

void rans_table_put(const Rans *r, BitWriter *w);
/* False for a table that no encoder writes: frequencies beyond the sum, symbols beyond the alphabet. */
bool rans_table_get(Rans *r, uint32_t alphabet, BitReader *in);

/* The most bytes of a stream, and of one whose symbols cost so many bits (rans_bits): a state is at least 2^16 /
 * 2^precision times the frequency, so that rounding adds less than log2 1.5 bits to a symbol. */
static inline size_t rans_most(size_t n, unsigned lanes)
{
    return 2 * n + 4 * (size_t)lanes;
}
static inline size_t rans_room(uint64_t bits, size_t n, unsigned lanes)
{
    return (size_t)(bits / 8) + n / 13 + 8 * (size_t)lanes + 8;
}

/* What writing and reading look up: `slice` by byte, frequency:16 | start:16; `slot` by the low bits of a state,
 * byte:8 | frequency:12 | slot - start:12, from the high end; `fine`, where the precision is over
 * RANS_PRECISION, the byte alone, whose slice says the rest. */
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
/* Bytes of a reader that are used, one with slots or a fine one. */
size_t rans_reader_size(const Rans *r);

/* Writes the stream so that it ends at `end`, and returns its bytes. lanes: 1, 4 or RANS_LANES. */
size_t rans_put(const RansWriter *w, unsigned lanes, const uint8_t *byte, size_t n, uint8_t *end);

/* Reading in pieces from the first on, all but the last of which are whole rows of the lanes. An only symbol's
 * stream is empty. */
typedef struct {
    unsigned lanes;
    uint32_t state[RANS_LANES];
} RansLanes;
bool rans_open(const RansReader *r, RansLanes *l, unsigned lanes, Reader *in);
bool rans_pull(const RansReader *r, RansLanes *l, Reader *in, size_t n, uint8_t *byte);
/* Nothing is left, and the lanes stand where writers begin. */
bool rans_ended(const RansReader *r, const RansLanes *l, const Reader *in);

/* Exactly n bytes from exactly this stream, or false. */
bool rans_get(const RansReader *r, unsigned lanes, Bytes in, size_t n, uint8_t *byte);

#endif
