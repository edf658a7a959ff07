/* train_earlier.h -- the result that is in the file of -o when a run is resumed. The new result will replace it, so the
 * run must have all its records. Only a JSON result names the options of its run: the records of other files are not
 * taken. */
#ifndef ATOMO_TRAIN_EARLIER_H
#define ATOMO_TRAIN_EARLIER_H

#include "app/train_job.h"

#include "base/json.h"

/* The training with one codec and one seed: it will have the records of steps 1 to `steps`. */
typedef struct {
    const char *compressor;
    int64_t seed;
    size_t done; /* step of the newest checkpoint; 0: none */
    size_t steps;
    Optimizer optimizer;
} TrainSpan;

typedef struct {
    const char *path;    /* NULL: there is no result */
    const char *why;     /* why its records cannot be taken; NULL: they can */
    const Json **record; /* (count) its records, summaries included */
    size_t count;
} TrainEarlier;

/* Loads the result if the run is resumed and -o names a regular file. */
Status train_earlier_load(TrainEarlier *e, const TrainJob *j);

/* True if the record is of this codec with this seed. */
bool train_record_of(const Json *record, const char *compressor, int64_t seed);

/* Returns the step of a step's record; 0: it is another record, or lacks its step or epoch. */
size_t train_record_step(const Json *record);

/* Returns the span that the record is of. NULL: there is none, and `err` says so of the file `path`. */
const TrainSpan *train_span_of(const Json *record, const char *path, const TrainSpan *span, size_t spans,
                               Error *err);

/* ERR_USAGE if the spans will not have all records of the result: one is of another codec or seed, of a later step, or of
 * a step with another learning rate. */
Status train_earlier_check(const TrainEarlier *e, const TrainSpan *span, size_t spans, Error *err);

/* Refuses to replace the result for `e->why`. */
Status train_earlier_refuse(const TrainEarlier *e, Error *err);

#endif
