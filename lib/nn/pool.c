/* pool.c -- maximum and average pooling over square windows that do not overlap. */
#include "nn/layer.h"

#include "nn/loops.h"
#include "base/parallel.h"

/* A pooling pass. A plane is one channel of a piece of PIECE images (interleaved layout) or one group of
 * channels of one image (blocked layout). A pixel of a plane has `windows.wide` adjacent floats. */
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

/* ---- maximum: for each output element, the layer's state is the index of the window's maximum pixel ---- */

static Status max_open(Layer *l, size_t images, Arena *a, Error *err)
{
    l->state = NEW(a, uint8_t, activation_floats(l->out, images));
    return arena_check(l->state, a, err);
}

static void max_plane(const Work *w, size_t in, size_t out)
{
    uint8_t *place = w->l->state;
    loops()->windows_max(&w->windows, w->l->in->x + in, w->l->out->x + out, place + out);
}

static void max_back_plane(const Work *w, size_t in, size_t out)
{
    const uint8_t *place = w->l->state;
    loops()->windows_max_back(&w->windows, w->l->out->dx + out, place + out, w->l->in->accumulate,
                              w->l->in->dx + in);
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

/* Returns the offset, in a plane of the input, of pixel i of window (row, column). */
static size_t pixel(const Windows *w, size_t row, size_t column, size_t i)
{
    return ((row * w->size + i / w->size) * w->x_columns + column * w->size + i % w->size) * w->wide;
}

static void average_plane(const Work *work, size_t in, size_t out)
{
    const Windows *w = &work->windows;
    const float *x = work->l->in->x + in, share = 1 / (float)(w->size * w->size);
    float *y = work->l->out->x + out;
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

static void average_back_plane(const Work *work, size_t in, size_t out)
{
    const Windows *w = &work->windows;
    const float *dy = work->l->out->dx + out, share = 1 / (float)(w->size * w->size);
    float *dx = work->l->in->dx + in;
    for (size_t i = 0; i < work->in_plane && !work->l->in->accumulate; i++)
        dx[i] = 0;
    for (size_t row = 0; row < w->rows; row++)
        for (size_t column = 0; column < w->columns; column++, dy += w->wide)
            for (size_t i = 0; i < w->size * w->size; i++)
                for (size_t k = 0; k < w->wide; k++)
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
