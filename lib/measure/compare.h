/* compare.h -- encodes and decodes the vectors of a dump with several codecs, and measures sizes, times and
 * errors.
 *
 * The outermost loop is over codecs, so only one codec's states are in memory. Each codec runs over the
 * workers one after another, and over all steps of a worker in order. All repeats of a step start from the
 * same state. The payload of repeat 0 gives the state of the next step.
 *
 * In a merge (`workers` above 0) each vector is the mean gradient of that many workers. The workers'
 * gradients are loaded one by one, so memory does not depend on the number of workers.
 *
 * A cell is the set of all vectors of one step and worker. The records of each codec are in a fixed order.
 * The vectors' records are sorted by step, worker and position in the file. A cell's record follows those of
 * its vectors. If there are several cells, the last record is that of the whole run. */
#ifndef ATOMO_COMPARE_H
#define ATOMO_COMPARE_H

#include "compress/harness.h"
#include "dump/groups.h"
#include "exchange/shots.h"
#include "measure/metrics.h"

typedef struct {
    /* `codec`: index of the codec. `place`: index of the record in the codec's output, 0 .. `compare_places`
     * - 1. */
    size_t codec, place;
    RecordLevel level;
    const Vector *vector; /* LEVEL_CELL: the first vector of the cell; LEVEL_RUN: the first vector of all */
    size_t vectors;       /* number of vectors measured; those on which the codec failed do not count */
    Tally tally;          /* the measurements; undefined if `vectors` is 0 */
    /* why there is no measurement, or how many vectors are missing from it; NULL: no failure */
    const char *error;
    const char *hint; /* how to mend the failure; NULL or "": unknown, as of a failure read from a file */
} Record;

typedef struct {
    const Codec *const *codec;
    size_t codecs;
    const bool *skip; /* for each codec: true to leave it out; NULL: all codecs run */
    const VectorList *vectors;
    size_t repeats;
    uint64_t seed;
    uint64_t memory; /* most bytes that the pools for order statistics may take */
    int threads;
    double sample; /* minimum seconds of a timing sample; of a vector under 10,000 elements, of those of all repeats together */
    bool untimed;  /* times are not measured and become NaN; not allowed in merges */
    bool without_distances; /* Wasserstein distances are not measured and become NaN */
    bool without_deciles;   /* deciles of the elements' errors are not measured, nor are they without distances */
    /* Measures only what the cost of an iteration needs: times, sizes, the relative error and its variance. There are no
     * order statistics (Wasserstein distances, percentile classes) and no entropies. Where the error is
     * known in closed form, only repeat 0 is compared with the gradient. Merges measure errors only if the workers share
     * some of the random numbers (PART_SHARED), and decode payloads that add only once merged. A worker's states after its
     * last step are not computed. With `untimed`, only sizes are measured, and payloads are decoded only where a next state
     * follows from the estimate. */
    bool costs_only;

    /* 0: every vector is one worker's gradient. Above 0: a merge of this many workers. The mean of their
     * estimates is measured against the mean of their gradients. `load_worker` loads one worker's gradient.
     * In a merge every worker starts each step from a zero state. */
    size_t workers;
    Average average; /* of the estimates: over which workers */
    Shots shots;     /* how payloads that do not add are exchanged */
    Status (*load_worker)(void *data, const Vector *v, size_t worker, float *x, Error *err);

    /* Argument of the callbacks. */
    void *data;
    Status (*load)(void *data, const Vector *v, float *x, Error *err);
    Status (*record)(void *data, const Record *r, Error *err);
    /* Looks for a record that an interrupted comparison has already written, so that it is not measured
     * again. Returns false if there is none. Sets `*failed` if the codec failed on the vector; otherwise
     * reads the measured values into the open tally. NULL: no comparison was interrupted. */
    bool (*known)(void *data, size_t codec, size_t place, Tally *tally, bool *failed);
    bool (*stopped)(void); /* if it returns true, the comparison ends with ERR_STOPPED; may be NULL */
} Comparison;

/* Returns true if two neighbours in the list of vectors are in the same cell. */
bool compare_same_cell(const Vector *a, const Vector *b);

/* Returns the number of records for each codec. */
size_t compare_places(const VectorList *vectors);

/* Bytes of memory per element for order statistics of several vectors: one float for the gradient and, with Wasserstein
 * distances, one each for the estimate and the sort's buffer. */
static inline uint64_t compare_pooled(bool distances)
{
    return (distances ? 3 : 1) * sizeof(float);
}

/* Order statistics (Wasserstein distance, percentile classes) need memory for all elements of a record.
 * Returns LEVEL_RUN if the elements of all vectors fit in `memory` bytes; else LEVEL_CELL if the elements of
 * each cell fit; else LEVEL_VECTOR. Records of higher levels than the returned one have no order statistics. */
RecordLevel compare_reach(const VectorList *vectors, uint64_t memory, bool distances);

/* Returns the bytes that a comparison takes for each element of the largest vector, with any codec: for the vector, its
 * estimate and the deviations over repeats, and in a merge (`workers` > 0) for a worker's gradient and sums over the workers. */
static inline size_t compare_least(size_t workers)
{
    return 4 * sizeof(float) + (workers ? sizeof(float) + sizeof(double) : 0);
}

/* Relative error within which payloads have a wanted size (--equal-bits). */
#define SIZE_TOLERANCE 0.01

/* Runs the comparison. A codec's failure becomes its record's `error`, and `*failures` counts these
 * failures. A returned error comes from a callback or from a lack of memory, or is ERR_STOPPED. */
Status compare_run(const Comparison *c, size_t *failures, Arena *a, Error *err);

#endif
