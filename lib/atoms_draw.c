/* atoms_draw.c -- tosses the atoms' coins, or marches through them with one offset. */
#include "atoms.h"

#include "candidates.h"
#include "parallel.h"

#include <math.h>

const char *const atom_probs[] = {"optimal", "clip", NULL};
const char *const atom_empty[] = {"send", "resample", NULL};
const char *const atom_draws[] = {"independent", "systematic", NULL};

/* Of the candidates, those whose coin says so at the level that travels. */
static void toss_block(void *data, size_t block)
{
    const Candidates *d = data;
    Piece *p = &d->piece[block];
    const RngKey key = rng_key(&d->rng, USE_COIN, block);
    size_t count = 0;
    for (size_t i = 0; i < p->count; i++) {
        p->at[count] = p->at[i];
        p->value[count] = p->value[i];
        count += coin_keep(d->coin, p->value[i], &key, p->at[i]);
    }
    p->count = count;
}

/* ---- systematic draws ---- */

/* p in 2^-64; p = 1 does not count, as it moves the running total by a whole. */
static inline uint64_t mass_of(float level)
{
    return level < 0x1p30f ? (uint64_t)((double)level * 0x1p34) : 0;
}

/* The block's total of p, modulo 1, and whether one of its elements has p = 1. */
typedef struct {
    Candidates *d;
    bool *sure;
} Weighing;

static void weigh_block(void *data, size_t block)
{
    const Weighing *w = data;
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

/* Element i is kept when a whole number plus the offset falls into its share of the running total of p. */
static void march_block(void *data, size_t slot)
{
    Candidates *d = data;
    const size_t block = d->wave + slot, size = block_size(d->n, block);
    const float *x = d->x + block * BLOCK;
    const uint64_t offset = d->offset;
    Piece *s = &d->slot[slot];
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
    if (!d->mass || !sure)
        return arena_fail(d->call->scratch, d->call->err);
    parallel_for(d->call->threads, d->blocks, weigh_block, &(Weighing){d, sure});
    for (size_t b = 0; b < d->blocks; b++) {
        const uint64_t mass = d->mass[b];
        d->mass[b] = (uint64_t)total;
        total += mass;
        any |= sure[b];
    }
    d->offset = rng_u64(&d->rng, USE_ATOM, 0);
    if (never_empty && !any && total >> 64 == 0) /* less than one atom in all: an offset that meets it */
        d->offset = (uint64_t)(d->offset * total >> 64);
    return candidates_collect(d, march_block);
}

/* ---- draws that must not be empty ---- */

static double chance(const Candidates *d, size_t i)
{
    return (double)coin_level(d->coin, d->x[i]) * 0x1p-30;
}

static void toss_behind_first(void *data, size_t slot)
{
    Candidates *d = data;
    const size_t block = d->wave + slot, size = block_size(d->n, block);
    const RngKey key = rng_key(&d->rng, USE_COIN, block);
    Piece *s = &d->slot[slot];
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

/* Drawing until something is kept, without the loop: the first one kept is i with chance p_i times that of
 * none before it, given that there is one; those behind it toss coins as ever. An empty draw says that no p
 * is 1. */
static Status draw_again(Candidates *d)
{
    double none = 0, passed = 0; /* logarithms of the chance of none at all, of none so far */
    for (size_t i = 0; i < d->n; i++)
        none += log1p(-chance(d, i));
    d->rng = rng_below(&d->rng, 1);
    const double target = log1p(rng_unit(&d->rng, USE_ATOM, 0) * expm1(none));
    d->first = d->n;
    for (size_t i = 0; i < d->n && (d->first == d->n || passed >= target); i++)
        if (d->x[i] != 0) {
            passed += log1p(-chance(d, i));
            d->first = i;
        }
    return candidates_collect(d, toss_behind_first);
}

/* ---- the whole ---- */

/* One list of what is left in the pieces, and what a draw costs on average. */
static Status gather(const Candidates *d, float tau, AtomDraw *out)
{
    double above = 0, all = 0;
    *out = (AtomDraw){.tau = tau};
    for (size_t b = 0; b < d->blocks; b++)
        out->count += d->piece[b].count;
    out->index = NEW(d->call->scratch, size_t, out->count);
    out->value = NEW(d->call->scratch, float, out->count);
    if (!out->index || !out->value)
        return arena_fail(d->call->scratch, d->call->err);
    size_t k = 0;
    for (size_t b = 0; b < d->blocks; b++) {
        const Piece *p = &d->piece[b];
        all += p->sum;
        for (size_t i = 0; i < p->count; i++, k++) {
            const bool heavy = fabsf(p->value[i]) > tau;
            out->index[k] = b * BLOCK + p->at[i];
            out->value[k] = p->value[i];
            out->heavy += heavy;
            above += heavy ? fabs((double)p->value[i]) : 0;
        }
    }
    out->light = tau > 0 ? fmax(0, all - above) / (double)tau : 0;
    return OK;
}

Status atoms_draw(const Call *c, const AtomPlan *plan, const float *x, size_t n, AtomDraw *draw)
{
    Candidates d;
    float tau;
    const bool never_empty = plan->empty == EMPTY_RESAMPLE;
    TRY(candidates_open(&d, c, x, n));
    TRY(candidates_of_plan(&d, plan, &tau));
    if (plan->draw == DRAW_SYSTEMATIC)
        TRY(draw_systematic(&d, never_empty));
    else
        parallel_for(c->threads, d.blocks, toss_block, &d);
    TRY(gather(&d, tau, draw));
    if (never_empty && draw->count == 0 && draw->light > 0) {
        TRY(draw_again(&d));
        TRY(gather(&d, tau, draw));
    }
    return OK;
}

/* ---- the closed form ---- */

typedef struct {
    const float *x;
    size_t n;
    double tau, *part; /* (blocks) */
} Spread;

static void spread_block(void *data, size_t block)
{
    const Spread *s = data;
    const float *x = s->x + block * BLOCK;
    double sum = 0;
    for (size_t i = 0; i < block_size(s->n, block); i++) {
        const double v = fabs((double)x[i]);
        sum += v <= s->tau ? v * (s->tau - v) : 0;
    }
    s->part[block] = sum;
}

double atoms_spread(const Call *c, float tau, const float *x, size_t n)
{
    Spread s = {x, n, (double)tau, NEW(c->scratch, double, blocks_of(n))};
    double sum = 0;
    if (!s.part)
        return NAN;
    parallel_for(c->threads, blocks_of(n), spread_block, &s);
    for (size_t b = 0; b < blocks_of(n); b++)
        sum += s.part[b];
    return sum;
}
