/* netcost.c -- see netcost.h. */
#include "netcost.h"

#include "text.h"

#include <math.h>
#include <string.h>

const char *const topology_names[] = {"ps", "allgather", "ring", "tree", NULL};

#define BITS(per_second) ((per_second) / 8)

/* Latencies are what a message takes through a kernel's network stack at such a link, not what its wire takes. The
 * instances' are those of their class: "high" is about 1 Gbit/s, "up to 10 Gbit/s" that. */
const Link links[] = {
    {"lan1g", 100e-6, BITS(1e9)},
    {"lan10g", 50e-6, BITS(10e9)},
    {"lan25g", 25e-6, BITS(25e9)},
    {"lan100g", 10e-6, BITS(100e9)},
    {"wan100m", 20e-3, BITS(100e6)},
    {"edge20m", 30e-3, BITS(20e6)},
    {"ec2-g2.2xlarge", 200e-6, BITS(1e9)},
    {"ec2-m5.4xlarge", 60e-6, BITS(10e9)},
    {0},
};

static const char *link_name(const void *data, size_t i)
{
    (void)data;
    return links[i].name;
}

const Link *link_find(const char *name, Error *err)
{
    for (const Link *l = links; l->name; l++)
        if (!strcmp(l->name, name))
            return l;
    const char *near = text_nearest(name, link_name, NULL);
    FAIL(err, ERR_USAGE, "link \"%s\": no such preset", name);
    error_hint(err, "--link %s", near ? near : links[0].name);
    return NULL;
}

double link_seconds(const Link *link, Topology topology, double workers, double payload, double parameters)
{
    const double a = link->latency, b = link->bandwidth, others = workers - 1;
    switch (topology) {
    case TOPOLOGY_PS:
        return 2 * a + workers * (payload + parameters) / b;
    case TOPOLOGY_ALLGATHER:
        return others * (a + payload / b);
    case TOPOLOGY_RING:
        return 2 * others * a + 2 * others / workers * payload / b;
    case TOPOLOGY_TREE:
        return 2 * ceil(log2(workers)) * (a + payload / b);
    }
    return NAN;
}

bool topology_adds(Topology topology)
{
    return topology == TOPOLOGY_RING || topology == TOPOLOGY_TREE;
}
