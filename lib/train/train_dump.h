/* train_dump.h -- saves the gradients of a training run as a dump (docs/FORMAT.md).
 *
 * Gradients are saved before compression: the mean over all workers' images, or each worker's own gradient. With
 * local steps, pseudo-gradients are saved in their place.
 *
 * Each saved step is first written as a separate dump, a part, in the folder FILE.parts. So no finished step
 * is lost when the process is killed. Closing joins these parts into FILE. A resumed run takes its earlier
 * steps from the parts and from the existing FILE. */
#ifndef ATOMO_TRAIN_DUMP_H
#define ATOMO_TRAIN_DUMP_H

#include "train/train.h"

typedef struct GradientDump GradientDump;

/* Opens a dump for the steps after the trainer's present step, and removes parts of later steps. ERR_USAGE:
 * the parts are from a run with another setup. `path` must outlive the dump. */
Status gradient_dump_open(GradientDump **out, const char *path, const Trainer *t, bool workers, Error *err);
Status gradient_dump_step(GradientDump *d, const Trainer *t, const StepRecord *r, Error *err);

/* Joins the parts to FILE and removes them; writes no file if no step was saved. After a failure the parts
 * remain. Frees `d` in any case. */
Status gradient_dump_close(GradientDump *d, Error *err);

#endif
