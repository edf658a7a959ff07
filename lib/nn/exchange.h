/* exchange.h -- one step's gradients through a codec: every worker encodes, receivers merge or decode, all agree.
 *
 * A part is what the codec sees in one call: a tensor, or the whole gradient. Workers of one step send to each other in
 * rounds; what a round's payloads merge to is what the next one has heard. Each worker keeps states of its own. */
#ifndef ATOMO_EXCHANGE_H
#define ATOMO_EXCHANGE_H

#include "codec/compressor.h"
#include "dump/groups.h"
#include "nn/build.h"

typedef struct {
    const Codec *codec;
    Grouping grouping;   /* GROUP_TENSOR or GROUP_ALL */
    size_t min_elements; /* smaller tensors travel as floats, each by itself */
    size_t workers;
    uint64_t seed;
    int threads;
} ExchangeSpec;

typedef struct {
    const char *name;
    Shape shape;
    bool raw;
    size_t first, count; /* slices that it holds, end to end; a whole gradient leaves raw ones out */
    size_t state;        /* bytes of a worker's */
} Parcel;

typedef struct {
    Parcel *part;
    size_t parts;
    uint8_t **state; /* [worker * parts + part]; NULL where the codec keeps none */
} Exchanged;

typedef struct Exchange Exchange;

Status exchange_open(Exchange **out, const ExchangeSpec *spec, const SliceList *slices, Error *err);
void exchange_close(Exchange *x); /* NULL is fine */

/* Parts and states, for checkpoints. */
const Exchanged *exchange_parts(const Exchange *x);

/* What one step cost. */
typedef struct {
    double bytes_up, most_up; /* of a worker's payloads, all rounds: on average, at most */
    double bytes_agreed;      /* of the aggregates, where payloads merge; else of all payloads */
    double bytes_early;       /* of the aggregates of the rounds before the last */
    double encode;            /* seconds, the slowest worker's */
    double decode;            /* seconds, one receiver's */
} ExchangeCost;

/* One step: gradient[w] is worker w's, worth weight[w] of the mean over those that are `heard`; `agreed` becomes the
 * mean of their estimates. Those not heard settle with nothing sent. */
Status exchange_step(Exchange *x, size_t step, float *const *gradient, const double *weight,
                     const bool *heard, float *agreed, ExchangeCost *cost, Error *err);

#endif
