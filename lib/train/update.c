/* update.c -- a step of the optimizer on all parameters of a network. */
#include "train/train_parts.h"

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
