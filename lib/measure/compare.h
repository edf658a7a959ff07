/* compare.h -- encodes and decodes the vectors of a dump with several codecs, and measures sizes, times and errors.
 *
 * The outermost loop is over codecs, so only one codec's states are in memory. For each codec the workers are replayed
 * one after another, each through all of its steps. All repeats of a step start from the same state; repeat 0's payload
 * gives the next state.
 *
 * In a merge (`workers` above 0) each vector is the mean over workers, whose gradients are loaded one by one; memory does
 * not depend on the number of workers.
 *
 * A cell is all vectors of one step and worker. Each record has a fixed place in the output: vectors by step, worker and
 * file order; after each cell's vectors the record of the whole cell; last, if there are several cells, one of the run. */
#ifndef ATOMO_COMPARE_H
#define ATOMO_COMPARE_H

#include "codec/harness.h"
#include "dump/groups.h"
#include "measure/metrics.h"

typedef struct {
    size_t codec, place; /* index into the codecs; place in the output, 0 .. compare_places - 1 */
    RecordLevel level;
    const Vector *vector; /* LEVEL_CELL: the first vector of the cell; LEVEL_RUN: the first of all */
    size_t vectors;       /* vectors measured, without vectors on which the codec failed */
    Tally tally;          /* undefined when vectors is 0 */
    const char *error;    /* why there is no measurement, or how many vectors it lacks; NULL: no failure */
} Record;

typedef struct {
    const Codec *const *codec;
    const char *const *name; /* the codecs' canonical specs, for messages */
    size_t codecs;
    const bool *skip; /* (codecs) true: leave the codec out; NULL: run all */
    const VectorList *vectors;
    size_t repeats;
    uint64_t seed;
    uint64_t memory; /* most bytes that pooled order statistics may hold */
    int threads;
    double sample; /* minimum seconds of a timing sample */
    bool untimed;  /* times are not measured but NaN; not for merges */

    /* 0: every vector is one worker's gradient. Above 0: a merge of this many workers, which measures the mean of
     * their estimates against the mean of their gradients. load_worker reads each gradient; every worker starts each
     * step from a zero state. */
    size_t workers;
    Status (*load_worker)(void *data, const Vector *v, size_t worker, float *x, Error *err);

    /* Argument of the callbacks. */
    void *data;
    Status (*load)(void *data, const Vector *v, float *x, Error *err);
    Status (*record)(void *data, const Record *r, Error *err);
    void (*progress)(void *data, size_t vectors); /* vectors done, counted over all codecs; or NULL */
    bool (*stopped)(void);                        /* true ends the comparison with ERR_STOPPED; or NULL */
} Comparison;

/* True when two vectors that are neighbours in the list are in the same cell. */
bool compare_same_cell(const Vector *a, const Vector *b);

/* Returns the number of records per codec. */
size_t compare_places(const VectorList *vectors);

/* Bytes per element that pooled order statistics need: gradient, estimate and the sort's buffer. */
enum { POOLED_BYTES = 3 * sizeof(float) };

/* Returns the highest level at which order statistics (wasserstein, percentile classes) fit into `memory` bytes:
 * LEVEL_RUN for all vectors at once, LEVEL_CELL for the largest cell, else LEVEL_VECTOR. Records of higher levels
 * lack order statistics. */
RecordLevel compare_reach(const VectorList *vectors, uint64_t memory);

/* Runs the comparison. A codec's failure becomes its record's `error`, and `*failures` counts failures. Returned
 * errors come from callbacks and memory, or are ERR_STOPPED. */
Status compare_run(const Comparison *c, size_t *failures, Arena *a, Error *err);

/* ---- payload sizes without errors or times ---- */

typedef struct Sizer Sizer;

/* Opens a sizer in the arena. It keeps c, and ignores c's repeats, codecs and record callback. */
Status sizer_open(Sizer **out, const Comparison *c, Arena *a, Error *err);
void sizer_close(Sizer *s); /* NULL is fine */

/* Computes bits per element over all vectors, equal to a comparison's result with the same number of repeats:
 * payloads are the same, but are decoded only to update states. Leaves out vectors on which the codec fails; NaN if
 * it fails on all. */
Status sizer_bits(Sizer *s, const Codec *codec, size_t repeats, double *bits, Error *err);

/* Finds the rate at which sizer_bits is within SIZE_TOLERANCE (relative) of `bits`, or the nearest possible rate, and
 * returns the codec with this rate. Returns a codec without a rate unchanged. `*tries`: number of sizer_bits
 * calls. */
#define SIZE_TOLERANCE 0.01
Status sizer_solve(Sizer *s, const Codec **out, const Codec *codec, double bits, unsigned *tries, Arena *a,
                   Error *err);

#endif
