/* rans.h -- asymmetric numeral systems over a table of frequencies (Duda 2013): symbols at their entropy, to
 * a thousandth or so, and no symbol below a share of one in 4096.
 *
 * READ ME FIRST, it surprises: the writer goes through the symbols backwards, and fills its bytes backwards,
 * so that the reader goes forwards. Symbol i belongs to lane i mod lanes, each lane a 32-bit state of its own
 * in [2^16, 2^32); all share one sequence of 16-bit words. A reader's lane that falls under 2^16 takes the
 * next word. Writers start at 2^16 in every lane, so readers must end there: that is the check.
 *
 *     table  = precision:4 gamma(1 + symbols)  { gamma(1 + symbols left out before it) frequency } x symbols
 *     stream = { state:32 } x lanes  { word:16 } x ...
 *
 * A frequency is gamma(step) and the bits below its highest one: step as in huffman.h, for the number of
 * those bits, the first against 6. The last symbol's is not sent: the frequencies add up to 2^precision. An
 * only symbol has neither frequency nor stream.
 *
 * Streams carry bytes: the symbols themselves where the alphabet fits a byte, else the symbol's rank among
 * those of the table, which then has RANS_BYTES symbols at most. */
#ifndef ATOMO_RANS_H
#define ATOMO_RANS_H

#include "bits.h"

enum {
    RANS_ALPHABET = 1 << 16,
    RANS_BYTES = 256,
    RANS_LANES = 16, /* at most */
    RANS_PRECISION_LEAST = 4,
    RANS_PRECISION = 12, /* at most */
    RANS_SLOTS = 1 << RANS_PRECISION,
};

typedef struct {
    uint32_t alphabet; /* 1 .. RANS_ALPHABET */
    uint32_t present;
    int precision;
    uint16_t symbol[RANS_BYTES]; /* (present) rising */
    uint16_t frequency[RANS_BYTES];
} Rans;

static inline bool rans_ranks(const Rans *r)
{
    return r->alphabet > RANS_BYTES;
}
static inline uint32_t rans_byte(const Rans *r, uint32_t rank)
{
    return rans_ranks(r) ? rank : r->symbol[rank];
}

/* Frequencies for these counts (alphabet of them, each under 2^47), with the precision at which table and
 * symbols are shortest; false when more than RANS_BYTES symbols occur. */
bool rans_build(Rans *r, uint32_t alphabet, const uint64_t *count);

/* Bits of the table, exactly; of a stream of symbols as often as `count` says, to 9 bits a lane and a
 * thousandth (how the states meet their words decides): the same number on every machine. */
uint64_t rans_table_bits(const Rans *r);
uint64_t rans_bits(const Rans *r, const uint64_t *count, unsigned lanes);

void rans_table_put(const Rans *r, BitWriter *w);
/* False for a table that no encoder writes: frequencies beyond the sum, symbols beyond the alphabet. */
bool rans_table_get(Rans *r, uint32_t alphabet, BitReader *in);

/* The most bytes of a stream. */
static inline size_t rans_most(size_t n, unsigned lanes)
{
    return 2 * n + 4 * (size_t)lanes;
}

/* What writing and reading look up, by byte and by the low bits of a state: frequency:16 | start:16, and
 * byte:8 | frequency:12 | slot - start:12, from the high end. */
typedef struct {
    const Rans *rans;
    uint32_t slice[RANS_BYTES];
} RansWriter;
typedef struct {
    const Rans *rans;
    uint32_t slot[RANS_SLOTS];
} RansReader;
void rans_writer(RansWriter *w, const Rans *r);
void rans_reader(RansReader *reader, const Rans *r);

/* Writes the stream to the end of room[0 .. rans_most(n, lanes)) and returns its bytes. lanes: 1, 4 or
 * RANS_LANES. */
size_t rans_put(const RansWriter *w, unsigned lanes, const uint8_t *byte, size_t n, uint8_t *room);
/* Exactly n bytes from exactly this stream, or false. */
bool rans_get(const RansReader *r, unsigned lanes, Bytes in, size_t n, uint8_t *byte);

#endif
