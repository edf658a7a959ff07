/* compare.h -- encodes and decodes the vectors of a dump with several codecs, and measures sizes, times and errors.
 *
 * The outermost loop is over codecs, so only one codec's states are in memory. Each codec runs over the workers one
 * after another, and over all steps of a worker in order. All repeats of a step start from the same state; repeat 0's
 * payload gives the next state.
 *
 * In a merge (`workers` above 0) each vector is the mean gradient of that many workers, whose gradients are loaded
 * one by one; memory does not depend on the number of workers.
 *
 * A cell is all vectors of one step and worker. Each record has a fixed place in the output: vectors by step, worker
 * and file order; after each cell's vectors the record of the cell; last, if there are several cells, the record of
 * the run. */
#ifndef ATOMO_COMPARE_H
#define ATOMO_COMPARE_H

#include "codec/harness.h"
#include "dump/groups.h"
#include "measure/metrics.h"

typedef struct {
    /* index of the codec; position of the record in the output, 0 .. compare_places - 1 */
    size_t codec, place;
    RecordLevel level;
    const Vector *vector; /* LEVEL_CELL: the first vector of the step; LEVEL_RUN: the first vector of all */
    size_t vectors;       /* number of vectors measured, without vectors on which the codec failed */
    Tally tally;          /* the measurements; undefined if `vectors` is 0 */
    /* why there is no measurement, or how many vectors are missing from it; NULL: no failure */
    const char *error;
} Record;

typedef struct {
    const Codec *const *codec;
    const char *const *name; /* the codecs' canonical specs, for messages */
    size_t codecs;
    const bool *skip; /* for each codec: true to leave it out; NULL: all codecs run */
    const VectorList *vectors;
    size_t repeats;
    uint64_t seed;
    uint64_t memory; /* most bytes that the pools for order statistics may take */
    int threads;
    double sample; /* minimum seconds of a timing sample */
    bool untimed;  /* times are not measured and become NaN; not allowed in merges */

    /* 0: every vector is one worker's gradient. Above 0: a merge of this many workers, which measures the mean of
     * their estimates against the mean of their gradients. load_worker loads one worker's gradient; every worker
     * starts each step from a zero state. */
    size_t workers;
    Status (*load_worker)(void *data, const Vector *v, size_t worker, float *x, Error *err);

    /* Argument of the callbacks. */
    void *data;
    Status (*load)(void *data, const Vector *v, float *x, Error *err);
    Status (*record)(void *data, const Record *r, Error *err);
    /* called with the number of records done, counted over all codecs; may be NULL */
    void (*progress)(void *data, size_t records);
    /* Reads the record of an interrupted comparison, so that it is not measured again: sets *failed if the codec failed
     * on the vector, else reads the values of the open tally. Returns false if there is no such record. Codecs all
     * of whose records are known are left out by `skip`. NULL: no comparison was interrupted */
    bool (*known)(void *data, size_t codec, size_t place, Tally *tally, bool *failed);
    bool (*stopped)(void); /* if it returns true, the comparison ends with ERR_STOPPED; may be NULL */
} Comparison;

/* True if two vectors that are neighbours in the list are in the same cell (of the same step and worker). */
bool compare_same_cell(const Vector *a, const Vector *b);

/* Returns the number of records for each codec. */
size_t compare_places(const VectorList *vectors);

/* Bytes per element that pooled order statistics need: gradient, estimate and the sort's buffer. */
enum { POOLED_BYTES = 3 * sizeof(float) };

/* Returns the highest level at which order statistics (wasserstein, percentile classes) fit in `memory` bytes:
 * LEVEL_RUN for all vectors at once, LEVEL_CELL for all vectors of any one step and worker, else LEVEL_VECTOR.
 * Records of higher levels have no order statistics. */
RecordLevel compare_reach(const VectorList *vectors, uint64_t memory);

/* Runs the comparison. A codec's failure becomes its record's `error`, and `*failures` counts these failures. A
 * returned error comes from a callback or from a lack of memory, or is ERR_STOPPED. */
Status compare_run(const Comparison *c, size_t *failures, Arena *a, Error *err);

/* ---- payload sizes, without errors or times ---- */

typedef struct Sizer Sizer;

/* Opens a sizer in the arena. c must outlive the sizer, which ignores c's repeats, codecs and record callback. */
Status sizer_open(Sizer **out, const Comparison *c, Arena *a, Error *err);
void sizer_close(Sizer *s); /* NULL is allowed */

/* Computes the bits per element over all vectors. The result equals that of a comparison with the same number of
 * repeats, because the payloads are the same; they are decoded only to compute states. Vectors on which the codec
 * fails are left out; NaN: it fails on all. */
Status sizer_bits(Sizer *s, const Codec *codec, size_t repeats, double *bits, Error *err);

/* Finds the rate at which sizer_bits is within SIZE_TOLERANCE (relative) of `bits`, or the nearest possible rate, and
 * sets *out to the codec with this rate, or to `codec` itself if it has no rate. *tries: number of calls of
 * sizer_bits. */
#define SIZE_TOLERANCE 0.01
Status sizer_solve(Sizer *s, const Codec **out, const Codec *codec, double bits, unsigned *tries, Arena *a,
                   Error *err);

#endif
