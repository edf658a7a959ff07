/* train_dump.h -- gradients of a run in training, saved as a dump (docs/FORMAT.md).
 *
 * A step's gradient is the mean over all workers' images, before any compression; or each worker's by itself. The file
 * is there once the dump is closed. */
#ifndef ATOMO_TRAIN_DUMP_H
#define ATOMO_TRAIN_DUMP_H

#include "nn/train.h"

typedef struct GradientDump GradientDump;

Status gradient_dump_open(GradientDump **out, const char *path, const Trainer *t, bool workers, Error *err);
Status gradient_dump_step(GradientDump *d, const Trainer *t, const StepRecord *r, Error *err);
Status gradient_dump_close(GradientDump *d, Error *err); /* nothing saved: no file */
void gradient_dump_abandon(GradientDump *d);             /* NULL is fine */

#endif
