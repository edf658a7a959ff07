/* netcost.h -- how long workers take to exchange a step's payloads: a latency and a bandwidth, and who sends what to whom.
 *
 * With payload S, parameters D, latency a and bandwidth b, in seconds and bytes:
 *
 *     ps         2 a + P (S + D) / b                       all into one server's link, the parameters out
 *     allgather  (P - 1) (a + S / b)                       everyone hears everyone
 *     ring       2 (P - 1) a + 2 (P - 1) / P S / b         payloads that add
 *     tree       2 ceil(log2 P) (a + S / b)                payloads that add */
#ifndef ATOMO_NETCOST_H
#define ATOMO_NETCOST_H

#include "base.h"

typedef enum { TOPOLOGY_PS, TOPOLOGY_ALLGATHER, TOPOLOGY_RING, TOPOLOGY_TREE } Topology;
extern const char *const topology_names[]; /* in the order of Topology, NULL */

typedef struct {
    const char *name;
    double latency;   /* seconds */
    double bandwidth; /* bytes a second */
} Link;

extern const Link links[]; /* ends in {0} */

/* NULL: err names the nearest. */
const Link *link_find(const char *name, Error *err);

double link_seconds(const Link *link, Topology topology, double workers, double payload, double parameters);

/* Whether payloads have to add on the way. */
bool topology_adds(Topology topology);

#endif
