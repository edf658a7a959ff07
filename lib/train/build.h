/* build.h -- builds a network: each call adds a layer and returns the layer's output activation.
 *
 * A call that fails (out of memory, sizes that do not fit) stores the error in the builder and returns a
 * placeholder. So only `model_open`, at the end, checks for errors. If a layer needs another memory layout,
 * the builder adds a conversion layer before it.
 *
 * A layer that works in place returns its input. The backward passes of relu and sigmoid read the layer's
 * own output, so no later layer may overwrite this output. Dropout after relu may, because it keeps the
 * signs that relu needs. */
#ifndef ATOMO_BUILD_H
#define ATOMO_BUILD_H

#include "train/layer.h"

enum { LAYERS_MOST = 1024, SLICES_MOST = 1024 };

typedef struct {
    Slice *item; /* (SLICES_MOST) */
    size_t count, floats;
} SliceList;

typedef struct {
    Arena *arena;
    Error *err;
    Status status;
    size_t images, classes; /* images: the most images in one pass */
    const char *options;    /* the options after the network's name; "": none */
    Activation *image;
    Activation nothing; /* see build_nothing */
    Layer *layer;       /* (LAYERS_MOST) */
    size_t layers;
    SliceList parameters, running;
} Builder;

/* Returns the placeholder for the output of a layer that could not be added: one value, so that later layers can be
 * added to it. */
Activation *build_nothing(Builder *b);

Activation *build_relu(Builder *b, Activation *in);
Activation *build_sigmoid(Builder *b, Activation *in);
Activation *build_dropout(Builder *b, Activation *in, double probability);
Activation *build_max_pool(Builder *b, Activation *in, size_t size);
Activation *build_average_pool(Builder *b, Activation *in, size_t size);
Activation *build_sum(Builder *b, Activation *in, Activation *other);
/* Adds the pixels of every `stride`-th row and column of `in`, with channels of 0 behind its own. `channels` is a
 * multiple of the input's lanes. */
Activation *build_shortcut(Builder *b, Activation *in, size_t channels, size_t stride);

/* ---- layers of tokens ---- */

/* Returns the sum of the embeddings of tokens and positions, `width` channels each. The image holds the
 * tokens, one in each column. Sets `*tokens` to the token embeddings; the caller must add `build_tied` with
 * them. */
Activation *build_embedding(Builder *b, const char *tokens_name, const char *positions_name, size_t width,
                            double deviation, const Slice **tokens);
Activation *build_layer_norm(Builder *b, Activation *in, const char *name, bool bias);
/* Adds a linear layer on each token. Weights begin as INIT_GIVEN, biases as 0. */
Activation *build_projection(Builder *b, Activation *in, const char *name, size_t outputs, double deviation,
                             bool bias);
/* Adds the output layer, whose weights are the embeddings of the tokens. */
Activation *build_tied(Builder *b, Activation *in, const Slice *tokens);
Activation *build_attention(Builder *b, Activation *in, size_t heads);
Activation *build_gelu(Builder *b, Activation *in);

/* Returns a formatted name, valid as long as the model. If memory runs out, stores the error in the builder
 * and returns "". */
PRINTF(2) const char *build_name(Builder *b, const char *format, ...);

/* ---- what these calls are made of, for the files of layers ---- */

/* Returns an activation like `like`, with room of its own. */
Activation *build_activation(Builder *b, Activation like);

/* Returns an activation like `in` with values of its own; both share one array of gradients. */
Activation *build_sharing(Builder *b, const Activation *in);

/* Adds a parameter (or a running statistic) MODULE.PART to a list. */
const Slice *build_slice(Builder *b, SliceList *list, const char *module, const char *part, Slice s);

/* Adds a layer. Its settings, of `size` bytes, are copied. */
Layer *build_layer(Builder *b, const LayerOps *ops, Activation *in, Activation *out, const void *settings, size_t size);

static inline Shape shape_matrix(size_t rows, size_t columns)
{
    Shape s;
    shape_make(&s, 2, (size_t[]){rows, columns});
    return s;
}

#endif
