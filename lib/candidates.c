/* candidates.c -- level and candidates in one pass, when the tensor is large enough to sample.
 *
 * A level t guessed from a sample, and lowered a little, is almost surely under the true level tau. So one
 * pass that adds up |x| and keeps the candidates of t holds all that is needed: every element above t, for
 * solving tau exactly, and a superset of the candidates of tau. Where the guess was too high a linear-time
 * search replaces it. What comes out is the same either way: tau is solved by an iteration that sees only
 * elements above the levels it passes through, in an order that does not depend on t. */
#include "candidates.h"

#include "kernels.h"
#include "parallel.h"
#include "waterfill.h"

#include <float.h>
#include <math.h>

enum {
    SAMPLE = 1 << 14,
    SAMPLED_FROM = 4 * SAMPLE, /* shorter tensors are searched whole */
    SLACK = 16,                /* what coin_sift may write behind a block's last candidate */
    ROUNDS = 64
};

/* The level at which every non-zero element has p = 1. */
static Coin coin_of(float tau)
{
    return coin_make(tau > 0 ? tau : FLT_TRUE_MIN);
}

/* ---- candidates, a wave of blocks at a time ---- */

static void sift_block(void *data, size_t slot)
{
    Candidates *d = data;
    const size_t block = d->wave + slot;
    const RngKey key = rng_key(&d->rng, USE_COIN, block);
    Piece *s = &d->slot[slot];
    s->count = kernels()->coin_sift(d->x + block * BLOCK, block_size(d->n, block), d->coin, &key, s->at,
                                    s->value, &s->sum);
}

/* Moves a slot's candidates to memory of their own size. */
static bool settle_slot(Candidates *d, size_t slot)
{
    const Piece *s = &d->slot[slot];
    Piece *p = &d->piece[d->wave + slot];
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

/* Fills every block's piece by `block`, which fills a slot. */
Status candidates_collect(Candidates *d, void (*block)(void *candidates, size_t slot))
{
    for (d->wave = 0; d->wave < d->blocks; d->wave += WAVE) {
        const size_t left = d->blocks - d->wave, slots = left < WAVE ? left : WAVE;
        parallel_for(d->call->threads, slots, block, d);
        for (size_t slot = 0; slot < slots; slot++)
            if (!settle_slot(d, slot))
                return arena_fail(d->call->scratch, d->call->err);
    }
    return OK;
}

static Status sift(Candidates *d, double level)
{
    d->coin = coin_of((float)level);
    return candidates_collect(d, sift_block);
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
    d->piece = NEW_ZERO(c->scratch, Piece, d->blocks);
    if (!d->piece)
        return arena_fail(c->scratch, c->err);
    for (size_t slot = 0; slot < WAVE && slot < d->blocks; slot++) {
        d->slot[slot].at = NEW(c->scratch, uint32_t, room);
        d->slot[slot].value = NEW(c->scratch, float, room);
        if (!d->slot[slot].at || !d->slot[slot].value)
            return arena_fail(c->scratch, c->err);
    }
    return OK;
}

/* ---- the level ---- */

/* 0.9 of the level that a stratified sample suggests; 0 when it suggests none. */
static double guess_level(const Candidates *d, double budget)
{
    const ArenaMark mark = arena_mark(d->call->scratch);
    float *sample = NEW(d->call->scratch, float, SAMPLE);
    const size_t stride = d->n / SAMPLE;
    Level level = {0};
    for (uint32_t i = 0; sample && i < SAMPLE; i++)
        sample[i] = d->x[i * stride + rng_mix(i, RNG_STRIDE) % stride];
    if (sample)
        waterfill_floats(sample, SAMPLE, budget / (double)d->n * SAMPLE, 1, d->call->scratch, &level);
    arena_rewind(d->call->scratch, mark);
    return 0.9 * level.tau;
}

typedef enum { SOLVED, TOO_HIGH, ILL } Solved;

/* The level from the candidates of a coin at `from`: tau = (|x|_1 - those above tau) / (s - how many),
 * repeated until no more are above it; each round's level is higher than the next one's. TOO_HIGH when a
 * round passes under `from`; ILL where the subtraction would cost more than three digits or the rounds do not
 * end. */
static Solved solve(const Candidates *d, double s, double from, float *live, size_t lives, double *tau)
{
    const double all = sum_all(d);
    double above = 0;
    size_t heavy = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const double tail = all - above;
        if (tail < all * 0x1p-10)
            return ILL;
        const double level = tail / (s - (double)heavy);
        if (level < from * (1 + 1e-6))
            return TOO_HIGH;
        size_t rest = 0;
        double more = 0;
        for (size_t i = 0; i < lives; i++) {
            const bool over = (double)live[i] > level;
            more += over ? (double)live[i] : 0;
            live[rest] = live[i];
            rest += !over;
        }
        if (rest == lives) {
            *tau = level;
            return SOLVED;
        }
        above += more;
        heavy += lives - rest;
        lives = rest;
    }
    return ILL;
}

static Status sift_and_solve(Candidates *d, double s, double from, double *tau, Solved *solved)
{
    TRY(sift(d, from));
    const double least = (double)(float)from * (1 - 1e-6);
    const ArenaMark mark = arena_mark(d->call->scratch);
    size_t lives = 0, total = 0;
    for (size_t b = 0; b < d->blocks; b++)
        total += d->piece[b].count;
    float *live = NEW(d->call->scratch, float, total);
    if (!live)
        return arena_fail(d->call->scratch, d->call->err);
    for (size_t b = 0; b < d->blocks; b++)
        for (size_t i = 0; i < d->piece[b].count; i++) {
            live[lives] = fabsf(d->piece[b].value[i]);
            lives += (double)live[lives] >= least;
        }
    *solved = solve(d, s, from, live, lives, tau);
    arena_rewind(d->call->scratch, mark);
    return OK;
}

static Status search_level(const Candidates *d, double s, Level *level)
{
    if (!waterfill_floats(d->x, d->n, s, d->call->threads, d->call->scratch, level))
        return arena_fail(d->call->scratch, d->call->err);
    return OK;
}

/* The level of a budget, Algorithm 1; `ready` when the candidates at hand are those of tau or lower. */
static Status level_of_budget(Candidates *d, double s, double *tau, bool *ready)
{
    Level level = {0};
    Solved solved = ILL;
    if (d->n >= SAMPLED_FROM && s < (double)d->n) {
        const double guess = guess_level(d, s);
        solved = TOO_HIGH;
        if (guess > 0 && guess < (double)FLT_MAX)
            TRY(sift_and_solve(d, s, guess, tau, &solved));
    }
    if (solved != SOLVED)
        TRY(search_level(d, s, &level));
    if (solved == TOO_HIGH)
        TRY(sift_and_solve(d, s, fmin(fmax(0.999 * level.tau, (double)FLT_TRUE_MIN), (double)FLT_MAX), tau,
                           &solved));
    *ready = solved == SOLVED;
    if (!*ready)
        *tau = level.tau;
    return OK;
}

/* The released coder's: p = min(1, s |x| / |x|_1). */
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
    if (!ready)
        TRY(sift(d, level));
    d->coin = coin_of(*tau);
    return OK;
}
