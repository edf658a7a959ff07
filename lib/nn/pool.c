/* pool.c -- maximum and average over square windows that do not overlap. */
#include "nn/layer.h"

#include "nn/loops.h"
#include "base/parallel.h"

/* A plane is one channel of a piece of images (interleaved) or a group of channels of one image (blocked). A pixel of a plane
 * has windows.wide adjacent floats. */
typedef struct {
    const Layer *l;
    Windows windows;
    size_t in_plane, out_plane, planes; /* floats of an input and an output plane; number of planes */
    uint8_t *place;                     /* (output elements): pixel of the window's maximum, row by row */
} Work;

enum { SOME = 16 }; /* planes per parallel task */

static void each_plane(const Layer *l, const Pass *p, void (*some)(void *work, size_t piece))
{
    const Activation *in = l->in, *out = l->out;
    const size_t wide = activation_wide(in);
    Work w = {.l = l,
              .windows = {.size = ((const PoolSettings *)l->settings)->size,
                          .wide = wide,
                          .rows = out->rows,
                          .columns = out->columns,
                          .x_rows = in->rows,
                          .x_columns = in->columns},
              .in_plane = in->rows * in->columns * wide,
              .out_plane = out->rows * out->columns * wide,
              .place = l->state};
    w.planes = activation_floats(in, p->images) / w.in_plane;
    parallel_for(p->threads, (w.planes + SOME - 1) / SOME, some, &w);
}

static size_t last_plane(const Work *w, size_t piece)
{
    return (piece + 1) * SOME < w->planes ? (piece + 1) * SOME : w->planes;
}

/* ---- maximum ---- */

static Status max_open(Layer *l, size_t images, Arena *a, Error *err)
{
    l->state = NEW(a, uint8_t, activation_floats(l->out, images));
    return l->state ? OK : arena_fail(a, err);
}

static void max_some(void *data, size_t piece)
{
    const Work *w = data;
    for (size_t i = piece * SOME; i < last_plane(w, piece); i++)
        loops()->windows_max(&w->windows, w->l->in->x + i * w->in_plane, w->l->out->x + i * w->out_plane,
                             w->place + i * w->out_plane);
}

static void max_back_some(void *data, size_t piece)
{
    const Work *w = data;
    for (size_t i = piece * SOME; i < last_plane(w, piece); i++)
        loops()->windows_max_back(&w->windows, w->l->out->dx + i * w->out_plane, w->place + i * w->out_plane,
                                  w->l->in->accumulate, w->l->in->dx + i * w->in_plane);
}

static Status max_forward(Layer *l, const Pass *p)
{
    each_plane(l, p, max_some);
    return OK;
}

static Status max_backward(Layer *l, const Pass *p)
{
    each_plane(l, p, max_back_some);
    l->in->accumulate = true;
    return OK;
}

const LayerOps max_pool_layer = {
    .name = "max pool", .open = max_open, .forward = max_forward, .backward = max_backward};

/* ---- average ---- */

/* Offset of pixel i of window (row, column). */
static size_t pixel(const Windows *w, size_t row, size_t column, size_t i)
{
    return ((row * w->size + i / w->size) * w->x_columns + column * w->size + i % w->size) * w->wide;
}

static void average(const Windows *w, const float *x, float *y)
{
    const float share = 1 / (float)(w->size * w->size);
    for (size_t row = 0; row < w->rows; row++)
        for (size_t column = 0; column < w->columns; column++, y += w->wide) {
            for (size_t k = 0; k < w->wide; k++)
                y[k] = 0;
            for (size_t i = 0; i < w->size * w->size; i++)
                for (size_t k = 0; k < w->wide; k++)
                    y[k] += x[pixel(w, row, column, i) + k];
            for (size_t k = 0; k < w->wide; k++)
                y[k] *= share;
        }
}

static void average_back(const Windows *w, const float *dy, bool add, float *dx)
{
    const float share = 1 / (float)(w->size * w->size);
    for (size_t i = 0; i < w->x_rows * w->x_columns * w->wide && !add; i++)
        dx[i] = 0;
    for (size_t row = 0; row < w->rows; row++)
        for (size_t column = 0; column < w->columns; column++, dy += w->wide)
            for (size_t i = 0; i < w->size * w->size; i++)
                for (size_t k = 0; k < w->wide; k++)
                    dx[pixel(w, row, column, i) + k] += dy[k] * share;
}

static void average_some(void *data, size_t piece)
{
    const Work *w = data;
    for (size_t i = piece * SOME; i < last_plane(w, piece); i++)
        average(&w->windows, w->l->in->x + i * w->in_plane, w->l->out->x + i * w->out_plane);
}

static void average_back_some(void *data, size_t piece)
{
    const Work *w = data;
    for (size_t i = piece * SOME; i < last_plane(w, piece); i++)
        average_back(&w->windows, w->l->out->dx + i * w->out_plane, w->l->in->accumulate,
                     w->l->in->dx + i * w->in_plane);
}

static Status average_forward(Layer *l, const Pass *p)
{
    each_plane(l, p, average_some);
    return OK;
}

static Status average_backward(Layer *l, const Pass *p)
{
    each_plane(l, p, average_back_some);
    l->in->accumulate = true;
    return OK;
}

const LayerOps average_pool_layer = {
    .name = "average pool", .forward = average_forward, .backward = average_backward};
