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

/* Mixes all whole 32-byte stripes, sets *at to the end of the last stripe, and returns the four lanes of the
 * state merged into one word. */
static uint64_t stripes(const uint8_t **at, const uint8_t *end, uint64_t seed)
{
    uint64_t lane[4] = {seed + P1 + P2, seed + P2, seed, seed - P1};
    for (; end - *at >= 32; *at += 32)
        for (int i = 0; i < 4; i++)
            lane[i] = round_of(lane[i], load_u64(*at + 8 * i));
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

uint64_t checksum(Bytes data, uint64_t seed)
{
    const uint8_t *at = data.data, *end = data.data + data.size;
    uint64_t h = (data.size >= 32 ? stripes(&at, end, seed) : seed + P5) + data.size;
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
