/* pointwise.c -- layers that work element by element, in place: relu, sigmoid, dropout and residual sums. */
#include "train/layer.h"

#include "base/parallel.h"

#include <math.h>

/* ---- applying a function to all elements, in parallel blocks ---- */

typedef struct {
    const Layer *l;
    const Pass *p;
    size_t n;
    void (*body)(const Layer *l, const Pass *p, size_t from, size_t to);
} Work;

static void block(void *data, size_t b)
{
    const Work *w = data;
    w->body(w->l, w->p, b * BLOCK, b * BLOCK + block_size(w->n, b));
}

static Status each(const Layer *l, const Pass *p,
                   void (*body)(const Layer *l, const Pass *p, size_t from, size_t to))
{
    Work w = {.l = l, .p = p, .n = activation_floats(l->in, p->images), .body = body};
    parallel_for(p->threads, blocks_of(w.n), block, &w);
    return OK;
}

/* ---- relu: the gradient is 0 where the output is 0 ---- */

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

static Status relu_forward(Layer *l, const Pass *p)
{
    return each(l, p, relu);
}

static Status relu_backward(Layer *l, const Pass *p)
{
    return each(l, p, relu_back);
}

const LayerOps relu_layer = {.name = "relu", .forward = relu_forward, .backward = relu_backward};

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

static Status sigmoid_forward(Layer *l, const Pass *p)
{
    return each(l, p, sigmoid);
}

static Status sigmoid_backward(Layer *l, const Pass *p)
{
    return each(l, p, sigmoid_back);
}

const LayerOps sigmoid_layer = {.name = "sigmoid", .forward = sigmoid_forward, .backward = sigmoid_backward};

/* ---- dropout: elements that stay are scaled by 1 / (1 - probability); forward and backward draw equal
 * masks ---- */

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
    drop(l, p, l->in->x, from, to);
}

static void drop_dx(const Layer *l, const Pass *p, size_t from, size_t to)
{
    drop(l, p, l->in->dx, from, to);
}

static Status dropout_forward(Layer *l, const Pass *p)
{
    return p->training ? each(l, p, drop_x) : OK;
}

static Status dropout_backward(Layer *l, const Pass *p)
{
    return each(l, p, drop_dx);
}

const LayerOps dropout_layer = {.name = "dropout", .forward = dropout_forward, .backward = dropout_backward};

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

static Status sum_forward(Layer *l, const Pass *p)
{
    return each(l, p, add);
}

static Status sum_backward(Layer *l, const Pass *p)
{
    TRY(each(l, p, give));
    l->other->accumulate = true;
    return OK;
}

const LayerOps sum_layer = {.name = "sum", .forward = sum_forward, .backward = sum_backward};
