/* bench_cost_job.h -- what cost and advise share: they measure the time that codecs take and the bytes that they send, and compute
 * communication times with a network model (docs/cost.md has the model).
 *
 *     cost_read                     reads and checks the options, before any work
 *     cost_read_compute             reads the time that a worker computes in a step
 *     cost_measure                  measures the codecs
 *     cost_iteration                the iteration of a codec, whose time measure/cost.h computes */
#ifndef ATOMO_BENCH_COST_JOB_H
#define ATOMO_BENCH_COST_JOB_H

#include "app/compare_job.h"
#include "base/counts.h"
#include "measure/cost.h"

enum {
    COST_MEASURED_MOST = 16, /* most workers that are measured; results for more are extrapolated */
    COST_TOPOLOGIES_MOST = 8,
    TOPOLOGY_AUTO = TOPOLOGY_HIER + 1
};

/* Errors of a codec's estimates, all vectors as one long vector. */
typedef struct {
    double relative, relative_se; /* the field relative_error and its standard error; NaN: unknown */
    double variance;              /* part of `relative` that differs between draws: variance / |g|^2 */
    double scratch;               /* peak bytes of working memory */
} CostErrors;

/* Measurements of a codec for each layer. Numbers are means over the `cells`, except those in `errors`. */
typedef struct {
    CostLayer *layer;  /* (layers) */
    double plan;       /* seconds of planning, encoding time that belongs to no single layer */
    size_t cells;      /* number of measured pairs of a step and a worker */
    const char *error; /* why the codec failed; NULL: no failure */
    CostErrors errors; /* of one worker's estimates (`alone`), or of the mean over workers (`together`) */
} CostMeasured;

typedef struct {
    CompareJob job; /* must be first: hooks cast CompareJob to CostJob */
    const char *workers_text, *topology_text, *compute_from, *sort;
    TextList link_texts;
    /* time that a worker computes in a step, in ms, and its standard error (0 unless --compute-from gave the
     * time) */
    double compute_ms, compute_se;
    bool overlap;

    Counts workers;
    Link *link;
    size_t links;
    int topology[COST_TOPOLOGIES_MOST]; /* a Topology, or TOPOLOGY_AUTO */
    /* of hier: the number of workers in a node, the codec within nodes and its index among the job's codecs, and its link */
    size_t node, within;
    const char *hier, *within_text, *near_text; /* hier: "hier:node=K" */
    Link near;
    size_t topologies;

    const char **name; /* (layers) */
    size_t layers;
    /* (codecs) measurements of one worker alone: encoding and decoding time, bytes sent, bytes of the rounds
     * before the last */
    CostMeasured *alone;
    Counts measured;        /* numbers of workers whose payloads are merged and measured */
    CostMeasured *together; /* (measured.count x codecs) measurements of codecs whose payloads can be added */
    CostMeasured *now; /* (codecs) those of `together` that are measured now, and their number of workers */
    size_t now_workers;
    size_t done; /* finished records of single vectors, for the progress bar */
} CostJob;

/* ---- options ---- */

const char *cost_topology_name(const void *data,
                               size_t i); /* returns the i-th value of --topology; NULL: no more */
const char *cost_flat_topology(const void *data, size_t i); /* the same without hier */

/* Reads --workers, --topology and --link. */
Status cost_read(CostJob *c);

/* Sets `compute_ms` to the median time of a step in the training run that --compute-from names. The median
 * is over the steps of all compressors of that run. */
Status cost_read_compute(CostJob *c);

/* ---- measurements ---- */

/* Runs all measurements; call after compare_job_codecs. The first codec must be none. May be called again after
 * another call of compare_job_codecs. */
Status cost_measure(CostJob *c);

/* Measures one worker alone: sets `alone`. After this call alone, `cost_layers` must not be called. */
Status cost_measure_alone(CostJob *c);

/* Returns the measurements of a codec's layers (c->layers entries) with this many workers, in the job's arena.
 * NULL: out of memory. */
const CostLayer *cost_layers(const CostJob *c, size_t codec, size_t workers);
/* Returns the errors of the mean of the workers' estimates, measured with at most COST_MEASURED_MOST workers. NULL:
 * the codec's payloads do not add, or nothing was measured with several workers. */
const CostErrors *cost_mean_errors(const CostJob *c, size_t codec, size_t workers);

/* returns why there are no results; NULL: there are results */
const char *cost_error(const CostJob *c, size_t codec);

/* Returns why a codec's payloads cannot be exchanged in this topology; NULL: they can. */
const char *cost_refusal(const CostJob *c, const Codec *codec, Topology topology, size_t workers);

/* Finds the codec of --within among the job's codecs, if hier is asked for. */
Status cost_find_within(CostJob *c);

/* Returns the iteration of a codec with this many workers on a link. `layer`: the codec's measurements
 * (c->layers entries). For TOPOLOGY_AUTO, the topology is the faster of ring and tree if the codec's
 * payloads add, else an all-gather. */
Iteration cost_iteration(const CostJob *c, size_t codec, const CostLayer *layer, size_t workers,
                         const Link *link, int topology);

#endif
