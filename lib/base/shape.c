/* shape.c -- shapes of tensors, their matrix views and their kinds. */
#include "base/shape.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

const char *const reshape_names[] = {"paper", "rows", "square", NULL};
const char *const kind_names[] = {"conv", "fc", "norm", "bias", "embedding", "other", NULL};

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
        if (!empty && shape->n > SIZE_MAX / 16 / dim[i])
            return false;
        shape->n *= dim[i];
    }
    return true;
}

Shape shape_vector(size_t n)
{
    return (Shape){.rank = 1, .dim = {n}, .n = n};
}

bool shape_same(const Shape *a, const Shape *b)
{
    return a->rank == b->rank && !memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim);
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

/* Tests whether a word (a sequence of letters) of the name begins with an entry of `words`. An entry that
 * ends in '$' must equal the whole word, without the '$'. */
static bool has_word(const char *name, const char *const *words)
{
    bool begins = true;
    for (const char *p = name; *p; p++) {
        for (size_t i = 0; begins && words[i]; i++) {
            const size_t length = strcspn(words[i], "$");
            if (!strncasecmp(p, words[i], length) && !(words[i][length] && isalpha((unsigned char)p[length])))
                return true;
        }
        begins = !isalpha((unsigned char)*p);
    }
    return false;
}

Kind kind_guess(const char *name, const Shape *shape)
{
    static const char *const norms[] = {"norm", "layernorm", "batchnorm", "groupnorm", "rmsnorm",
                                        "bn$",  "ln$",       "gn$",       "scale$",    NULL};
    static const char *const embeddings[] = {"emb", "wte$", "wpe$", "tok$", "pos$", NULL};
    static const char *const biases[] = {"bias", "b$", NULL};
    if (shape->rank == 4)
        return KIND_CONV;
    if (shape->rank == 2)
        return has_word(name, embeddings) ? KIND_EMBEDDING : KIND_FC;
    if (shape->rank != 1)
        return KIND_OTHER;
    if (has_word(name, norms))
        return KIND_NORM;
    if (has_word(name, biases))
        return KIND_BIAS;
    return has_word(name, (const char *const[]){"weight", "gamma", "beta", NULL}) ? KIND_NORM : KIND_BIAS;
}
