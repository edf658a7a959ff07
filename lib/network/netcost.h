/* netcost.h -- the time of one step's exchange on a network: a link's latency and bandwidth, and a topology.
 *
 * With P workers, payload S and parameters D in bytes, latency a in seconds and bandwidth b in bytes a second, one
 * round takes
 *
 *     ps         2 a + P (S + D) / b                       one server receives all payloads, sends the parameters
 *     allgather  (P - 1) (a + S / b)                       every worker receives all payloads
 *     ring       2 (P - 1) a + 2 (P - 1) / P S / b         payloads that add
 *     tree       2 ceil(log2 P) (a + S / b)                payloads that add
 *
 * Each further round adds the latencies again; S has the bytes of all rounds. A server also sends the merged payloads
 * of the rounds before the last (`early`), which the next round's encoders need. On a ring or a tree S is the size of
 * the merged payload: sums of integers need more bits, and every hop is counted with the widest. */
#ifndef ATOMO_NETCOST_H
#define ATOMO_NETCOST_H

#include "base/arena.h"

typedef enum { TOPOLOGY_PS, TOPOLOGY_ALLGATHER, TOPOLOGY_RING, TOPOLOGY_TREE } Topology;
extern const char *const topology_names[]; /* in the order of Topology, NULL */

/* ---- links ---- */

typedef struct {
    const char *name;
    double latency;   /* seconds */
    double bandwidth; /* bytes a second */
} Link;

extern const Link links[];                         /* ends in {0} */
const char *link_name(const void *data, size_t i); /* data: NULL; NULL behind the last */

/* A preset's name, or "alpha=50us,beta=10Gbit": latency in s, ms, us or ns; bandwidth in bits (kbit, Mbit, Gbit) or
 * bytes (kB, MB, GB) a second. The link's name is `text` with spaces for commas, which link_read also accepts. */
Status link_read(Link *out, const char *text, Arena *a, Error *err);

/* ---- what travels ---- */

typedef struct {
    Topology topology;
    double workers;    /* 1 or more */
    double rounds;     /* of the codec */
    double payload;    /* bytes of all rounds: a worker's payload; on a ring or tree the merged payload */
    double early;      /* bytes of the merged payloads of the rounds before the last */
    double parameters; /* bytes that a server sends to each worker */
} Traffic;

double traffic_bytes(const Traffic *t); /* through the busiest link */
double link_seconds(const Link *link, const Traffic *t);

/* Whether the topology merges payloads on the way, which needs a codec whose payloads merge. */
bool topology_adds(Topology topology);

#endif
