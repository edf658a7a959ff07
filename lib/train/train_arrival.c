/* train_arrival.c -- the parts of a step whose gradients are those of the first workers that arrive.
 *
 * Each rank tells rank 0, the server, the number of each of its workers as soon as the worker's gradient is computed. When
 * enough workers have arrived, the server tells every rank that the step is closed. A rank that still computes looks for
 * this before each layer, and abandons its gradient. It then tells the server the number of its worker all the same: so the
 * server hears each worker once per step. Then the server sends all ranks the list of the workers taken. */
#include "train/train_parts.h"

#include <string.h>

bool arrives(const Trainer *t)
{
    return t->s.arrival || t->arrived;
}

bool arrival_over(void *trainer)
{
    const Trainer *t = trainer;
    return t->s.arrival && net_told(t->s.net);
}

void arrival_tell(Trainer *t, size_t w)
{
    if (t->s.arrival)
        net_tell(t->s.net, 0, w);
}

/* Rank 0: takes the first workers, closes the step, and hears the late workers. */
static void serve(Trainer *t)
{
    size_t heard = 0;
    for (; heard < t->s.aggregate; heard++)
        t->sends[net_hear(t->s.net)] = true;
    for (int r = 1; r < t->s.net->ranks; r++)
        net_tell(t->s.net, r, 0);
    for (; heard < t->s.workers; heard++)
        net_hear(t->s.net);
}

void arrival_close(Trainer *t)
{
    const size_t size = t->s.workers * sizeof *t->sends;
    if (t->arrived) {
        memcpy(t->sends, t->arrived, size);
        return;
    }
    memset(t->sends, 0, size);
    if (t->s.net->rank == 0)
        serve(t);
    else
        net_hear(t->s.net);
    net_broadcast(t->s.net, 0, t->sends, size);
}

void arrival_drop_late(Trainer *t)
{
    for (size_t w = t->own; w < t->end; w++)
        if (!t->sends[w]) {
            memset(t->gradient[w], 0, t->floats * sizeof **t->gradient);
            memcpy(t->running[w], t->running_before[w], t->running_floats * sizeof **t->running);
        }
}
