/* adder_vec.c -- adds codes that are stored as bit planes (planes.h) without unpacking them: a ripple-carry
 * adder, one plane after another. Each 64-bit lane adds one group of 64 codes. */
#include "math/vec/vec.h"
enum { GROUPS = VEC_BYTES / 8, MOST = 24 };

/* Loads plane k of GROUPS groups, one group per lane. A group has `width` 64-bit words, one for each plane. */
INLINE VecQ load_plane(const uint8_t *planes, int width, int k)
{
    VecQ v;
    for (int g = 0; g < GROUPS; g++) {
        uint64_t word;
        memcpy(&word, planes + 8 * (size_t)(g * width + k), sizeof word);
        v[g] = word;
    }
    return v;
}

/* Adds the codes of GROUPS groups to `sum`. Returns a mask of the codes above `most`: those where code +
 * (2^width - 1 - most) gives a carry. If `fixed`, the number of steps is `planes`, so that compilers keep the sums
 * in registers if `planes` is constant. */
INLINE VecQ add_groups(VecQ *sum, const int planes, const bool fixed, const uint8_t *in, int width,
                       uint32_t most)
{
    const int steps = fixed ? planes : width;
    VecQ carry = {0}, above = {0};
    for (int k = 0; k < steps; k++) {
        const VecQ a = sum[k], b = fixed && k >= width ? (VecQ){0} : load_plane(in, width, k), half = a ^ b;
        sum[k] = half ^ carry;
        carry = (a & b) | (carry & half);
        above = most >> k & 1 ? above & b : above | b;
    }
    for (int k = steps; k < planes; k++) {
        const VecQ a = sum[k];
        sum[k] = a ^ carry;
        carry &= a;
    }
    return above;
}

/* Adds codes of one bit, none of which is above 1. */
INLINE void add_bits(VecQ *sum, const int planes, const uint8_t *in)
{
    VecQ carry;
    memcpy(&carry, in, sizeof carry);
    for (int k = 0; k < planes; k++) {
        const VecQ a = sum[k];
        sum[k] = a ^ carry;
        carry &= a;
    }
}

INLINE void store_planes(const VecQ *sum, int width, uint8_t *out)
{
    for (int g = 0; g < GROUPS; g++)
        for (int k = 0; k < width; k++) {
            const uint64_t word = sum[k][g];
            memcpy(out + 8 * (g * width + k), &word, sizeof word);
        }
}

/* `fixed`: `width` is a constant. */
INLINE size_t add_sets(const PlaneSet *in, size_t count, size_t from, size_t to, const int width,
                       const bool fixed, uint8_t *out, bool *above)
{
    VecQ over = {0};
    size_t at = from;
    for (; at + GROUPS <= to; at += GROUPS) {
        VecQ sum[MOST];
        for (int k = 0; k < width; k++)
            sum[k] = (VecQ){0};
        for (size_t w = 0; w < count; w++) {
            const uint8_t *planes = in[w].planes + 8 * at * (size_t)in[w].width;
            if (in[w].width == 1 && in[w].most == 1)
                add_bits(sum, width, planes);
            else
                over |= add_groups(sum, width, fixed, planes, in[w].width, in[w].most);
        }
        store_planes(sum, width, out + 8 * at * (size_t)width);
    }
    for (int g = 0; g < GROUPS; g++)
        *above |= over[g] != 0;
    return at;
}

size_t ISA_NAME(add_planes)(const PlaneSet *in, size_t count, size_t from, size_t to, int width, uint8_t *out,
                            bool *above)
{
    if (width > 8)
        return add_sets(in, count, from, to, width, false, out, above);
    WITH_8(width, return add_sets(in, count, from, to, N, true, out, above))
}
