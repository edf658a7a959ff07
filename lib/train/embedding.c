/* embedding.c -- token and position embeddings: y[t] = tokens[x[t]] + positions[t]. The weights of the output
 * layer must be the token embeddings (tied weights, `build_tied`). */
#include "train/layer.h"

#include <string.h>

static Status forward(Layer *l, const Pass *p)
{
    const size_t width = l->out->channels, length = l->out->rows;
    const float *tokens = p->weights + l->weight->offset, *positions = p->weights + l->bias->offset;
    for (size_t i = 0; i < p->images * length; i++) {
        const float *token = tokens + (size_t)l->in->x[i] * width, *position = positions + i % length * width;
        float *y = l->out->x + i * width;
        for (size_t k = 0; k < width; k++)
            y[k] = token[k] + position[k];
    }
    return OK;
}

/* Adds to the gradient of the token embeddings. The output layer, whose backward pass runs earlier, has
 * already written its part of this gradient. */
static Status backward(Layer *l, const Pass *p)
{
    const size_t width = l->out->channels, length = l->out->rows;
    float *tokens = p->gradient + l->weight->offset, *positions = p->gradient + l->bias->offset;
    memset(positions, 0, l->bias->shape.n * sizeof *positions);
    for (size_t i = 0; i < p->images * length; i++) {
        const float *dy = l->out->dx + i * width;
        float *token = tokens + (size_t)l->in->x[i] * width, *position = positions + i % length * width;
        for (size_t k = 0; k < width; k++) {
            token[k] += dy[k];
            position[k] += dy[k];
        }
    }
    return OK;
}

const LayerOps embedding_layer = {.name = "embedding", .forward = forward, .backward = backward};
