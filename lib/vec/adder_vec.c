/* adder_vec.c -- adds codes that are stored as bit planes (planes.h) without unpacking them: a ripple-carry
 * adder, one plane after another. Each 64-bit lane adds one group of 64 codes. */
#include "vec/vec.h"
enum { GROUPS = VEC_BYTES / 8, MOST = 24, NARROW = 6 };

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
 * (2^width - 1 - most) gives a carry. */
INLINE VecQ add_groups(VecQ *sum, int planes, const uint8_t *in, int width, uint32_t most)
{
    VecQ carry = {0}, above = {0};
    for (int k = 0; k < width; k++) {
        const VecQ a = sum[k], b = load_plane(in, width, k), half = a ^ b;
        sum[k] = half ^ carry;
        carry = (a & b) | (carry & half);
        above = most >> k & 1 ? above & b : above | b;
    }
    for (int k = width; k < planes; k++) {
        const VecQ a = sum[k];
        sum[k] = a ^ carry;
        carry &= a;
    }
    return above;
}

INLINE void store_planes(const VecQ *sum, int width, uint8_t *out)
{
    for (int g = 0; g < GROUPS; g++)
        for (int k = 0; k < width; k++) {
            const uint64_t word = sum[k][g];
            memcpy(out + 8 * (g * width + k), &word, sizeof word);
        }
}

/* Adds codes of one bit. Every caller passes a constant `width`, so that the sums stay in registers. */
INLINE size_t add_bits(const PlaneSet *in, size_t count, size_t from, size_t to, const int width,
                       uint8_t *out)
{
    size_t at = from;
    for (; at + GROUPS <= to; at += GROUPS) {
        VecQ sum[NARROW] = {{0}};
        for (size_t w = 0; w < count; w++) {
            VecQ carry;
            memcpy(&carry, in[w].planes + 8 * at, sizeof carry);
            for (int k = 0; k < width; k++) {
                const VecQ a = sum[k];
                sum[k] = a ^ carry;
                carry &= a;
            }
        }
        store_planes(sum, width, out + 8 * at * (size_t)width);
    }
    return at;
}

static bool all_bits(const PlaneSet *in, size_t count)
{
    size_t w = 0;
    while (w < count && in[w].width == 1 && in[w].most == 1)
        w++;
    return w == count;
}

size_t ISA_NAME(add_planes)(const PlaneSet *in, size_t count, size_t from, size_t to, int width, uint8_t *out,
                            bool *above)
{
    if (width <= NARROW && all_bits(in, count))
        switch (width) {
        case 1:
            return add_bits(in, count, from, to, 1, out);
        case 2:
            return add_bits(in, count, from, to, 2, out);
        case 3:
            return add_bits(in, count, from, to, 3, out);
        case 4:
            return add_bits(in, count, from, to, 4, out);
        case 5:
            return add_bits(in, count, from, to, 5, out);
        default:
            return add_bits(in, count, from, to, NARROW, out);
        }
    VecQ over = {0};
    size_t at = from;
    for (; at + GROUPS <= to; at += GROUPS) {
        VecQ sum[MOST];
        for (int k = 0; k < width; k++)
            sum[k] = (VecQ){0};
        for (size_t w = 0; w < count; w++)
            over |=
                add_groups(sum, width, in[w].planes + 8 * at * (size_t)in[w].width, in[w].width, in[w].most);
        store_planes(sum, width, out + 8 * at * (size_t)width);
    }
    for (int g = 0; g < GROUPS; g++)
        *above |= over[g] != 0;
    return at;
}
