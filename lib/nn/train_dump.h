/* train_dump.h -- saves the gradients of a training run as a dump (docs/FORMAT.md).
 *
 * A step's gradient is taken before compression: the mean over all workers' images, or each worker's own.
 *
 * Each saved step is first written as a dump of its own in the folder FILE.parts, so a kill loses no finished step. Closing
 * joins these parts to FILE. A resumed run takes its earlier steps from the parts and from the existing FILE. */
#ifndef ATOMO_TRAIN_DUMP_H
#define ATOMO_TRAIN_DUMP_H

#include "nn/train.h"

typedef struct GradientDump GradientDump;

/* Continues after the trainer's step and removes parts of later steps. ERR_USAGE: the parts are from a run with another
 * setup. `path` must outlive the dump. */
Status gradient_dump_open(GradientDump **out, const char *path, const Trainer *t, bool workers, Error *err);
Status gradient_dump_step(GradientDump *d, const Trainer *t, const StepRecord *r, Error *err);

/* Joins the parts to FILE and removes them; with no step saved it writes no file. After a failure the parts remain. Frees
 * `d` in any case. */
Status gradient_dump_close(GradientDump *d, Error *err);

#endif
