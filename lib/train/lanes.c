/* lanes.c -- copies activations from one number of lanes (layer.h) to another, one image at a time. */
#include "train/layer.h"

#include "base/parallel.h"

typedef struct {
    const Activation *from, *to;
    const float *x;
    float *y;
    bool add; /* true: add to y instead of overwriting it */
} Work;

/* Returns the offset of the first pixel of channel c in an image; its pixels are v->lanes floats apart. */
static size_t channel_at(const Activation *v, size_t c)
{
    return c / v->lanes * v->lanes * v->rows * v->columns + c % v->lanes;
}

static void copy_image(void *data, size_t image)
{
    const Work *w = data;
    const size_t pixels = w->from->rows * w->from->columns, step = w->from->lanes, y_step = w->to->lanes;
    for (size_t c = 0; c < w->from->channels; c++) {
        const float *x = w->x + image * activation_size(w->from) + channel_at(w->from, c);
        float *y = w->y + image * activation_size(w->to) + channel_at(w->to, c);
        for (size_t i = 0; i < pixels; i++)
            y[i * y_step] = (w->add ? y[i * y_step] : 0) + x[i * step];
    }
}

static Status forward(Layer *l, const Pass *p)
{
    parallel_for(p->threads, p->images, copy_image, &(Work){l->in, l->out, l->in->x, l->out->x, false});
    return OK;
}

static Status backward(Layer *l, const Pass *p)
{
    if (!l->in->dx)
        return OK;
    parallel_for(p->threads, p->images, copy_image,
                 &(Work){l->out, l->in, l->out->dx, l->in->dx, l->in->accumulate});
    l->in->accumulate = true;
    return OK;
}

const LayerOps lanes_layer = {.name = "lanes", .forward = forward, .backward = backward};
