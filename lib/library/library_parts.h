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
    const char *spec; /* canonical */
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
    uint8_t *took; /* (workers) bit r: the worker's payload of round r was taken */
    size_t self, workers;
    bool unchecked;
    bool lost; /* the computation of a state failed half-way */
    uint8_t single; /* bit r: round r took the workers' payloads one by one */
    atomic_bool busy; /* a call uses the tensor */
    int taken;    /* number of payloads taken in this round */
    size_t state; /* bytes of one worker's state */
    enum {
        STEP_NONE,  /* no step has begun */
        STEP_ROUND, /* a step is in one of its rounds */
        STEP_OVER,  /* all rounds of the step are over */
    } at;
};

/* One call of a function of atomo.h: what the calling thread had set before it, and where errors go. */
typedef struct {
    fenv_t floats;
    locale_t locale;
    int cancel;
    ArenaMark mark; /* of the tensor's scratch memory */
    Error *err;     /* the caller's, or `unread`; atomo_error is the public name of Error */
    Error unread;
} Visit;

void library_enter(Visit *v, atomo_error *err);
atomo_status library_leave(Visit *v, Status status);

/* For calls on a tensor, which OpenBLAS may serve on one thread. False: the call is refused with ATOMO_USAGE,
 * and nothing is to be left. */
bool library_enter_tensor(Visit *v, atomo_tensor *t, atomo_error *err);
atomo_status library_leave_tensor(Visit *v, atomo_tensor *t, Status status);

/* Before and after a call of the host's own function. */
void library_call_host(Visit *v);
void library_return(Visit *v);

/* Refuses x if it contains NaN or infinity, unless the caller has promised that x does not. */
Status library_check(const atomo_tensor *t, const float *x, Error *err);

/* Refuses a call that reads a state that was lost. */
Status library_check_state(const atomo_tensor *t, Error *err);

/* Refuses a NULL in place of bytes. */
Status library_check_bytes(const atomo_tensor *t, Bytes b, Error *err);

/* Sets `*shape`. ERR_USAGE with the reason if the shape is not valid. */
Status library_shape(Shape *shape, const char *name, int rank, const size_t *dim, Error *err);

/* Sets `*to` to `out` if it has room for `most` bytes, else to scratch memory of `most` bytes. */
Status library_output(atomo_tensor *t, void *out, size_t room, size_t most, Buf *to, Error *err);
/* Sets *size to the bytes of `made`, and copies them to `out` unless they are there. ERR_USAGE if they do not fit. */
Status library_copy_out(const atomo_tensor *t, const Buf *made, void *out, size_t room, size_t *size, Error *err);

/* The arguments of atomo_merge and atomo_step_merge. */
typedef struct {
    const void *const *in;
    const size_t *in_size;
    size_t count;
    void *out;
    size_t room;
} MergeOrder;

/* Merges the payloads of call->round. The caller rewinds the scratch memory. */
Status library_merge(atomo_tensor *t, const Call *call, const MergeOrder *want, size_t *size);

#endif
