/* bits.h -- writes and reads streams of bits; the first bit is the high bit of the first byte.
 *
 * Errors are sticky, so a single check at the end of a stream is enough. A writer that runs out of room drops
 * all further bits, and its `full` stays true. A reader that passes the end of its bytes reads zeros, and its
 * `bad` stays true. The last byte is padded with zeros, and bits_finish refuses any other padding. */
#ifndef ATOMO_BITS_H
#define ATOMO_BITS_H

#include "base/bytes.h"

enum { BITS_MAX = 56 }; /* the most bits in one call of bits_put or bits_get */

typedef struct {
    uint8_t *at, *end;
    /* the bits that are not stored yet, in the upper `count` bits of `held`; fewer than 8 between calls */
    uint64_t held;
    unsigned count;
    bool full;
} BitWriter;

static inline BitWriter bits_writer(uint8_t *data, size_t size)
{
    return (BitWriter){.at = data, .end = data + size};
}

/* Writes the whole bytes in `w.held` to memory, and returns the changed writer. `bits_put` calls `bits_spill`
 * only when fewer than eight bytes of room are left. The writer is passed by value, so that it can stay in
 * registers. */
BitWriter bits_spill(BitWriter w);

/* Writes the low `count` bits of v, whose other bits are 0; count <= BITS_MAX. */
static inline void bits_put(BitWriter *w, uint64_t v, unsigned count)
{
    w->held |= v << (63 - w->count - count) << 1;
    w->count += count;
    if ((size_t)(w->end - w->at) >= 8) {
        store_u64(w->at, __builtin_bswap64(w->held));
        w->at += w->count >> 3;
        w->held <<= w->count & ~7u;
        w->count &= 7;
    } else {
        *w = bits_spill(*w);
    }
}

/* Stores the last byte, padded with zero bits; the stream then ends at w->at. */
void bits_close(BitWriter *w);

typedef struct {
    const uint8_t *data;
    size_t size;
    uint64_t at; /* in bits */
    bool bad;
} BitReader;

static inline BitReader bits_reader(Bytes b)
{
    return (BitReader){.data = b.data, .size = b.size};
}

/* Returns the 64 bits that begin at byte `from`, with zeros for bits beyond the end of the bytes. */
uint64_t bits_tail(const BitReader *r, uint64_t from);

/* Returns at least the next 57 bits in the upper bits of the result, the first bit highest; bits beyond the end
 * of the bytes are 0. */
static inline uint64_t bits_peek(const BitReader *r)
{
    const uint64_t from = r->at >> 3;
    if (r->size >= 8 && from <= r->size - 8)
        return __builtin_bswap64(load_u64(r->data + from)) << (r->at & 7);
    return bits_tail(r, from) << (r->at & 7);
}

static inline void bits_skip(BitReader *r, unsigned count)
{
    if (count > 8 * (uint64_t)r->size - r->at)
        r->bad = true;
    else
        r->at += count;
}

/* Returns the next `count` <= BITS_MAX bits and moves behind them. Returns 0 if `r->bad` is set. */
static inline uint64_t bits_get(BitReader *r, unsigned count)
{
    const uint64_t v = bits_peek(r) >> 1 >> (63 - count);
    bits_skip(r, count);
    return r->bad ? 0 : v;
}

/* Returns true if `r->bad` is false and only padding is left: fewer than eight bits, all of them zero. */
bool bits_finish(const BitReader *r);

#endif
