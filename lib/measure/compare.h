/* compare.h -- applies compressors to the vectors of a dump and measures what comes back.
 *
 * Codecs are the outermost loop, so that one codec's states live at once; within a codec every worker is
 * replayed by itself, step after step. All repeats of a step start from the same state; repeat 0's payload
 * moves it on.
 *
 * Merging (`workers`), a vector stands for that of all workers, whose gradients come and go one by one, so that memory
 * does not depend on how many they are.
 *
 * Records come vector by vector, each of a fixed place in the output: by step, worker and file order; behind
 * the vectors of a step and worker (a cell) the record of all of them end to end; and, where there are
 * several cells, one of everything last. */
#ifndef ATOMO_COMPARE_H
#define ATOMO_COMPARE_H

#include "codec/harness.h"
#include "dump/groups.h"
#include "measure/metrics.h"

typedef struct {
    size_t codec, place; /* index into the codecs; 0 .. compare_places - 1 */
    Level level;
    const Vector *vector; /* LEVEL_CELL: the first of its cell; LEVEL_RUN: of all */
    size_t vectors;       /* how many stand end to end, failed ones left out */
    Tally tally;          /* meaningless when vectors is 0 */
    const char *error;    /* why there are no figures, or what they leave out; NULL: nothing went wrong */
} Record;

typedef struct {
    const Codec *const *codec;
    const char *const *name; /* their canonical specs, for messages */
    size_t codecs;
    const bool *skip; /* codecs whose results are there already; NULL: none */
    const VectorList *vectors;
    size_t repeats;
    uint64_t seed;
    uint64_t memory; /* most bytes that pooled order statistics may hold */
    int threads;
    double sample; /* seconds that a timing sample lasts at least */
    bool untimed;  /* no clock runs, and times do not exist; not for merging */

    /* 0: every vector is one worker's. Else a record is of the average of so many workers' estimates against that
     * of their gradients, which load_worker reads one at a time; every worker starts from a state of zeros. */
    size_t workers;
    Status (*load_worker)(void *data, const Vector *v, size_t worker, float *x, Error *err);

    /* What the surroundings do; `data` is theirs. */
    void *data;
    Status (*load)(void *data, const Vector *v, float *x, Error *err);
    Status (*record)(void *data, const Record *r, Error *err);
    void (*progress)(void *data, size_t vectors); /* done so far, of codecs times all vectors; or NULL */
    bool (*stopped)(void);                        /* or NULL */
} Comparison;

/* Whether two neighbours in the list are of the same step and worker. */
bool compare_same_cell(const Vector *a, const Vector *b);

/* How many records each codec has. */
size_t compare_places(const VectorList *vectors);

/* What pooled order statistics hold of each element: both sides, and the sort's room. */
enum { POOLED_BYTES = 3 * sizeof(float) };

/* The level that figures over several vectors reach with this much memory: LEVEL_RUN when everything fits,
 * LEVEL_CELL when one step and worker does, else LEVEL_VECTOR. What is beyond has no wasserstein and no
 * percentile classes. */
Level compare_reach(const VectorList *vectors, uint64_t memory);

/* `*failures`: records without figures because their codec failed. ERR_STOPPED when `stopped` says so. */
Status compare_run(const Comparison *c, size_t *failures, Arena *a, Error *err);

/* ---- sizes alone ---- */

typedef struct Sizer Sizer;

/* Of the comparison's repeats, what it says of codecs and records is not looked at. It lives in the arena. */
Status sizer_open(Sizer **out, const Comparison *c, Arena *a, Error *err);
void sizer_close(Sizer *s); /* NULL is fine */

/* Bits per element that a comparison with so many repeats finds for the codec over everything selected: the same
 * payloads, none of them decoded unless a state needs it. Vectors that the codec fails on are left out; NaN:
 * there are no others. */
Status sizer_bits(Sizer *s, const Codec *codec, size_t repeats, double *bits, Error *err);

/* The codec with the rate at which that comes within SIZE_TOLERANCE of `bits` per element, or as near as its
 * rate can bring it; a codec without a rate as it is. `*tries`: sizes taken. */
#define SIZE_TOLERANCE 0.01
Status sizer_solve(Sizer *s, const Codec **out, const Codec *codec, double bits, unsigned *tries, Arena *a,
                   Error *err);

#endif
