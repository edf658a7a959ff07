/* portions.c -- the images of each step, and the steps that end with an exchange. */
#include "train/train_parts.h"

/* A last step with fewer images than workers is left out. */
size_t trainer_epoch_steps(const Trainer *t)
{
    const size_t rest = t->s.train->count % t->s.batch;
    return t->s.train->count / t->s.batch + (rest >= t->s.workers);
}

Portion portion_of(const Trainer *t, size_t step)
{
    const size_t steps = trainer_epoch_steps(t), place = (step - 1) % steps * t->s.batch;
    const size_t left = t->s.train->count - place;
    return (Portion){(step - 1) / steps, place, left < t->s.batch ? left : t->s.batch};
}

Portion portion_share(const Portion *all, size_t workers, size_t w)
{
    const size_t from = all->count * w / workers, to = all->count * (w + 1) / workers;
    return (Portion){all->epoch, all->place + from, to - from};
}

size_t trainer_exchange(const Trainer *t, size_t step)
{
    const size_t h = t->s.local.steps ? t->s.local.steps : 1;
    return step % h ? 0 : step / h;
}

size_t round_images(const Trainer *t, size_t step, size_t w)
{
    const size_t h = t->s.local.steps ? t->s.local.steps : 1;
    size_t images = 0;
    for (size_t i = step - (step - 1) % h; i <= step; i++) {
        const Portion all = portion_of(t, i);
        images += portion_share(&all, t->s.workers, w).count;
    }
    return images;
}
