/* linear.c -- a fully connected layer: y = x W' + b. */
#include "nn/layer.h"

#include "num/linalg.h"

#include <assert.h>

static Status forward(Layer *l, const Pass *p)
{
    const size_t inputs = activation_size(l->in), outputs = l->out->channels;
    assert(!l->in->interleaved && (l->in->lanes == 1 || l->in->rows * l->in->columns == 1));
    const float *bias = p->weights + l->bias->offset;
    for (size_t i = 0; i < p->images; i++)
        for (size_t k = 0; k < outputs; k++)
            l->out->x[i * outputs + k] = bias[k];
    linalg_multiply(&(Product){.a = l->in->x,
                               .b = p->weights + l->weight->offset,
                               .b_turned = true,
                               .c = l->out->x,
                               .m = p->images,
                               .n = outputs,
                               .k = inputs,
                               .add = true,
                               .scale = 1},
                    p->threads);
    return OK;
}

static Status backward(Layer *l, const Pass *p)
{
    const size_t inputs = activation_size(l->in), outputs = l->out->channels;
    const float *dy = l->out->dx;
    float *bias = p->gradient + l->bias->offset;
    for (size_t k = 0; k < outputs; k++)
        bias[k] = 0;
    for (size_t i = 0; i < p->images; i++)
        for (size_t k = 0; k < outputs; k++)
            bias[k] += dy[i * outputs + k];
    linalg_multiply(&(Product){.a = dy,
                               .a_turned = true,
                               .b = l->in->x,
                               .c = p->gradient + l->weight->offset,
                               .m = outputs,
                               .n = inputs,
                               .k = p->images,
                               .scale = 1},
                    p->threads);
    if (!l->in->dx)
        return OK;
    linalg_multiply(&(Product){.a = dy,
                               .b = p->weights + l->weight->offset,
                               .c = l->in->dx,
                               .m = p->images,
                               .n = inputs,
                               .k = outputs,
                               .add = l->in->accumulate,
                               .scale = 1},
                    p->threads);
    l->in->accumulate = true;
    return OK;
}

const LayerOps linear_layer = {.name = "linear", .forward = forward, .backward = backward};
