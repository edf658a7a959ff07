/* optim.c -- the updates of the optimizers; see train.h. */
#include "train/train_parts.h"

#include "base/parallel.h"
#include "math/blockwise.h"
#include "math/linalg.h"

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

/* One parameter of n elements. `velocity` and `square` start at zero; only AdamW uses `square`, for Muon too. */
typedef struct {
    const float *gradient;
    float *velocity, *square, *weights;
    size_t n;
    bool matrix;  /* true: has two axes or more, so that decoupled decay applies */
    double scale; /* the factor of `optimizer_scale` on the gradient */
    size_t rows;  /* rows of a matrix that Muon changes; 0: it is not Muon's */
    float *room;  /* working memory of Muon */
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

/* ---- Muon (Jordan et al. 2024): the momentum of a matrix is orthogonalised, roughly, by five steps of Newton and Schulz ---- */

/* Sets v to the momentum, and u->room to Nesterov's look ahead. */
static void muon_block(void *data, size_t b)
{
    const Work *k = data;
    const float *g = k->u.gradient + b * BLOCK;
    float *v = k->u.velocity + b * BLOCK, *x = k->u.room + b * BLOCK;
    for (size_t i = 0, n = block_size(k->u.n, b); i < n; i++) {
        v[i] = k->momentum * v[i] + k->scale * g[i];
        x[i] = k->scale * g[i] + k->momentum * v[i];
    }
}

static void muon_move_block(void *data, size_t b)
{
    const Work *k = data;
    const float *x = k->u.room + b * BLOCK;
    float *w = k->u.weights + b * BLOCK;
    for (size_t i = 0, n = block_size(k->u.n, b); i < n; i++)
        w[i] = k->kept * w[i] - k->rate * x[i];
}

static void scale_to(float *to, float by, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = by * x[i];
}

/* Replaces x (rows, columns) by a x + (b A + c A^2) x, where A = x x'; if rows > columns, of its transpose. y (rows, columns),
 * A and B (the lesser side squared) are working memory. */
static void newton_schulz(float *x, float *y, float *A, float *B, size_t rows, size_t columns, int threads)
{
    static const float a = 3.4445f, b = -4.7750f, c = 2.0315f;
    const bool tall = rows > columns;
    const size_t side = tall ? columns : rows;
    linalg_multiply(&(Product){.a = x, .a_turned = tall, .b = x, .b_turned = !tall, .c = A, .m = side, .n = side,
                               .k = tall ? rows : columns, .scale = 1}, threads);
    scale_to(B, b, A, side * side);
    linalg_multiply(&(Product){.a = A, .b = A, .c = B, .m = side, .n = side, .k = side, .add = true, .scale = c}, threads);
    scale_to(y, a, x, rows * columns);
    linalg_multiply(&(Product){.a = tall ? x : B, .b = tall ? B : x, .c = y, .m = rows, .n = columns, .k = side, .add = true,
                               .scale = 1}, threads);
    scale_to(x, 1, y, rows * columns);
}

static double muon_scale(MuonScale scale, double out, double in)
{
    return scale == MUON_KELLER ? sqrt(fmax(1, out / in)) : scale == MUON_MOONSHOT ? 0.2 * sqrt(fmax(out, in)) : sqrt(out / in);
}

static void muon_step(const Optimizer *o, Work *k, int threads)
{
    enum { STEPS = 5 };
    const size_t n = k->u.n, rows = k->u.rows, columns = n / rows, side = rows < columns ? rows : columns;
    float *x = k->u.room, *y = x + n, *A = y + n, *B = A + side * side;
    parallel_for(threads, blocks_of(n), muon_block, k);
    scale_to(x, (float)(1 / (sqrt(blockwise_squares(x, n, threads)) + 1e-7)), x, n);
    for (int i = 0; i < STEPS; i++)
        newton_schulz(x, y, A, B, rows, columns, threads);
    k->rate *= (float)muon_scale(o->scale, (double)rows, (double)columns);
    parallel_for(threads, blocks_of(n), muon_move_block, k);
}

/* Muon changes matrices but embeddings and the weights of the output layer; convolutions are matrices of their outputs. */
static size_t muon_rows(const Optimizer *o, const Model *m, const Slice *s)
{
    return o->kind == OPTIMIZER_MUON && s->shape.rank > 1 && s->kind != KIND_EMBEDDING && s != model_head(m) ? s->shape.dim[0] : 0;
}

size_t optimizer_room(const Optimizer *o, const Model *m)
{
    const SliceList *list = model_parameters(m);
    size_t most = 0;
    for (size_t i = 0; i < list->count; i++) {
        const size_t n = list->item[i].shape.n, rows = muon_rows(o, m, &list->item[i]), columns = rows ? n / rows : 0,
                     side = rows < columns ? rows : columns, room = rows ? 2 * n + 2 * side * side : 0;
        most = room > most ? room : most;
    }
    return most;
}

/* Makes one step. w: weights, g: scaled gradient, v: velocity, r: learning rate, d: weight_decay.
 * SGD: v = momentum v + (g + d w), w = w - r v.
 * AdamW (Loshchilov & Hutter 2019): w = (1 - r d) w; v and s are moving averages of g and g^2 with the factors
 * momentum and beta2; w = w - r v' / (sqrt(s') + 1e-8), v' and s' being v and s without their bias to zero.
 * signSGD (Bernstein et al. 2018): w = (1 - r d) w - r sign(g).
 * Muon: v = momentum v + g, w = (1 - r d) w - r scale O(g + momentum v), where O(x) is x / (|x| + 1e-7) after five steps of
 * Newton and Schulz; what is no matrix of Muon changes by AdamW with beta1 0.9. */
static void optimizer_step(const Optimizer *o, size_t step, const Updated *u, int threads)
{
    static void (*const block[])(void *data, size_t b) = {
        [OPTIMIZER_SGD] = sgd_block, [OPTIMIZER_ADAMW] = adamw_block, [OPTIMIZER_SIGNSGD] = sign_block,
        [OPTIMIZER_MUON] = adamw_block};
    const bool other = o->kind == OPTIMIZER_MUON && !u->rows;
    const double rate = optimizer_rate(o, step) * (!other ? 1 : o->lr > 0 ? o->other / o->lr : 0), momentum = other ? 0.9 : o->momentum;
    Work k = {.u = *u,
              .rate = (float)rate,
              .momentum = (float)momentum,
              .decay = (float)o->weight_decay,
              .scale = (float)u->scale,
              .kept = u->matrix ? (float)(1 - rate * o->weight_decay) : 1,
              .beta2 = (float)o->beta2,
              .first = (float)(rate / (1 - pow(momentum, (double)step))),
              .second = (float)(1 / sqrt(1 - pow(o->beta2, (double)step)))};
    if (u->rows)
        muon_step(o, &k, threads);
    else
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
                           .rows = muon_rows(o, t->model, s),
                           .room = t->room,
                           .scale = scale};
        optimizer_step(o, step, &u, t->s.threads);
    }
}
