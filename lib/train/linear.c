/* linear.c -- a fully connected layer: y = x W' + b. x is an image, or a token of a text. */
#include "train/layer.h"

#include "math/linalg.h"

#include <assert.h>
#include <string.h>

/* Returns the number of rows of x: one for each image, or one for each token. */
static size_t rows_of(const Layer *l, const Pass *p)
{
    return p->images * l->out->rows * l->out->columns;
}

static Status forward(Layer *l, const Pass *p)
{
    const size_t inputs = l->weight->shape.dim[1], outputs = l->out->channels, rows = rows_of(l, p);
    assert(activation_size(l->in) == inputs * l->out->rows * l->out->columns);
    for (size_t i = 0; l->bias && i < rows; i++)
        memcpy(l->out->x + i * outputs, p->weights + l->bias->offset, outputs * sizeof(float));
    linalg_multiply(&(Product){.a = l->in->x,
                               .b = p->weights + l->weight->offset,
                               .b_turned = true,
                               .c = l->out->x,
                               .m = rows,
                               .n = outputs,
                               .k = inputs,
                               .add = l->bias != NULL,
                               .scale = 1},
                    p->threads);
    return OK;
}

static void bias_gradient(const Layer *l, size_t rows, float *bias)
{
    const size_t outputs = l->out->channels;
    for (size_t k = 0; k < outputs; k++)
        bias[k] = 0;
    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < outputs; k++)
            bias[k] += l->out->dx[i * outputs + k];
}

static Status backward(Layer *l, const Pass *p)
{
    const size_t inputs = l->weight->shape.dim[1], outputs = l->out->channels, rows = rows_of(l, p);
    const float *dy = l->out->dx;
    if (l->bias)
        bias_gradient(l, rows, p->gradient + l->bias->offset);
    linalg_multiply(&(Product){.a = dy,
                               .a_turned = true,
                               .b = l->in->x,
                               .c = p->gradient + l->weight->offset,
                               .m = outputs,
                               .n = inputs,
                               .k = rows,
                               .scale = 1},
                    p->threads);
    if (!l->in->dx)
        return OK;
    linalg_multiply(&(Product){.a = dy,
                               .b = p->weights + l->weight->offset,
                               .c = l->in->dx,
                               .m = rows,
                               .n = inputs,
                               .k = outputs,
                               .add = l->in->accumulate,
                               .scale = 1},
                    p->threads);
    l->in->accumulate = true;
    return OK;
}

const LayerOps linear_layer = {.name = "linear", .forward = forward, .backward = backward};
