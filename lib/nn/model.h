/* model.h -- the networks, by name: their parameters, and loss and gradient of a batch.
 *
 * A model holds memory for activations and no weights: these are flat arrays of the caller's, so that several
 * workers share one model, and a checkpoint is a few arrays. Networks are those of the reference code
 * (docs/networks.md lists layers and counts). */
#ifndef ATOMO_MODEL_H
#define ATOMO_MODEL_H

#include "nn/layer.h"

typedef struct Model Model;

typedef struct {
    const char *name, *brief; /* "resnet18" */
    size_t channels, side;    /* of the images it is made for; 0: any */
} NetworkInfo;

extern const NetworkInfo networks[]; /* ends in {0} */

typedef struct {
    const char *network;
    size_t channels, rows, columns; /* of an image */
    size_t classes;
    size_t images; /* most in one pass */
} ModelSpec;

/* ERR_USAGE names the nearest network, or says which images it takes. */
Status model_open(Model **out, const ModelSpec *spec, Error *err);
void model_close(Model *m); /* NULL is fine */

size_t model_parameters(const Model *m); /* floats */
size_t model_running(const Model *m);    /* floats of running statistics */
const Slice *model_slices(const Model *m, size_t *count);
/* The running statistics by name: "bn1.running_mean", ... */
const Slice *model_running_slices(const Model *m, size_t *count);

/* Uniform in +-1/sqrt(fan in), as the reference's framework draws them; convolutions of VGG normal with variance
 * 2 / (k k out); batch norm 1 and 0. The same words for any machine. */
void model_init(const Model *m, uint64_t seed, float *weights, float *running);

typedef struct {
    const float *images;   /* (count, channels, rows, columns), normalised */
    const uint8_t *labels; /* (count) */
    size_t count;
} Batch;

typedef struct {
    double loss;    /* mean over the batch */
    size_t correct; /* images whose largest output is their label */
} Score;

/* Mean cross-entropy, its gradient, and the running statistics moved on. `rng` is addressed by (seed, worker, step).
 * ERR_NUMERIC when the loss is not finite. */
Status model_gradient(Model *m, const Batch *batch, const float *weights, float *running, const Rng *rng,
                      int threads, float *gradient, Score *score, Error *err);

/* Without dropout, with running statistics. */
Status model_score(Model *m, const Batch *batch, const float *weights, const float *running, int threads,
                   Score *score, Error *err);

#endif
