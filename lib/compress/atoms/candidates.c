/* candidates.c -- finds the water level tau of a draw (p = min(1, |x| / tau)) and the candidates, the elements
 * that the draw may keep.
 *
 * For a large tensor of which few elements are kept, one pass suffices. A level t, almost surely below tau,
 * is estimated from a sample. The pass collects the candidates of t. They include all candidates of tau, and
 * every element above t, from which tau is solved exactly. If t was above tau, a linear-time search finds tau
 * instead.
 *
 * If many elements are kept, lists of them would be larger than the tensor, so tau is computed from the tensor
 * itself. The result does not depend on t: the iteration for tau uses only elements above the levels that it
 * visits. */
#include "compress/atoms/candidates.h"

#include "math/vec/kernels.h"
#include "base/parallel.h"
#include "compress/atoms/waterfill.h"

#include <float.h>
#include <math.h>

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

void candidates_sift(const Candidates *d, size_t block, AtomPiece *slot)
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

Status candidates_collect(Candidates *d, BlockDraw *filler)
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

Status candidates_open(Candidates *d, const Call *c, const float *x, size_t n)
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

static LevelResult solve_whole(const Candidates *d, double s, double *tau)
{
    Remaining live = {.count = d->n, .x = d->x, .under = FLT_MAX};
    parallel_for(d->call->threads, d->blocks, sum_block, (void *)(uintptr_t)d);
    return solve(sum_all(d), s, 0, &live, tau);
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

/* Returns the water level that the paper's released code uses for a budget s, with p = min(1, s |x| /
 * |x|_1). */
static double clipped_level(const Candidates *d, double s)
{
    double sum = 0;
    for (size_t b = 0; b < d->blocks; b++)
        sum += kernels()->sum_magnitudes(d->x + b * BLOCK, block_size(d->n, b));
    return sum / s;
}

static Status find_level(Candidates *d, const AtomPlan *plan, double *tau, bool *ready)
{
    *ready = false;
    *tau = (double)plan->tau;
    if (plan->budget > 0 && plan->probs == PROBS_CLIP)
        *tau = clipped_level(d, plan->budget);
    else if (plan->budget > 0)
        return level_of_budget(d, plan->budget, tau, ready);
    else if (plan->bits > 0)
        *tau = atoms_level_of_bits(d->x, d->n, plan->bits, d->call->threads, d->call->scratch);
    else if (plan->eps > 0)
        *tau = waterfill_of_variance(d->x, d->n, plan->eps, d->call->threads, d->call->scratch);
    return isnan(*tau) ? arena_fail(d->call->scratch, d->call->err) : OK;
}

Status candidates_of_plan(Candidates *d, const AtomPlan *plan, float *tau)
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
