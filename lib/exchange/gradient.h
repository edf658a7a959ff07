/* gradient.h -- one step of P workers on a whole gradient: cut into parcels, each parcel exchanged by itself
 * (exchange.h).
 *
 * A parcel is the codec's unit: one tensor, or all tensors end to end. Tensors under min_elements are parcels of their
 * own and travel as floats. Each worker has a codec state for each parcel. */
#ifndef ATOMO_GRADIENT_H
#define ATOMO_GRADIENT_H

#include "dump/groups.h"
#include "exchange/exchange.h"
#include "exchange/states.h"

/* A tensor of a gradient that lies in one array of floats. */
typedef struct {
    const char *name;
    Shape shape;
    size_t offset; /* of its first element */
} GradientTensor;

typedef struct {
    const Codec *codec;
    Grouping grouping; /* GROUP_TENSOR or GROUP_ALL */
    size_t min_elements;
    size_t workers;
    uint64_t seed;
    int threads;
    const GradientTensor *tensor; /* (tensors), in their order in the array; kept by the caller */
    size_t tensors;
    ExchangeClock clock; /* {0}: untimed */
} GradientSpec;

typedef struct GradientExchange GradientExchange;

Status gradient_open(GradientExchange **out, const GradientSpec *spec, Error *err);
void gradient_close(GradientExchange *x); /* NULL is fine */

/* The states of all workers and parcels, to save, load and zero; those of a worker come in the parcels' order. */
CodecStates *gradient_states(GradientExchange *x);

/* Bytes of one step. */
typedef struct {
    double up, most_up; /* of a worker's payloads, all rounds: on average over those that sent, and at most */
    double agreed;      /* of the merged payloads, where payloads merge; else of all payloads */
    double early;       /* of the merged payloads of the rounds before the last */
} GradientBytes;

/* One step. gradient[w] is worker w's, and weight[w] its share of the mean (its share of the images); only workers with
 * sends[w] send, at least one. `agreed` becomes the mean of their estimates. Errors name step, worker and tensor. */
Status gradient_step(GradientExchange *x, size_t step, float *const *gradient, const double *weight,
                     const bool *sends, float *agreed, GradientBytes *bytes, Error *err);

#endif
