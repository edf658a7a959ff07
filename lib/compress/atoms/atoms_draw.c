/* atoms_draw.c -- finds the water level tau of a draw (p = min(1, |x| / tau)), and draws atoms at random. Independent
 * draws use a random word for each atom (coin.h). Systematic sampling uses one random offset for all atoms. */
#include "compress/atoms/atoms.h"
#include "math/vec/kernels.h"
#include "base/parallel.h"
#include "compress/atoms/waterfill.h"
#include "base/coin.h"

#include <float.h>
#include <math.h>

const char *const atom_probs[] = {"optimal", "clip", NULL};
const char *const atom_empty[] = {"send", "resample", NULL};
const char *const atom_draws[] = {"independent", "systematic", NULL};

/* ---- the candidates: the elements that the draw may keep.
 *
 * At a water level t, element x is kept with probability min(1, |x| / t). The same random word of an element
 * decides at every level (coin.h), so a lower level keeps all elements that a higher level keeps. The
 * candidates of a level t are the elements that are kept at t. A draw with few candidates stores lists of
 * candidates. A draw that keeps many elements (a dense draw) has only a bit for each element, set if the
 * element is kept.
 *
 * For a large tensor of which few elements are kept, one pass suffices. A level t, almost surely below tau,
 * is estimated from a sample. The pass collects the candidates of t. They include all candidates of tau, and
 * every element above t, from which tau is solved exactly. If t was above tau, a linear-time search finds tau
 * instead.
 *
 * If many elements are kept, lists of them would be larger than the tensor, so tau is computed from the tensor
 * itself. The result does not depend on t: the iteration for tau uses only elements above the levels that it
 * visits. ---- */

enum { WAVE = ATOM_ROOMS }; /* number of blocks (of 2^16 elements) that are drawn at once */

typedef struct Candidates Candidates;

/* A function that draws a block's atoms and writes them to `slot`, which has room for as many atoms as a block
 * has elements. */
typedef void BlockDraw(const Candidates *d, size_t block, AtomPiece *slot);

struct Candidates {
    const Call *call;
    const float *x;
    size_t n, blocks;
    Rng rng;
    Coin coin;
    bool dense;
    /* the candidates of each block and, after the draw, the kept atoms; in a dense draw only their counts and
     * sums */
    AtomPiece *piece;
    uint64_t *kept; /* the bits of a dense draw: bit i % 64 of word i / 64 is set if element i is kept */
    AtomPiece slot[WAVE];
    size_t wave;       /* index of the block whose atoms slot[0] holds */
    BlockDraw *filler; /* the function that draws a block's atoms into a slot */
    /* for each block: the sum of p over all earlier blocks, modulo 1, in units of 2^-64; set only for
     * systematic sampling */
    uint64_t *mass;
    uint64_t offset; /* the random offset of a systematic draw, in units of 2^-64 */
    size_t first;    /* the index of the first kept atom, in a draw that must keep at least one atom */
};

enum {
    SAMPLE = 1 << 14,
    SAMPLED_FROM = 4 * SAMPLE, /* tensors with fewer elements are not sampled */
    SLACK = 16,                /* coin_sift may write this many elements past a block's last candidate */
    ROUNDS = 64
};

/* The draw of a large tensor is dense if the expected share of kept elements, estimated from a sample, is
 * above DENSE. A dense draw has no lists of atoms, only one bit for each element. */
#define DENSE 0.125

/* Returns the coin for water level tau. The coin decides from a random word whether an element is kept
 * (coin.h). At level 0 every element that is not zero is kept. */
static Coin coin_of(float tau)
{
    return coin_make(tau > 0 ? tau : FLT_TRUE_MIN);
}

/* ---- collecting the candidates (elements that a draw may keep), WAVE blocks of elements at a time ---- */

/* A BlockDraw: keeps the elements that d->coin keeps. */
static void candidates_sift(const Candidates *d, size_t block, AtomPiece *slot)
{
    const RngKey key = rng_key(&d->rng, USE_COIN, block);
    slot->count = kernels()->coin_sift(d->x + block * BLOCK, block_size(d->n, block), d->coin, &key, slot->at,
                                       slot->value, &slot->sum);
}

/* Sets the bits in `d->kept` of the atoms kept in one block; slot `slot` holds the indices of these atoms. */
static void mark_slot(Candidates *d, size_t slot)
{
    const AtomPiece *s = &d->slot[slot];
    const size_t block = d->wave + slot;
    uint64_t *bits = d->kept + block * BLOCK / 64;
    memset(bits, 0, (block_size(d->n, block) + 63) / 64 * sizeof *bits);
    for (size_t i = 0; i < s->count; i++)
        bits[s->at[i] / 64] |= UINT64_C(1) << s->at[i] % 64;
    d->piece[block].count = s->count;
}

static void fill_slot(void *data, size_t slot)
{
    Candidates *d = data;
    d->filler(d, d->wave + slot, &d->slot[slot]);
    if (d->dense)
        mark_slot(d, slot);
}

/* Copies a block's candidates out of slot `slot`, which has room for a whole block, to memory of exactly
 * their size. */
static bool settle_slot(Candidates *d, size_t slot)
{
    const AtomPiece *s = &d->slot[slot];
    AtomPiece *p = &d->piece[d->wave + slot];
    p->at = NEW(d->call->scratch, uint32_t, s->count);
    p->value = NEW(d->call->scratch, float, s->count);
    if (!p->at || !p->value)
        return false;
    memcpy(p->at, s->at, s->count * sizeof *p->at);
    memcpy(p->value, s->value, s->count * sizeof *p->value);
    p->count = s->count;
    p->sum = s->sum;
    return true;
}

/* Draws all blocks with the function `filler`. The kept atoms go to d->piece; in a dense draw, bits are set in
 * d->kept. */
static Status candidates_collect(Candidates *d, BlockDraw *filler)
{
    d->filler = filler;
    if (d->dense && !d->kept && !(d->kept = NEW(d->call->scratch, uint64_t, d->blocks * (BLOCK / 64))))
        return arena_fail(d->call->scratch, d->call->err);
    for (d->wave = 0; d->wave < d->blocks; d->wave += WAVE) {
        const size_t left = d->blocks - d->wave, slots = left < WAVE ? left : WAVE;
        parallel_for(d->call->threads, slots, fill_slot, d);
        for (size_t slot = 0; slot < slots && !d->dense; slot++)
            TRY(arena_check(settle_slot(d, slot), d->call->scratch, d->call->err));
    }
    return OK;
}

static Status sift(Candidates *d, double level)
{
    d->coin = coin_of((float)level);
    return candidates_collect(d, candidates_sift);
}

static double sum_all(const Candidates *d)
{
    double sum = 0;
    for (size_t b = 0; b < d->blocks; b++)
        sum += d->piece[b].sum;
    return sum;
}

/* Opens d for the vector x of n elements. Memory comes from c->scratch. x must outlive the draw. */
static Status candidates_open(Candidates *d, const Call *c, const float *x, size_t n)
{
    const size_t room = (n < BLOCK ? n : BLOCK) + SLACK;
    *d = (Candidates){.call = c, .x = x, .n = n, .blocks = blocks_of(n), .rng = c->rng};
    d->piece = NEW_ZERO(c->scratch, AtomPiece, d->blocks);
    TRY(arena_check(d->piece, c->scratch, c->err));
    for (size_t slot = 0; slot < WAVE && slot < d->blocks; slot++) {
        d->slot[slot].at = NEW(c->scratch, uint32_t, room);
        d->slot[slot].value = NEW(c->scratch, float, room);
        TRY(arena_check(d->slot[slot].at && d->slot[slot].value, c->scratch, c->err));
    }
    return OK;
}

/* ---- computing the water level ---- */

/* Returns element i of a stratified sample of SAMPLE elements. */
static float sampled(const Candidates *d, uint32_t i)
{
    const size_t stride = d->n / SAMPLE;
    return d->x[i * stride + rng_mix(i, RNG_STRIDE) % stride];
}

/* Estimates the water level from the sample and lowers it: returns 0.9 times the sample's water level for this
 * budget. Returns 0 if the sample has no water level. */
static double guess_level(const Candidates *d, double budget)
{
    const ArenaMark mark = arena_mark(d->call->scratch);
    float *sample = NEW(d->call->scratch, float, SAMPLE);
    Level level = {0};
    for (uint32_t i = 0; sample && i < SAMPLE; i++)
        sample[i] = sampled(d, i);
    if (sample)
        waterfill_floats(sample, SAMPLE, budget / (double)d->n * SAMPLE, 1, d->call->scratch, &level);
    arena_rewind(d->call->scratch, mark);
    return 0.9 * level.tau;
}

/* True if, by the sample, the coin keeps more than the share DENSE of the elements. False for a tensor too
 * small to sample. */
static bool keeps_many(const Candidates *d, Coin coin)
{
    double sum = 0;
    for (uint32_t i = 0; d->n >= SAMPLED_FROM && i < SAMPLE; i++)
        sum += (double)coin_level(coin, sampled(d, i)) * 0x1p-30;
    return sum > DENSE * SAMPLE;
}

/* The elements that the iteration for tau has not yet counted as heavy (p = 1). */
typedef struct {
    float *list; /* magnitudes of elements not yet counted as heavy; NULL: x is used instead */
    size_t count;
    const float *x;
    float under; /* elements with |x| > `under` are already counted as heavy */
} Remaining;

/* Removes the magnitudes above `level` from the list. Returns their number and sets *sum to their sum. */
static size_t take_listed(Remaining *live, double level, double *sum)
{
    size_t rest = 0;
    double more = 0;
    const size_t all = live->count;
    for (size_t i = 0; i < all; i++) {
        const bool over = (double)live->list[i] > level;
        more += over ? (double)live->list[i] : 0;
        live->list[rest] = live->list[i];
        rest += !over;
    }
    live->count = rest;
    *sum = more;
    return all - rest;
}

enum { ROW = 16 };

static inline bool any_between(const float row[ROW], float above, float most)
{
    int any = 0;
    for (int i = 0; i < ROW; i++)
        any |= (fabsf(row[i]) > above) & (fabsf(row[i]) <= most);
    return any;
}

static size_t take_whole(Remaining *live, double level, double *sum)
{
    const float nearest = (float)level, under = live->under, *const x = live->x;
    /* `above` is a float such that |x| > above if and only if |x| > level, for every float x */
    const float above = (double)nearest > level ? nextafterf(nearest, 0) : nearest;
    size_t taken = 0;
    double more = 0;
    for (size_t i = 0; i < live->count; i += ROW) {
        const size_t some = live->count - i < ROW ? live->count - i : ROW;
        const bool any = some < ROW || any_between(x + i, above, under);
        for (size_t j = i; any && j < i + some; j++) {
            const float v = fabsf(x[j]);
            const bool in = v > above && v <= under;
            more += in ? (double)v : 0;
            taken += in;
        }
    }
    live->under = above;
    *sum = more;
    return taken;
}

typedef enum { SOLVED, TOO_HIGH, ILL_CONDITIONED } LevelResult;

/* Solves tau = (|x|_1 - sum of the heavy |x|) / (s - number of heavy elements) by iteration. `s` is the budget,
 * `all` is |x|_1, and an element is heavy if |x| > tau. Each round counts the elements above its level as
 * heavy, and computes a lower level for the next round. Returns TOO_HIGH if a level falls below `from`:
 * elements below `from` are not available. Returns ILL_CONDITIONED if the subtraction would lose more than
 * three digits, or after ROUNDS rounds. */
static LevelResult solve(double all, double s, double from, Remaining *live, double *tau)
{
    double above = 0, more;
    size_t heavy = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const double tail = all - above;
        if (tail < all * 0x1p-10)
            return ILL_CONDITIONED;
        const double level = tail / (s - (double)heavy);
        if (level < from * (1 + 1e-6))
            return TOO_HIGH;
        const size_t taken = (live->list ? take_listed : take_whole)(live, level, &more);
        if (taken == 0) {
            *tau = level;
            return SOLVED;
        }
        above += more;
        heavy += taken;
    }
    return ILL_CONDITIONED;
}

static void sum_block(void *data, size_t block)
{
    const Candidates *d = data;
    d->piece[block].sum = kernels()->sum_magnitudes(d->x + block * BLOCK, block_size(d->n, block));
}

/* Sets the sums of all blocks, and returns |x|_1. */
static double sum_whole(Candidates *d)
{
    parallel_for(d->call->threads, d->blocks, sum_block, d);
    return sum_all(d);
}

static LevelResult solve_whole(Candidates *d, double s, double *tau)
{
    Remaining live = {.count = d->n, .x = d->x, .under = FLT_MAX};
    return solve(sum_whole(d), s, 0, &live, tau);
}

static Status sift_and_solve(Candidates *d, double s, double from, double *tau, LevelResult *solved)
{
    TRY(sift(d, from));
    const double least = (double)(float)from * (1 - 1e-6);
    const ArenaMark mark = arena_mark(d->call->scratch);
    size_t total = 0;
    for (size_t b = 0; b < d->blocks; b++)
        total += d->piece[b].count;
    Remaining live = {.list = NEW(d->call->scratch, float, total)};
    TRY(arena_check(live.list, d->call->scratch, d->call->err));
    for (size_t b = 0; b < d->blocks; b++)
        for (size_t i = 0; i < d->piece[b].count; i++) {
            live.list[live.count] = fabsf(d->piece[b].value[i]);
            live.count += (double)live.list[live.count] >= least;
        }
    *solved = solve(sum_all(d), s, from, &live, tau);
    arena_rewind(d->call->scratch, mark);
    return OK;
}

static Status search_level(const Candidates *d, double s, Level *level)
{
    TRY(arena_check(waterfill_floats(d->x, d->n, s, d->call->threads, d->call->scratch, level),
                    d->call->scratch, d->call->err));
    return OK;
}

static Status sample_and_solve(Candidates *d, double s, double *tau, LevelResult *solved)
{
    const double guess = guess_level(d, s);
    Level level;
    *solved = TOO_HIGH;
    if (guess > 0 && guess < (double)FLT_MAX)
        TRY(sift_and_solve(d, s, guess, tau, solved));
    if (*solved != TOO_HIGH)
        return OK;
    TRY(search_level(d, s, &level));
    *tau = level.tau;
    TRY(sift_and_solve(d, s, fmin(fmax(0.999 * level.tau, (double)FLT_TRUE_MIN), (double)FLT_MAX), tau,
                       solved));
    return OK;
}

/* Finds the water level tau at which `s` atoms are expected (Algorithm 1 of Wang et al. 2018). Sets *ready to
 * true if `d->piece` now holds all candidates of tau. */
static Status level_of_budget(Candidates *d, double s, double *tau, bool *ready)
{
    LevelResult solved = ILL_CONDITIONED;
    Level level;
    if (d->n >= SAMPLED_FROM && s < (double)d->n) {
        if (s > DENSE * (double)d->n)
            solved = solve_whole(d, s, tau);
        else
            TRY(sample_and_solve(d, s, tau, &solved));
        *ready = solved == SOLVED && s <= DENSE * (double)d->n;
    }
    if (solved == SOLVED)
        return OK;
    TRY(search_level(d, s, &level));
    *tau = level.tau;
    return OK;
}

static Status find_level(Candidates *d, const AtomPlan *plan, double *tau, bool *ready)
{
    *ready = false;
    *tau = (double)plan->tau;
    if (plan->budget > 0 && plan->probs == PROBS_CLIP)
        *tau = sum_whole(d) / plan->budget; /* the paper's released code: p = min(1, s |x| / |x|_1) */
    else if (plan->budget > 0)
        return level_of_budget(d, plan->budget, tau, ready);
    return OK;
}

/* Finds the plan's water level, and sets d->coin to the coin of this level. Unless the draw is dense, d->piece
 * then holds all elements that the coin keeps, and perhaps some more. The level does not depend on the sample,
 * the number of threads or the instruction set. */
static Status candidates_of_plan(Candidates *d, const AtomPlan *plan, float *tau)
{
    double level;
    bool ready;
    TRY(find_level(d, plan, &level, &ready));
    if (level > (double)FLT_MAX)
        return FAIL(d->call->err, ERR_NUMERIC, "%s: the atoms' common magnitude %.3g is beyond float32",
                    d->call->self->ops->name, level);
    *tau = (float)level;
    d->dense = !ready && keeps_many(d, coin_of(*tau));
    if (!ready && !d->dense)
        TRY(sift(d, level));
    d->coin = coin_of(*tau);
    return OK;
}

/* ---- independent draws ---- */

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
    bool sure = false; /* an element has p = 1 */
    unsigned __int128 total = 0;
    d->mass = NEW(d->call->scratch, uint64_t, d->blocks);
    TRY(arena_check(d->mass, d->call->scratch, d->call->err));
    for (size_t b = 0; b < d->blocks; b++) {
        uint64_t mass = 0;
        for (size_t i = b * BLOCK, end = i + block_size(d->n, b); i < end; i++) {
            const float level = coin_level(d->coin, d->x[i]);
            mass += mass_of(level);
            sure |= level >= 0x1p30f;
        }
        d->mass[b] = (uint64_t)total;
        total += mass;
    }
    d->offset = rng_u64(&d->rng, USE_ATOM, 0);
    /* if sum p < 1, offsets in [0, 1) are scaled to [0, sum p), so that every offset lies in the interval of an
     * atom */
    if (never_empty && !sure && total >> 64 == 0)
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

/* Adds the number of heavy atoms (p = 1) of a block to draw->heavy. Returns the sum of their |x|. */
static double sum_heavy(const Candidates *d, size_t block, AtomDraw *draw)
{
    const AtomPiece *p = &d->piece[block];
    const float *x = d->dense ? d->x + block * BLOCK : p->value;
    const size_t n = d->dense ? block_size(d->n, block) : p->count;
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        const bool heavy = fabsf(x[i]) > draw->tau;
        draw->heavy += heavy;
        sum += heavy ? fabs((double)x[i]) : 0;
    }
    return sum;
}

Status atoms_open(const Call *c, const AtomPlan *plan, const float *x, size_t n, AtomDraw *draw)
{
    Candidates *d = NEW(c->scratch, Candidates, 1);
    double above = 0;
    TRY(arena_check(d, c->scratch, c->err));
    *draw = (AtomDraw){.from = d};
    TRY(candidates_open(d, c, x, n));
    TRY(candidates_of_plan(d, plan, &draw->tau));
    const double all = d->dense ? sum_whole(d) : sum_all(d);
    for (size_t b = 0; b < d->blocks; b++)
        above += sum_heavy(d, b, draw);
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
AtomPiece atoms_kept(const AtomDraw *draw, size_t block, size_t slot)
{
    const Candidates *d = draw->from;
    AtomPiece room = d->slot[slot];
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
