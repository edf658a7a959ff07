/* compare_parts.h -- what the files of the comparison share (compare.h). */
#ifndef ATOMO_COMPARE_PARTS_H
#define ATOMO_COMPARE_PARTS_H

#include "exchange/exchange.h"
#include "exchange/states.h"
#include "measure/compare.h"

#include <math.h>

/* ---- layout: cells, states and percentiles; the same for every codec ---- */

typedef struct {
    size_t from, to; /* its vectors */
    size_t elements;
    double above; /* 95th percentile of |g| over the cell; NaN: beyond the memory */
} Cell;

typedef struct {
    Cell *cell;            /* in output order */
    size_t cells, largest; /* elements of the largest cell */
    size_t *order;         /* cells as they are replayed: by worker, then step */
    double *above;         /* per vector: its own 95th percentile */
    double above_run;
    Level reach;
} Layout;

Status layout_make(Layout *l, const VectorList *vectors, uint64_t memory, Arena *a, Error *err);

/* ---- one codec on one vector ---- */

/* Buffers for the largest vector, 16 bytes an element in all, and the pooled copies that order statistics sort. */
typedef struct {
    float *x, *y;
    float *work;             /* 2 n and a little: sorting, then mean and spread per element */
    float *pool_x, *pool_y;  /* NULL: not held */
    double *encode, *decode; /* (repeats) seconds */
    const Codec *none;
    float *g;             /* merging: a worker's gradient */
    double *sum;          /* merging: of gradients */
    double *merge, *each; /* merging: (repeats) seconds */
    Arena *payloads, *scratch;
} Buffers;

Status buffers_make(Buffers *b, const Comparison *c, const Layout *l, Arena *a, Error *err);
void buffers_close(Buffers *b);

/* Bytes of n floats in whole cache lines, as arenas give out: what an arena wants to be lent to take n. */
static inline size_t lendable(size_t n)
{
    return (n * sizeof(float) + 63) & ~(size_t)63;
}

typedef struct {
    const Comparison *c;
    const Codec *codec;
    const Vector *vector;
    double above[LEVELS];
    void *state;             /* NULL: the codec keeps none */
    const void *const *plan; /* this vector's record of each worker; NULL: the codec makes none */
    bool *unread;            /* merging: set when a failure is no doing of the codec's */
    float *first;            /* where to leave a copy of what repeat 0 decoded; NULL: nowhere */
} Trial;

/* The Call of a codec on a vector, and its random address for one repeat: everything that a payload depends on. */
Call trial_call(const Comparison *c, const Codec *codec, const Vector *v, const void *state, Arena *scratch,
                Error *err);
void trial_address(Call *call, const Comparison *c, const Vector *v, uint64_t repeat);

/* Fills an open tally; buffers' x holds the vector. Whatever fails here but ERR_STOPPED is the codec's own doing. */
Status trial_run(const Trial *t, const Buffers *b, Tally *tally, Error *err);

/* ---- merging: compare_merge.c ---- */

static inline size_t workers_of(const Comparison *c)
{
    return c->workers ? c->workers : 1;
}

/* One step of all workers on a vector, not begun yet. */
Exchange merge_exchange(const Comparison *c, const Codec *codec, const Vector *v, Arena *scratch, Error *err);

/* The average gradient, into b->x. */
Status merge_mean(const Comparison *c, const Vector *v, const Buffers *b, Error *err);

/* As trial_run, but that x holds nothing yet. */
Status merge_run(const Trial *t, const Buffers *b, Tally *tally, Error *err);

/* ---- plans: compare_plan.c ---- */

/* What planning takes. */
typedef struct {
    const Comparison *c;
    const Codec *codec;
    CodecStates *states;
    float *x, *y; /* room for the largest vector each */
    Arena *scratch;
    size_t worker; /* of a merge */
} Planner;

/* What a codec planned over the vectors of a cell. */
typedef struct {
    char *next;  /* records of `size` bytes, for each vector that is not sent raw, in their order */
    size_t size; /* 0: the codec plans nothing */
    bool failed;
    const Error *why; /* of a failure */
    double seconds;   /* how long it took, reading aside */
    double scratch;   /* bytes */
} CellPlan;

/* The records live in the arena. What the codec fails at is in the plan; a Status is not its doing. */
Status plan_make(CellPlan *plan, const Planner *p, const Cell *cell, Arena *a, Error *err);

/* The record of the next vector, for its Call. */
const void *plan_take(CellPlan *plan, const Vector *v);

static inline bool comparison_stopped(const Comparison *c)
{
    return c->stopped && c->stopped();
}

#endif
