/* set_bits.h -- computes two sizes of the payload of an ATOMO codec, in bits. `entropy` is the order-0 entropy
 * of the gaps between indices, which comparisons report. `information` is that of a random set of kept atoms:
 * the least mean size of any code. If there are few gaps, the entropy can be below the information, because
 * gaps that are equal by chance count as frequent. */
#ifndef ATOMO_SET_BITS_H
#define ATOMO_SET_BITS_H

#include "coder/indices.h"
#include "rig/check.h"

typedef struct {
    double entropy;     /* entropy of the gaps of both sets of indices, plus the bits of all values */
    double information; /* log2 of the number of sets with as many indices, plus the bits of all values */
} SetBits;

static inline int set_bits_by_size(const void *x, const void *y)
{
    const size_t a = *(const size_t *)x, b = *(const size_t *)y;
    return (a > b) - (a < b);
}

/* Reads a set of indices below n, and adds its entropy and information to *bits. Returns the number of
 * indices. */
static inline size_t set_bits_read(Reader *in, size_t n, Arena *a, SetBits *bits)
{
    Places set;
    check(indices_get(in, n, a, &set));
    size_t *gap = NEW(a, size_t, set.count + 1), next = 0;
    const double dn = (double)n, k = (double)set.count;
    for (size_t i = 0, block = 0; i < set.count; i++) {
        while (set.before[block + 1] <= i)
            block++;
        const size_t index = block * BLOCK + set.at[i];
        gap[i] = index - next;
        next = index + 1;
    }
    qsort(gap, set.count, sizeof *gap, set_bits_by_size);
    for (size_t i = 0, from = 0; i < set.count; i++)
        if (i + 1 == set.count || gap[i + 1] != gap[i]) {
            bits->entropy += (double)(i + 1 - from) * log2(k / (double)(i + 1 - from));
            from = i + 1;
        }
    bits->information += (lgamma(dn + 1) - lgamma(k + 1) - lgamma(dn - k + 1)) * M_LOG2E;
    return set.count;
}

/* Returns the sizes of an ATOMO payload. Atoms kept with probability 1 have values of `heavy` bits, all other
 * kept atoms values of `light` bits. If there are light values, the payload also has the water level tau (32
 * bits). */
static inline SetBits set_bits(Bytes payload, size_t n, double heavy, double light, Arena *a)
{
    SetBits bits = {0, 0};
    Reader in = reader_open(payload);
    take_bytes(&in, 1);
    const size_t heavies = set_bits_read(&in, n, a, &bits);
    take_bytes(&in, heavies * (size_t)heavy / 8);
    const size_t lights = set_bits_read(&in, n, a, &bits);
    const double values = heavy * (double)heavies + (lights > 0 ? 32 : 0) + light * (double)lights;
    check(!in.bad);
    return (SetBits){bits.entropy + values, bits.information + values};
}

#endif
