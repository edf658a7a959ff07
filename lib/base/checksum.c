/* checksum.c -- XXH64 by its specification: mixes 32-byte stripes into a state of four 64-bit lanes, merges the
 * lanes, then mixes the remaining bytes and the result. */
#include "base/checksum.h"

static const uint64_t P1 = 0x9e3779b185ebca87, P2 = 0xc2b2ae3d27d4eb4f, P3 = 0x165667b19e3779f9,
                      P4 = 0x85ebca77c2b2ae63, P5 = 0x27d4eb2f165667c5;

static inline uint64_t rotate(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static inline uint64_t round_of(uint64_t lane, uint64_t word)
{
    return rotate(lane + word * P2, 31) * P1;
}

/* Mixes whole stripes into the lanes. */
static void mix_stripes(uint64_t lane[4], const uint8_t *at, size_t count)
{
    uint64_t l[4] = {lane[0], lane[1], lane[2], lane[3]};
    for (; count; count--, at += CHECKSUM_STRIPE)
        for (int i = 0; i < 4; i++)
            l[i] = round_of(l[i], load_u64(at + 8 * i));
    memcpy(lane, l, sizeof l);
}

/* Returns the four lanes merged into one word. */
static uint64_t merge_lanes(const uint64_t lane[4])
{
    uint64_t h = rotate(lane[0], 1) + rotate(lane[1], 7) + rotate(lane[2], 12) + rotate(lane[3], 18);
    for (int i = 0; i < 4; i++)
        h = (h ^ round_of(0, lane[i])) * P1 + P4;
    return h;
}

static uint64_t avalanche(uint64_t h)
{
    h = (h ^ h >> 33) * P2;
    h = (h ^ h >> 29) * P3;
    return h ^ h >> 32;
}

Checksum checksum_begin(uint64_t seed)
{
    return (Checksum){.lane = {seed + P1 + P2, seed + P2, seed, seed - P1}};
}

void checksum_add(Checksum *c, Bytes data)
{
    const size_t kept = c->size % CHECKSUM_STRIPE, room = CHECKSUM_STRIPE - kept;
    c->size += data.size;
    if (kept + data.size < CHECKSUM_STRIPE) {
        if (data.size)
            memcpy(c->rest + kept, data.data, data.size);
        return;
    }
    if (kept) {
        memcpy(c->rest + kept, data.data, room);
        mix_stripes(c->lane, c->rest, 1);
        data = (Bytes){data.data + room, data.size - room};
    }
    mix_stripes(c->lane, data.data, data.size / CHECKSUM_STRIPE);
    memcpy(c->rest, data.data + data.size / CHECKSUM_STRIPE * CHECKSUM_STRIPE, data.size % CHECKSUM_STRIPE);
}

uint64_t checksum_end(const Checksum *c)
{
    const uint8_t *at = c->rest, *end = at + c->size % CHECKSUM_STRIPE;
    /* without a stripe, lane 2 is still the seed */
    uint64_t h = (c->size >= CHECKSUM_STRIPE ? merge_lanes(c->lane) : c->lane[2] + P5) + c->size;
    for (; end - at >= 8; at += 8)
        h = rotate(h ^ round_of(0, load_u64(at)), 27) * P1 + P4;
    if (end - at >= 4) {
        h = rotate(h ^ load_u32(at) * P1, 23) * P2 + P3;
        at += 4;
    }
    for (; at < end; at++)
        h = rotate(h ^ *at * P5, 11) * P1;
    return avalanche(h);
}

uint64_t checksum(Bytes data, uint64_t seed)
{
    Checksum c = checksum_begin(seed);
    checksum_add(&c, data);
    return checksum_end(&c);
}

uint64_t checksum_floats(const float *x, size_t n, uint64_t seed)
{
    enum { RUN = 256 };
    uint8_t stored[RUN * sizeof *x];
    Checksum c = checksum_begin(seed);
    for (size_t run; n; x += run, n -= run) {
        run = n < RUN ? n : RUN;
        floats_store(stored, x, run);
        checksum_add(&c, (Bytes){stored, run * sizeof *x});
    }
    return checksum_end(&c);
}
