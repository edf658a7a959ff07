/* compare_parts.h -- interfaces between the compare_*.c files (compare.h is the public one). */
#ifndef ATOMO_COMPARE_PARTS_H
#define ATOMO_COMPARE_PARTS_H

#include "exchange/exchange.h"
#include "exchange/states.h"
#include "measure/compare.h"

#include <math.h>

/* ---- layout: cells and percentiles, the same for every codec (compare.c) ---- */

typedef struct {
    size_t from, to; /* the vectors with index from .. to - 1 */
    size_t elements;
    double above; /* 95th percentile of |g| over the cell; NaN: the cell does not fit into memory */
} Cell;

typedef struct {
    Cell *cell;            /* (cells) in output order */
    size_t cells, largest; /* number of cells; elements of the largest cell */
    size_t *order;         /* (cells) indices of cells in the order of replay: by worker, then step */
    double *above;         /* (vectors) 95th percentile of |g| of each vector */
    double above_run;
    RecordLevel reach;
} Layout;

Status layout_make(Layout *l, const VectorList *vectors, uint64_t memory, Arena *a, Error *err);

/* ---- one codec on one vector ---- */

/* Buffers for the largest vector, 16 bytes per element in total, and the pooled copies that order statistics sort. */
typedef struct {
    float *x, *y;
    float *work;             /* a little over 2 n: buffer of the sort, then mean and deviation per element */
    float *pool_x, *pool_y;  /* NULL: order statistics are computed per vector only */
    double *encode, *decode; /* (repeats) seconds */
    const Codec *none;
    float *g;             /* merge: a worker's gradient */
    double *sum;          /* merge: sum of the workers' gradients */
    double *merge, *each; /* merge: (repeats) seconds */
    Arena *payloads, *scratch;
} Buffers;

Status buffers_make(Buffers *b, const Comparison *c, const Layout *l, Arena *a, Error *err);
void buffers_close(Buffers *b);

/* Returns the bytes of n floats rounded up to 64: an arena that is lent this many bytes can hold n floats. */
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
    const void *const *plan; /* (workers) plan records of this vector; NULL: the codec plans nothing */
    bool *unread; /* merge: set when a gradient cannot be loaded, which is not the codec's failure */
    float *first; /* receives repeat 0's estimate; NULL: not wanted */
} Trial;

/* Returns the Call of a codec on a vector for repeat 0; trial_address sets the random address of another repeat. */
Call trial_call(const Comparison *c, const Codec *codec, const Vector *v, const void *state, Arena *scratch,
                Error *err);
void trial_address(Call *call, const Comparison *c, const Vector *v, uint64_t repeat);

/* Measures b->x, which holds the vector, into an open tally. Every error except ERR_STOPPED is the codec's
 * failure. */
Status trial_run(const Trial *t, const Buffers *b, Tally *tally, Error *err);

/* ---- merges of many workers (compare_merge.c) ---- */

static inline size_t workers_of(const Comparison *c)
{
    return c->workers ? c->workers : 1;
}

/* Returns the Exchange of all workers on a vector for repeat 0, before exchange_begin. The caller sets batch, y,
 * payloads and clock. */
Exchange merge_exchange(const Comparison *c, const Codec *codec, const Vector *v, Arena *scratch, Error *err);

/* Writes the mean gradient of all workers to b->x. */
Status merge_mean(const Comparison *c, const Vector *v, const Buffers *b, Error *err);

/* Like trial_run, for a merge; b->x becomes the mean gradient. */
Status merge_run(const Trial *t, const Buffers *b, Tally *tally, Error *err);

/* ---- plans (compare_plan.c) ---- */
typedef struct {
    const Comparison *c;
    const Codec *codec;
    CodecStates *states;
    float *x, *y; /* room for the largest vector in each */
    Arena *scratch;
    size_t worker; /* merge: the worker whose gradient is planned */
} Planner;

/* A codec's plan for the vectors of a cell. */
typedef struct {
    char *next;  /* next record to take; records of `size` bytes, one per vector that is not raw, in order */
    size_t size; /* bytes of a record; 0: the codec plans nothing */
    bool failed;
    const Error *why; /* why planning failed */
    double seconds;   /* time to plan, without loading */
    double scratch;   /* peak bytes of working memory */
} CellPlan;

/* Makes a plan with its records in the arena. A codec's failure is stored in the plan; the Status reports errors of
 * loading and memory. */
Status plan_make(CellPlan *plan, const Planner *p, const Cell *cell, Arena *a, Error *err);

/* Returns the plan record of v, the next vector of the cell; NULL: no plan. */
const void *plan_take(CellPlan *plan, const Vector *v);

static inline bool comparison_stopped(const Comparison *c)
{
    return c->stopped && c->stopped();
}

#endif
