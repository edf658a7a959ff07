/* local_steps.c -- training with local steps (DiLoCo, Douillard et al. 2023, arXiv 2311.08105). Each worker takes
 * H steps of the inner optimizer from the common weights, with its own data and optimizer state. Then all workers
 * exchange their pseudo-gradients, D = common weights - own weights. The outer optimizer applies the mean of D:
 *
 *     v = momentum v + D,    common weights -= lr (D + momentum v)    (SGD with Nesterov's momentum)
 *
 * All workers go on from the new common weights. The states of the inner optimizers stay.
 *
 * With F fragments (Streaming DiLoCo, Douillard et al. 2025, arXiv 2501.18512) layer number l is in fragment l mod F, and the
 * fragments take turns within the H steps. D is of the last common weights, not of those that were mixed. */
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
            o->clip == 0 && s->local.lr == 1 && s->local.momentum == 0 && s->local.mix == 0);
}

/* ---- fragments ---- */

/* Returns the length of the part of a tensor's name that names its layer: up to its first number, as in
 * transformer.h.0.mlp.c_fc.weight, or without its last part. */
static size_t layer_length(const char *name)
{
    const char *end = strrchr(name, '.');
    for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.')) {
        const size_t digits = strspn(dot + 1, "0123456789");
        if (digits && (dot[1 + digits] == '.' || !dot[1 + digits]))
            return (size_t)(dot - name) + 1 + digits;
    }
    return end ? (size_t)(end - name) : strlen(name);
}

static bool same_layer(const char *a, const char *b)
{
    const size_t length = layer_length(a);
    return length == layer_length(b) && !strncmp(a, b, length);
}

/* Divides the layers among the fragments. */
static Status open_fragments(Trainer *t, Error *err)
{
    const SliceList *list = model_parameters(t->model);
    const size_t count = t->s.local.fragments;
    size_t layer = 0;
    t->fragment = NEW_ZERO(t->arena, Fragment, count);
    TRY(arena_check(t->fragment, t->arena, err));
    for (size_t f = 0; f < count; f++) {
        t->fragment[f].tensor = NEW(t->arena, GradientTensor, list->count);
        TRY(arena_check(t->fragment[f].tensor, t->arena, err));
    }
    for (size_t i = 0; i < list->count; i++) {
        const Slice *s = &list->item[i];
        layer += i && !same_layer(s[-1].name, s->name);
        Fragment *f = &t->fragment[layer % count];
        f->tensor[f->tensors++] = (GradientTensor){s->name, s->shape, s->offset};
        f->floats += s->shape.n;
    }
    return layer + 1 >= count ? OK : FAIL(err, ERR_USAGE, "--fragments %zu: the network has %zu layers", count, layer + 1);
}

/* Returns the number, from 1, of the fragment whose mean is applied at `step`; 0: none. */
static size_t turn_of(const LocalSteps *l, size_t step)
{
    const size_t place = (step - 1) % l->steps + 1, f = (place * l->fragments + l->steps - 1) / l->steps;
    return f * l->steps / l->fragments == place ? f : 0;
}

size_t trainer_exchange(const Trainer *t, size_t step)
{
    const LocalSteps *l = &t->s.local;
    const size_t due = step + l->late, turn = l->steps ? turn_of(l, due) : 0;
    if (!l->steps)
        return step;
    return turn ? (due - 1) / l->steps * l->fragments + turn : 0;
}

Status local_open(Trainer *t, Error *err)
{
    const bool squares = optimizer_squares(&t->s.optimizer);
    t->s.local.fragments = t->s.local.fragments ? t->s.local.fragments : 1;
    TRY(open_fragments(t, err));
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
    }
    return arena_check(!arena_failed(t->arena), t->arena, err);
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

/* A tensor of a fragment. */
typedef struct {
    const Trainer *t;
    const GradientTensor *tensor;
} Outer;

static void outer_block(void *data, size_t b)
{
    const Outer *o = data;
    const Trainer *t = o->t;
    const float lr = (float)t->s.local.lr, momentum = (float)t->s.local.momentum, mix = (float)t->s.local.mix;
    const size_t from = o->tensor->offset + b * BLOCK, end = from + block_size(o->tensor->shape.n, b);
    for (size_t i = from; i < end; i++) {
        t->velocity[i] = momentum * t->velocity[i] + t->agreed[i];
        t->weights[i] -= lr * (t->agreed[i] + momentum * t->velocity[i]);
    }
    for (size_t w = t->own; w < t->end; w++) {
        float *own = t->inner[w].weights;
        for (size_t i = from; i < end; i++)
            own[i] = mix > 0 ? (1 - mix) * t->weights[i] + mix * own[i] : t->weights[i];
    }
}

void local_outer_step(Trainer *t, size_t step)
{
    const size_t turn = t->inner ? turn_of(&t->s.local, step) : 0;
    for (size_t i = 0; turn && i < t->fragment[turn - 1].tensors; i++) {
        const GradientTensor *tensor = &t->fragment[turn - 1].tensor[i];
        parallel_for(t->s.threads, blocks_of(tensor->shape.n), outer_block, &(Outer){t, tensor});
    }
}
