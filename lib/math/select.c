/* select.c -- selects the k largest magnitudes. A sample of the elements gives a threshold that is almost
 * surely a little too low; one pass marks all elements with at least this magnitude, and the k largest of
 * the marked elements are found. If fewer than k are marked, all elements are ranked. */
#include "math/select.h"

#include "base/bytes.h"
#include "math/vec/kernels.h"
#include "base/parallel.h"
#include "math/radix.h"
#include "base/rng.h"

#include <float.h>
#include <math.h>

enum {
    WORDS = BLOCK / 64,
    SAMPLE = 1 << 14,
    SAMPLED_FROM = 4 * SAMPLE, /* vectors with fewer elements are ranked without a sample */
    FEW = 8                    /* the selected indices are listed when they are at most n / FEW */
};

bool select_open(Picks *s, const float *x, size_t n, int threads, Arena *scratch)
{
    *s = (Picks){.x = x, .n = n, .threads = threads, .scratch = scratch};
    s->bits = NEW_ZERO(scratch, uint64_t, blocks_of(n) * WORDS);
    s->in_block = NEW_ZERO(scratch, size_t, blocks_of(n));
    s->part = NEW(scratch, double, blocks_of(n));
    return s->bits && s->in_block && s->part;
}

/* ---- selecting all elements from a threshold on ---- */

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

float select_level(double least)
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
    Mark m = {s, select_level(least)};
    s->place = NULL;
    s->value = NULL;
    parallel_for(s->threads, blocks_of(s->n), mark_block, &m);
    count_all(s);
}

/* ---- lists ---- */

/* Writes the indices of the selected elements of a block to `place` and returns their number. */
static size_t select_places(const Picks *s, size_t block, size_t *place)
{
    const uint64_t *bits = s->bits + block * WORDS;
    const size_t words = s->in_block[block] ? (block_size(s->n, block) + 63) / 64 : 0;
    size_t count = 0;
    for (size_t w = 0; w < words; w++)
        for (uint64_t left = bits[w]; left; left &= left - 1)
            place[count++] = block * BLOCK + 64 * w + (size_t)__builtin_ctzll(left);
    return count;
}

typedef struct {
    Picks *s;
    size_t *before; /* number of selected elements before each block */
} List;

static void list_block(void *data, size_t block)
{
    const List *l = data;
    size_t *place = l->s->place + l->before[block];
    float *value = l->s->value + l->before[block];
    const size_t count = select_places(l->s, block, place);
    for (size_t i = 0; i < count; i++)
        value[i] = l->s->x[place[i]];
}

static void gather_block(void *data, size_t block)
{
    const List *l = data;
    const float *x = l->s->x + block * BLOCK;
    const uint64_t *bits = l->s->bits + block * WORDS;
    float *value = l->s->value + l->before[block];
    const size_t words = l->s->in_block[block] ? (block_size(l->s->n, block) + 63) / 64 : 0;
    for (size_t w = 0; w < words; w++)
        for (uint64_t left = bits[w]; left; left &= left - 1)
            *value++ = x[64 * w + (size_t)__builtin_ctzll(left)];
}

/* Writes the selected elements to s->value, and with `places` their indices to s->place. */
static bool list(Picks *s, bool places)
{
    List l = {s, NEW(s->scratch, size_t, blocks_of(s->n))};
    float *value = NEW(s->scratch, float, s->count);
    size_t *place = places ? NEW(s->scratch, size_t, s->count) : NULL, count = 0;
    if (!l.before || !value || (places && !place))
        return false;
    for (size_t b = 0; b < blocks_of(s->n); b++) {
        l.before[b] = count;
        count += s->in_block[b];
    }
    s->value = value;
    s->place = place;
    parallel_for(s->threads, blocks_of(s->n), places ? list_block : gather_block, &l);
    return true;
}

static bool list_few(Picks *s)
{
    return s->place || s->count > s->n / FEW || list(s, true);
}

bool select_values(Picks *s)
{
    return list_few(s) && (s->value || list(s, false));
}

/* ---- thinning a selection: keeps elements above a threshold and the first `ties` equal to it ---- */

typedef struct {
    float least[2]; /* thresholds on the magnitudes of positive and of negative elements */
    /* for positive and for negative elements: how many elements equal to the threshold are still to be kept;
     * the two pointers may be equal */
    size_t *ties[2];
} Thin;

static bool stays(const Thin *t, float x)
{
    const int side = x < 0;
    const float v = fabsf(x), least = t->least[side];
    const bool tie = (v == least) & (*t->ties[side] > 0);
    *t->ties[side] -= tie;
    return (v > least) | tie;
}

static void thin_list(Picks *s, const Thin *t)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->count; i++) {
        const float v = s->value[i];
        s->place[kept] = s->place[i];
        s->value[kept] = v;
        const bool stay = stays(t, v);
        kept += stay;
        s->in_block[s->place[i] / BLOCK] -= !stay;
    }
    s->count = kept;
}

static void thin_bits(Picks *s, const Thin *t)
{
    for (size_t b = 0; b < blocks_of(s->n); b++) {
        size_t dropped = 0;
        for (size_t w = b * WORDS; w < (b + 1) * WORDS && 64 * w < s->n; w++)
            for (uint64_t left = s->bits[w]; left; left &= left - 1)
                if (!stays(t, s->x[64 * w + (size_t)__builtin_ctzll(left)])) {
                    s->bits[w] &= ~(left & -left);
                    dropped++;
                }
        s->in_block[b] -= dropped;
    }
    count_all(s);
}

static Thin thin_alike(float least, size_t *ties)
{
    return (Thin){{least, least}, {ties, ties}};
}

/* ---- ranks ---- */

/* Returns the k-th largest magnitude of the n elements of `value`, 1 <= k <= n; sets *ties to how many of the k
 * largest magnitudes are equal to it. */
static float kth_largest(const float *value, size_t n, size_t k, int threads, size_t *ties)
{
    size_t upto;
    const float v = radix_magnitude(value, n, n - k, threads, &upto);
    *ties = k - (n - upto);
    return v;
}

/* Selects the k largest magnitudes by ranking all elements. */
static void top_of_all(Picks *s, size_t k)
{
    size_t ties;
    const float least = kth_largest(s->x, s->n, k, s->threads, &ties);
    select_from(s, (double)least);
    const Thin t = thin_alike(least, &ties);
    if (s->count > k)
        thin_bits(s, &t);
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
    if (!list_few(s))
        return false;
    if (s->place) {
        const float least = kth_largest(s->value, s->count, k, s->threads, &ties);
        const Thin t = thin_alike(least, &ties);
        thin_list(s, &t);
    } else {
        top_of_all(s, k);
    }
    return true;
}

/* Fills `sample` with one element of x from each of SAMPLE parts of equal length, at a pseudo-random index. */
static void draw_sample(const Picks *s, float sample[SAMPLE])
{
    const size_t stride = s->n / SAMPLE;
    for (uint32_t i = 0; i < SAMPLE; i++)
        sample[i] = s->x[i * stride + rng_mix(i, RNG_STRIDE) % stride];
}

/* Returns a threshold that at least k elements reach with probability above 1 - 1e-6, if the elements' values
 * do not depend on their indices. Returns 0 if the sample (of m elements) is too small. */
static double guess_level(const Picks *s, const float *sample, size_t m, size_t k)
{
    const double share = (double)k / (double)s->n * SAMPLE, rank = share + 5 * sqrt(share) + 8;
    size_t ties;
    return rank < (double)m ? (double)kth_largest(sample, m, (size_t)rank, 1, &ties) : 0;
}

bool select_top(Picks *s, size_t k)
{
    if (k >= s->n) {
        select_from(s, 0);
        return true;
    }
    if (s->n >= SAMPLED_FROM && k <= s->n / FEW) {
        float sample[SAMPLE];
        draw_sample(s, sample);
        const double guess = guess_level(s, sample, SAMPLE, k);
        select_from(s, guess);
        if (s->count >= k || guess == 0)
            return select_narrow(s, k);
    }
    if (k > 0)
        top_of_all(s, k);
    return true;
}

/* ---- selecting positive and negative elements separately ---- */

/* Copies the positive (side 0) or negative (side 1) elements to `value`, which has room for n. Returns their
 * number. */
static size_t gather(const float *x, size_t n, int side, float *value)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        value[count] = x[i];
        count += side ? x[i] < 0 : x[i] > 0;
    }
    return count;
}

/* Returns a threshold that very probably at least k[0] positive and k[1] negative elements reach in
 * magnitude. Returns 0 if the sample is too small. */
static double guess_both(const Picks *s, const size_t k[2])
{
    float sample[SAMPLE], own[SAMPLE];
    double least = INFINITY;
    draw_sample(s, sample);
    for (int side = 0; side < 2; side++)
        if (k[side])
            least = fmin(least, guess_level(s, own, gather(sample, SAMPLE, side, own), k[side]));
    return least;
}

/* Sets the thresholds and ties of t so that k[0] positive and k[1] negative elements of x remain. Returns
 * false if x has fewer such elements. */
static bool rank_both(const float *x, size_t n, const size_t k[2], int threads, float *room, Thin *t)
{
    for (int side = 0; side < 2; side++) {
        const size_t m = gather(x, n, side, room);
        if (m < k[side])
            return false;
        t->least[side] = k[side] ? kth_largest(room, m, k[side], threads, t->ties[side]) : INFINITY;
    }
    return true;
}

bool select_sides(Picks *s, const size_t k[2])
{
    size_t ties[2] = {0, 0};
    Thin t = {{0, 0}, {&ties[0], &ties[1]}};
    float *room = NEW(s->scratch, float, s->n + 1);
    if (!room)
        return false;
    if (s->n >= SAMPLED_FROM && k[0] + k[1] <= s->n / FEW) {
        select_from(s, guess_both(s, k));
        if (!list_few(s))
            return false;
        if (s->place && rank_both(s->value, s->count, k, s->threads, room, &t)) {
            thin_list(s, &t);
            return true;
        }
    }
    const bool enough = rank_both(s->x, s->n, k, s->threads, room, &t);
    select_from(s, (double)fminf(t.least[0], t.least[1]));
    thin_bits(s, &t);
    return enough;
}
