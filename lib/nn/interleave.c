/* interleave.c -- converts between plain and interleaved activations (layer.h), one piece of PIECE images at
 * a time. */
#include "nn/layer.h"

#include "base/parallel.h"

#include <string.h>

/* Copies an array (images, n) to an array (n, PIECE), or adds it, if `add`. The last axis has one element
 * for each image; if there are fewer than PIECE images, the other elements get (or are added) 0. */
static void interleave(const float *plain, size_t images, size_t n, bool add, float *interleaved)
{
    enum { SOME = 64 };
    float some[SOME][PIECE];
    memset(some, 0, sizeof some);
    for (size_t from = 0; from < n; from += SOME) {
        const size_t count = n - from < SOME ? n - from : SOME;
        for (size_t i = 0; i < images; i++)
            for (size_t j = 0; j < count; j++)
                some[j][i] = plain[i * n + from + j];
        float *to = interleaved + from * PIECE;
        const float *x = &some[0][0];
        if (add)
            for (size_t j = 0; j < count * PIECE; j++)
                to[j] += x[j];
        else
            memcpy(to, x, count * sizeof some[0]);
    }
}

/* Copies an array (n, PIECE) to an array (images, n), or adds it, if `add`. */
static void separate(const float *interleaved, size_t images, size_t n, bool add, float *plain)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < images; i++)
            plain[i * n + j] = (add ? plain[i * n + j] : 0) + interleaved[j * PIECE + i];
}

typedef struct {
    void (*convert)(const float *from, size_t images, size_t n, bool add, float *to);
    const float *from;
    float *to;
    size_t images, n; /* n: number of floats of an image */
    bool add;
} Work;

static void convert_piece(void *data, size_t piece)
{
    const Work *w = data;
    const size_t first = piece * PIECE, left = w->images - first, at = first * w->n;
    w->convert(w->from + at, left < PIECE ? left : PIECE, w->n, w->add, w->to + at);
}

static Status convert(const Pass *p, Work w)
{
    w.images = p->images;
    parallel_for(p->threads, pieces_of(p->images), convert_piece, &w);
    return OK;
}

static Status interleave_forward(Layer *l, const Pass *p)
{
    return convert(p, (Work){interleave, l->in->x, l->out->x, .n = activation_size(l->in)});
}

static Status interleave_backward(Layer *l, const Pass *p)
{
    if (!l->in->dx)
        return OK;
    const bool add = l->in->accumulate;
    l->in->accumulate = true;
    return convert(p, (Work){separate, l->out->dx, l->in->dx, .n = activation_size(l->in), .add = add});
}

const LayerOps interleave_layer = {
    .name = "interleave", .forward = interleave_forward, .backward = interleave_backward};

static Status plain_forward(Layer *l, const Pass *p)
{
    return convert(p, (Work){separate, l->in->x, l->out->x, .n = activation_size(l->in)});
}

static Status plain_backward(Layer *l, const Pass *p)
{
    const bool add = l->in->accumulate;
    l->in->accumulate = true;
    return convert(p, (Work){interleave, l->out->dx, l->in->dx, .n = activation_size(l->in), .add = add});
}

const LayerOps plain_layer = {.name = "plain", .forward = plain_forward, .backward = plain_backward};
