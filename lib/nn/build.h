/* build.h -- how a network is put together: each call adds a layer and gives the value that it makes.
 *
 * A builder that failed goes on and gives harmless values; model_open looks at its status once, at the end. */
#ifndef ATOMO_BUILD_H
#define ATOMO_BUILD_H

#include "nn/layer.h"

typedef struct Builder Builder;

typedef struct {
    size_t channels, size, stride, padding; /* size x size kernels */
    bool bias;
    bool normal; /* initial weights N(0, 2 / (k k out)), bias 0 */
} ConvSettings;

Value *build_image(Builder *b); /* the input */

/* Names are the module's: "conv1" gives conv1.weight and conv1.bias. */
Value *build_conv(Builder *b, Value *in, const char *name, const ConvSettings *s);
Value *build_norm(Builder *b, Value *in, const char *name); /* batch norm: momentum 0.1, epsilon 1e-5 */
Value *build_linear(Builder *b, Value *in, const char *name, size_t outputs); /* flattens, channel major */
Value *build_relu(Builder *b, Value *in); /* in place where nothing else reads `in` */
Value *build_sigmoid(Builder *b, Value *in);
Value *build_dropout(Builder *b, Value *in, double probability);
Value *build_max_pool(Builder *b, Value *in, size_t size);
Value *build_average_pool(Builder *b, Value *in, size_t size);
Value *build_sum(Builder *b, Value *in, Value *other);
size_t build_classes(const Builder *b);

#endif
