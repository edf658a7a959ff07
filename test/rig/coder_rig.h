/* coder_rig.h -- Elias' omega code of one number and a whole rANS stream, which the library writes and reads in parts. */
#ifndef ATOMO_TEST_CODER_RIG_H
#define ATOMO_TEST_CODER_RIG_H

#include "coder/elias.h"
#include "coder/rans.h"

/* Writes the groups of v's omega code, bit by bit: its length minus 1 in the same way, then v in binary. */
static inline void omega_groups(BitWriter *w, uint64_t v)
{
    if (v == 1)
        return;
    omega_groups(w, log2_floor(v));
    for (unsigned k = log2_floor(v) + 1; k-- > 0;)
        bits_put(w, v >> k & 1, 1);
}

static inline void omega_put(BitWriter *w, uint64_t v)
{
    omega_groups(w, v);
    bits_put(w, 0, 1);
}

/* Reads a stream of n bytes; false when `bytes` is not exactly such a stream. */
static inline bool rans_get(const RansReader *r, unsigned lanes, Bytes bytes, size_t n, uint8_t *byte)
{
    Reader in = reader_open(bytes);
    RansLanes l;
    return rans_open(r, &l, lanes, &in) && rans_pull(r, &l, &in, n, byte) && rans_ended(r, &l, &in);
}

#endif
