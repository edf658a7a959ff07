/* gelu.c -- the exact GELU. The forward pass overwrites the layer's input with the derivative, which is all that
 * the backward pass needs. Input and output share one gradient array. */
#include "train/layer.h"

#include "base/parallel.h"
#include "train/rows.h"

typedef struct {
    const Layer *l;
    size_t n;
} Work;

static void forward_block(void *data, size_t b)
{
    const Work *w = data;
    row_loops()->gelu(block_size(w->n, b), w->l->in->x + b * BLOCK, w->l->out->x + b * BLOCK);
}

static void backward_block(void *data, size_t b)
{
    const Work *w = data;
    row_loops()->scale(block_size(w->n, b), w->l->in->x + b * BLOCK, w->l->in->dx + b * BLOCK);
}

static Status forward(Layer *l, const Pass *p)
{
    Work w = {l, activation_floats(l->in, p->images)};
    parallel_for(p->threads, blocks_of(w.n), forward_block, &w);
    return OK;
}

static Status backward(Layer *l, const Pass *p)
{
    Work w = {l, activation_floats(l->in, p->images)};
    parallel_for(p->threads, blocks_of(w.n), backward_block, &w);
    return OK;
}

const LayerOps gelu_layer = {.name = "gelu", .forward = forward, .backward = backward};
