/* link_trial.h -- measures the link between the ranks of a run (net.h): the times of exchanges of several sizes, and
 * the latency and bandwidth that fit them. */
#ifndef ATOMO_LINK_TRIAL_H
#define ATOMO_LINK_TRIAL_H

#include "base/counts.h"
#include "exchange/net.h"
#include "measure/netcost.h"

/* The exchanges. Ping-pong: half of the time of a message from rank 0 to the last rank and back. All-gather
 * and ring: the exchanges of these topologies (netcost.h), as training makes them. In a ring, each rank sends
 * each other rank a segment, and then the segments go round. */
typedef enum { TRIAL_PING_PONG, TRIAL_ALLGATHER, TRIAL_RING, TRIALS } LinkTrialKind;
extern const char *const link_trial_names[]; /* names in the order of LinkTrialKind */

/* The times of one kind of exchange with payloads of one size. */
typedef struct {
    LinkTrialKind kind;
    size_t size;       /* bytes of a rank's payload */
    size_t samples;    /* number of times measured */
    LinkPoint point;   /* `seconds`: the median over samples of the slowest rank's time */
    double seconds_se; /* standard error of the median */
} LinkTime;

typedef struct {
    Net *net;
    const Counts *sizes;
    size_t repeats; /* samples for each kind and size; fewer, but at least 3, if they took over two seconds */
    /* Called on each rank after each of the TRIALS x sizes->count measurements; false stops all ranks; may be
     * NULL. */
    Tick progress;
    void *data;

    /* set by link_trial, on all ranks */
    LinkTime *time; /* (times) */
    size_t times;
    LinkFit fit[TRIALS]; /* of each kind of exchange alone; NaN: its times do not grow with the bytes */
    LinkFit all;         /* of all exchanges together */
} LinkTrial;

/* Measures and fits; called on all ranks. Needs at least two ranks and two sizes. ERR_STOPPED: `progress` returned
 * false. Errors are the same on all ranks. */
Status link_trial(LinkTrial *t, Arena *a, Error *err);

#endif
