/* tensor.c -- shapes, matrix views, kinds, and looking for numbers that are none. */
#include "tensor.h"

#include <math.h>

const char *const reshape_names[] = {"paper", "rows", "square", NULL};

bool shape_make(Shape *shape, int rank, const size_t *dim)
{
    if (rank < 0 || rank > RANK_MAX)
        return false;
    *shape = (Shape){.rank = rank, .n = 1};
    bool empty = false;
    for (int i = 0; i < rank; i++)
        empty |= dim[i] == 0;
    for (int i = 0; i < rank; i++) {
        shape->dim[i] = dim[i];
        if (!empty && __builtin_mul_overflow(shape->n, dim[i], &shape->n))
            return false;
    }
    if (empty)
        shape->n = 0;
    return shape->n <= SIZE_MAX / 16;
}

Shape shape_vector(size_t n)
{
    return (Shape){.rank = 1, .dim = {n}, .n = n};
}

char *shape_text(const Shape *shape, Arena *a)
{
    char *text = text_copy(a, "");
    for (int i = 0; text && i < shape->rank; i++)
        text = text_format(a, "%s%s%zu", text, i ? "x" : "", shape->dim[i]);
    return text;
}

static void view_paper(const Shape *s, size_t *rows, size_t *cols)
{
    if (s->rank == 1 && s->n % 2 == 0) {
        *cols = 2;
    } else if (s->rank == 1) {
        *cols = 1;
    } else if (s->rank == 4) {
        const size_t filters = s->dim[0] * s->dim[1], kernel = s->dim[2] * s->dim[3];
        *cols = kernel == 1 ? s->dim[1] : filters % 2 == 0 ? 2 * kernel : kernel;
    } else {
        *cols = s->n / s->dim[0];
    }
    *rows = s->n / *cols;
}

static void view_square(const Shape *s, size_t *rows, size_t *cols)
{
    size_t side = (size_t)sqrt((double)s->n);
    while (side > 1 && (side * side > s->n || s->n % side))
        side--;
    *cols = side;
    *rows = s->n / side;
}

void matrix_view(const Shape *shape, Reshape reshape, size_t *rows, size_t *cols)
{
    if (shape->n == 0 || shape->rank == 0) {
        *rows = *cols = shape->n;
    } else if (reshape == RESHAPE_PAPER) {
        view_paper(shape, rows, cols);
    } else if (reshape == RESHAPE_SQUARE) {
        view_square(shape, rows, cols);
    } else {
        *rows = shape->dim[0];
        *cols = shape->n / *rows;
    }
}

size_t first_nonfinite(const float *x, size_t n, size_t *count)
{
    size_t first = n, bad = 0;
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i])) {
            if (!bad++)
                first = i;
            if (!count)
                break;
        }
    if (count)
        *count = bad;
    return first;
}
