/* shape.h -- shapes of tensors, their matrix views and their kinds. */
#ifndef ATOMO_SHAPE_H
#define ATOMO_SHAPE_H

#include "base/base.h"

enum { RANK_MAX = 8 };

typedef struct {
    int rank;
    size_t dim[RANK_MAX]; /* the lengths of the axes; row-major: the last axis is contiguous */
    size_t n;             /* number of elements: the product of dim; 1 for rank 0 */
} Shape;

/* Fills `*shape`. Returns false if the product of `dim` overflows or the rank is not in 0 .. RANK_MAX. */
bool shape_make(Shape *shape, int rank, const size_t *dim);
Shape shape_vector(size_t n);
bool shape_same(const Shape *a, const Shape *b);

/* Computes the sides of a matrix of rows x cols elements that has the tensor's elements in their order.
 *
 * RESHAPE_PAPER is the rule of the ATOMO paper. A tensor of rank 2 is unchanged. A tensor [x, y, k1, k2]
 * becomes xy/2 by 2 k1 k2, or xy by k1 k2 if xy is odd; with 1x1 kernels it becomes x by y. A vector of n
 * elements becomes n/2 by 2, or n by 1 if n is odd. Tensors of other ranks are reshaped as by RESHAPE_ROWS.
 *
 * RESHAPE_ROWS: rows are the first axis, and cols all other axes. RESHAPE_SQUARE: the sides are as equal as
 * the factors of n permit, with rows >= cols. */
typedef enum { RESHAPE_PAPER, RESHAPE_ROWS, RESHAPE_SQUARE } Reshape;
extern const char *const reshape_names[];
void matrix_view(const Shape *shape, Reshape reshape, size_t *rows, size_t *cols);

typedef enum { KIND_CONV, KIND_FC, KIND_NORM, KIND_BIAS, KIND_EMBEDDING, KIND_OTHER } Kind;
extern const char *const kind_names[];
/* Guesses the kind from rank and name, for files without the attribute `kind`. */
Kind kind_guess(const char *name, const Shape *shape);

#endif
