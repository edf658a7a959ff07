/* training_run.h -- a run: step after step, with tests, checkpoints and saved gradients on the way. */
#ifndef ATOMO_TRAIN_RUN_H
#define ATOMO_TRAIN_RUN_H

#include "nn/train_dump.h"

typedef struct {
    size_t steps;    /* the last one's number */
    size_t every;    /* tests, and saves, after each `every` steps; 0: after the last alone */
    const char *dir; /* of the checkpoints; NULL: none */
    GradientDump *dump;
    size_t dump_every; /* steps, the first among them */
    void *data;
    Status (*record)(void *data, const StepRecord *r, Error *err);
    bool (*stopped)(void);
} Course;

/* From the step after the trainer's to the last. Stopped: the step at work is finished and saved first, then
 * ERR_STOPPED. */
Status train_run(Trainer *t, const Course *c, Error *err);

#endif
