/* rng.h -- random numbers with an address instead of a state.
 *
 * A word is a function of (seed, repeat, worker, step, tensor, use, element) and of nothing else, so any thread,
 * any order and any machine draws the same. Philox4x32-10 (Salmon et al., SC 2011) turns the address of a
 * block of 2^16 elements into key words; inside the block a 32-bit mixer of the element's index and two key
 * words gives the word, because Philox for each element would cost more than the compressors do.
 *
 *     Rng rng = rng_open(seed, repeat, worker, step, tensor);
 *     RngKey key = rng_key(&rng, USE_COIN, i / BLOCK);
 *     uint32_t word = rng_word(&key, i % BLOCK); */
#ifndef ATOMO_RNG_H
#define ATOMO_RNG_H

#include "base/base.h"
#include "base/parallel.h"

typedef struct {
    uint32_t state[4]; /* the address so far, hashed */
} Rng;

/* The key words of one block for one use. (a, b) give the words; (c, d) give each word's continuation, for
 * comparisons that need more than 32 bits. */
typedef struct {
    uint32_t a, b, c, d;
} RngKey;

/* What the words are for; different uses of one address never share a word. */
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
};

enum { RNG_EVERYONE = -1 }; /* as `worker`: the address all workers share */

/* `tensor` is rng_hash of the tensor's path below step and worker groups. */
Rng rng_open(uint64_t seed, uint64_t repeat, int64_t worker, int64_t step, uint64_t tensor);
uint64_t rng_hash(const char *name); /* 64-bit FNV-1a; stored in files, so it never changes */

/* The address of part `index`, such as a bucket of a tensor. */
Rng rng_below(const Rng *rng, uint64_t index);

RngKey rng_key(const Rng *rng, uint64_t use, uint64_t block);

#define RNG_STRIDE 0x9e3779b9u
#define RNG_MUL1   0x7feb352du
#define RNG_MUL2   0x846ca68bu

/* Bijective in x for each key; the multipliers are Wellons' low-bias pair. The vector kernels repeat these lines. */
static inline uint32_t rng_mix(uint32_t x, uint32_t b)
{
    x ^= x >> 16;
    x *= RNG_MUL1;
    x ^= (x >> 15) ^ b;
    x *= RNG_MUL2;
    return x ^ (x >> 16);
}

/* The word of element i < BLOCK of the key's block, uniform over 32 bits. */
static inline uint32_t rng_word(const RngKey *key, uint32_t i)
{
    return rng_mix(i * RNG_STRIDE + key->a, key->b);
}
static inline uint32_t rng_word_more(const RngKey *key, uint32_t i)
{
    return rng_mix(i * RNG_STRIDE + key->c, key->d);
}

/* Single draws for element i of a whole tensor; slower, as each derives its key. */
uint32_t rng_u32(const Rng *rng, uint64_t use, uint64_t i);
uint64_t rng_u64(const Rng *rng, uint64_t use, uint64_t i);
double rng_unit(const Rng *rng, uint64_t use, uint64_t i); /* [0, 1), 53 bits */
double rng_normal(const Rng *rng, uint64_t use,
                  uint64_t i); /* N(0, 1) by the inverse distribution function */

/* The z with P(N(0, 1) < z) = u, 0 < u <= 1/2. */
double normal_lower_quantile(double u);

/* The 10-round Philox4x32 block function, in place. */
void philox(uint32_t counter[4], const uint32_t key[2]);

#endif
