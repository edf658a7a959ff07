/* training_run.h -- a training run: runs the steps, tests the network, and saves checkpoints and gradients. */
#ifndef ATOMO_TRAINING_RUN_H
#define ATOMO_TRAINING_RUN_H

#include "train/train.h"

/* ---- the gradients of a run as a dump (docs/FORMAT.md) ----
 *
 * Gradients are saved before compression: the mean over all workers' images, or each worker's own gradient. With
 * local steps, pseudo-gradients are saved in their place.
 *
 * Each saved step is first written as a separate dump, a part, in the folder FILE.parts. So no finished step
 * is lost when the process is killed. Closing joins these parts into FILE. A resumed run takes its earlier
 * steps from the parts and from the existing FILE. */

typedef struct GradientDump GradientDump;

/* Opens a dump for the steps after the trainer's present step, and removes parts of later steps. ERR_USAGE:
 * the parts are from a run with another setup. `path` must outlive the dump. */
Status gradient_dump_open(GradientDump **out, const char *path, const Trainer *t, bool workers, Error *err);

/* Joins the parts to FILE and removes them; writes no file if no step was saved. After a failure the parts
 * remain. Frees `d` in any case. */
Status gradient_dump_close(GradientDump *d, Error *err);

/* ---- the run ---- */

typedef struct {
    size_t steps;       /* number of the last step of the run */
    size_t every;       /* steps between tests and checkpoints; 0: only after the last step */
    const char *dir;    /* folder of the checkpoints; NULL: no checkpoints */
    GradientDump *dump; /* on several ranks, only rank 0 has it */
    /* the gradients of every `dump_every`-th exchange, from the first on, are saved in the dump; 0: none. Without
     * local steps there is an exchange in each step. */
    size_t dump_every;
    void *data;
    /* called after each step; on several ranks, on rank 0 only */
    Status (*record)(void *data, const StepRecord *r, Error *err);
    bool (*stopped)(void); /* returns true when the user has asked to stop; may be NULL */
} Course;

/* Runs the steps after the trainer's last step up to c->steps. If `stopped` returns true, saves a checkpoint
 * of the last finished step, then returns ERR_STOPPED. A step in progress is finished before if all its
 * gradients are computed; otherwise it is dropped. A test that was stopped has no result in the record of
 * its step. On several ranks, all ranks call it with the same course; only rank 0 writes files. */
Status train_run(Trainer *t, const Course *c, Error *err);

#endif
