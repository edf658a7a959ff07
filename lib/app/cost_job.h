/* cost_job.h -- cost: measures what codecs take and send, and puts a network model beside the measurements
 * (docs/cost.md has the model).
 *
 *     cost_read, cost_check_sort    the options, before any work
 *     cost_codecs                   the codecs to measure
 *     cost_read_compute             the time that a worker computes in a step
 *     cost_measure                  measures
 *     cost_write                    a row for each link, number of workers, codec and topology */
#ifndef ATOMO_COST_JOB_H
#define ATOMO_COST_JOB_H

#include "app/compare_job.h"
#include "base/counts.h"
#include "dump/team.h"
#include "network/cost.h"

enum {
    COST_WORKERS_MOST = 4096,
    COST_MEASURED_MOST = 16, /* workers; figures of more are extrapolated */
    COST_TOPOLOGIES_MOST = 8,
    TOPOLOGY_AUTO = TOPOLOGY_TREE + 1
};

/* What a codec takes and sends for each layer of a step, averaged over the steps. */
typedef struct {
    CostLayer *layer;  /* (layers) */
    double plan;       /* seconds of encoding that belong to no single layer */
    size_t cells;      /* steps of one worker that were measured */
    const char *error; /* NULL: nothing failed */
} CostMeasured;

typedef struct {
    CompareJob job; /* stays first: hooks cast it to CostJob */
    const char *workers_text, *topology_text, *compute_from, *sort;
    TextList link_texts;
    double compute_ms;
    bool overlap;

    Counts workers;
    Link *link;
    size_t links;
    int topology[COST_TOPOLOGIES_MOST]; /* a Topology, or TOPOLOGY_AUTO */
    size_t topologies;

    Team team;
    const char **name; /* (layers) */
    size_t layers;
    CostMeasured *alone;    /* (codecs) one worker by itself: encode, decode, bytes, early */
    Counts measured;        /* the numbers of workers whose payloads are merged */
    CostMeasured *together; /* (measured.count x codecs) for codecs whose payloads add */
    size_t done;            /* vectors, for progress */
} CostJob;

/* ---- options ---- */

/* Reads --workers, --topology and --link. */
Status cost_read(CostJob *c);
Status cost_check_sort(const CostJob *c); /* ERR_USAGE where --sort names no field */

/* none, fp16, then the specs that were asked for (or the usual ones). */
Status cost_codecs(CostJob *c, const Codec ***codec, size_t *count);

/* Sets compute_ms to the median step of the training run --compute-from, over all of its compressors. */
Status cost_read_compute(CostJob *c);

/* ---- measurements ---- */

/* After compare_job_codecs; the first codec is none. */
Status cost_measure(CostJob *c);

/* The layers of a codec with that many workers: (c->layers) in the job's arena. NULL: out of memory. */
const CostLayer *cost_layers(const CostJob *c, size_t codec, size_t workers);
const char *cost_error(const CostJob *c, size_t codec); /* why the codec has no figures; NULL: it has them */

/* ---- results ---- */

/* CompareJob.write of cost. */
Status cost_write(CompareJob *j, ReportSpec spec);

#endif
