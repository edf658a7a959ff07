/* numbers.h -- payloads that are lists of numbers, which merge number by number. So several ranks can each merge
 * one segment of the payloads, and the merged segments end to end are the numbers of the merged payload.
 *
 *     one worker's payload     kind:8  { number } x count
 *     merged payload           kind:8 = 2  workers:varint  { sum or mean } x count
 *
 * Payloads of the codec `none` have the numbers only. The size of a payload depends on the call, not on the gradient. */
#ifndef ATOMO_NUMBERS_H
#define ATOMO_NUMBERS_H

#include "compress/codec.h"
#include "coder/planes.h"

/* The numbers in the payloads of one round. */
typedef struct Numbers Numbers;
struct Numbers {
    const Codec *codec; /* the codec that writes the numbers: the innermost one */
    size_t count;       /* numbers in a payload; 0: payloads are merged only as a whole */
    /* bits of a number in one worker's payload, and in the merged payload of Call.workers workers */
    int bits, merged_bits;
    /* true: the numbers are bit planes (planes.h), and none is above `top`; false: each number takes whole
     * bytes */
    bool planes;
    uint32_t top;
    double factor, most; /* if the numbers are floats: arguments of addends_sum */
    /* Merges n numbers of each of `payloads` payloads, and writes n merged numbers to `out`. in[i] points to the
     * first of the n numbers in payload i. ERR_NUMERIC: a sum is out of range. */
    Status (*add)(const Call *c, const Numbers *m, const uint8_t *const *in, size_t payloads, size_t n,
                  uint8_t *out);
};

/* Returns the numbers in the payloads of c->round, if c->workers workers send. */
Numbers codec_numbers(const Call *c);

/* Returns the Numbers of a payload with `count` numbers in bit planes, `bits` bits each. */
Numbers numbers_in_planes(size_t count, int bits, int merged_bits, uint32_t top);

/* Returns the bytes of n numbers of `bits` bits, where `bits` is m->bits or m->merged_bits. */
static inline size_t numbers_size(const Numbers *m, size_t n, int bits)
{
    return m->planes ? planes_size(n, bits) : n * (size_t)bits / 8;
}

/* Cuts the numbers into `segments` segments. Returns the index of segment i's first number, or m->count for i
 * = segments. Segments begin at multiples of 64. Each has 64 numbers or more if m->count >= 64 `segments`. */
static inline size_t numbers_cut(const Numbers *m, size_t segments, size_t i)
{
    return i == segments ? m->count : m->count / PLANE_GROUP * i / segments * PLANE_GROUP;
}

/* Returns the bytes before the numbers in a worker's payload. */
size_t numbers_head(const Numbers *m);

/* Appends the bytes before the numbers in the merged payload of c->workers workers. */
void numbers_merged_head(const Call *c, const Numbers *m, Buf *out);

/* Sets `out` to the merged numbers of one segment; in[i] points to the segment's first number in payload i. */
Status numbers_add(const Call *c, const Numbers *m, const uint8_t *const *in, size_t payloads, size_t n,
                   uint8_t *out);

#endif
