/* optim.c -- the SGD update; see optim.h. */
#include "nn/optim.h"

#include "base/parallel.h"

#include <math.h>

typedef struct {
    const float *gradient;
    float *velocity, *weights;
    size_t n;
    float rate, momentum, decay;
} Update;

static void update_block(void *data, size_t b)
{
    const Update *u = data;
    const float *g = u->gradient + b * BLOCK;
    float *v = u->velocity + b * BLOCK, *w = u->weights + b * BLOCK;
    for (size_t i = 0, n = block_size(u->n, b); i < n; i++) {
        v[i] = u->momentum * v[i] + (g[i] + u->decay * w[i]);
        w[i] -= u->rate * v[i];
    }
}

double sgd_rate(const Sgd *s, size_t step)
{
    return s->every ? s->lr * pow(s->decay, (double)((step - 1) / s->every)) : s->lr;
}

void sgd_step(const Sgd *s, size_t step, size_t n, const float *gradient, float *velocity, float *weights,
              int threads)
{
    Update u = {.gradient = gradient,
                .velocity = velocity,
                .weights = weights,
                .n = n,
                .rate = (float)sgd_rate(s, step),
                .momentum = (float)s->momentum,
                .decay = (float)s->weight_decay};
    parallel_for(threads, blocks_of(n), update_block, &u);
}
