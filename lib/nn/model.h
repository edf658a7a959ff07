/* model.h -- a network made ready: its parameters, and loss and gradient of a batch.
 *
 * A model holds memory for activations and no weights: these are flat arrays of the caller's, so that several
 * workers share one model, and a checkpoint is a few arrays. */
#ifndef ATOMO_MODEL_H
#define ATOMO_MODEL_H

#include "nn/networks.h"

typedef struct Model Model;

typedef struct {
    const char *network;
    size_t channels, rows, columns; /* of an image */
    size_t classes;
    size_t images; /* most in one pass */
} ModelSpec;

/* ERR_USAGE names the nearest network, or says which images it takes. */
Status model_open(Model **out, const ModelSpec *spec, Error *err);
void model_close(Model *m); /* NULL is fine */

/* The parameters, in the order of the PyTorch module, and the running statistics ("bn1.running_mean", ...): names
 * and places in the flat arrays of `floats` floats. Both may be kept as long as the model. */
const SliceList *model_parameters(const Model *m);
const SliceList *model_running(const Model *m);

/* Initial weights and running statistics; the same on any machine. */
void model_init(const Model *m, uint64_t seed, float *weights, float *running);

typedef struct {
    const float *images;   /* (count, channels, rows, columns), normalised */
    const uint8_t *labels; /* (count), below the number of classes */
    size_t count;          /* 1 .. spec->images */
} Batch;

typedef struct {
    double loss;    /* mean cross-entropy over the batch */
    size_t correct; /* images whose largest output is their label */
} Score;

/* Moves the running statistics on and fills the gradient of the mean loss. `rng` is addressed by (seed, worker, step).
 * ERR_NUMERIC when the loss is not finite. */
Status model_gradient(Model *m, const Batch *batch, const float *weights, float *running, const Rng *rng,
                      int threads, float *gradient, Score *score, Error *err);

/* Without dropout, with the running statistics as they are. */
Status model_score(Model *m, const Batch *batch, const float *weights, const float *running, int threads,
                   Score *score, Error *err);

#endif
