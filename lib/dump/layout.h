/* layout.h -- the order of the axes of convolution kernels.
 *
 * PyTorch stores a kernel as [out, in, h, w] ("oihw"), and Keras, TensorFlow and Flax as [h, w, in, out] ("hwio").
 * In this program every kernel has the axes [out, in, h, w]: others are transposed when they are read. */
#ifndef ATOMO_LAYOUT_H
#define ATOMO_LAYOUT_H

#include "dump/tensor.h"

/* Writes a part of a kernel that is stored as [h, w, in, out] to its places in x, which is [out, in, h, w]: the n
 * elements from element `at` on. `shape` is the shape of x. */
void layout_transpose(const Shape *shape, const float *part, size_t at, size_t n, float *x);

/* True if the file does not say the kernel's layout, and the shape looks more like [h, w, in, out] than like [out, in, h,
 * w], or as much like both and the name has the word "kernel". */
bool layout_doubtful(const TensorInfo *t);

#endif
