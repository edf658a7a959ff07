/* coder_rig.h -- helpers of tests: write a number in Elias' omega code, and read a whole rANS stream. */
#ifndef ATOMO_TEST_CODER_RIG_H
#define ATOMO_TEST_CODER_RIG_H

#include "coder/elias.h"
#include "coder/rans.h"

/* Writes the omega code of v without the final 0. The code is recursive: first the groups of bits of v's bit
 * length minus 1, then v in binary. */
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

static inline bool rans_pull(const RansReader *r, RansLanes *l, Reader *in, size_t n, uint8_t *byte)
{
    bool good;
    rans_pull_several(&r, &l, &in, 1, n, &byte, &good);
    return good;
}

/* Reads n symbols from a rANS stream. Returns false if `bytes` is damaged or has further bytes behind the
 * stream. */
static inline bool rans_get(const RansReader *r, unsigned lanes, Bytes bytes, size_t n, uint8_t *byte)
{
    Reader in = reader_open(bytes);
    RansLanes l;
    return rans_open(r, &l, lanes, &in) && rans_pull(r, &l, &in, n, byte) && rans_ended(r, &l, &in);
}

#endif
