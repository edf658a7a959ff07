/* build.h -- how a network is put together: each call adds a layer and gives the value that it makes.
 *
 * A call that fails (memory, sizes that do not fit) leaves its reason in the builder and gives a value to go on with;
 * model_open looks once, at the end. Layers that work in place give their input back. A value of an arrangement that the
 * next layer does not read is turned on the way.
 * Relu and sigmoid read on the way back what they made: behind them only dropout behind relu, which leaves signs, may
 * work in place on it. */
#ifndef ATOMO_BUILD_H
#define ATOMO_BUILD_H

#include "nn/layers.h"

enum { LAYERS_MOST = 1024, SLICES_MOST = 1024 };

typedef struct {
    Slice *item; /* (SLICES_MOST) */
    size_t count, floats;
} SliceList;

typedef struct {
    Arena *arena;
    Error *err;
    Status status;
    size_t images, classes;
    Value *image;
    Value nothing; /* what a call that failed gives */
    Layer *layer;  /* (LAYERS_MOST) */
    size_t layers;
    SliceList parameters, running;
} Builder;

/* Names are the module's: "conv1" gives conv1.weight and, where there is one, conv1.bias. */
Value *build_conv(Builder *b, Value *in, const char *name, const ConvSettings *s); /* by our own loops */
/* By oneDNN; as many channels as fill groups of layer_lanes(). */
Value *build_conv_blocked(Builder *b, Value *in, const char *name, const ConvSettings *s);
Value *build_norm(Builder *b, Value *in, const char *name);
Value *build_linear(Builder *b, Value *in, const char *name, size_t outputs);
Value *build_relu(Builder *b, Value *in);
Value *build_sigmoid(Builder *b, Value *in);
Value *build_dropout(Builder *b, Value *in, double probability);
Value *build_max_pool(Builder *b, Value *in, size_t size);
Value *build_average_pool(Builder *b, Value *in, size_t size);
Value *build_sum(Builder *b, Value *in, Value *other);

PRINTF(2) const char *build_name(Builder *b, const char *format, ...);

#endif
