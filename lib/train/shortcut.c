/* shortcut.c -- the shortcut without parameters of He et al. (2016, section 4.2, option A): the pixels of every
 * `stride`-th row and column; further channels are 0. */
#include "train/layer.h"

#include "base/parallel.h"

/* A plane is one group of channels of one image. */
typedef struct {
    const Layer *l;
    size_t wide, stride;
    size_t in_planes, out_planes; /* planes of an image */
} Skip;

static Skip skip_of(const Layer *l)
{
    const size_t lanes = l->in->lanes;
    return (Skip){.l = l,
                  .wide = lanes,
                  .stride = ((const ShortcutSettings *)l->settings)->stride,
                  .in_planes = l->in->channels / lanes,
                  .out_planes = l->out->channels / lanes};
}

static size_t place(const Activation *v, size_t plane, size_t row, size_t column, size_t wide)
{
    return ((plane * v->rows + row) * v->columns + column) * wide;
}

static void take_image(void *data, size_t image)
{
    const Skip *s = data;
    const Activation *in = s->l->in, *out = s->l->out;
    for (size_t plane = 0; plane < s->out_planes; plane++)
        for (size_t i = 0; i < out->rows; i++)
            for (size_t j = 0; j < out->columns; j++) {
                float *y = out->x + place(out, image * s->out_planes + plane, i, j, s->wide);
                const size_t from =
                    place(in, image * s->in_planes + plane, i * s->stride, j * s->stride, s->wide);
                for (size_t k = 0; k < s->wide; k++)
                    y[k] = plane < s->in_planes ? in->x[from + k] : 0;
            }
}

static void give_image(void *data, size_t image)
{
    const Skip *s = data;
    const Activation *in = s->l->in, *out = s->l->out;
    const size_t floats = s->in_planes * in->rows * in->columns * s->wide;
    float *dx = in->dx + image * floats;
    for (size_t i = 0; i < floats && !in->accumulate; i++)
        dx[i] = 0;
    for (size_t plane = 0; plane < s->in_planes; plane++)
        for (size_t i = 0; i < out->rows; i++)
            for (size_t j = 0; j < out->columns; j++) {
                const float *dy = out->dx + place(out, image * s->out_planes + plane, i, j, s->wide);
                float *d = dx + place(in, plane, i * s->stride, j * s->stride, s->wide);
                for (size_t k = 0; k < s->wide; k++)
                    d[k] += dy[k];
            }
}

static Status forward(Layer *l, const Pass *p)
{
    Skip s = skip_of(l);
    parallel_for(p->threads, p->images, take_image, &s);
    return OK;
}

static Status backward(Layer *l, const Pass *p)
{
    Skip s = skip_of(l);
    parallel_for(p->threads, p->images, give_image, &s);
    l->in->accumulate = true;
    return OK;
}

const LayerOps shortcut_layer = {.name = "shortcut", .forward = forward, .backward = backward};
