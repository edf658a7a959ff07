/* exchange_parts.h -- what an exchange is made of, for the files that make it up. */
#ifndef ATOMO_EXCHANGE_PARTS_H
#define ATOMO_EXCHANGE_PARTS_H

#include "nn/exchange.h"

struct Exchange {
    Arena *arena, *scratch, *payloads;
    ExchangeSpec spec;
    const Codec *none;
    const SliceList *slices;
    Exchanged own;
    size_t plan_size;
    char *plan;                /* (workers x parts x plan_size) */
    float *x, *y;              /* room for the largest part */
    double *sum;               /* the same */
    double *seconds;           /* (workers) that encoding took */
    double *up;                /* (workers) bytes */
    Bytes (*sent)[ROUNDS_MAX]; /* (workers), of the part at work */
    Bytes heard[ROUNDS_MAX];
    Bytes *batch; /* (workers) */

    /* the step at work */
    size_t step, senders;
    float *const *gradient;
    const double *weight;
    const bool *is_heard;
    float *agreed;
    ExchangeCost *cost;
    Error *err;
};

/* Whether slice i travels with a parcel. */
bool parcel_holds(const Exchange *x, const Parcel *p, size_t i);

/* How a codec is called for a parcel of worker w. */
Call exchange_call(const Exchange *x, size_t part, size_t w);

static inline uint8_t *exchange_state(const Exchange *x, size_t part, size_t w)
{
    return x->own.state[w * x->own.parts + part];
}

#endif
