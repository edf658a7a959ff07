/* checkpoint.h -- a trainer's step on disk: step_%08d.h5 in a folder, complete or not there.
 *
 * Weights, velocities, running statistics and codec states under /weights, /velocity, /running/WORKER, /state/WORKER
 * (a state's bytes four to a float); the setup, the step, its epoch and place in the epoch's order, and a checksum of
 * all arrays as attributes. Nothing depends on the clock. */
#ifndef ATOMO_CHECKPOINT_H
#define ATOMO_CHECKPOINT_H

#include "nn/train.h"

Status checkpoint_save(Trainer *t, const char *dir, Error *err); /* makes the folder */

/* The trainer as it was saved. ERR_USAGE: of another setup. Any other failure: it is damaged, and the trainer's
 * arrays are of no use until another one loads or it is reset. */
Status checkpoint_load(Trainer *t, const char *path, Error *err);

/* OK where the folder's checkpoints, if any, are of this trainer's setup, so that its own can stand among them.
 * ERR_USAGE: one is not. Damaged ones are not asked. */
Status checkpoint_none_of_others(const Trainer *t, const char *dir, Error *err);

/* The setup that a checkpoint was written with, but for what does not change its weights (data, threads, links);
 * `dataset` is its name. */
Status checkpoint_setup(TrainSetup *s, const char **dataset, size_t *images, const char *path, Arena *a,
                        Error *err);

/* The newest that is whole; damaged ones are named in notes. From the beginning where there is none, which is noted too. */
Status checkpoint_resume(Trainer *t, const char *dir, void (*note)(void *data, const char *text), void *data,
                         Error *err);

#endif
