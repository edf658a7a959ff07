/* rng.c -- derives keys with Philox, and draws random numbers with these keys. A key depends on the seed,
 * repeat, worker, step and tensor, on the use of the random numbers, and on the block of elements. */
#include "base/rng.h"

#include <math.h>

/* Applies the 10-round Philox4x32 block function to x in place. */
static void philox(uint32_t x[4], const uint32_t key[2])
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

static uint64_t long_word(const RngKey *key, uint32_t e)
{
    return (uint64_t)rng_word(key, e) << 32 | rng_word_more(key, e);
}

uint64_t rng_u64(const Rng *rng, uint64_t use, uint64_t i)
{
    const RngKey key = rng_key(rng, use, i / BLOCK);
    return long_word(&key, (uint32_t)(i % BLOCK));
}

uint32_t rng_u32(const Rng *rng, uint64_t use, uint64_t i)
{
    return (uint32_t)(rng_u64(rng, use, i) >> 32);
}

static double unit_of(uint64_t word)
{
    return (double)(word >> 11) * 0x1p-53;
}

double rng_unit(const Rng *rng, uint64_t use, uint64_t i)
{
    return unit_of(rng_u64(rng, use, i));
}

/* Returns (p[0] + p[1] r + ... + p[7] r^7) / (q[0] + ... + q[7] r^7). */
static double rational(const double p[8], const double q[8], double r)
{
    double above = p[7], below = q[7];
    for (int i = 6; i >= 0; i--) {
        above = above * r + p[i];
        below = below * r + q[i];
    }
    return above / below;
}

/* Algorithm AS 241 (Wichura 1988), PPND16: relative error about 1e-16. */
double normal_lower_quantile(double u)
{
    static const double mid_p[] = {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
                                   1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
                                   3.3430575583588128105e4, 2.5090809287301226727e3};
    static const double mid_q[] = {1,
                                   4.2313330701600911252e1,
                                   6.8718700749205790830e2,
                                   5.3941960214247511077e3,
                                   2.1213794301586595867e4,
                                   3.9307895800092710610e4,
                                   2.8729085735721942674e4,
                                   5.2264952788528545610e3};
    static const double low_p[] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                   5.76949722146069140550e0,  3.64784832476320460504e0,
                                   1.27045825245236838258e0,  2.41780725177450611770e-1,
                                   2.27238449892691845833e-2, 7.74545014278341407640e-4};
    static const double low_q[] = {1,
                                   2.05319162663775882187e0,
                                   1.67638483018380384940e0,
                                   6.89767334985100004550e-1,
                                   1.48103976427480074590e-1,
                                   1.51986665636164571966e-2,
                                   5.47593808499534494600e-4,
                                   1.05075007164441684324e-9};
    static const double far_p[] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                   1.78482653991729133580e0,  2.96560571828504891230e-1,
                                   2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                   2.71155556874348757815e-5, 2.01033439929228813265e-7};
    static const double far_q[] = {1,
                                   5.99832206555887937690e-1,
                                   1.36929880922735805310e-1,
                                   1.48753612908506148525e-2,
                                   7.86869131145613259100e-4,
                                   1.84631831751005468180e-5,
                                   1.42151175831644588870e-7,
                                   2.04426310338993978564e-15};
    if (u >= 0.075) {
        const double q = u - 0.5;
        return q * rational(mid_p, mid_q, 0.180625 - q * q);
    }
    const double r = sqrt(-log(u));
    return r <= 5 ? -rational(low_p, low_q, r - 1.6) : -rational(far_p, far_q, r - 5);
}

static double normal_of(uint64_t word)
{
    const double u = ((double)(word >> 11) + 0.5) * 0x1p-53;
    /* a branch on a random bit would be mispredicted half of the time */
    const double tail = fmax(fmin(u, 1 - u), 0x1p-54); /* the largest u rounds to 1 */
    return copysign(normal_lower_quantile(tail), u - 0.5);
}

double rng_normal(const Rng *rng, uint64_t use, uint64_t i)
{
    return normal_of(rng_u64(rng, use, i));
}

void rng_normals(const Rng *rng, uint64_t use, uint64_t first, size_t n, double scale, float *out)
{
    for (uint64_t i = first, end = first + n; i < end;) {
        const RngKey key = rng_key(rng, use, i / BLOCK);
        const uint64_t left = BLOCK - i % BLOCK, stop = left < end - i ? i + left : end;
        for (; i < stop; i++)
            *out++ = (float)(scale * normal_of(long_word(&key, (uint32_t)(i % BLOCK))));
    }
}

void rng_units(const Rng *rng, uint64_t use, uint64_t first, size_t n, double *out)
{
    for (uint64_t i = first, end = first + n; i < end;) {
        const RngKey key = rng_key(rng, use, i / BLOCK);
        const uint64_t left = BLOCK - i % BLOCK, stop = left < end - i ? i + left : end;
        for (; i < stop; i++)
            *out++ = unit_of(long_word(&key, (uint32_t)(i % BLOCK)));
    }
}
