/* layer.h -- a network's layers: forward and backward passes over a batch of images.
 *
 * A network is a list of layers in the order they run; each reads one activation (a residual sum reads two) and
 * writes the next. Backward runs the list from its end. All work is cut into pieces of PIECE images, whatever the
 * number of threads, and sums over images (weight gradients, batch statistics) add the pieces' partial sums in order.
 * So every step gives the same bytes for any number of threads. */
#ifndef ATOMO_LAYER_H
#define ATOMO_LAYER_H

#include "base/arena.h"
#include "base/rng.h"
#include "dump/tensor.h"

enum { PIECE = 16 }; /* images in a piece */

static inline size_t pieces_of(size_t images)
{
    return (images + PIECE - 1) / PIECE;
}

/* Returns the channels in a group of a blocked activation: the lanes of this CPU's vectors, 8 or 16. */
size_t layer_lanes(void);

/* An activation: the numbers between two layers, in one of three layouts. Plain: [image][channel][row][column].
 * Blocked, for oneDNN's convolutions: [image][channel / lanes][row][column][lanes]; channels is a multiple of lanes.
 * Interleaved, for the convolutions of conv_direct.c: [image / PIECE][channel][row][column][PIECE]. In the last
 * piece, lanes without an image hold arbitrary numbers in x and 0 in dx. */
typedef struct {
    size_t channels, rows, columns;
    size_t lanes; /* channels in a group of a blocked layout; 1: plain or interleaved */
    bool interleaved;
    float *x;        /* values, with room for the largest pass */
    float *dx;       /* d loss / d x; NULL for the network's images */
    bool accumulate; /* during backward: another reader of x already wrote dx, so the next one adds to it */
} Activation;

static inline size_t activation_size(const Activation *v) /* floats per image */
{
    return v->channels * v->rows * v->columns;
}

static inline size_t activation_floats(const Activation *v,
                                       size_t images) /* floats in memory, unused lanes included */
{
    return (v->interleaved ? pieces_of(images) * PIECE : images) * activation_size(v);
}

static inline size_t activation_wide(const Activation *v) /* adjacent floats that belong to one pixel */
{
    return v->interleaved ? PIECE : v->lanes;
}

/* Initial values of a parameter: uniform in +-1/sqrt(fan in); normal with variance 2 / (k k out) for k x k kernels
 * with `out` outputs; 0; 1. */
typedef enum { INIT_UNIFORM, INIT_NORMAL, INIT_ZERO, INIT_ONE } Init;

/* A parameter: a slice of the flat weights and of the flat gradient. Names and order are those of the PyTorch
 * module. */
typedef struct {
    const char *name; /* for example "layer1.0.conv1.weight" */
    Kind kind;
    Shape shape;
    size_t offset; /* offset of its first float in the flat arrays */
    size_t fan_in; /* number of inputs of each output of its layer */
    Init init;
} Slice;

/* One pass over `images` images. */
typedef struct {
    size_t images;
    int threads;
    bool training;        /* true: use batch statistics and dropout */
    const float *weights; /* all parameters, flat */
    float *gradient;      /* flat; backward overwrites its layers' slices */
    float *running;       /* flat running means and variances; training updates them, scoring reads them */
    Rng rng;              /* addressed by (seed, worker, step) */
    Arena *scratch;       /* rewound after each layer */
    Error *err;
} Pass;

typedef struct Layer Layer;

typedef struct {
    const char *name;
    /* Called once, for passes of up to `images`. Memory from the arena lives as long as the model. May be NULL. */
    Status (*open)(Layer *l, size_t images, Arena *a, Error *err);
    Status (*forward)(Layer *l, const Pass *p);
    Status (*backward)(Layer *l, const Pass *p); /* reads out->dx; writes in->dx, or adds if in->accumulate */
    void (*close)(Layer *l);                     /* may be NULL */
} LayerOps;

struct Layer {
    const LayerOps *ops;
    const void *settings;         /* ConvSettings, PoolSettings, DropoutSettings or NULL, depending on ops */
    Activation *in, *other, *out; /* other: the second summand of a residual sum, else NULL */
    const Slice *weight, *bias;   /* NULL: the layer has no weights or no bias */
    size_t running;               /* offset of its running statistics */
    size_t index;                 /* index in the list; part of dropout's random address */
    void *state;                  /* private to the layer: numbers kept for backward, oneDNN primitives */
};

/* ---- the kinds of layers, with their settings ---- */

/* A convolution with square kernels. */
typedef struct {
    size_t channels, size, stride, padding;
    bool bias;
    bool normal; /* true: weights begin as INIT_NORMAL, biases as INIT_ZERO; false: both as INIT_UNIFORM */
} ConvSettings;

typedef struct {
    size_t size; /* windows of size x size pixels; rows and columns that fill no window are ignored */
} PoolSettings;

typedef struct {
    double probability; /* probability that an element is dropped */
} DropoutSettings;

extern const LayerOps conv_direct_layer; /* interleaved, by the loops of loops.h */
extern const LayerOps
    conv_blocked_layer; /* blocked, by oneDNN; its input may also be plain with few channels */
extern const LayerOps interleave_layer, plain_layer; /* convert from plain to interleaved, and back */
extern const LayerOps linear_layer;                  /* out = W x + b, x flattened channel by channel */
extern const LayerOps norm_layer;                    /* batch norm, blocked; epsilon 1e-5, momentum 0.1 */
extern const LayerOps relu_layer, sigmoid_layer, dropout_layer; /* any layout, in place: out is in */
extern const LayerOps max_pool_layer, average_pool_layer; /* blocked or interleaved; ties: first maximum */
extern const LayerOps sum_layer;                          /* adds `other` to `in`, in place: out is in */

/* Computes the softmax cross-entropy of plain outputs: *loss is its sum over the batch, *correct counts the images
 * whose largest output is that of their label. v->dx becomes the gradient of the mean loss. */
void softmax_loss(const Activation *v, const uint8_t *labels, size_t images, double *loss, size_t *correct);

#endif
