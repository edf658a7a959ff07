/* subset.c -- the draw of a random subset; see select.h. */
#include "math/select.h"

#include "math/vec/kernels.h"

#include <math.h>
#include <string.h>

/* ---- the number of members of a random subset in each block ---- */

/* The counts of a hypergeometric distribution: `drawn` of `all` elements are drawn, and `marked` of `all` are
 * marked. */
typedef struct {
    double all, marked, drawn;
} Urn;

#define NEGLIGIBLE 0x1p-80 /* probabilities below this share of the largest probability are left out */

/* Adds up the probabilities of drawing j marked elements, each divided by the largest of them. Starts at the
 * likeliest j, goes down, then up from the likeliest. If the sum passes `stop`, ends there and returns this
 * j. Sets *sum. */
static double add_up(Urn u, double stop, double *sum)
{
    const double rest = u.all - u.marked - u.drawn;
    const double low = fmax(0, -rest), high = fmin(u.marked, u.drawn);
    const double likeliest = fmin(high, fmax(low, floor((u.drawn + 1) * ((u.marked + 1) / (u.all + 2)))));
    double chance = 1;
    *sum = 1;
    for (double j = likeliest; *sum <= stop && j > low && chance > NEGLIGIBLE; j--) {
        chance *= j * (rest + j) / ((u.marked - j + 1) * (u.drawn - j + 1));
        *sum += chance;
        if (*sum > stop)
            return j - 1;
    }
    chance = 1;
    for (double j = likeliest; *sum <= stop && j < high && chance > NEGLIGIBLE; j++) {
        chance *= (u.marked - j) * (u.drawn - j) / ((j + 1) * (rest + j + 1));
        *sum += chance;
        if (*sum > stop)
            return j + 1;
    }
    return likeliest;
}

/* Draws a number of marked elements from the hypergeometric distribution, by inversion of the uniform number
 * `unit` in [0, 1). */
static size_t marked_in(Urn u, double unit)
{
    double sum;
    add_up(u, INFINITY, &sum);
    return (size_t)add_up(u, unit * sum, &sum);
}

bool subset_open(Subset *s, const Rng *rng, size_t n, size_t k, Arena *a)
{
    const size_t blocks = blocks_of(n);
    *s = (Subset){*rng, n, k, NEW(a, size_t, blocks + 1)};
    if (!s->before)
        return false;
    s->before[0] = 0;
    for (size_t b = 0; b < blocks; b++) {
        const Urn u = {(double)(n - b * BLOCK), (double)(k - s->before[b]), (double)block_size(n, b)};
        s->before[b + 1] = s->before[b] + marked_in(u, rng_unit(rng, USE_ATOM, b));
    }
    return true;
}

/* ---- the members of the subset in a block ---- */

/* Marks `count` of `size` elements by Floyd's algorithm: for rising j, picks one of 0 .. j, where the relative error of
 * each probability is at most 2^-48; if the picked element is a member already, j becomes a member instead. */
static void mark_some(const RngKey *key, uint32_t size, uint32_t count, uint64_t *member)
{
    uint32_t at[BLOCK / 2];
    kernels()->picks(key, count, size - count + 1, at);
    for (uint32_t i = 0, j = size - count; i < count; i++, j++) {
        const uint32_t joins = member[at[i] / 64] >> at[i] % 64 & 1 ? j : at[i];
        member[joins / 64] |= UINT64_C(1) << joins % 64;
    }
}

void subset_mark(const Subset *s, size_t block, uint64_t member[BLOCK / 64])
{
    const uint32_t size = (uint32_t)block_size(s->n, block);
    const uint32_t count = (uint32_t)(s->before[block + 1] - s->before[block]);
    const RngKey key = rng_key(&s->rng, USE_SAMPLE, block);
    const size_t words = (size + 63) / 64;
    memset(member, 0, words * sizeof *member);
    if (count <= size / 2) {
        mark_some(&key, size, count, member);
        return;
    }
    /* marks the elements outside the subset; the bits are inverted below */
    mark_some(&key, size, size - count, member);
    for (size_t w = 0; w < words; w++)
        member[w] = ~member[w];
    if (size % 64)
        member[words - 1] &= (UINT64_C(1) << size % 64) - 1;
}
