/* pool.c -- maximum and average over square windows that do not overlap. */
#include "nn/layers.h"

#include "parallel.h"

/* A group of `lanes` channels of one image is a plane of pixels; plain values have planes of one channel. */
typedef struct {
    const Layer *l;
    size_t size, lanes, rows, columns; /* of the output */
    size_t in_columns, in_plane, out_plane, planes;
    uint8_t *place; /* (output elements) which of its window's pixels is the largest, row by row */
} Work;

static Work work_of(const Layer *l)
{
    const Value *in = l->in, *out = l->out;
    return (Work){.l = l,
                  .size = ((const PoolSettings *)l->settings)->size,
                  .lanes = out->lanes,
                  .rows = out->rows,
                  .columns = out->columns,
                  .in_columns = in->columns,
                  .in_plane = in->rows * in->columns * in->lanes,
                  .out_plane = out->rows * out->columns * out->lanes,
                  .planes = in->channels / in->lanes,
                  .place = l->state};
}

static void each_plane(const Layer *l, const Pass *p, void (*image)(void *work, size_t image))
{
    Work w = work_of(l);
    parallel_for(p->threads, p->images, image, &w);
}

/* Where the window of output pixel (row, column) begins. */
static size_t window(const Work *w, size_t row, size_t column)
{
    return (row * w->in_columns + column) * w->size * w->lanes;
}

/* ---- maximum: the first of equals ---- */

static Status max_open(Layer *l, size_t images, Arena *a, Error *err)
{
    l->state = NEW(a, uint8_t, images * value_size(l->out));
    return l->state ? OK : arena_fail(a, err);
}

static void max_plane(const Work *w, const float *x, float *y, uint8_t *place)
{
    for (size_t row = 0; row < w->rows; row++)
        for (size_t column = 0; column < w->columns; column++)
            for (size_t k = 0; k < w->lanes; k++) {
                const float *from = x + window(w, row, column) + k;
                float most = from[0];
                uint8_t best = 0;
                for (size_t i = 0; i < w->size * w->size; i++) {
                    const float v = from[(i / w->size * w->in_columns + i % w->size) * w->lanes];
                    best = v > most ? (uint8_t)i : best;
                    most = v > most ? v : most;
                }
                *y++ = most;
                *place++ = best;
            }
}

static void max_image(void *data, size_t image)
{
    const Work *w = data;
    for (size_t plane = image * w->planes; plane < (image + 1) * w->planes; plane++)
        max_plane(w, w->l->in->x + plane * w->in_plane, w->l->out->x + plane * w->out_plane,
                  w->place + plane * w->out_plane);
}

static void max_back_plane(const Work *w, const float *dy, const uint8_t *place, float *dx, bool add)
{
    for (size_t i = 0; i < w->in_plane && !add; i++)
        dx[i] = 0;
    for (size_t row = 0; row < w->rows; row++)
        for (size_t column = 0; column < w->columns; column++)
            for (size_t k = 0; k < w->lanes; k++) {
                const size_t i = *place++;
                dx[window(w, row, column) + (i / w->size * w->in_columns + i % w->size) * w->lanes + k] +=
                    *dy++;
            }
}

static void max_back_image(void *data, size_t image)
{
    const Work *w = data;
    for (size_t plane = image * w->planes; plane < (image + 1) * w->planes; plane++)
        max_back_plane(w, w->l->out->dx + plane * w->out_plane, w->place + plane * w->out_plane,
                       w->l->in->dx + plane * w->in_plane, w->l->in->added);
}

static Status max_forward(Layer *l, const Pass *p)
{
    each_plane(l, p, max_image);
    return OK;
}

static Status max_backward(Layer *l, const Pass *p)
{
    each_plane(l, p, max_back_image);
    l->in->added = true;
    return OK;
}

const LayerOps max_pool_layer = {
    .name = "max pool", .open = max_open, .forward = max_forward, .backward = max_backward};

/* ---- average ---- */

static void average_image(void *data, size_t image)
{
    const Work *w = data;
    const float share = 1 / (float)(w->size * w->size);
    for (size_t plane = image * w->planes; plane < (image + 1) * w->planes; plane++) {
        const float *x = w->l->in->x + plane * w->in_plane;
        float *y = w->l->out->x + plane * w->out_plane;
        for (size_t row = 0; row < w->rows; row++)
            for (size_t column = 0; column < w->columns; column++)
                for (size_t k = 0; k < w->lanes; k++) {
                    const float *from = x + window(w, row, column) + k;
                    float sum = 0;
                    for (size_t i = 0; i < w->size * w->size; i++)
                        sum += from[(i / w->size * w->in_columns + i % w->size) * w->lanes];
                    *y++ = sum * share;
                }
    }
}

static void average_back_plane(const Work *w, const float *dy, float *dx, bool add)
{
    const float share = 1 / (float)(w->size * w->size);
    for (size_t i = 0; i < w->in_plane && !add; i++)
        dx[i] = 0;
    for (size_t row = 0; row < w->rows; row++)
        for (size_t column = 0; column < w->columns; column++, dy += w->lanes)
            for (size_t i = 0; i < w->size * w->size; i++) {
                float *to =
                    dx + window(w, row, column) + (i / w->size * w->in_columns + i % w->size) * w->lanes;
                for (size_t k = 0; k < w->lanes; k++)
                    to[k] += dy[k] * share;
            }
}

static void average_back_image(void *data, size_t image)
{
    const Work *w = data;
    for (size_t plane = image * w->planes; plane < (image + 1) * w->planes; plane++)
        average_back_plane(w, w->l->out->dx + plane * w->out_plane, w->l->in->dx + plane * w->in_plane,
                           w->l->in->added);
}

static Status average_forward(Layer *l, const Pass *p)
{
    each_plane(l, p, average_image);
    return OK;
}

static Status average_backward(Layer *l, const Pass *p)
{
    each_plane(l, p, average_back_image);
    l->in->added = true;
    return OK;
}

const LayerOps average_pool_layer = {
    .name = "average pool", .forward = average_forward, .backward = average_backward};
