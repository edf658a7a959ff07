/* training_run.h -- a training run: runs the steps, tests the network, and saves checkpoints and gradients. */
#ifndef ATOMO_TRAINING_RUN_H
#define ATOMO_TRAINING_RUN_H

#include "nn/train_dump.h"

typedef struct {
    size_t steps;    /* number of the last step of the run */
    size_t every;    /* steps between tests and checkpoints; 0: only after the last step */
    const char *dir; /* folder of the checkpoints; NULL: no checkpoints */
    GradientDump *dump;
    size_t dump_every; /* of every `dump_every` steps, the gradients of the first are saved in the dump */
    void *data;
    Status (*record)(void *data, const StepRecord *r, Error *err); /* called after each step */
    bool (*stopped)(void); /* returns true when the user has asked to stop; may be NULL */
} Course;

/* Runs from the step after the trainer's last step to step c->steps. When stopped, finishes and saves the present
 * step, then returns ERR_STOPPED. */
Status train_run(Trainer *t, const Course *c, Error *err);

#endif
