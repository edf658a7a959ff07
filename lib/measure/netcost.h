/* netcost.h -- models the time that the exchange of one training step takes on a network. The time follows
 * from the topology and from the latency and bandwidth of the links.
 *
 * Let P be the number of workers, S the bytes of a payload, and D the bytes of the parameters. Let a be the
 * latency in seconds, and b the bandwidth in bytes per second. The exchange of a codec with one round takes
 *
 *     ps         2 a + P (S + D) / b                       a server receives all payloads and sends the
 *                                                          parameters
 *     allgather  (P - 1) (a + S / b)                       every worker receives all payloads
 *     ring       2 (P - 1) a + 2 (P - 1) / P S / b         all-reduce of payloads that can be merged
 *     tree       2 ceil(log2 P) (a + S / b)                all-reduce of payloads that can be merged
 *     twoshot    2 (P - 1) a + 2 (P - 1) / P S / b         each worker owns 1/P of the vector: it gets this part of all
 *                                                          payloads, and sends the part of the mean
 *     hier       2 (N - 1) a + 2 (N - 1) / N S / (b K)     twoshot between N = P / K nodes of K workers, of which each owns
 *                                                          1/K of the vector; twoshot within the nodes is on another link
 *
 * Payloads that cannot be merged go round a ring, too: their sums are decoded and encoded again (exchange/shots.h).
 *
 * If the codec has several rounds, the latencies count once per round, and S is the bytes of all rounds
 * together. A server then also sends the merged payload of every round but the last (`early`), which the
 * encoders need in the next round.
 *
 * For ring, tree and twoshot, S is the size of the merged payload of all workers, at every hop, if payloads can be merged. It can be larger than
 * the payload of one worker, since sums of integers need more bits. */
#ifndef ATOMO_NETCOST_H
#define ATOMO_NETCOST_H

#include "base/text.h"
#include "exchange/shots.h"

typedef enum { TOPOLOGY_PS, TOPOLOGY_ALLGATHER, TOPOLOGY_RING, TOPOLOGY_TREE, TOPOLOGY_TWOSHOT, TOPOLOGY_HIER } Topology;
extern const char *const topology_names[]; /* names in the order of Topology, then NULL */
enum { TOPOLOGY_WORKERS_MOST = 4096 };

/* Returns the i-th value of --topology, which for hier is "hier:node=K"; NULL after the last; `data` is not used. */
const char *topology_value(const void *data, size_t i);

/* Reads a value of --topology. For hier also sets *node to K, and *more to what follows in `text`. `names`: those that an error
 * lists. */
Status topology_read(Topology *out, size_t *node, const char **more, const char *text, TextName names, Error *err);

/* ---- links ---- */

typedef struct {
    const char *name;
    double latency;   /* seconds */
    double bandwidth; /* bytes a second */
} Link;

extern const Link links[]; /* ends in {0} */
/* returns the name of preset link i; NULL after the last; `data` is not used */
const char *link_name(const void *data, size_t i);

/* Reads a link: the name of a preset, or a text such as "alpha=50us,beta=10Gbit". alpha is the latency in s,
 * ms, us or ns. beta is the bandwidth per second, in bits (kbit, Mbit, Gbit) or bytes (kB, MB, GB). The
 * link's name is `text` with spaces instead of commas; link_read accepts that form too. A text that ends in
 * ".json" is the path of a file for link_load. */
Status link_read(Link *out, const char *text, Arena *a, Error *err);

/* ---- the bytes that one exchange sends ---- */

typedef struct {
    Topology topology;
    double workers; /* 1 or more */
    double rounds;  /* the codec's rounds */
    /* bytes of one worker's payloads in all rounds; for ring and tree, of the merged payloads */
    double payload;
    double early;      /* bytes of the merged payloads of all rounds but the last */
    double parameters; /* bytes that a server sends to each worker */
    double node;       /* K of hier */
} Traffic;

double traffic_bytes(const Traffic *t); /* returns the bytes through the busiest link */
double link_seconds(const Link *link, const Traffic *t);

/* Returns true for ring, tree and twoshot, on which workers make sums on the way. */
bool topology_adds(Topology topology);

/* Returns how the sums of payloads that do not add are quantised again. */
static inline Shots topology_shots(Topology topology)
{
    return topology == TOPOLOGY_TWOSHOT ? SHOTS_TWO
           : topology == TOPOLOGY_RING  ? SHOTS_HOPS
           : topology == TOPOLOGY_HIER  ? SHOTS_NODES
                                        : SHOTS_NONE;
}

/* Returns true for a tree, which only codecs whose payloads can be merged may use. */
static inline bool topology_needs_sums(Topology topology)
{
    return topology == TOPOLOGY_TREE;
}

#endif
