/* layer.h -- a network's layers: forward and backward passes over a batch of images.
 *
 * A network is a list of layers in the order in which they run. Each layer reads one activation (a residual
 * sum reads two) and writes another, or changes its input in place. The backward pass runs the list from its end.
 *
 * A layer that cuts the batch takes pieces of PIECE images (conv.c: up to 2 PIECE), the same pieces for any
 * number of threads. Its sums over images (weight gradients, batch statistics) add the partial sums of the pieces in
 * order. So every step gives the same bytes for any number of threads. */
#ifndef ATOMO_LAYER_H
#define ATOMO_LAYER_H

#include "base/arena.h"
#include "math/vec/kernels.h"
#include "base/rng.h"
#include "dump/tensor.h"

enum { PIECE = 16 }; /* number of images in a full piece */

static inline size_t pieces_of(size_t images)
{
    return (images + PIECE - 1) / PIECE;
}

/* Returns the number of channels that a blocked activation stores side by side (its `lanes`): 16 on a CPU with
 * AVX-512, else 8. */
static inline size_t layer_lanes(void)
{
    return isa_of_cpu() == ISA_AVX512 ? 16 : 8;
}

/* An activation: the numbers between two layers: [image][channel / lanes][row][column][lanes], where `channels` is a
 * multiple of `lanes`. With 1 lane it is plain, as PyTorch's; with as many lanes as channels, the channels are last, as
 * those of the tokens of a text ([image][token][channel], `rows` is the number of tokens). */
typedef struct {
    size_t channels, rows, columns;
    size_t lanes; /* channels side by side in memory */
    float *x;  /* values of the activation, with room for the largest pass */
    float *dx; /* d loss / d x; NULL for the network's images */
    /* true: a layer that reads x has already written dx in this backward pass, so other layers that read x
     * add to dx */
    bool accumulate;
} Activation;

static inline size_t activation_size(const Activation *v) /* floats per image */
{
    return v->channels * v->rows * v->columns;
}

static inline size_t activation_floats(const Activation *v, size_t images)
{
    return images * activation_size(v);
}

/* Initial values of a parameter. INIT_UNIFORM: uniform in +-1/sqrt(fan_in). INIT_NORMAL: normal with
 * variance 2 / (k k out), for k x k kernels with `out` outputs. INIT_ZERO: 0. INIT_ONE: 1. INIT_GIVEN: normal
 * with the standard deviation `deviation`. */
typedef enum { INIT_UNIFORM, INIT_NORMAL, INIT_ZERO, INIT_ONE, INIT_GIVEN } Init;

/* A parameter: a slice of the array of all weights, and the same slice of the gradient. Parameters have the
 * names and the order of the PyTorch module. */
typedef struct {
    const char *name; /* for example "layer1.0.conv1.weight" */
    Kind kind;
    Shape shape;
    size_t offset; /* offset of the parameter's first float in the flat arrays */
    size_t fan_in; /* number of inputs that each output of the layer sums over */
    Init init;
    double deviation; /* of INIT_GIVEN */
} Slice;

/* Arguments of one pass over `images` images. */
typedef struct {
    size_t images;
    int threads;
    /* true: the batch's statistics and dropout are used; false: running statistics, no dropout */
    bool training;
    const float *weights; /* all parameters, flat */
    float *gradient;      /* flat gradient; `backward` writes the slices of its layer's parameters */
    float *running;       /* flat running means and variances; training updates them, scoring reads them */
    Rng rng;              /* generator for (seed, worker, step) */
    Arena *scratch;       /* memory for the pass, rewound after each layer */
    Error *err;
} Pass;

typedef struct Layer Layer;

typedef struct {
    const char *name;
    /* Called once, before any pass; later passes have up to `images` images. Memory from the arena lives as
     * long as the model. May be NULL. */
    Status (*open)(Layer *l, size_t images, Arena *a, Error *err);
    Status (*forward)(Layer *l, const Pass *p);
    /* reads out->dx; writes in->dx, or adds to it if in->accumulate */
    Status (*backward)(Layer *l, const Pass *p);
    void (*close)(Layer *l); /* may be NULL */
} LayerOps;

struct Layer {
    const LayerOps *ops;
    const void *settings; /* of the kind of layer, as ConvSettings */
    Activation *in, *other, *out; /* `other`: the second summand of a residual sum, else NULL */
    /* NULL: the layer has no weights or no bias. Of an embedding: of the tokens, and of the positions. */
    const Slice *weight, *bias;
    size_t running; /* offset of the layer's running statistics in the flat array */
    /* index of the layer in the network; dropout's random numbers depend on it */
    size_t index;
    void *state; /* private to the layer: numbers kept for the backward pass, oneDNN primitives */
};

/* ---- the kinds of layers that build.c adds; the others are in the files with their calls of build.h ---- */

/* Settings of a convolution with square kernels. */
typedef struct {
    size_t channels, size, stride, padding;
    /* true: the output has groups of layer_lanes() channels, of which `channels` is a multiple; false: its channels
     * are last. The input has the same layout; that of blocked outputs may also be plain, if it has few channels. */
    bool blocked;
    bool bias;
    bool normal; /* true: weights begin as INIT_NORMAL, biases as INIT_ZERO; false: both as INIT_UNIFORM */
} ConvSettings;

extern const LayerOps conv_layer; /* computed by oneDNN */
/* The gradients of weights and bias of a convolution as matrix products. */
Status conv_taps_weights(const Layer *l, const Pass *p);
/* out = W x + b, for each token of a text, or for an image flattened channel by channel */
extern const LayerOps linear_layer;
/* batch norm of blocked activations; epsilon 1e-5, momentum 0.1 */
extern const LayerOps norm_layer;

#endif
