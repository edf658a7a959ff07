/* gradient.h -- one step of P workers on a whole gradient. The gradient is cut into parcels (gradient_buckets.h). Each
 * parcel is encoded, merged and decoded by itself (exchange.h). Each worker has one codec state for each
 * parcel that is not sent raw.
 *
 * The workers may be spread over several processes (ranks, net.h). Each rank then calls gradient_step at the
 * same time, for its own workers. Payloads travel between the ranks, and all ranks get the same mean, bit for
 * bit: the mean that one process with all workers computes. */
#ifndef ATOMO_GRADIENT_H
#define ATOMO_GRADIENT_H

#include "dump/groups.h"
#include "exchange/shots.h"
#include "exchange/states.h"
#include "exchange/net.h"

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
    bool senders; /* the mean of an element is over the workers that sent it (Exchange.senders) */
    size_t workers;
    uint64_t seed;
    int threads;
    /* one for each tensor, in the order of the gradient's array; must outlive the GradientExchange */
    const GradientTensor *tensor;
    size_t tensors;
    ExchangeClock clock; /* {0}: without timing */
    Net *net;            /* the ranks; NULL: this process has all workers */
    /* How payloads travel. NET_ALL: each rank gets all payloads, and merges or decodes them. NET_RING: each
     * rank merges one segment of all payloads (relay.c); if segments are not used, the same as NET_ALL.
     * NET_TREE: rank 0 merges the payloads and sends the merged payload to all ranks. NET_ROOT: rank 0 is a
     * server without workers. It merges the payloads as with NET_TREE. If they cannot be merged, it decodes
     * them and sends the mean to all ranks as floats. */
    NetWay way;
    /* How the sums of payloads that do not add are quantised again; the others travel as `way` says. Not SHOTS_NONE: NET_RING.
     * The same mean for any number of ranks. */
    Shots shots;
    /* with SHOTS_NODES: the number of workers in a node, which divides `workers`, and the codec within nodes; `codec` is the
     * one between nodes. All workers send, and no rank is without workers. */
    size_t node;
    const Codec *within;
    /* with `shots`: the codec of the second quantisation, with a state that the shard's owner keeps; NULL: `codec`, without
     * a state */
    const Codec *feedback;
    /* Consecutive parcels travel between ranks in one message while their gradients have at most this many bytes
     * together. 0: each parcel in a message of its own. Changes no payload. */
    size_t bucket_bytes;
    /* True: payloads travel while this process computes (gradient_ready), in a second thread. The same on all ranks;
     * without `net` it has no effect. */
    bool overlap;
} GradientSpec;

typedef struct GradientExchange GradientExchange;

Status gradient_open(GradientExchange **out, const GradientSpec *spec, Error *err);
void gradient_close(GradientExchange *x); /* NULL is allowed */

/* Returns the codec states of this rank's workers, for saving, loading and zeroing. A worker has one state for
 * each parcel that the codec encodes, in the order of the parcels. Rank 0 has room for all workers' states. */
CodecStates *gradient_states(GradientExchange *x);

/* Returns true if this rank decodes payloads with the senders' states, so that it keeps the states of all
 * workers, not only of its own. */
bool gradient_follows(const GradientExchange *x);

/* Bytes that are sent in one step. */
typedef struct {
    double payload; /* bytes of a worker's payloads of all rounds, but of those that are quantised again: mean over the workers that send */
    /* Bytes that a worker sends, mean over the P workers that send: with NET_ROOT its payloads; with NET_ALL its payloads to
     * each of the P - 1 others; else (P - 1)/P of its payloads and of the merged ones, and what the shots of tensors take
     * whose sums are quantised again. But for NET_ROOT, it receives as many. */
    double sent;
    /* S of the network's model (docs/cost.md): with NET_RING and NET_TREE, bytes of the merged payloads; `within`: S' of hier */
    double carried, within;
    double early;   /* bytes of the merged payloads of all rounds but the last */
    /* seconds that the calling thread spent in functions of net.h, or waited for the second thread */
    double waited;
} GradientBytes;

/* Runs one step. gradient[w] is worker w's gradient, and weight[w] its weight in the mean. Only the gradients
 * of this rank's workers are read. The workers w with sends[w] send; there is at least one. Sets `agreed` to
 * the mean of their estimates. Errors name step, worker and tensor, and are the same on all ranks. */
Status gradient_step(GradientExchange *x, size_t step, float *const *gradient, const double *weight,
                     const bool *sends, float *agreed, GradientBytes *bytes, Error *err);

/* ---- a step while gradients are computed ---- */

/* Begins a step. All ranks call gradient_begin, and then gradient_end. In between, a rank may compute the
 * gradients of its workers, but must not call functions of net.h. */
void gradient_begin(GradientExchange *x, size_t step, float *const *gradient, const double *weight,
                    const bool *sends, float *agreed);

/* Says that the gradients of the tensors `tensor`, `tensor` + 1, ... are complete for all of this rank's workers. With
 * `overlap`, encodes them, and sends them while the caller goes on; but not if the codec plans or trains, because it
 * then needs all tensors first. */
void gradient_ready(GradientExchange *x, size_t tensor);

/* Ends a step. `status`: whether this rank has computed its gradients. If one rank has not, all ranks return its error,
 * and the codec states are as before the step. */
Status gradient_end(GradientExchange *x, Status status, GradientBytes *bytes, Error *err);

#endif
