/* rng.c -- derives random keys and draws random numbers with Philox. A key depends on the seed, repeat, worker,
 * step and tensor, and on the use of the random numbers. */
#include "base/rng.h"

#include <math.h>

void philox(uint32_t x[4], const uint32_t key[2])
{
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        const uint64_t p = (uint64_t)0xd2511f53u * x[0], q = (uint64_t)0xcd9e8d57u * x[2];
        const uint32_t y0 = (uint32_t)(q >> 32) ^ x[1] ^ k0, y2 = (uint32_t)(p >> 32) ^ x[3] ^ k1;
        x[1] = (uint32_t)q;
        x[3] = (uint32_t)p;
        x[0] = y0;
        x[2] = y2;
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
}

/* Hashes `word` into the 128-bit state with the Philox block function. The input block is `word` and one half
 * of the state; the key is the other half. */
static void absorb(uint32_t state[4], uint64_t word)
{
    uint32_t x[4] = {(uint32_t)word, (uint32_t)(word >> 32), state[2], state[3]};
    philox(x, state);
    for (int i = 0; i < 4; i++)
        state[i] = x[i];
}

Rng rng_open(uint64_t seed, uint64_t repeat, int64_t worker, int64_t step, uint64_t tensor)
{
    Rng rng = {{0x61746f6du, 0x6f000001u, 0, 0}}; /* the letters "atomo" and the generator's version, 1 */
    absorb(rng.state, seed);
    absorb(rng.state, repeat);
    absorb(rng.state, (uint64_t)worker);
    absorb(rng.state, (uint64_t)step);
    absorb(rng.state, tensor);
    return rng;
}

uint64_t rng_hash(const char *name)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return h;
}

Rng rng_below(const Rng *rng, uint64_t index)
{
    Rng below = *rng;
    /* changes the state, so that the keys of a part of a tensor differ from the keys of the whole tensor */
    below.state[0] ^= 0x62656c6fu;
    absorb(below.state, index);
    return below;
}

RngKey rng_key(const Rng *rng, uint64_t use, uint64_t block)
{
    Rng r = *rng;
    absorb(r.state, use);
    absorb(r.state, block);
    return (RngKey){r.state[0], r.state[1], r.state[2], r.state[3]};
}

uint64_t rng_u64(const Rng *rng, uint64_t use, uint64_t i)
{
    const RngKey key = rng_key(rng, use, i / BLOCK);
    const uint32_t e = (uint32_t)(i % BLOCK);
    return (uint64_t)rng_word(&key, e) << 32 | rng_word_more(&key, e);
}

uint32_t rng_u32(const Rng *rng, uint64_t use, uint64_t i)
{
    return (uint32_t)(rng_u64(rng, use, i) >> 32);
}

double rng_unit(const Rng *rng, uint64_t use, uint64_t i)
{
    return (double)(rng_u64(rng, use, i) >> 11) * 0x1p-53;
}

/* Uses a rational approximation of the quantile (Hastings, 26.2.23 in Abramowitz and Stegun), then two steps of
 * Halley's root finder on erfc; the remaining error is rounding error. */
double normal_lower_quantile(double u)
{
    const double t = sqrt(-2 * log(u));
    double x = -(t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                         (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))));
    for (int i = 0; i < 2; i++) {
        const double e = 0.5 * erfc(-x * M_SQRT1_2) - u;
        const double step = e * sqrt(2 * M_PI) * exp(0.5 * x * x);
        x -= step / (1 + 0.5 * x * step);
    }
    return x;
}

double rng_normal(const Rng *rng, uint64_t use, uint64_t i)
{
    const double u = ((double)(rng_u64(rng, use, i) >> 11) + 0.5) * 0x1p-53;
    return u <= 0.5 ? normal_lower_quantile(u) : -normal_lower_quantile(1 - u);
}
