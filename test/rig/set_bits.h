/* set_bits.h -- the bits in a payload of an ATOMO codec, from its bytes: the order-0 entropy that comparisons report,
 * and the information of a random set, which no code can beat in the mean. The entropy of few gaps is below that
 * information, because gaps of one size that came together by chance count as frequent. */
#ifndef ATOMO_SET_BITS_H
#define ATOMO_SET_BITS_H

#include "coder/indices.h"
#include "rig/check.h"

typedef struct {
    double entropy;     /* of the gaps of both sets, and the bits of all values */
    double information; /* log2 of the number of sets of the same sizes, and the bits of all values */
} SetBits;

static inline int set_bits_by_size(const void *x, const void *y)
{
    const size_t a = *(const size_t *)x, b = *(const size_t *)y;
    return (a > b) - (a < b);
}

/* Reads a set out of n indices, and adds its bits. Returns the number of indices. */
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

/* A payload of atoms.h: heavy values of `heavy` bits, a water level, and light values of `light` bits. */
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
