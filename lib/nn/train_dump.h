/* train_dump.h -- gradients of a run in training, saved as a dump (docs/FORMAT.md).
 *
 * A step's gradient is the mean over all workers' images, before any compression; or each worker's by itself.
 *
 * Each saved step is at once a dump of its own in FILE.parts, so a kill loses none that is finished. Closing makes them
 * FILE. A run that goes on takes its steps before from the parts and from the FILE that are there. */
#ifndef ATOMO_TRAIN_DUMP_H
#define ATOMO_TRAIN_DUMP_H

#include "nn/train.h"

typedef struct GradientDump GradientDump;

/* From the trainer's step on; parts of later steps go. ERR_USAGE: the parts are of a run with another setup. */
Status gradient_dump_open(GradientDump **out, const char *path, const Trainer *t, bool workers, Error *err);
Status gradient_dump_step(GradientDump *d, const Trainer *t, const StepRecord *r, Error *err);

/* FILE, and no parts any more; nothing saved: no file. After a failure the parts stay. */
Status gradient_dump_close(GradientDump *d, Error *err);

#endif
