/* optim.c -- the updates of the optimizers; see train.h. */
#include "train/train.h"

#include "base/parallel.h"
#include "math/blockwise.h"

#include <math.h>

const char *const optimizer_names[] = {"sgd", "adamw", "signsgd", NULL};

Status optimizer_check(const Optimizer *o, Error *err)
{
    if (o->every && o->cosine)
        return FAIL(err, ERR_USAGE, "--lr-decay-steps and --lr-cosine: want one of them");
    if (o->cosine && o->cosine <= o->warmup)
        return FAIL(err, ERR_USAGE, "--lr-cosine %zu: want more than the %zu of --lr-warmup", o->cosine,
                    o->warmup);
    if (o->least > 0 && !o->cosine)
        return FAIL(err, ERR_USAGE, "--lr-min: want --lr-cosine as well");
    if (o->least > o->lr)
        return FAIL(err, ERR_USAGE, "--lr-min %g: above the step size, %g, which falls to it", o->least,
                    o->lr);
    if (o->kind == OPTIMIZER_ADAMW && (o->momentum >= 1 || o->beta2 >= 1))
        return FAIL(err, ERR_USAGE, "--optimizer adamw: --momentum %g and --beta2 %g: want less than 1",
                    o->momentum, o->beta2);
    return OK;
}

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

double optimizer_scale(const Optimizer *o, const float *gradient, size_t n, int threads)
{
    if (!(o->clip > 0))
        return 1;
    const double norm = sqrt(blockwise_squares(gradient, n, threads));
    return norm > o->clip ? o->clip / norm : 1;
}

/* ---- the updates ---- */

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

void optimizer_step(const Optimizer *o, size_t step, const Updated *u, int threads)
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
