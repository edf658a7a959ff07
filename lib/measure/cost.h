/* cost.h -- what an iteration takes: compute, encode, communicate, decode, from what was measured of each layer and a
 * network of netcost.h; and the bandwidth at which a compressed one costs what an uncompressed one does. */
#ifndef ATOMO_COST_H
#define ATOMO_COST_H

#include "measure/netcost.h"

/* What a codec was measured to do to a layer of P workers. Its payloads either add up undecoded, or each is decoded
 * and the vectors are added up. */
typedef struct {
    double n;      /* elements */
    double encode; /* seconds, a worker's */
    double decode; /* seconds to floats: the aggregate, where payloads add; else one payload */
    double merge;  /* seconds to add up P payloads, or P decoded vectors */
    double bytes;  /* of a worker's payloads, all rounds */
    double merged; /* of the aggregate, all rounds; where payloads add */
    double early;  /* of what all hear in the rounds before the last */
} CostLayer;

/* The same of more workers than were measured: `full` of `measured` workers, `half` of half of them (a power of two).
 * Sizes go on by what the last doubling added, for integers that add up grow by a bit with each; adding up takes time
 * for each worker. */
CostLayer cost_more_workers(const CostLayer *half, const CostLayer *full, double measured, double workers);

typedef struct {
    const CostLayer *layer; /* in the order of the forward pass */
    size_t layers;
    double plan; /* seconds of encoding that see the whole gradient first; 0: each layer by itself */
    double rounds, workers;
    bool adds;
    Topology topology; /* adding ones only for codecs that add */
    double compute;    /* seconds */
    double latency;
    bool overlap; /* each layer is a message of its own, on its way while others are computed */
} Iteration;

typedef struct {
    double compute, encode, comm, decode; /* seconds of each part by itself */
    double total;                         /* their sum, or with overlap less */
} IterationTime;

/* Bytes a second; infinite is fine. */
IterationTime iteration_time(const Iteration *it, double bandwidth);

/* Seconds that one receiver takes for what P workers sent: a server, or each worker. */
double layer_decode(const Iteration *it, const CostLayer *layer);

/* Without overlap: what goes through the fullest link, all layers in one exchange. */
Traffic iteration_traffic(const Iteration *it);

/* At which bandwidths an iteration is faster than the plain one. */
typedef enum { PAYS_BELOW, PAYS_ABOVE, PAYS_ALWAYS, PAYS_NEVER } Pays;
extern const char *const pays_names[]; /* in the order of Pays */

/* `*bandwidth`: where both cost the same, for PAYS_BELOW and PAYS_ABOVE; else NaN. */
Pays iteration_pays(const Iteration *it, const Iteration *plain, double *bandwidth);

#endif
