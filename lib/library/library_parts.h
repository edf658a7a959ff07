/* library_parts.h -- the objects behind atomo.h's opaque types. */
#ifndef ATOMO_LIBRARY_PARTS_H
#define ATOMO_LIBRARY_PARTS_H

#include "atomo.h"
#include "exchange/exchange.h"

struct atomo_codec {
    Arena *arena;
    const Codec *codec;
    const char *spec, *complete, *canonical; /* as it was typed; compress/spec.h */
};

struct atomo_tensor {
    const atomo_codec *codec;
    Arena *arena, *scratch;
    char *name; /* for messages; "tensor" if the caller's name is empty */
    Shape shape;
    /* The exchange of the current step. Its member `call`, with the fields that select random numbers, stays
     * valid between steps. */
    Exchange exchange;
    /* (workers) the state of worker `self`; if decoding a worker's payload needs that worker's state, also the
     * states of all other workers */
    ExchangeWorker *worker;
    KeptVector kept; /* of worker `self`, in `exchange.payloads` */
    /* (workers) the payloads of the current step, from which the next states are computed */
    Bytes (*sent)[ROUNDS_MAX];
    bool *took; /* (workers) true: the worker's payload of this round was taken */
    size_t self, workers;
    bool unchecked;
    Error unread; /* where errors go if the caller passes NULL */
    int taken;    /* number of payloads taken in this round */
    size_t state; /* bytes of one worker's state */
    enum {
        STEP_NONE,  /* no step has begun */
        STEP_ROUND, /* a step is in one of its rounds */
        STEP_OVER,  /* all rounds of the step are over */
    } at;
};

/* Returns where to write an error: `err`, or `own` if the caller passes NULL. atomo_error is the public name
 * of Error. */
static inline Error *error_of(atomo_error *err, Error *own)
{
    return err ? (Error *)err : own;
}

static inline atomo_status status_of(Status status)
{
    return (atomo_status)status;
}

/* Refuses x if it contains NaN or infinity, unless the caller has promised that x does not. */
Status library_check(const atomo_tensor *t, const float *x, Error *err);

/* Sets `*shape`. ERR_USAGE with the reason if the shape is not valid. */
Status library_shape(Shape *shape, const char *name, int rank, const size_t *dim, Error *err);

/* Called before work that may call OpenBLAS: sets OpenBLAS to one thread if the codec uses it. */
void library_enter(const Codec *codec);
/* Undoes `library_enter` after that work. */
void library_leave(const Codec *codec);

#endif
