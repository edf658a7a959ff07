/* pool.c -- maximum and average pooling over square windows that do not overlap. */
#include "train/layer.h"

#include "base/parallel.h"

#include <string.h>

/* Windows of size x size pixels. */
typedef struct {
    size_t size, lanes;
    size_t rows, columns; /* number of windows */
    size_t x_columns;     /* columns of pixels */
} Windows;

/* A pooling pass. A plane is one group of channels of one image. */
typedef struct Work {
    const Layer *l;
    Windows windows;
    size_t in_plane, out_plane, planes; /* floats of an input and an output plane; number of planes */
    /* processes one plane, whose floats begin at offset `in` of the input and `out` of the output */
    void (*body)(const struct Work *w, size_t in, size_t out);
} Work;

enum { SOME = 16 }; /* number of planes that one parallel task processes */

static void some_planes(void *data, size_t task)
{
    const Work *w = data;
    for (size_t i = task * SOME; i < (task + 1) * SOME && i < w->planes; i++)
        w->body(w, i * w->in_plane, i * w->out_plane);
}

static Status each_plane(const Layer *l, const Pass *p, void (*body)(const Work *w, size_t in, size_t out))
{
    const Activation *in = l->in, *out = l->out;
    Work w = {.l = l,
              .windows = {.size = ((const PoolSettings *)l->settings)->size,
                          .lanes = in->lanes,
                          .rows = out->rows,
                          .columns = out->columns,
                          .x_columns = in->columns},
              .in_plane = in->rows * in->columns * in->lanes,
              .out_plane = out->rows * out->columns * in->lanes,
              .body = body};
    w.planes = activation_floats(in, p->images) / w.in_plane;
    parallel_for(p->threads, (w.planes + SOME - 1) / SOME, some_planes, &w);
    return OK;
}

static Status each_plane_back(const Layer *l, const Pass *p,
                              void (*body)(const Work *w, size_t in, size_t out))
{
    TRY(each_plane(l, p, body));
    l->in->accumulate = true;
    return OK;
}

/* Returns the offset, in a plane of the input, of pixel i of window (row, column). */
static size_t pixel(const Windows *w, size_t row, size_t column, size_t i)
{
    return ((row * w->size + i / w->size) * w->x_columns + column * w->size + i % w->size) * w->lanes;
}

static void clear(const Work *w, size_t in)
{
    if (!w->l->in->accumulate)
        memset(w->l->in->dx + in, 0, w->in_plane * sizeof(float));
}

/* ---- maximum: for each output element, the layer's state is the index of the window's maximum pixel ---- */

static Status max_open(Layer *l, size_t images, Arena *a, Error *err)
{
    l->state = NEW(a, uint8_t, activation_floats(l->out, images));
    return arena_check(l->state, a, err);
}

/* Replaces y by x where x is larger or NaN, and `place` by i. */
static void larger(size_t n, const float *restrict x, uint8_t i, float *restrict y, uint8_t *restrict place)
{
    for (size_t k = 0; k < n; k++) {
        const bool more = (x[k] > y[k]) | (x[k] != x[k]);
        y[k] = more ? x[k] : y[k];
        place[k] = more ? i : place[k];
    }
}

static void max_plane(const Work *work, size_t in, size_t out)
{
    const Windows *w = &work->windows;
    const float *x = work->l->in->x + in;
    float *y = work->l->out->x + out;
    uint8_t *place = (uint8_t *)work->l->state + out;
    for (size_t row = 0; row < w->rows; row++)
        for (size_t column = 0; column < w->columns; column++, y += w->lanes, place += w->lanes) {
            memcpy(y, x + pixel(w, row, column, 0), w->lanes * sizeof *y);
            memset(place, 0, w->lanes);
            for (size_t i = 1; i < w->size * w->size; i++)
                larger(w->lanes, x + pixel(w, row, column, i), (uint8_t)i, y, place);
        }
}

static void max_back_plane(const Work *work, size_t in, size_t out)
{
    const Windows *w = &work->windows;
    const float *dy = work->l->out->dx + out;
    const uint8_t *place = (const uint8_t *)work->l->state + out;
    float *dx = work->l->in->dx + in;
    clear(work, in);
    for (size_t row = 0; row < w->rows; row++)
        for (size_t column = 0; column < w->columns; column++, dy += w->lanes, place += w->lanes)
            for (size_t k = 0; k < w->lanes; k++)
                dx[pixel(w, row, column, place[k]) + k] += dy[k];
}

static Status max_forward(Layer *l, const Pass *p)
{
    return each_plane(l, p, max_plane);
}

static Status max_backward(Layer *l, const Pass *p)
{
    return each_plane_back(l, p, max_back_plane);
}

const LayerOps max_pool_layer = {
    .name = "max pool", .open = max_open, .forward = max_forward, .backward = max_backward};

/* ---- average ---- */

static void average_plane(const Work *work, size_t in, size_t out)
{
    const Windows *w = &work->windows;
    const float *x = work->l->in->x + in, share = 1 / (float)(w->size * w->size);
    float *y = work->l->out->x + out;
    for (size_t row = 0; row < w->rows; row++)
        for (size_t column = 0; column < w->columns; column++, y += w->lanes) {
            for (size_t k = 0; k < w->lanes; k++)
                y[k] = 0;
            for (size_t i = 0; i < w->size * w->size; i++)
                for (size_t k = 0; k < w->lanes; k++)
                    y[k] += x[pixel(w, row, column, i) + k];
            for (size_t k = 0; k < w->lanes; k++)
                y[k] *= share;
        }
}

static void average_back_plane(const Work *work, size_t in, size_t out)
{
    const Windows *w = &work->windows;
    const float *dy = work->l->out->dx + out, share = 1 / (float)(w->size * w->size);
    float *dx = work->l->in->dx + in;
    clear(work, in);
    for (size_t row = 0; row < w->rows; row++)
        for (size_t column = 0; column < w->columns; column++, dy += w->lanes)
            for (size_t i = 0; i < w->size * w->size; i++)
                for (size_t k = 0; k < w->lanes; k++)
                    dx[pixel(w, row, column, i) + k] += dy[k] * share;
}

static Status average_forward(Layer *l, const Pass *p)
{
    return each_plane(l, p, average_plane);
}

static Status average_backward(Layer *l, const Pass *p)
{
    return each_plane_back(l, p, average_back_plane);
}

const LayerOps average_pool_layer = {
    .name = "average pool", .forward = average_forward, .backward = average_backward};
