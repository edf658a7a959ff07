/* train_codec.h -- run: what was asked for, and the run of one compressor. */
#ifndef ATOMO_TRAIN_CODEC_H
#define ATOMO_TRAIN_CODEC_H

#include "train_records.h"

typedef struct {
    TrainJob job; /* stays first */
    const char *dir, *dump, *targets, *tuned;
    double *rate; /* of each codec, from `tuned` */
    int64_t every, dump_every;
    bool dump_workers;
    Records records;
    size_t run;    /* at work, of job.codecs */
    Error failure; /* the first run's that diverged */
} Run;

/* Trains with codec k, from the start or a checkpoint. One that diverges costs itself alone: its failure is kept. */
Status train_codec(Run *r, size_t k);

#endif
