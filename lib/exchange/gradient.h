/* gradient.h -- one step of P workers on a whole gradient. The gradient is cut into parcels. Each parcel is
 * encoded, sent, merged and decoded by itself (exchange.h).
 *
 * A parcel is a vector that the codec encodes as a whole: one tensor, or all tensors end to end. Tensors under
 * min_elements are parcels of their own and are sent as raw floats. Each worker has one codec state for each
 * parcel. */
#ifndef ATOMO_GRADIENT_H
#define ATOMO_GRADIENT_H

#include "dump/groups.h"
#include "exchange/exchange.h"
#include "exchange/states.h"

/* One tensor of a gradient; the gradient's tensors lie in one array of floats. */
typedef struct {
    const char *name;
    Shape shape;
    size_t offset; /* index of the tensor's first element in the array */
} GradientTensor;

typedef struct {
    const Codec *codec;
    Grouping grouping; /* GROUP_TENSOR or GROUP_ALL */
    size_t min_elements;
    size_t workers;
    uint64_t seed;
    int threads;
    /* one for each tensor, in the order of the gradient's array; must outlive the GradientExchange */
    const GradientTensor *tensor;
    size_t tensors;
    ExchangeClock clock; /* {0}: without timing */
} GradientSpec;

typedef struct GradientExchange GradientExchange;

Status gradient_open(GradientExchange **out, const GradientSpec *spec, Error *err);
void gradient_close(GradientExchange *x); /* NULL is allowed */

/* Returns the codec states of all workers, for saving, loading and zeroing. A worker has one state for each
 * parcel that the codec encodes, in the order of the parcels. */
CodecStates *gradient_states(GradientExchange *x);

/* Bytes that are sent in one step. */
typedef struct {
    /* bytes that a worker sends in all rounds: mean over the workers that send, and maximum */
    double up, most_up;
    double agreed; /* bytes of the merged payloads; if the codec's payloads cannot be merged, bytes of all
                    * payloads */
    double early;  /* bytes of the merged payloads of all rounds but the last */
} GradientBytes;

/* Runs one step. gradient[w] is worker w's gradient, and weight[w] its weight in the mean. The workers w
 * with sends[w] send; there is at least one. Sets `agreed` to the mean of their estimates. Errors name step,
 * worker and tensor. */
Status gradient_step(GradientExchange *x, size_t step, float *const *gradient, const double *weight,
                     const bool *sends, float *agreed, GradientBytes *bytes, Error *err);

#endif
