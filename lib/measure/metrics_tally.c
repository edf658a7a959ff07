/* metrics_tally.c -- computes a tally's sums in passes over a vector and its estimates, and adds tallies. */
#include "measure/metrics.h"
#include "base/parallel.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

Status tally_open(Tally *t, RecordLevel level, size_t repeats, bool random, Arena *a, Error *err)
{
    *t = (Tally){.level = level,
                 .repeats = repeats,
                 .decoded = random ? repeats : 1,
                 .cells = 1,
                 .own_draws = 1,
                 .unbiased = true,
                 .along_known = true,
                 .signs_known = true,
                 .fixed_size = true,
                 .size_known = true,
                 .none = 1,
                 .residual2 = NAN,
                 .wasserstein = NAN,
                 .decile = {{NAN}},
                 .spread_known = !random || repeats > 1,
                 .percentile_known = true};
    t->error = arena_zeroed(a, t->decoded, sizeof *t->error);
    t->grown = NEW_ZERO(a, double, t->decoded);
    t->sent = NEW_ZERO(a, double, t->decoded);
    t->distance = NEW(a, double, t->decoded);
    TRY(arena_check(t->error && t->grown && t->sent && t->distance, a, err));
    for (size_t r = 0; r < t->decoded; r++)
        t->distance[r] = NAN;
    return OK;
}

/* ---- passes over a vector: blocks run in parallel, and their sums are added in order ---- */

enum { LARGEST = E_SUMS, STEPS, PART = STEPS + S_STEPS }; /* indices into a block's array of partial sums */
_Static_assert((int)G_SUMS <= (int)PART && (int)S_SUMS <= (int)PART,
               "one size of partial sums fits all passes");

typedef struct {
    const MeasuredVector *s;
    const float *y;
    size_t repeat;
    double (*part)[PART];
} Pass;

static void gradient_block(void *data, size_t b)
{
    const Pass *p = data;
    kernels()->gradient_sums(p->s->x + b * BLOCK, block_size(p->s->n, b), p->s->above, p->part[b]);
}

static void error_block(void *data, size_t b)
{
    const Pass *p = data;
    const MeasuredVector *s = p->s;
    const size_t at = b * BLOCK, n = block_size(s->n, b);
    kernels()->error_sums(s->x + at, p->y + at, n, s->above, p->part[b], &p->part[b][LARGEST]);
    if (s->half)
        kernels()->spread_add(s->x + at, p->y + at, n, (double)(p->repeat + 1), s->half + at, s->root + at,
                              &p->part[b][STEPS]);
}

static void spread_block(void *data, size_t b)
{
    const Pass *p = data;
    const MeasuredVector *s = p->s;
    const size_t at = b * BLOCK;
    kernels()->spread_sums(s->x + at, s->half + at, s->root + at, block_size(s->n, b), p->part[b]);
}

/* Runs a pass over the vector. Adds the blocks' partial sums to the array `sum`, which has `sums`
 * entries. If the tally `repeats` is not NULL, also updates its sums over repeats and its largest error. */
static Status run_pass(Pass *p, void (*block)(void *, size_t), double *sum, size_t sums, Tally *repeats)
{
    const MeasuredVector *s = p->s;
    const ArenaMark mark = arena_mark(s->scratch);
    const size_t blocks = blocks_of(s->n);
    p->part = arena_take(s->scratch, blocks, sizeof *p->part);
    TRY(arena_check(p->part, s->scratch, s->err));
    parallel_for(s->threads, blocks, block, p);
    for (size_t b = 0; b < blocks; b++) {
        for (size_t i = 0; i < sums; i++)
            sum[i] += p->part[b][i];
        if (repeats)
            repeats->largest = fmax(repeats->largest, p->part[b][LARGEST]);
        for (size_t i = 0; repeats && s->half && i < S_STEPS; i++)
            repeats->spread[i] += p->part[b][STEPS + i];
        if (repeats && s->half)
            repeats->grown[p->repeat] += p->part[b][STEPS + S_M2];
    }
    arena_rewind(s->scratch, mark);
    return OK;
}

Status tally_gradient(Tally *t, const MeasuredVector *s)
{
    Pass p = {.s = s};
    t->n = (double)s->n;
    return run_pass(&p, gradient_block, t->gradient, G_SUMS, NULL);
}

Status tally_repeat(Tally *t, const MeasuredVector *s, size_t r, const float *y)
{
    assert(r < t->decoded);
    Pass p = {.s = s, .y = y, .repeat = r};
    return run_pass(&p, error_block, t->error[r], E_SUMS, t);
}

Status tally_spread(Tally *t, const MeasuredVector *s)
{
    if (s->half) {
        Pass p = {.s = s};
        TRY(run_pass(&p, spread_block, t->spread, S_SUMS, NULL));
        const double r = (double)t->repeats;
        /* Let m2 be R - 1 times an element's empirical variance over R repeats; S_M2_SQUARES sums m2^2. For
         * normally distributed estimates of variance v, the mean of m2^2 is (R - 1)(R + 1) v^2. */
        t->squares = t->spread[S_M2_SQUARES] / ((r - 1) * (r + 1));
        t->weighted_squares = t->spread[S_M2_WEIGHTED_SQUARES] / ((r - 1) * (r + 1));
        return OK;
    }
    assert(t->decoded == 1);
    t->spread[S_BIAS] = t->error[0][E_SQUARES];
    t->spread[S_BIAS_DOT] = t->error[0][E_DOT] - t->gradient[G_SQUARES];
    return OK;
}

/* ---- a tally as numbers: the doubles from `cells` to `spread`, without padding, and the flags behind them ---- */

enum {
    FIRST = offsetof(Tally, cells),
    NUMBERS = (offsetof(Tally, unbiased) - FIRST) / sizeof(double),
    ADDED = (offsetof(Tally, n) - FIRST) / sizeof(double),
    COUNT = (offsetof(Tally, distances.n) - FIRST) / sizeof(double), /* the only whole number */
    KEPT = offsetof(Tally, percentile_known) - offsetof(Tally, unbiased),
    FLAGS = KEPT + 1
};
_Static_assert(sizeof(bool) == 1 && sizeof(double) == sizeof(size_t) && offsetof(Tally, unbiased) == FIRST + NUMBERS * sizeof(double),
               "numbers have no padding");

void tally_append(Tally *total, const Tally *part)
{
    assert(part->decoded == total->decoded || part->decoded == 1);
    double *sum = (double *)((char *)total + FIRST);
    const double *more = (const double *)((const char *)part + FIRST);
    bool *flag = (bool *)(sum + NUMBERS);
    for (size_t i = ADDED; i < NUMBERS; i++)
        sum[i] += more[i];
    for (size_t i = 0; i < KEPT; i++)
        flag[i] = flag[i] && ((const bool *)(more + NUMBERS))[i];
    if (!isnan(part->residual2))
        total->residual2 = isnan(total->residual2) ? part->residual2 : total->residual2 + part->residual2;
    total->scratch = fmax(total->scratch, part->scratch);
    total->largest = fmax(total->largest, part->largest);
    total->none *= part->none;
    total->own_draws *= part->own_draws;
    for (size_t r = 0; r < total->decoded; r++) {
        const size_t from = part->decoded == 1 ? 0 : r;
        total->sent[r] += part->sent[from];
        total->grown[r] += part->decoded == 1 ? 0 : part->grown[r];
        for (size_t i = 0; i < E_SUMS; i++)
            total->error[r][i] += part->error[from][i];
    }
}

size_t tally_numbers(const Tally *t)
{
    return NUMBERS + t->decoded * (E_SUMS + 1) + FLAGS;
}

void tally_save(const Tally *t, double *to)
{
    memcpy(to, (const char *)t + FIRST, NUMBERS * sizeof *to);
    to[COUNT] = (double)t->distances.n;
    to += NUMBERS;
    memcpy(to, t->error, t->decoded * sizeof *t->error);
    to += t->decoded * E_SUMS;
    memcpy(to, t->grown, t->decoded * sizeof *t->grown);
    to += t->decoded;
    const bool *flag = (const bool *)((const char *)t + FIRST) + NUMBERS * sizeof *to;
    for (size_t i = 0; i < FLAGS; i++)
        to[i] = flag[i];
}

void tally_load(Tally *t, const double *from)
{
    memcpy((char *)t + FIRST, from, NUMBERS * sizeof *from);
    t->distances.n = (size_t)from[COUNT];
    from += NUMBERS;
    memcpy(t->error, from, t->decoded * sizeof *t->error);
    from += t->decoded * E_SUMS;
    memcpy(t->grown, from, t->decoded * sizeof *t->grown);
    from += t->decoded;
    bool *flag = (bool *)((char *)t + FIRST) + NUMBERS * sizeof *from;
    for (size_t i = 0; i < FLAGS; i++)
        flag[i] = from[i] != 0;
}
