/* atoms_draw.c -- draws atoms at random. Independent draws use a random word for each atom (coin.h). Systematic
 * sampling uses one random offset for all atoms. */
#include "compress/atoms/atoms.h"

#include "compress/atoms/candidates.h"
#include "math/vec/kernels.h"
#include "base/parallel.h"

#include <math.h>

const char *const atom_probs[] = {"optimal", "clip", NULL};
const char *const atom_empty[] = {"send", "resample", NULL};
const char *const atom_draws[] = {"independent", "systematic", NULL};

/* Draws the kept atoms among a block's candidates, the atoms that might be kept. Removes a candidate if its
 * coin (coin.h), which compares a random word with p, does not keep it. */
static void toss(const Candidates *d, size_t block, AtomPiece *p)
{
    const RngKey key = rng_key(&d->rng, USE_COIN, block);
    size_t count = 0;
    for (size_t i = 0; i < p->count; i++) {
        p->at[count] = p->at[i];
        p->value[count] = p->value[i];
        count += coin_keep(d->coin, p->value[i], &key, p->at[i]);
    }
    p->count = count;
}

static void toss_block(void *data, size_t block)
{
    const Candidates *d = data;
    toss(d, block, &d->piece[block]);
}

static void sift_and_toss(const Candidates *d, size_t block, AtomPiece *slot)
{
    candidates_sift(d, block, slot);
    toss(d, block, slot);
}

static Status draw_independent(Candidates *d)
{
    if (d->dense)
        return candidates_collect(d, sift_and_toss);
    parallel_for(d->call->threads, d->blocks, toss_block, d);
    return OK;
}

/* ---- systematic draws: one random offset for all atoms ---- */

/* Returns p modulo 1 in units of 2^-64, so 0 for p = 1. Only the fractional part of sums of p matters. `level`
 * is p 2^30. */
static inline uint64_t mass_of(float level)
{
    return level < 0x1p30f ? (uint64_t)((double)level * 0x1p34) : 0;
}

/* The job that computes for each block the sum of its elements' p modulo 1, and whether an element has p =
 * 1. */
typedef struct {
    Candidates *d;
    bool *sure; /* one entry per block: true if the block has an element with p = 1 */
} MassJob;

static void weigh_block(void *data, size_t block)
{
    const MassJob *w = data;
    const Candidates *d = w->d;
    const float *x = d->x + block * BLOCK;
    const size_t size = block_size(d->n, block);
    uint64_t mass = 0;
    bool sure = false;
    for (size_t i = 0; i < size; i++) {
        const float level = coin_level(d->coin, x[i]);
        mass += mass_of(level);
        sure |= level >= 0x1p30f;
    }
    d->mass[block] = mass;
    w->sure[block] = sure;
}

/* Draws the kept elements of a block by systematic sampling. Element i owns the interval from the sum of p
 * before i to the sum that includes i. An element is kept if its interval contains `offset` plus an integer. */
static void march(const Candidates *d, size_t block, AtomPiece *s)
{
    const size_t size = block_size(d->n, block);
    const float *x = d->x + block * BLOCK;
    const uint64_t offset = d->offset;
    uint64_t passed = d->mass[block];
    size_t count = 0;
    for (size_t i = 0; i < size; i++) {
        const float level = coin_level(d->coin, x[i]);
        const uint64_t share = mass_of(level);
        s->at[count] = (uint32_t)i;
        s->value[count] = x[i];
        count += level >= 0x1p30f || offset - passed < share;
        passed += share;
    }
    s->count = count;
    s->sum = d->piece[block].sum;
}

static Status draw_systematic(Candidates *d, bool never_empty)
{
    bool *sure = NEW(d->call->scratch, bool, d->blocks), any = false;
    unsigned __int128 total = 0;
    d->mass = NEW(d->call->scratch, uint64_t, d->blocks);
    TRY(arena_check(d->mass && sure, d->call->scratch, d->call->err));
    parallel_for(d->call->threads, d->blocks, weigh_block, &(MassJob){d, sure});
    for (size_t b = 0; b < d->blocks; b++) {
        const uint64_t mass = d->mass[b];
        d->mass[b] = (uint64_t)total;
        total += mass;
        any |= sure[b];
    }
    d->offset = rng_u64(&d->rng, USE_ATOM, 0);
    /* if sum p < 1, offsets in [0, 1) are scaled to [0, sum p), so that every offset lies in the interval of an
     * atom */
    if (never_empty && !any && total >> 64 == 0)
        d->offset = (uint64_t)(d->offset * total >> 64);
    return candidates_collect(d, march);
}

/* ---- draws that must not be empty ---- */

static double probability(const Candidates *d, size_t i)
{
    return (double)coin_level(d->coin, d->x[i]) * 0x1p-30;
}

static void toss_after_first(const Candidates *d, size_t block, AtomPiece *s)
{
    const size_t size = block_size(d->n, block);
    const RngKey key = rng_key(&d->rng, USE_COIN, block);
    s->count = 0;
    s->sum = d->piece[block].sum;
    for (size_t i = 0; i < size; i++) {
        const size_t at = block * BLOCK + i;
        if (at == d->first || (at > d->first && coin_keep(d->coin, d->x[at], &key, (uint32_t)i))) {
            s->at[s->count] = (uint32_t)i;
            s->value[s->count++] = d->x[at];
        }
    }
}

/* Draws again after a draw that kept no atom, under the condition that at least one is kept. The first kept
 * atom is i with probability p_i times P(no atom before i is kept) / P(some atom is kept). Later atoms are
 * drawn independently. No p is 1, since otherwise the first draw would have kept an atom. */
static Status draw_again(Candidates *d)
{
    /* `none`: log of the probability that no atom is kept; `passed`: log of the probability that none of atoms
     * 0 .. i is kept */
    double none = 0, passed = 0;
    for (size_t i = 0; i < d->n; i++)
        none += log1p(-probability(d, i));
    d->rng = rng_below(&d->rng, 1);
    const double target = log1p(rng_unit(&d->rng, USE_ATOM, 0) * expm1(none));
    d->first = d->n;
    for (size_t i = 0; i < d->n && (d->first == d->n || passed >= target); i++)
        if (d->x[i] != 0) {
            passed += log1p(-probability(d, i));
            d->first = i;
        }
    return candidates_collect(d, toss_after_first);
}

/* ---- finding the water level and drawing the atoms ---- */

/* The number of heavy atoms (p = 1) in a block of elements, and the sum of their |x|. */
typedef struct {
    size_t count;
    double sum;
} HeavyPart;

typedef struct {
    const Candidates *d;
    float tau;
    HeavyPart *heavy; /* the heavy atoms (p = 1) of each block */
} HeavyJob;

static void sum_heavy(void *data, size_t block)
{
    const HeavyJob *s = data;
    const Candidates *d = s->d;
    AtomPiece *p = &d->piece[block];
    const float *x = d->dense ? d->x + block * BLOCK : p->value;
    const size_t n = d->dense ? block_size(d->n, block) : p->count;
    HeavyPart h = {0};
    for (size_t i = 0; i < n; i++) {
        const bool heavy = fabsf(x[i]) > s->tau;
        h.count += heavy;
        h.sum += heavy ? fabs((double)x[i]) : 0;
    }
    s->heavy[block] = h;
    if (d->dense)
        p->sum = kernels()->sum_magnitudes(x, n);
}

Status atoms_open(const Call *c, const AtomPlan *plan, const float *x, size_t n, AtomDraw *draw)
{
    Candidates *d = NEW(c->scratch, Candidates, 1);
    double above = 0, all = 0;
    TRY(arena_check(d, c->scratch, c->err));
    *draw = (AtomDraw){.from = d};
    TRY(candidates_open(d, c, x, n));
    TRY(candidates_of_plan(d, plan, &draw->tau));
    HeavyJob s = {d, draw->tau, NEW(c->scratch, HeavyPart, d->blocks)};
    TRY(arena_check(s.heavy, c->scratch, c->err));
    parallel_for(c->threads, d->blocks, sum_heavy, &s);
    for (size_t b = 0; b < d->blocks; b++) {
        draw->heavy += s.heavy[b].count;
        above += s.heavy[b].sum;
        all += d->piece[b].sum;
    }
    draw->light = draw->tau > 0 ? fmax(0, all - above) / (double)draw->tau : 0;
    return OK;
}

static size_t count_kept(const Candidates *d)
{
    size_t count = 0;
    for (size_t b = 0; b < d->blocks; b++)
        count += d->piece[b].count;
    return count;
}

Status atoms_toss(const AtomPlan *plan, AtomDraw *draw)
{
    Candidates *d = draw->from;
    const bool never_empty = plan->empty == EMPTY_RESAMPLE;
    TRY(plan->draw == DRAW_SYSTEMATIC ? draw_systematic(d, never_empty) : draw_independent(d));
    draw->count = count_kept(d);
    if (never_empty && draw->count == 0 && draw->light > 0) {
        TRY(draw_again(d));
        draw->count = count_kept(d);
    }
    return OK;
}

/* After the draw its slots are free. */
AtomPiece atoms_room(const AtomDraw *draw, size_t slot)
{
    return draw->from->slot[slot];
}

AtomPiece atoms_kept(const AtomDraw *draw, size_t block, AtomPiece room)
{
    const Candidates *d = draw->from;
    if (!d->dense)
        return d->piece[block];
    const float *x = d->x + block * BLOCK;
    const uint64_t *bits = d->kept + block * BLOCK / 64;
    room.count = 0;
    for (size_t w = 0; w < (block_size(d->n, block) + 63) / 64; w++)
        for (uint64_t left = bits[w]; left; left &= left - 1) {
            const size_t i = 64 * w + (size_t)__builtin_ctzll(left);
            room.at[room.count] = (uint32_t)i;
            room.value[room.count++] = x[i];
        }
    return room;
}
