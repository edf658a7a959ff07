/* weightless.c -- layers without weights: element by element, pooling, and the shortcut without parameters. */
#include "train/build.h"

#include "base/parallel.h"
#include "train/rows.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- applying a function to all elements, in parallel blocks ---- */

typedef void Elements(const Layer *l, const Pass *p, size_t from, size_t to);

/* Settings of a layer in place or of GELU, or the first member of them. */
typedef struct {
    Elements *forward, *backward;
} InPlace;

typedef struct {
    const Layer *l;
    const Pass *p;
    size_t n;
    Elements *body;
} Work;

static void block(void *data, size_t b)
{
    const Work *w = data;
    w->body(w->l, w->p, b * BLOCK, b * BLOCK + block_size(w->n, b));
}

static Status each(const Layer *l, const Pass *p, Elements *body)
{
    Work w = {.l = l, .p = p, .n = activation_floats(l->in, p->images), .body = body};
    parallel_for(p->threads, blocks_of(w.n), block, &w);
    return OK;
}

static Status each_forward(Layer *l, const Pass *p)
{
    return each(l, p, ((const InPlace *)l->settings)->forward);
}

static Status each_backward(Layer *l, const Pass *p)
{
    return each(l, p, ((const InPlace *)l->settings)->backward);
}

/* ---- relu, in place: the gradient is 0 where the output is 0 ---- */

static void relu(const Layer *l, const Pass *p, size_t from, size_t to)
{
    (void)p;
    float *x = l->in->x;
    for (size_t i = from; i < to; i++)
        x[i] = x[i] < 0 ? 0 : x[i]; /* written so that NaN stays NaN */
}

static void relu_back(const Layer *l, const Pass *p, size_t from, size_t to)
{
    (void)p;
    const float *restrict x = l->in->x;
    float *restrict d = l->in->dx;
    for (size_t i = from; i < to; i++)
        d[i] = x[i] > 0 ? d[i] : 0;
}

static const LayerOps relu_layer = {.name = "relu", .forward = each_forward, .backward = each_backward};

/* ---- sigmoid ---- */

static void sigmoid(const Layer *l, const Pass *p, size_t from, size_t to)
{
    (void)p;
    for (size_t i = from; i < to; i++)
        l->in->x[i] = 1 / (1 + expf(-l->in->x[i]));
}

static void sigmoid_back(const Layer *l, const Pass *p, size_t from, size_t to)
{
    (void)p;
    for (size_t i = from; i < to; i++)
        l->in->dx[i] *= l->in->x[i] * (1 - l->in->x[i]);
}

static const LayerOps sigmoid_layer = {.name = "sigmoid", .forward = each_forward, .backward = each_backward};

/* ---- the exact GELU ----
 *
 * The forward pass overwrites the layer's input with the derivative, which is all that
 * the backward pass needs. Input and output share one gradient array. */

static void gelu(const Layer *l, const Pass *p, size_t from, size_t to)
{
    (void)p;
    row_loops()->gelu(to - from, l->in->x + from, l->out->x + from);
}

static void gelu_back(const Layer *l, const Pass *p, size_t from, size_t to)
{
    (void)p;
    row_loops()->scale(to - from, l->in->x + from, l->in->dx + from);
}

static const LayerOps gelu_layer = {.name = "gelu", .forward = each_forward, .backward = each_backward};

/* ---- dropout: elements that stay are scaled by 1 / (1 - probability); forward and backward draw equal
 * masks ---- */

typedef struct {
    InPlace of;
    double probability; /* probability that an element is dropped */
} DropoutSettings;

static void drop(const Layer *l, const Pass *p, float *x, size_t from, size_t to)
{
    const double probability = ((const DropoutSettings *)l->settings)->probability;
    const float grown = (float)(1 / (1 - probability));
    const double threshold = probability * 0x1p32;
    const Rng rng = rng_below(&p->rng, l->index);
    const RngKey key = rng_key(&rng, USE_DROP, from / BLOCK);
    for (size_t i = from; i < to; i++)
        x[i] = rng_word(&key, (uint32_t)(i - from)) < threshold ? 0 : x[i] * grown;
}

static void drop_x(const Layer *l, const Pass *p, size_t from, size_t to)
{
    if (p->training)
        drop(l, p, l->in->x, from, to);
}

static void drop_dx(const Layer *l, const Pass *p, size_t from, size_t to)
{
    drop(l, p, l->in->dx, from, to);
}

static const LayerOps dropout_layer = {.name = "dropout", .forward = each_forward, .backward = each_backward};

/* ---- sum of two activations (residual sum) ---- */

static void add(const Layer *l, const Pass *p, size_t from, size_t to)
{
    (void)p;
    const float *restrict y = l->other->x;
    float *restrict x = l->in->x;
    for (size_t i = from; i < to; i++)
        x[i] += y[i];
}

static void give(const Layer *l, const Pass *p, size_t from, size_t to)
{
    (void)p;
    const float *restrict d = l->in->dx;
    float *restrict e = l->other->dx;
    if (l->other->accumulate)
        for (size_t i = from; i < to; i++)
            e[i] += d[i];
    else
        for (size_t i = from; i < to; i++)
            e[i] = d[i];
}

static Status sum_backward(Layer *l, const Pass *p)
{
    TRY(each_backward(l, p));
    l->other->accumulate = true;
    return OK;
}

static const LayerOps sum_layer = {.name = "sum", .forward = each_forward, .backward = sum_backward};

/* ---- maximum and average pooling over square windows that do not overlap; if several pixels of a window have the maximum,
 * the first gets the gradient ---- */

struct PoolWork;
/* Processes one plane, whose floats begin at offset `in` of the input and `out` of the output. */
typedef void Plane(const struct PoolWork *w, size_t in, size_t out);

typedef struct {
    /* rows and columns of a window; pixels at the end that do not fill a window are ignored */
    size_t size;
    Plane *forward, *backward;
} PoolSettings;

/* Windows of size x size pixels. */
typedef struct {
    size_t size, lanes;
    size_t rows, columns; /* number of windows */
    size_t x_columns;     /* columns of pixels */
} Windows;

/* A pooling pass. A plane is one group of channels of one image. */
typedef struct PoolWork {
    const Layer *l;
    Windows windows;
    size_t in_plane, out_plane, planes; /* floats of an input and an output plane; number of planes */
    Plane *body;
} PoolWork;

enum { SOME = 16 }; /* number of planes that one parallel task processes */

static void some_planes(void *data, size_t task)
{
    const PoolWork *w = data;
    for (size_t i = task * SOME; i < (task + 1) * SOME && i < w->planes; i++)
        w->body(w, i * w->in_plane, i * w->out_plane);
}

static Status each_plane(const Layer *l, const Pass *p, Plane *body)
{
    const Activation *in = l->in, *out = l->out;
    PoolWork w = {.l = l,
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

static Status pool_forward(Layer *l, const Pass *p)
{
    return each_plane(l, p, ((const PoolSettings *)l->settings)->forward);
}

static Status pool_backward(Layer *l, const Pass *p)
{
    TRY(each_plane(l, p, ((const PoolSettings *)l->settings)->backward));
    l->in->accumulate = true;
    return OK;
}

/* Returns the offset, in a plane of the input, of pixel i of window (row, column). */
static size_t pixel(const Windows *w, size_t row, size_t column, size_t i)
{
    return ((row * w->size + i / w->size) * w->x_columns + column * w->size + i % w->size) * w->lanes;
}

static void clear(const PoolWork *w, size_t in)
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

static void max_plane(const PoolWork *work, size_t in, size_t out)
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

static void max_back_plane(const PoolWork *work, size_t in, size_t out)
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

static const LayerOps max_pool_layer = {
    .name = "max pool", .open = max_open, .forward = pool_forward, .backward = pool_backward};

/* ---- average ---- */

static void average_plane(const PoolWork *work, size_t in, size_t out)
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

static void average_back_plane(const PoolWork *work, size_t in, size_t out)
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

static const LayerOps average_pool_layer = {
    .name = "average pool", .forward = pool_forward, .backward = pool_backward};

/* ---- the shortcut without parameters of He et al. (2016, section 4.2, option A): the pixels of every `stride`-th row and
 * column; further channels are 0 ---- */

typedef struct {
    size_t stride; /* out->rows = (in->rows + stride - 1) / stride, and columns likewise */
} ShortcutSettings;

static size_t stride_of(const Layer *l)
{
    return ((const ShortcutSettings *)l->settings)->stride;
}

/* Returns the offset of a pixel in a plane, which is one group of channels of one image. */
static size_t place(const Activation *v, size_t image, size_t plane, size_t row, size_t column)
{
    return (((image * (v->channels / v->lanes) + plane) * v->rows + row) * v->columns + column) * v->lanes;
}

static void take_image(void *data, size_t image)
{
    const Layer *l = data;
    const Activation *in = l->in, *out = l->out;
    const size_t lanes = in->lanes, planes = in->channels / lanes, stride = stride_of(l);
    for (size_t plane = 0; plane < out->channels / lanes; plane++)
        for (size_t i = 0; i < out->rows; i++)
            for (size_t j = 0; j < out->columns; j++) {
                float *y = out->x + place(out, image, plane, i, j);
                const size_t from = place(in, image, plane, i * stride, j * stride);
                for (size_t k = 0; k < lanes; k++)
                    y[k] = plane < planes ? in->x[from + k] : 0;
            }
}

static void give_image(void *data, size_t image)
{
    const Layer *l = data;
    const Activation *in = l->in, *out = l->out;
    const size_t lanes = in->lanes, stride = stride_of(l);
    if (!in->accumulate)
        memset(in->dx + place(in, image, 0, 0, 0), 0, activation_size(in) * sizeof *in->dx);
    for (size_t plane = 0; plane < in->channels / lanes; plane++)
        for (size_t i = 0; i < out->rows; i++)
            for (size_t j = 0; j < out->columns; j++) {
                const float *dy = out->dx + place(out, image, plane, i, j);
                float *d = in->dx + place(in, image, plane, i * stride, j * stride);
                for (size_t k = 0; k < lanes; k++)
                    d[k] += dy[k];
            }
}

static Status shortcut_forward(Layer *l, const Pass *p)
{
    parallel_for(p->threads, p->images, take_image, l);
    return OK;
}

static Status shortcut_backward(Layer *l, const Pass *p)
{
    parallel_for(p->threads, p->images, give_image, l);
    l->in->accumulate = true;
    return OK;
}

static const LayerOps shortcut_layer = {.name = "shortcut", .forward = shortcut_forward, .backward = shortcut_backward};

/* ---- adding these layers to a network ---- */

/* Returns true if v is the output of a relu or sigmoid layer. The backward pass of such a layer reads v, so
 * no later layer may overwrite v. */
static bool needed_back(const Builder *b, const Activation *v)
{
    for (size_t i = 0; i < b->layers; i++)
        if (b->layer[i].out == v && (b->layer[i].ops == &relu_layer || b->layer[i].ops == &sigmoid_layer))
            return true;
    return false;
}

static Activation *in_place(Builder *b, const LayerOps *ops, Activation *in, Elements *forward, Elements *backward)
{
    assert(b->status != OK || !needed_back(b, in));
    build_layer(b, ops, in, in, &(InPlace){forward, backward}, sizeof(InPlace));
    return in;
}

Activation *build_relu(Builder *b, Activation *in)
{
    return in_place(b, &relu_layer, in, relu, relu_back);
}

Activation *build_sigmoid(Builder *b, Activation *in)
{
    return in_place(b, &sigmoid_layer, in, sigmoid, sigmoid_back);
}

Activation *build_gelu(Builder *b, Activation *in)
{
    Activation *out = build_sharing(b, in);
    build_layer(b, &gelu_layer, in, out, &(InPlace){gelu, gelu_back}, sizeof(InPlace));
    return out;
}

Activation *build_dropout(Builder *b, Activation *in, double probability)
{
    build_layer(b, &dropout_layer, in, in, &(DropoutSettings){{drop_x, drop_dx}, probability}, sizeof(DropoutSettings));
    return in;
}

static Activation *pool(Builder *b, Activation *in, const LayerOps *ops, PoolSettings s)
{
    if (in->rows < s.size || in->columns < s.size) {
        if (b->status == OK)
            b->status = FAIL(b->err, ERR_USAGE, "%s of %zu on %zux%zu values: the images are too small",
                             ops->name, s.size, in->rows, in->columns);
        return build_nothing(b);
    }
    Activation like = *in;
    like.rows /= s.size;
    like.columns /= s.size;
    Activation *out = build_activation(b, like);
    build_layer(b, ops, in, out, &s, sizeof s);
    return out;
}

Activation *build_max_pool(Builder *b, Activation *in, size_t size)
{
    return pool(b, in, &max_pool_layer, (PoolSettings){size, max_plane, max_back_plane});
}

Activation *build_average_pool(Builder *b, Activation *in, size_t size)
{
    return pool(b, in, &average_pool_layer, (PoolSettings){size, average_plane, average_back_plane});
}

Activation *build_sum(Builder *b, Activation *in, Activation *other)
{
    in_place(b, &sum_layer, in, add, give);
    b->layer[b->layers - 1].other = other;
    return in;
}

Activation *build_shortcut(Builder *b, Activation *in, size_t channels, size_t stride)
{
    Activation like = *in;
    assert(b->status != OK || (channels >= in->channels && channels % in->lanes == 0));
    like.channels = channels;
    like.rows = (in->rows + stride - 1) / stride;
    like.columns = (in->columns + stride - 1) / stride;
    Activation *out = build_activation(b, like);
    build_layer(b, &shortcut_layer, in, out, &(ShortcutSettings){stride}, sizeof(ShortcutSettings));
    return out;
}
