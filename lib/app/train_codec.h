/* train_codec.h -- atomo-train run: its options, and the run of one codec. */
#ifndef ATOMO_TRAIN_CODEC_H
#define ATOMO_TRAIN_CODEC_H

#include "app/train_records.h"

typedef struct {
    TrainJob job; /* stays first */
    const char *dir, *dump, *targets, *tuned;
    double *rate; /* (codecs) step sizes from `tuned`; NULL: all use --lr */
    int64_t every, dump_every;
    bool dump_workers;
    TrainRecords records;
    size_t run;    /* which of job.codecs is at work */
    Error failure; /* of the first run that diverged; OK: none did */
} TrainRun;

/* Trains with codec k, from the start or from a checkpoint. A run that diverges sets r->failure and is OK here, so that
 * the other codecs still train. */
Status train_codec(TrainRun *r, size_t k);

#endif
