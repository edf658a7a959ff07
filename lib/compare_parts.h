/* compare_parts.h -- what the files of the comparison share (compare.h). */
#ifndef ATOMO_COMPARE_PARTS_H
#define ATOMO_COMPARE_PARTS_H

#include "compare.h"

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
    size_t *state;         /* per vector: its state's index among those of its worker */
    double *above;         /* per vector: its own 95th percentile */
    double above_run;
    Level reach;
} Layout;

Status layout_make(Layout *l, const VectorList *vectors, uint64_t memory, Arena *a, Error *err);

/* ---- one codec on one vector ---- */

/* Buffers for the largest vector, 16 bytes an element in all, and the pooled copies that order statistics
 * sort. */
typedef struct {
    float *x, *y;
    float *work;             /* 2 n and a little: sorting, then mean and spread per element */
    float *pool_x, *pool_y;  /* NULL: not held */
    double *encode, *decode; /* (repeats) seconds */
    const Codec *none;
    Arena *payloads, *scratch;
} Buffers;

Status buffers_make(Buffers *b, const Comparison *c, const Layout *l, Arena *a, Error *err);
void buffers_close(Buffers *b);

typedef struct {
    const Comparison *c;
    const Codec *codec;
    const Vector *vector;
    double above[LEVELS];
    void *state;  /* NULL: the codec keeps none */
    float *first; /* where to leave a copy of what repeat 0 decoded; NULL: nowhere */
} Trial;

/* Fills an open tally; buffers' x holds the vector. Whatever fails here but ERR_STOPPED is the codec's own
 * doing. */
Status trial_run(const Trial *t, const Buffers *b, Tally *tally, Error *err);

static inline bool comparison_stopped(const Comparison *c)
{
    return c->stopped && c->stopped();
}

#endif
