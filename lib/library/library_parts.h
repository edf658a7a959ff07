/* library_parts.h -- the objects behind atomo.h's opaque types. */
#ifndef ATOMO_LIBRARY_PARTS_H
#define ATOMO_LIBRARY_PARTS_H

#include "atomo.h"
#include "exchange/exchange.h"

struct atomo_codec {
    Arena *arena;
    const Codec *codec;
    const char *spec; /* canonical */
};

struct atomo_tensor {
    const atomo_codec *codec;
    Arena *arena, *scratch;
    char *name;
    Shape shape;
    Exchange exchange;         /* of the step at work; between steps its address and Call */
    ExchangeWorker *worker;    /* (workers) this worker's state, and for ATOMO_READS_STATE the others' too */
    Bytes (*sent)[ROUNDS_MAX]; /* (workers) payloads of the step at work, for the states */
    bool *took;                /* (workers) whose payload of this round was taken */
    size_t self, workers;
    bool unchecked;
    int taken;    /* in this round */
    size_t state; /* bytes of one worker's state */
    enum {
        STEP_NONE,  /* no step is at work */
        STEP_ROUND, /* in a round */
        STEP_OVER,  /* all rounds are over */
    } at;
};

/* An atomo_error is an Error under its public name. Returns `err`, or `own` where the caller wants no description. */
static inline Error *error_of(atomo_error *err, Error *own)
{
    return err ? (Error *)err : own;
}

static inline atomo_status status_of(Status status)
{
    return (atomo_status)status;
}

/* Refuses x with NaN or infinities, unless the caller has promised that there are none. */
Status library_check(const atomo_tensor *t, const float *x, Error *err);

/* Around calls that may reach OpenBLAS: runs it on one thread meanwhile, unless the codec never calls it. */
void library_enter(const Codec *codec);
void library_leave(const Codec *codec);

#endif
