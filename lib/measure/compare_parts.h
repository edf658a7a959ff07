/* compare_parts.h -- functions and types that the compare_*.c files share; compare.h is the public
 * interface. A cell is the set of all vectors of one step and worker. */
#ifndef ATOMO_COMPARE_PARTS_H
#define ATOMO_COMPARE_PARTS_H

#include "exchange/exchange.h"
#include "exchange/states.h"
#include "measure/compare.h"

#include <math.h>

/* ---- cells and percentiles of |g|, computed once for all codecs (compare.c) ---- */

typedef struct {
    size_t from, to; /* indices of the cell's vectors: `from` .. `to` - 1 */
    size_t elements;
    double above; /* 95th percentile of |g| over the cell; NaN: its elements do not fit in memory */
} Cell;

typedef struct {
    Cell *cell;            /* in output order */
    size_t cells, largest; /* number of cells; number of elements of the largest cell */
    /* indices into `cell`, sorted by worker, then step; codecs run over the cells in this order */
    size_t *order;
    double *above; /* for each vector: 95th percentile of |g| */
    double above_run;
    RecordLevel reach;
} Layout;

/* True: payloads are measured, but not decoded. */
static inline bool sizes_only(const Comparison *c)
{
    return c->costs_only && c->untimed;
}

static inline bool measures_distances(const Comparison *c)
{
    return !c->costs_only && !c->without_distances;
}

/* Returns the number of elements that are joined from several vectors: those of the whole run or of the
 * largest cell, depending on `l->reach`. 0: no vectors are joined. */
static inline size_t layout_held(const Layout *l, const VectorList *vectors)
{
    return vectors->count == 1      ? 0
           : l->reach == LEVEL_RUN  ? vectors->elements
           : l->reach == LEVEL_CELL ? l->largest
                                    : 0;
}

/* ---- measuring one codec on one vector ---- */

/* Buffers for the largest vector. Also the pools: the elements of several vectors joined into one array, for their
 * percentiles and Wasserstein distances. */
typedef struct {
    float *x, *y;
    /* 2 floats per element. First sorting uses them as scratch. Then they hold the mean and the deviation over repeats
     * of the elements (`MeasuredVector`). */
    float *work;
    /* Wasserstein distances (compare_trial.c) */
    bool distances; /* false: no distance is measured */
    float *sorted;  /* the vector, sorted; NULL: only repeat 0 has a distance */
    /* (held) elements of the gradient, joined from several vectors; NULL: only single vectors have
     * percentiles and distances */
    float *pool_x;
    /* (planes, held) joined elements of the estimates; plane r has the estimates of repeat r. NULL without
     * `pool_x` or `distances` */
    float *pool_y;
    size_t held, planes;
    double *encode, *decode; /* seconds of each repeat */
    const Codec *none;
    float *g;      /* for merges: a worker's gradient */
    double *merge; /* for merges: seconds to merge all payloads, for every repeat */
    double *each;  /* for merges: seconds to decode all payloads one by one, for every repeat */
    Arena *payloads, *scratch;
} Buffers;

Status buffers_make(Buffers *b, const Comparison *c, const Layout *l, Arena *a, Error *err);

/* Returns the bytes that an arena needs to hold n floats: their size, rounded up to a multiple of 64. */
static inline size_t lendable(size_t n)
{
    return (n * sizeof(float) + 63) & ~(size_t)63;
}

/* Returns the order-0 entropy of a payload's streams, in bits. If the payload itself has fewer bits, as a
 * codec may exploit the order of symbols, returns the payload's bits. NaN: the codec reports no streams. */
static inline double streams_bound(const Streams *s, double bytes)
{
    return !s->reported || isnan(s->entropy_bits) ? NAN : fmin(s->entropy_bits, 8 * bytes);
}

/* Bytes and entropies of the payloads of all repeats. */
typedef struct {
    Moments bytes, entropy, both; /* both: bytes + entropy, for their covariance */
} Sizes;

void sizes_add(Sizes *s, double bytes, double entropy);

/* Sets the tally's variances of payload bytes and of entropies over repeats, and their covariance. All are 0
 * if the payload of repeat 0 stands for all repeats. */
void sizes_spread(const Sizes *s, Tally *tally);

typedef struct {
    const Comparison *c;
    const Codec *codec;
    const Vector *vector;
    double above[LEVELS];
    void *state; /* the codec's state; NULL: the codec keeps none */
    /* (workers) plan records of this vector; NULL: the codec plans nothing */
    const void *const *plan;
    bool settles;  /* true: a later step needs the codec's next state */
    bool *unread;  /* set to true if a gradient cannot be loaded, which is not the codec's failure */
    float *pooled; /* where the vector's estimates go in the first plane of pool_y; NULL: nothing is pooled */
} Trial;

/* Returns the arguments of a codec's functions for a vector, in repeat 0. */
Call trial_call(const Comparison *c, const Codec *codec, const Vector *v, const void *state, Arena *scratch,
                Error *err);

/* Measures the codec on the vector in `b->x`, into a tally that `tally_open` has prepared. The caller
 * regards errors as failures of the codec, except ERR_STOPPED and ERR_MEMORY. */
Status trial_run(const Trial *t, const Buffers *b, Tally *tally, Error *err);

/* Sets the tally's times from the seconds of the repeats (`b->encode` and `b->decode`), and sorts the
 * seconds. `encoded` or `decoded` false: this time was not measured and becomes NaN. */
void trial_times(Tally *tally, const Buffers *b, bool encoded, bool decoded);

/* Sets the tally's `expected` variance to 0 if every payload is raw floats, which have no error. Then
 * corrects the sums of variances (S_M2_SQUARES, S_M2_WEIGHTED) for the codec's ErrorLaw (harness.h).
 *
 * ELEMENTWISE: the sums stay. ROTATED: S_M2_WEIGHTED becomes NaN. ATOMWISE with `known`: closed forms over
 * atoms replace the sums. Otherwise the sums become NaN. */
void trial_moments(const Call *call, const float *x, bool known, Tally *tally);

/* ---- Wasserstein distances (compare_trial.c) ---- */

/* Add to the tally the Wasserstein distance between the vector and repeat r's estimate y. They sort y in
 * place. `distance_repeat` first copies y to `b->pool_y`, where several vectors are joined.
 *
 * If `b->sorted` is set, `distance_repeat` measures the first repeats (as many as have 2^22 elements, at
 * least 2), and `distance_first` does nothing. `distance_repeat` is called after `tally_repeat`, for r = 0,
 * 1, ... in order.
 *
 * If `b->sorted` is NULL, `distance_first` measures repeat 0, and `distance_repeat` does nothing.
 * `distance_first` overwrites `b->work`, so it is called before `tally_repeat`.
 *
 * `distance_repeat` also sets the deciles of errors. */
Status distance_first(const MeasuredVector *s, const Buffers *b, float *y, Tally *t);
Status distance_repeat(const Trial *trial, const MeasuredVector *s, const Buffers *b, size_t r, float *y, Tally *t);

/* Adds to the tally one Wasserstein distance for each plane (repeat), over the n > 0 joined elements from
 * index `begin` on, and with `deciles` their deciles of errors. Sorts these elements in place. */
Status distance_pooled(const Buffers *b, size_t begin, size_t n, bool deciles, int threads, Tally *t, Error *err);

/* ---- merges of many workers (compare_merge.c) ---- */

static inline size_t workers_of(const Comparison *c)
{
    return c->workers ? c->workers : 1;
}

/* Returns the Exchange in which all workers encode one vector, for repeat 0. The caller sets its `batch`,
 * `y`, `payloads` and `clock` before `exchange_begin`. */
Exchange merge_exchange(const Comparison *c, const Codec *codec, const Vector *v, Arena *scratch, Error *err);

/* Computes the mean gradient of all workers into `b->x`. */
Status merge_mean(const Comparison *c, const Vector *v, const Buffers *b, Error *err);

/* Measures the codec on a merge of many workers' payloads, into a tally that `tally_open` has prepared. Sets `b->x` to
 * the mean gradient if errors are measured. */
Status merge_run(const Trial *t, const Buffers *b, Tally *tally, Error *err);

static inline bool comparison_stopped(const Comparison *c)
{
    return c->stopped && c->stopped();
}

#endif
