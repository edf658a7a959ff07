/* layer.h -- what a network's layer is: a forward and a backward pass over a batch of images.
 *
 * A network is a list of layers in the order they run; each reads one value (a residual sum two) and makes the
 * next. Backward runs the list from its end. Everything a layer computes is cut into pieces of PIECE images,
 * whatever the number of threads; sums over images (weight gradients, batch statistics) add the pieces' partial
 * sums in order, so a step is equal to the byte for any number of threads. */
#ifndef ATOMO_LAYER_H
#define ATOMO_LAYER_H

#include "base/arena.h"
#include "base/rng.h"
#include "dump/tensor.h"

enum { PIECE = 16 }; /* images */

static inline size_t pieces_of(size_t images)
{
    return (images + PIECE - 1) / PIECE;
}

/* Channels to a group of a blocked value: what the convolutions of this machine run fastest on. */
size_t layer_lanes(void);

/* What flows from layer to layer. Plain: [image][channel][row][column]. Blocked: channels in groups of `lanes`,
 * [image][channel / lanes][row][column][lanes], which is how convolutions want them; channels is then a multiple.
 * Abreast: the images of a piece side by side, [image / PIECE][channel][row][column][PIECE], where lanes behind the
 * last image hold numbers of no meaning in x and 0 in dx. */
typedef struct {
    size_t channels, rows, columns;
    size_t lanes; /* 1: plain or abreast */
    bool abreast;
    float *x;   /* (most images) */
    float *dx;  /* d loss / d x; NULL for the images themselves */
    bool added; /* during backward: dx holds what a later reader of x gave, to which an earlier one adds */
} Value;

static inline size_t value_size(const Value *v) /* floats an image */
{
    return v->channels * v->rows * v->columns;
}

static inline size_t value_floats(const Value *v, size_t images) /* of so many images, in memory */
{
    return (v->abreast ? pieces_of(images) * PIECE : images) * value_size(v);
}

static inline size_t value_wide(const Value *v) /* numbers of a pixel that stand side by side */
{
    return v->abreast ? PIECE : v->lanes;
}

/* Initial values: uniform in +-1/sqrt(fan in); N(0, 2 / (k k out)). */
typedef enum { INIT_UNIFORM, INIT_NORMAL, INIT_ZERO, INIT_ONE } Init;

/* A parameter: a named slice of the flat weights and of the flat gradient, in the order and with the names that
 * the PyTorch module has. */
typedef struct {
    const char *name; /* "layer1.0.conv1.weight" */
    Kind kind;
    Shape shape;
    size_t offset;
    size_t fan_in; /* of its layer */
    Init init;
} Slice;

/* One pass over `images` images. */
typedef struct {
    size_t images;
    int threads;
    bool training;        /* batch statistics, dropout */
    const float *weights; /* flat */
    float *gradient;      /* flat; backward overwrites its slices */
    float *running; /* flat: running means and variances, which training moves on and scoring only reads */
    Rng rng;        /* addressed by (seed, worker, step) */
    Arena *scratch; /* rewound after each layer */
    Error *err;
} Pass;

typedef struct Layer Layer;

typedef struct {
    const char *name;
    /* Once, for passes of up to `images`; what it takes from the arena lives as long as the model. NULL: nothing. */
    Status (*open)(Layer *l, size_t images, Arena *a, Error *err);
    Status (*forward)(Layer *l, const Pass *p);
    Status (*backward)(Layer *l, const Pass *p); /* reads out->dx; writes in->dx, or adds to it if `added` */
    void (*close)(Layer *l);                     /* NULL: nothing to close */
} LayerOps;

struct Layer {
    const LayerOps *ops;
    const void *settings;       /* kernel size, stride, ... as the layer's file has it */
    Value *in, *other, *out;    /* other: the second summand of a residual sum, else NULL */
    const Slice *weight, *bias; /* NULL: none */
    size_t running;             /* where its running statistics begin */
    size_t index;               /* place in the list; part of dropout's random address */
    void *state;                /* what backward needs of forward, prepared primitives; the layer's own */
};

#endif
