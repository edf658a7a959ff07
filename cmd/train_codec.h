/* train_codec.h -- the command atomo-train run: its options, and the run of one codec. */
#ifndef ATOMO_TRAIN_CODEC_H
#define ATOMO_TRAIN_CODEC_H

#include "train_records.h"

typedef struct {
    TrainJob job; /* must be first: hooks cast TrainJob to TrainRun */
    const Command *command;
    const char *dir, *dump, *targets, *tuned;
    double *rate; /* (codecs) learning rates from the file `tuned`; NULL: all codecs use --lr */
    int64_t every, dump_every;
    bool dump_workers;
    TrainRecords records;
    size_t run;    /* number of runs before the current one; each codec has a run for each seed */
    Error failure; /* failure of the first run that diverged; OK: no run diverged */
} TrainRun;

/* Before the first run trains, on rank 0: ERR_USAGE if a folder of a run has checkpoints, unless --resume or --force is given. */
Status train_check_folders(TrainRun *r);

/* Trains with codec k and seed number `i` (0: --seed), from the start or from a checkpoint. If the run diverges and
 * none before did, sets r->failure. Returns OK for a run that diverged, so that the other codecs still train. */
Status train_codec(TrainRun *r, size_t k, size_t i);

#endif
