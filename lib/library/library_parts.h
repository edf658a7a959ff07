/* library_parts.h -- the objects behind atomo.h's opaque types. */
#ifndef ATOMO_LIBRARY_PARTS_H
#define ATOMO_LIBRARY_PARTS_H

#include "atomo.h"
#include "exchange/exchange.h"

#include <fenv.h>
#include <locale.h>
#include <stdatomic.h>

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
    Kept kept; /* of worker `self`, in `exchange.payloads` */
    /* (workers) the payloads of the current step, from which the next states are computed */
    Bytes (*sent)[ROUNDS_MAX];
    uint8_t *took; /* (workers) bit r: the worker's payload of round r was taken */
    size_t self, workers;
    bool unchecked;
    bool lost; /* the computation of a state failed half-way */
    uint8_t single; /* bit r: round r took the workers' payloads one by one */
    atomic_bool busy; /* a call uses the tensor */
    int taken;    /* number of payloads taken in this round */
    size_t state; /* bytes of one worker's state */
    size_t learned; /* its last bytes, which atomo_train writes */
    size_t bound; /* most bytes of the payloads of all rounds */
    enum {
        STEP_NONE,  /* no step has begun */
        STEP_ROUND, /* a step is in one of its rounds */
        STEP_OVER,  /* all rounds of the step are over */
        STEP_AGAIN, /* this worker has encoded the mean of a shard */
        STEP_HEARD, /* the mean of a shard is known */
    } at;
};

/* One call of a function of atomo.h: what the host had set for the thread, and where errors go. */
typedef struct {
    fenv_t floats;
    locale_t locale;
    Error *err;
} Visit;

typedef Status LibraryBody(void *arg, Visit *v);

/* Calls the body, maybe on another thread. Errors go to `err`, the public name of Error, which may be NULL. */
atomo_status library_call(LibraryBody *body, void *arg, atomo_error *err);

/* Before and after a call of the host's own function. */
void library_call_host(Visit *v);
void library_return(Visit *v);

/* What the functions on a tensor are called with; each reads its own members. */
typedef struct {
    int64_t step;
    int worker; /* or the number of senders */
    const float *x;
    float *y;
    Bytes in;
    const void *const *part; /* (parts) payloads to be merged */
    const size_t *part_size;
    size_t parts;
    void *out;
    size_t room;
    size_t *size;
    const void **payload;
    int *more;
} Order;

typedef Status TensorBody(atomo_tensor *t, const Order *o, Error *err);

/* Like library_call; OpenBLAS has one thread meanwhile if the codec uses it, and the scratch memory is freed. */
atomo_status library_call_tensor(TensorBody *body, atomo_tensor *t, const Order *order, atomo_error *err);

/* Refuses x if it contains NaN or infinity, unless the caller has promised that x does not. */
Status library_check(const atomo_tensor *t, const float *x, Error *err);

/* Refuses a call that reads a state that was lost. */
Status library_check_state(const atomo_tensor *t, Error *err);

/* Refuses a NULL in place of bytes. */
Status library_check_bytes(const atomo_tensor *t, Bytes b, Error *err);

/* Sets `*shape`. ERR_USAGE with the reason if the shape is not valid. */
Status library_shape(Shape *shape, const char *name, int rank, const size_t *dim, Error *err);

/* Merges the payloads of call->round. */
Status library_merge(atomo_tensor *t, const Call *call, const Order *o);

#endif
