/* local_steps.c -- training with local steps (DiLoCo, Douillard et al. 2023, arXiv 2311.08105). Each worker takes
 * H steps of the inner optimizer from the common weights, with its own data and optimizer state. Then all workers
 * exchange their pseudo-gradients, D = common weights - own weights. The outer optimizer applies the mean of D:
 *
 *     v = momentum v + D,    common weights -= lr (D + momentum v)    (SGD with Nesterov's momentum)
 *
 * All workers go on from the new common weights. The states of the inner optimizers stay. */
#include "train/train_parts.h"

#include "base/parallel.h"
#include "math/blockwise.h"

#include <string.h>

/* With one local step of plain SGD and an outer step of factor 1, D is the learning rate times the gradient. The
 * workers then send their gradients, as in training without local steps. */
static bool local_is_ordinary(const TrainSetup *s)
{
    const Optimizer *o = &s->optimizer;
    return s->local.steps == 0 ||
           (s->local.steps == 1 && o->kind == OPTIMIZER_SGD && o->momentum == 0 && o->weight_decay == 0 &&
            o->clip == 0 && s->local.lr == 1 && s->local.momentum == 0);
}

Status local_open(Trainer *t, Error *err)
{
    const bool squares = optimizer_squares(&t->s.optimizer);
    if (local_is_ordinary(&t->s))
        return OK;
    t->inner = NEW_ZERO(t->arena, InnerState, t->s.workers);
    TRY(arena_check(t->inner, t->arena, err));
    for (size_t w = 0; w < t->s.workers; w++) {
        InnerState *i = &t->inner[w];
        if (net_rank(t->s.net) && (w < t->own || w >= t->end))
            continue;
        i->weights = NEW(t->arena, float, t->floats);
        i->velocity = NEW(t->arena, float, t->floats);
        i->square = squares ? NEW(t->arena, float, t->floats) : NULL;
        if (!i->weights || !i->velocity || (squares && !i->square))
            return arena_fail(t->arena, err);
    }
    return OK;
}

/* Sets the weights of this process's workers to the common weights. */
static void begin_round(Trainer *t)
{
    for (size_t w = t->own; w < t->end; w++)
        memcpy(t->inner[w].weights, t->weights, t->floats * sizeof *t->weights);
}

void local_reset(Trainer *t)
{
    for (size_t w = 0; t->inner && w < t->s.workers; w++) {
        const InnerState *i = &t->inner[w];
        if (!i->weights)
            continue;
        memcpy(i->weights, t->weights, t->floats * sizeof *t->weights);
        memset(i->velocity, 0, t->floats * sizeof *i->velocity);
        if (i->square)
            memset(i->square, 0, t->floats * sizeof *i->square);
    }
}

void local_update(Trainer *t, size_t step)
{
    for (size_t w = t->own; t->inner && w < t->end; w++) {
        const InnerState *i = &t->inner[w];
        optimize(t, step, &(Optimized){t->gradient[w], i->weights, i->velocity, i->square});
    }
}

typedef struct {
    const Trainer *t;
    float *difference;
    const float *weights;
} Difference;

static void subtract_block(void *data, size_t b)
{
    const Difference *d = data;
    for (size_t i = b * BLOCK, end = i + block_size(d->t->floats, b); i < end; i++)
        d->difference[i] = d->t->weights[i] - d->weights[i];
}

void local_differences(Trainer *t)
{
    for (size_t w = t->own; t->inner && w < t->end; w++) {
        Difference d = {t, t->gradient[w], t->inner[w].weights};
        parallel_for(t->s.threads, blocks_of(t->floats), subtract_block, &d);
    }
}

static void outer_block(void *data, size_t b)
{
    const Trainer *t = data;
    const float lr = (float)t->s.local.lr, momentum = (float)t->s.local.momentum;
    for (size_t i = b * BLOCK, end = i + block_size(t->floats, b); i < end; i++) {
        t->velocity[i] = momentum * t->velocity[i] + t->agreed[i];
        t->weights[i] -= lr * (t->agreed[i] + momentum * t->velocity[i]);
    }
}

void local_outer_step(Trainer *t)
{
    parallel_for(t->s.threads, blocks_of(t->floats), outer_block, t);
    begin_round(t);
}
