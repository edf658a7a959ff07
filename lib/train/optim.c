/* optim.c -- the updates of the optimizers; see train.h. */
#include "train/train_parts.h"

#include "base/parallel.h"
#include "math/blockwise.h"

#include <math.h>

double optimizer_rate(const Optimizer *o, size_t step)
{
    const double done = (double)(step - 1), warmup = (double)o->warmup, cosine = (double)o->cosine;
    if (step <= o->warmup)
        return o->lr * (double)step / (warmup + 1);
    if (o->every)
        return o->lr * pow(o->decay, (double)((step - 1) / o->every));
    if (!o->cosine)
        return o->lr;
    const double share = done < cosine ? (done - warmup) / (cosine - warmup) : 1;
    return o->least + 0.5 * (1 + cos(acos(-1) * share)) * (o->lr - o->least);
}

/* ---- the norm of a gradient ---- */

/* Returns the factor that `clip` puts on a gradient of n elements. */
static double optimizer_scale(const Optimizer *o, const float *gradient, size_t n, int threads)
{
    if (!(o->clip > 0))
        return 1;
    const double norm = sqrt(blockwise_squares(gradient, n, threads));
    return norm > o->clip ? o->clip / norm : 1;
}

/* ---- the updates ---- */

/* One parameter of n elements. `velocity` and `square` start at zero; only AdamW uses `square`. */
typedef struct {
    const float *gradient;
    float *velocity, *square, *weights;
    size_t n;
    bool matrix;  /* true: has two axes or more, so that the decay of AdamW and signSGD applies */
    double scale; /* the factor of `optimizer_scale` on the gradient */
} Updated;

typedef struct {
    Updated u;
    float rate, momentum, decay, scale;
    float kept;                 /* 1 - rate decay: what decoupled decay leaves of a weight */
    float beta2, first, second; /* of AdamW: `first` = rate / (1 - momentum^step), `second` =
                                   1 / sqrt(1 - beta2^step) */
} Work;

static void sgd_block(void *data, size_t b)
{
    const Work *k = data;
    const float *g = k->u.gradient + b * BLOCK;
    float *v = k->u.velocity + b * BLOCK, *w = k->u.weights + b * BLOCK;
    for (size_t i = 0, n = block_size(k->u.n, b); i < n; i++) {
        v[i] = k->momentum * v[i] + (k->scale * g[i] + k->decay * w[i]);
        w[i] -= k->rate * v[i];
    }
}

static void adamw_block(void *data, size_t b)
{
    const Work k = *(const Work *)data;
    const float *restrict g = k.u.gradient + b * BLOCK;
    float *restrict v = k.u.velocity + b * BLOCK, *restrict s = k.u.square + b * BLOCK,
                    *restrict w = k.u.weights + b * BLOCK;
    for (size_t i = 0, n = block_size(k.u.n, b); i < n; i++) {
        const float x = k.scale * g[i];
        v[i] = k.momentum * v[i] + (1 - k.momentum) * x;
        s[i] = k.beta2 * s[i] + (1 - k.beta2) * (x * x);
        w[i] = k.kept * w[i] - k.first * v[i] / (k.second * sqrtf(s[i]) + 1e-8f);
    }
}

static void sign_block(void *data, size_t b)
{
    const Work *k = data;
    const float *g = k->u.gradient + b * BLOCK;
    float *w = k->u.weights + b * BLOCK;
    for (size_t i = 0, n = block_size(k->u.n, b); i < n; i++)
        w[i] = k->kept * w[i] - k->rate * (float)((g[i] > 0) - (g[i] < 0));
}

/* Makes one step. w: weights, g: scaled gradient, v: velocity, r: learning rate, d: weight_decay.
 * SGD: v = momentum v + (g + d w), w = w - r v.
 * AdamW (Loshchilov & Hutter 2019): w = (1 - r d) w; v and s are moving averages of g and g^2 with the factors
 * momentum and beta2; w = w - r v' / (sqrt(s') + 1e-8), v' and s' being v and s without their bias to zero.
 * signSGD (Bernstein et al. 2018): w = (1 - r d) w - r sign(g). */
static void optimizer_step(const Optimizer *o, size_t step, const Updated *u, int threads)
{
    static void (*const block[])(void *data, size_t b) = {
        [OPTIMIZER_SGD] = sgd_block, [OPTIMIZER_ADAMW] = adamw_block, [OPTIMIZER_SIGNSGD] = sign_block};
    const double rate = optimizer_rate(o, step);
    Work k = {.u = *u,
              .rate = (float)rate,
              .momentum = (float)o->momentum,
              .decay = (float)o->weight_decay,
              .scale = (float)u->scale,
              .kept = u->matrix ? (float)(1 - rate * o->weight_decay) : 1,
              .beta2 = (float)o->beta2,
              .first = (float)(rate / (1 - pow(o->momentum, (double)step))),
              .second = (float)(1 / sqrt(1 - pow(o->beta2, (double)step)))};
    parallel_for(threads, blocks_of(u->n), block[o->kind], &k);
}

void optimize(const Trainer *t, size_t step, const Optimized *a)
{
    const Optimizer *o = &t->s.optimizer;
    const SliceList *list = model_parameters(t->model);
    const double scale = optimizer_scale(o, a->gradient, t->floats, t->s.threads);
    for (size_t i = 0; i < list->count; i++) {
        const Slice *s = &list->item[i];
        const Updated u = {.gradient = a->gradient + s->offset,
                           .velocity = a->velocity + s->offset,
                           .square = a->square ? a->square + s->offset : NULL,
                           .weights = a->weights + s->offset,
                           .n = s->shape.n,
                           .matrix = s->shape.rank > 1,
                           .scale = scale};
        optimizer_step(o, step, &u, t->s.threads);
    }
}
