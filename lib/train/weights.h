/* weights.h -- reads the weights of a network from a file of tensors: a checkpoint, or the tensors of a PyTorch
 * module by name, in any kind of file that dump_open reads. */
#ifndef ATOMO_WEIGHTS_H
#define ATOMO_WEIGHTS_H

#include "train/model.h"

/* Reads all parameters of the model into `weights` (floats of model_parameters), and the running statistics that the
 * file has into `running` (floats of model_running); other running statistics are unchanged. Names are those of
 * the parameters, also behind "module." or "_orig_mod."; in a checkpoint, behind "weights/" and "running/0/". Output
 * weights that are tied to the token embedding, and PyTorch's mask of attention, may be in the file, too. ERR_CORRUPT: a
 * parameter is missing, has another shape or is not finite, or the file has a tensor that the network has not. */
Status weights_read(const Model *m, const char *path, float *weights, float *running, Error *err);

/* Adds to an error the hint of what --weights takes; returns the error's status. */
Status weights_hint(Error *err);

#endif
