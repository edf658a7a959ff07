/* rng.h -- counter-based random numbers: each number depends on an address, not on a generator's state.
 *
 * A random word is a function of its address alone (seed, repeat, worker, step, tensor, use, element). So
 * the word is the same on any thread, in any order and on any machine. Philox4x32-10 (Salmon et al., SC
 * 2011) turns the address of a block of 2^16 elements into key words. Inside the block, a 32-bit mixing
 * function of the element's index and two key words gives the random word. Calling Philox for each element
 * would take more time than compressing it.
 *
 *     Rng rng = rng_open(seed, repeat, worker, step, tensor);
 *     RngKey key = rng_key(&rng, USE_COIN, i / BLOCK);
 *     uint32_t word = rng_word(&key, i % BLOCK); */
#ifndef ATOMO_RNG_H
#define ATOMO_RNG_H

#include "base/base.h"
#include "base/parallel.h"

typedef struct {
    uint32_t state[4]; /* a hash of the address (seed, repeat, worker, step, tensor) */
} Rng;

/* Key words of one block and one use of random numbers. rng_word uses (a, b); rng_word_more uses (c, d) to give
 * 32 further bits of an element's random number when a comparison needs them. */
typedef struct {
    uint32_t a, b, c, d;
    /* Correlated rounding (rng_round): the bits that are the worker's own, 0 for independent rounding; where its turn begins;
     * key words that all workers share. Only loops that round read these. */
    uint32_t mask, turn, shared_a, shared_b;
} RngKey;

/* Purposes of random words; two purposes have independent random words for the same tensor. */
enum {
    USE_COIN = 1,
    USE_ATOM,
    USE_SAMPLE,
    USE_DATA,
    USE_INIT,
    USE_TEST,
    USE_PHASE,
    USE_SIGN,
    USE_BUCKET,
    USE_DROP,
    USE_CROP,
    USE_SHUFFLE,
    USE_PLACE,
};

/* Values of `worker`. RNG_EVERYONE: random numbers that are the same on all workers. RNG_OWNER and RNG_OWNERS: those of a mean
 * that is quantised again, its own and those that all receivers know. */
enum { RNG_EVERYONE = -1, RNG_OWNER = -2, RNG_OWNERS = -3 };

/* Returns the generator for (seed, repeat, worker, step, tensor); `tensor` is rng_hash of the tensor's path
 * without the step and worker groups. */
Rng rng_open(uint64_t seed, uint64_t repeat, int64_t worker, int64_t step, uint64_t tensor);
/* returns the 64-bit FNV-1a hash of `name`; the hash is stored in files, so it must never change */
uint64_t rng_hash(const char *name);

/* Returns a generator for part `index` (such as a bucket) of the tensor that `rng` belongs to. Its random
 * numbers are independent of the numbers of `rng`. */
Rng rng_below(const Rng *rng, uint64_t index);

RngKey rng_key(const Rng *rng, uint64_t use, uint64_t block);

#define RNG_STRIDE 0x9e3779b9u
#define RNG_MUL1   0x7feb352du
#define RNG_MUL2   0x846ca68bu

/* Returns x mixed with a key word b; bijective in x for each b. The multipliers are from Wellons' low-bias
 * integer hash. The vector kernels compute the same function. */
static inline uint32_t rng_mix(uint32_t x, uint32_t b)
{
    x ^= x >> 16;
    x *= RNG_MUL1;
    x ^= (x >> 15) ^ b;
    x *= RNG_MUL2;
    return x ^ (x >> 16);
}

/* Returns the 32-bit uniform random word of element i < BLOCK, in the block that the key belongs to. */
static inline uint32_t rng_word(const RngKey *key, uint32_t i)
{
    return rng_mix(i * RNG_STRIDE + key->a, key->b);
}
static inline uint32_t rng_word_more(const RngKey *key, uint32_t i)
{
    return rng_mix(i * RNG_STRIDE + key->c, key->d);
}

/* Returns the word of element i for rounding, which goes up if word / 2^32 is below the fractional part.
 *
 * With a mask, rounding is correlated between P workers (Suresh, Sun, Ro, Yu, ICML 2022): the words of the workers lie 2^32 / P
 * apart, from a place that all draw alike for the element, and the low bits of each are then replaced by the worker's own. With
 * P a power of two, worker w has (pi(w) + own) / P with a permutation pi; else a few more bits than that are shared. Each
 * worker's word is uniform. `negative`: the magnitude of a negative number is rounded, so that up is down. */
static inline uint32_t rng_round(const RngKey *key, uint32_t i, bool negative)
{
    const uint32_t own = rng_word(key, i), shared = rng_mix(i * RNG_STRIDE + key->shared_a, key->shared_b) + key->turn;
    if (!key->mask)
        return own;
    const uint32_t word = (shared & ~key->mask) | (own & key->mask);
    return negative ? ~word : word;
}

/* Lets worker `worker` of `workers` round correlated with the others; nothing for one worker. `shared`: a key that all have. */
static inline void rng_correlate(RngKey *key, const RngKey *shared, uint32_t worker, uint32_t workers)
{
    if (workers < 2)
        return;
    const uint32_t step = (uint32_t)((UINT64_C(1) << 32) / workers);
    key->mask = (UINT32_C(1) << (31 - __builtin_clz(step))) - 1;
    key->turn = worker % workers * step;
    key->shared_a = shared->c;
    key->shared_b = shared->d;
}

/* Return random numbers for element i of a whole tensor. These functions are slower than rng_word, as each call
 * derives the block's key. */
uint32_t rng_u32(const Rng *rng, uint64_t use, uint64_t i);
uint64_t rng_u64(const Rng *rng, uint64_t use, uint64_t i);
/* returns a uniform number in [0, 1) with 53 bits */
double rng_unit(const Rng *rng, uint64_t use, uint64_t i);
/* returns a standard normal number, by the inverse of the normal distribution function */
double rng_normal(const Rng *rng, uint64_t use, uint64_t i);

/* Sets out[k] to `scale` * rng_normal(rng, use, first + k) for all k < n. It is faster than n calls, as the
 * key of a block is derived once. */
void rng_normals(const Rng *rng, uint64_t use, uint64_t first, size_t n, double scale, float *out);

/* Sets out[k] to rng_unit(rng, use, first + k) for all k < n, as fast. */
void rng_units(const Rng *rng, uint64_t use, uint64_t first, size_t n, double *out);

/* Returns the z with P(N(0, 1) < z) = u; 0 < u <= 1/2. */
double normal_lower_quantile(double u);

#endif
