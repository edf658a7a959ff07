/* layers.h -- every kind of layer there is, and the settings each reads. */
#ifndef ATOMO_LAYERS_H
#define ATOMO_LAYERS_H

#include "nn/layer.h"

/* Square kernels; over values abreast by our own loops, over blocked ones by oneDNN (which also takes a plain value
 * of few channels as its input). */
typedef struct {
    size_t channels, size, stride, padding;
    bool bias;
    bool normal; /* initial weights N(0, 2 / (k k out)) and bias 0, else uniform in +-1/sqrt(fan in) */
} ConvSettings;

typedef struct {
    size_t size; /* size x size windows, as far apart; a rest at the edge is left out */
} PoolSettings;

typedef struct {
    double probability; /* of being dropped */
} DropoutSettings;

extern const LayerOps conv_direct_layer, conv_blocked_layer;
extern const LayerOps abreast_layer, plain_layer; /* from plain to abreast, and back */
extern const LayerOps linear_layer;               /* out = W x + b, x flattened channel major */
extern const LayerOps norm_layer;    /* batch norm over blocked values, epsilon 1e-5, momentum 0.1 */
extern const LayerOps relu_layer;    /* out is in, in place */
extern const LayerOps sigmoid_layer; /* out is in, in place */
extern const LayerOps dropout_layer; /* out is in, in place */
extern const LayerOps max_pool_layer, average_pool_layer; /* blocked or abreast; first of equals */
extern const LayerOps sum_layer;                          /* in += other; out is in, in place */

/* Softmax cross-entropy of plain outputs, added up over the batch in order: *loss its sum, *correct how many largest
 * outputs are the label's. v->dx becomes the gradient of the mean. */
void softmax_loss(const Value *v, const uint8_t *labels, size_t images, double *loss, size_t *correct);

#endif
