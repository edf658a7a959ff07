/* babble.c -- draws a text from a source whose entropy rate is known.
 *
 * The source is a Markov chain: the distribution of a letter depends on the two letters before it. Each pair of
 * letters is followed by four letters with the probabilities WEIGHT / 64 each, times 31 / 32, or with
 * probability 1 / 32 by any letter. So every letter can follow every pair, and the chain has one stationary
 * distribution. The entropy rate is the mean, over the stationary distribution of pairs, of the entropy of the
 * letter that follows: no model of the source has a smaller expected loss. */
#include "train/babble.h"

#include "train/files.h"

#include <math.h>
#include <string.h>

enum { FOLLOWERS = 4, SUM = 2048, WEIGHT_SUM = 64, FLOOR = 64 / BABBLE_LETTERS };

static const unsigned weight[FOLLOWERS] = {28, 18, 12, 6};

/* Fills share[pair][letter] with the probabilities times SUM. The generator's word
 * FOLLOWERS pair + i picks follower i of a pair; two followers may be the same letter. */
static void draw_source(uint64_t seed, uint16_t share[BABBLE_PAIRS][BABBLE_LETTERS])
{
    const Rng rng = rng_open(seed, 0, RNG_EVERYONE, 0, rng_hash("babble"));
    const RngKey key = rng_key(&rng, USE_DATA, 0);
    for (uint32_t pair = 0; pair < BABBLE_PAIRS; pair++) {
        for (uint32_t k = 0; k < BABBLE_LETTERS; k++)
            share[pair][k] = FLOOR;
        for (uint32_t i = 0; i < FOLLOWERS; i++)
            share[pair][rng_word(&key, pair * FOLLOWERS + i) % BABBLE_LETTERS] +=
                (uint16_t)(weight[i] * (SUM - FLOOR * BABBLE_LETTERS) / WEIGHT_SUM);
    }
}

/* Multiplies the distribution of pairs by the chain's matrix until it is stationary. Each step shrinks the
 * distance to the stationary distribution, so 1,000 steps reach the precision of double. */
double babble_entropy(uint64_t seed)
{
    enum { STEPS = 1000 };
    uint16_t share[BABBLE_PAIRS][BABBLE_LETTERS];
    double now[BABBLE_PAIRS], next[BABBLE_PAIRS], rate = 0;
    draw_source(seed, share);
    for (size_t pair = 0; pair < BABBLE_PAIRS; pair++)
        now[pair] = 1.0 / BABBLE_PAIRS;
    for (size_t step = 0; step < STEPS; step++) {
        memset(next, 0, sizeof next);
        for (size_t pair = 0; pair < BABBLE_PAIRS; pair++)
            for (size_t k = 0; k < BABBLE_LETTERS; k++)
                next[pair % BABBLE_LETTERS * BABBLE_LETTERS + k] += now[pair] * share[pair][k] / SUM;
        memcpy(now, next, sizeof now);
    }
    for (size_t pair = 0; pair < BABBLE_PAIRS; pair++)
        for (size_t k = 0; k < BABBLE_LETTERS; k++)
            rate -= now[pair] * share[pair][k] / SUM * log((double)share[pair][k] / SUM);
    return rate;
}

void babble_draw(uint64_t seed, DataSplit split, size_t count, uint8_t *letters)
{
    uint16_t share[BABBLE_PAIRS][BABBLE_LETTERS];
    const Rng rng = rng_open(seed, 0, RNG_EVERYONE, split, rng_hash("babble text"));
    size_t pair = 0;
    draw_source(seed, share);
    for (size_t i = 0; i < count; i++) {
        uint32_t left = rng_u32(&rng, USE_DATA, i) % SUM, k = 0;
        while (left >= share[pair][k])
            left -= share[pair][k++];
        letters[i] = (uint8_t)k;
        pair = pair % BABBLE_LETTERS * BABBLE_LETTERS + k;
    }
}

Status babble_load(Dataset *d, const char *dir, uint64_t seed, Arena *a, Error *err)
{
    (void)dir;
    const size_t tokens = d->split == SPLIT_TRAIN ? BABBLE_TRAIN : BABBLE_TEST;
    uint8_t *letters = NEW(a, uint8_t, tokens);
    TRY(arena_check(letters, a, err));
    babble_draw(seed, d->split, tokens, letters);
    return text_set(d, letters, tokens, BABBLE_LETTERS, babble_entropy(seed), a, err);
}
