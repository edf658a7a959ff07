/* netcost.h -- how long workers take to exchange a step's payloads: a latency and a bandwidth, and who sends what to whom.
 *
 * With payload S, parameters D, latency a and bandwidth b, in seconds and bytes, an exchange of one round takes
 *
 *     ps         2 a + P (S + D) / b                       all into one server's link, the parameters out
 *     allgather  (P - 1) (a + S / b)                       everyone hears everyone
 *     ring       2 (P - 1) a + 2 (P - 1) / P S / b         payloads that add
 *     tree       2 ceil(log2 P) (a + S / b)                payloads that add
 *
 * Each further round takes the latencies once more; its bytes are part of S. A server also sends back what the rounds
 * before the last add up to (`early`), for the workers go on from that. On a ring or a tree S is the aggregate's size:
 * integers that add up grow, and a sum of fixed width carries the widest on every hop. */
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

/* A preset's name, or "alpha=50us,beta=10Gbit": a time in s, ms, us or ns; bits (kbit, Mbit, Gbit) or bytes (kB, MB,
 * GB) a second. What was written is the link's name, with spaces for commas; it reads back. */
Status link_read(Link *out, const char *text, Arena *a, Error *err);

/* ---- what travels ---- */

typedef struct {
    Topology topology;
    double workers;    /* 1 or more */
    double rounds;     /* of the codec */
    double payload;    /* bytes of all rounds: a worker's; on a ring or tree the aggregate's */
    double early;      /* of it, in the rounds before the last */
    double parameters; /* bytes that a server sends out */
} Traffic;

double traffic_latencies(const Traffic *t); /* how many, one after another */
double traffic_bytes(const Traffic *t);     /* through the link that has most to carry */
double link_seconds(const Link *link, const Traffic *t);

/* Whether payloads have to add on the way. */
bool topology_adds(Topology topology);

#endif
