/* model.h -- a network that is ready to run: its parameters, and the loss and gradient of a batch.
 *
 * A model has memory for activations but none for weights. The caller has weights, gradients and running
 * statistics in flat arrays, so several workers can share one model. Not thread-safe: one pass (forward and
 * backward) at a time. */
#ifndef ATOMO_MODEL_H
#define ATOMO_MODEL_H

#include "train/networks.h"

typedef struct Model Model;

typedef struct {
    const char *network;
    size_t channels, rows, columns; /* of each image */
    size_t classes;
    size_t images; /* the most images in one pass */
    /* Once it returns true, and then always, the pass ends with ERR_STOPPED, within a layer too; several threads ask at a
     * time. May be NULL. */
    bool (*stopped)(void);
    bool text; /* true: an image is a row of `columns` tokens below `classes` */
    /* the same, with `data`, asked before each layer; may be NULL */
    bool (*leaves)(void *data);
    /* called in the backward pass, when the gradients of the parameters `first`, `first` + 1, ... are complete; may be
     * NULL */
    void (*ready)(void *data, size_t first);
    void *data; /* for `leaves` and `ready` */
} ModelSpec;

/* Opens a network by its name. ERR_USAGE: there is no such network (the hint is the most similar name), or
 * it does not take images of this size. */
Status model_open(Model **out, const ModelSpec *spec, Error *err);
void model_close(Model *m); /* NULL is fine */

/* Returns the names and shapes of the parameters, in the order of the PyTorch module, and their offsets in a
 * flat array of `SliceList.floats` floats. Valid until the model is closed. */
const SliceList *model_parameters(const Model *m);
/* Returns the names and shapes of the running statistics ("bn1.running_mean", ...), and their offsets in
 * another flat array. Valid until the model is closed. */
const SliceList *model_running(const Model *m);

/* Returns the weights of the last layer that has some. */
const Slice *model_head(const Model *m);

/* Fills weights and running statistics with initial values, which depend on the seed only, on any machine. */
void model_init(const Model *m, uint64_t seed, float *weights, float *running);

typedef struct {
    const float *images; /* (count, channels, rows, columns), normalised pixels, or tokens */
    /* (count) classes of the images, or (count, columns) the tokens that follow; below the number of classes */
    const uint32_t *labels;
    size_t count; /* 1 .. spec->images */
} Batch;

typedef struct {
    double loss;    /* mean cross-entropy over the batch's labels, in nats */
    size_t correct; /* number of labels whose output is the largest */
} Score;

/* Computes the mean loss of a batch and its gradient, and updates the running statistics. `rng` must be the
 * generator of (seed, worker, step). ERR_NUMERIC: the loss is not finite; the error names the first
 * parameter or layer that is not finite. ERR_STOPPED: `stopped` returned true; some running statistics may
 * have been updated. */
Status model_gradient(Model *m, const Batch *batch, const float *weights, float *running, const Rng *rng,
                      int threads, float *gradient, Score *score, Error *err);

/* Computes the loss of a batch with the given running statistics and without dropout. */
Status model_score(Model *m, const Batch *batch, const float *weights, const float *running, int threads,
                   Score *score, Error *err);

#endif
