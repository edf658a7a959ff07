/* select.c -- the largest k: one pass marks all from a level on that a sample makes almost surely too low, by little;
 * the few that are too many are ranked by themselves. Where the sample misled, ranks come from the whole vector. */
#include "select.h"

#include "bytes.h"
#include "kernels.h"
#include "parallel.h"
#include "radix.h"
#include "rng.h"

#include <float.h>
#include <math.h>

enum {
    WORDS = BLOCK / 64,
    SAMPLE = 1 << 14,
    SAMPLED_FROM = 4 * SAMPLE, /* shorter vectors are ranked whole */
    FEW = 8                    /* up to one in so many elements is listed */
};

bool select_open(Picks *s, const float *x, size_t n, int threads, Arena *scratch)
{
    *s = (Picks){.x = x, .n = n, .threads = threads, .scratch = scratch};
    s->bits = NEW_ZERO(scratch, uint64_t, blocks_of(n) * WORDS);
    s->in_block = NEW_ZERO(scratch, size_t, blocks_of(n));
    s->part = NEW(scratch, double, blocks_of(n));
    return s->bits && s->in_block && s->part;
}

/* ---- all from a level on ---- */

typedef struct {
    Picks *s;
    float least;
} Mark;

static void mark_block(void *data, size_t block)
{
    const Mark *m = data;
    Picks *s = m->s;
    s->in_block[block] = kernels()->mark_from(s->x + block * BLOCK, block_size(s->n, block), m->least,
                                              s->bits + block * WORDS);
}

static void count_all(Picks *s)
{
    s->count = 0;
    for (size_t b = 0; b < blocks_of(s->n); b++)
        s->count += s->in_block[b];
}

/* The smallest float that is no smaller. */
static float float_from(double least)
{
    if (!(least > (double)FLT_TRUE_MIN))
        return FLT_TRUE_MIN;
    if (least > (double)FLT_MAX)
        return INFINITY;
    const float nearest = (float)least;
    return (double)nearest < least ? nextafterf(nearest, INFINITY) : nearest;
}

void select_from(Picks *s, double least)
{
    Mark m = {s, float_from(least)};
    s->place = NULL;
    s->value = NULL;
    parallel_for(s->threads, blocks_of(s->n), mark_block, &m);
    count_all(s);
}

/* ---- one number of each block ---- */

static void largest_block(void *data, size_t block)
{
    const Picks *s = data;
    s->part[block] = (double)kernels()->abs_max(s->x + block * BLOCK, block_size(s->n, block));
}

static void sum_block(void *data, size_t block)
{
    const Picks *s = data;
    const size_t words = s->in_block[block] ? (block_size(s->n, block) + 63) / 64 : 0;
    double sum = 0;
    for (size_t w = block * WORDS; w < block * WORDS + words; w++)
        for (uint64_t left = s->bits[w]; left; left &= left - 1)
            sum += fabs((double)s->x[64 * w + (size_t)__builtin_ctzll(left)]);
    s->part[block] = sum;
}

static void total_block(void *data, size_t block)
{
    const Picks *s = data;
    s->part[block] = kernels()->sum_magnitudes(s->x + block * BLOCK, block_size(s->n, block));
}

static double add_blocks(const Picks *s, void (*block)(void *data, size_t block))
{
    double sum = 0;
    parallel_for(s->threads, blocks_of(s->n), block, (void *)(uintptr_t)s);
    for (size_t b = 0; b < blocks_of(s->n); b++)
        sum += s->part[b];
    return sum;
}

double select_total(const Picks *s)
{
    return add_blocks(s, total_block);
}

double select_sum(const Picks *s)
{
    return add_blocks(s, sum_block);
}

double select_largest(const Picks *s)
{
    double largest = 0;
    parallel_for(s->threads, blocks_of(s->n), largest_block, (void *)(uintptr_t)s);
    for (size_t b = 0; b < blocks_of(s->n); b++)
        largest = fmax(largest, s->part[b]);
    return largest;
}

/* ---- lists ---- */

size_t select_places(const Picks *s, size_t block, size_t *place)
{
    const uint64_t *bits = s->bits + block * WORDS;
    const size_t words = s->in_block[block] ? (block_size(s->n, block) + 63) / 64 : 0;
    size_t count = 0;
    for (size_t w = 0; w < words; w++)
        for (uint64_t left = bits[w]; left; left &= left - 1)
            place[count++] = block * BLOCK + 64 * w + (size_t)__builtin_ctzll(left);
    return count;
}

bool select_list(Picks *s)
{
    if (s->place || s->count > s->n / FEW)
        return true;
    size_t *place = NEW(s->scratch, size_t, s->count);
    float *value = NEW(s->scratch, float, s->count);
    if (!place || !value)
        return false;
    size_t at = 0;
    for (size_t b = 0; b < blocks_of(s->n); b++)
        at += select_places(s, b, place + at);
    for (size_t i = 0; i < s->count; i++)
        value[i] = s->x[place[i]];
    s->place = place;
    s->value = value;
    return true;
}

/* ---- keeping what is above a level, and the first `ties` of what equals it ---- */

static void thin_list(Picks *s, float least, size_t ties)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++) {
        const float v = fabsf(s->value[i]);
        const bool tie = (v == least) & (ties > 0);
        ties -= tie;
        s->place[kept] = s->place[i];
        s->value[kept] = s->value[i];
        kept += (v > least) | tie;
    }
    s->count = kept;
}

static void thin_bits(Picks *s, float least, size_t ties)
{
    for (size_t b = 0; b < blocks_of(s->n); b++) {
        size_t dropped = 0;
        for (size_t w = b * WORDS; w < (b + 1) * WORDS && 64 * w < s->n; w++)
            for (uint64_t left = s->bits[w]; left; left &= left - 1) {
                const float v = fabsf(s->x[64 * w + (size_t)__builtin_ctzll(left)]);
                const bool tie = v == least && ties > 0;
                ties -= tie;
                if (!(v > least) && !tie) {
                    s->bits[w] &= ~(left & -left);
                    dropped++;
                }
            }
        s->in_block[b] -= dropped;
    }
    count_all(s);
}

/* ---- ranks ---- */

/* The k-th largest magnitude of `value` (n), k from 1 to n; `*ties` is how many of its size are among the k. */
static float kth_largest(const float *value, size_t n, size_t k, size_t *ties)
{
    size_t upto;
    const float v = radix_magnitude(value, n, n - k, &upto);
    *ties = k - (n - upto);
    return v;
}

/* Ranks all elements: no list is held. */
static void top_of_all(Picks *s, size_t k)
{
    size_t ties;
    const float least = kth_largest(s->x, s->n, k, &ties);
    select_from(s, (double)least);
    if (s->count > k)
        thin_bits(s, least, ties);
}

bool select_narrow(Picks *s, size_t k)
{
    size_t ties;
    if (s->count <= k)
        return true;
    if (k == 0) {
        select_from(s, INFINITY);
        return true;
    }
    if (!select_list(s))
        return false;
    if (s->place) {
        const float least = kth_largest(s->value, s->count, k, &ties);
        thin_list(s, least, ties);
    } else {
        top_of_all(s, k); /* the same: whatever is left out is smaller */
    }
    return true;
}

/* A level that at least k elements reach, but for a chance under 1e-6 where places and values have nothing to do with
 * one another. */
static double guess_level(const Picks *s, size_t k)
{
    float sample[SAMPLE];
    const size_t stride = s->n / SAMPLE;
    const double share = (double)k / (double)s->n * SAMPLE, rank = share + 5 * sqrt(share) + 8;
    size_t ties;
    if (rank >= SAMPLE)
        return 0;
    for (uint32_t i = 0; i < SAMPLE; i++)
        sample[i] = s->x[i * stride + rng_mix(i, RNG_STRIDE) % stride];
    return (double)kth_largest(sample, SAMPLE, (size_t)rank, &ties);
}

bool select_top(Picks *s, size_t k)
{
    if (k >= s->n) {
        select_from(s, 0);
        return true;
    }
    if (s->n >= SAMPLED_FROM && k <= s->n / FEW) {
        const double guess = guess_level(s, k);
        select_from(s, guess);
        if (s->count >= k || guess == 0)
            return select_narrow(s, k);
    }
    if (k > 0)
        top_of_all(s, k);
    return true;
}
