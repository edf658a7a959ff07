/* bench_cost.h -- cost: what was asked for, what was measured, and the records that the two make with a network. */
#ifndef ATOMO_BENCH_COST_H
#define ATOMO_BENCH_COST_H

#include "bench_job.h"
#include "base/counts.h"

#include "measure/cost.h"
#include "dump/team.h"

enum {
    COST_WORKERS_MOST = 4096,
    COST_MEASURED_MOST = 16,
    TOPOLOGIES_MOST = 8,
    TOPOLOGY_AUTO = TOPOLOGY_TREE + 1
};

/* What a codec does to each layer of a step, on average over the steps. */
typedef struct {
    CostLayer *layer;
    double plan;
    size_t cells;
    const char *error; /* NULL: nothing failed */
} Measured;

typedef struct {
    Job job; /* stays first */
    const char *workers_text, *topology_text, *compute_from, *sort;
    TextList link_texts;
    double compute_ms;
    bool overlap;

    Counts workers;
    Link *link;
    size_t links;
    int topology[TOPOLOGIES_MOST]; /* of Topology, or TOPOLOGY_AUTO */
    size_t topologies;

    Team team;
    const char **name; /* (layers) */
    size_t layers;
    Measured *alone;    /* (codecs) one worker by itself: encode, decode, bytes, early */
    Counts measured;    /* numbers of workers whose payloads are merged */
    Measured *together; /* (measured.count x codecs) of codecs that add */
    size_t done;        /* vectors, for progress */
} Cost;

/* ---- what was asked for ---- */

Status cost_read(Cost *c);

/* none, fp16, and what was asked for. */
Status cost_codecs(Cost *c, const Codec ***codec, size_t *count);

/* The median step of a training run; the same for all of its compressors. */
Status cost_read_compute(Cost *c);

/* ---- what was measured ---- */

/* Codecs must be set; the first is none. */
Status cost_measure(Cost *c);

/* The layers of a codec with so many workers, in the job's arena. NULL: the arena is full. */
const CostLayer *cost_layers(const Cost *c, size_t codec, size_t workers);
const char *cost_error(const Cost *c, size_t codec); /* why there are none; NULL: there are */

/* ---- records: by link, number of workers, compressor and topology ---- */

enum { COST_FIELDS = 18 };
extern const Column cost_columns[COST_FIELDS]; /* the last is the error */

typedef struct {
    Value *row; /* (rows x COST_FIELDS) */
    size_t rows;
    bool errors; /* some row has one */
} CostRows;

Status cost_rows(CostRows *out, const Cost *c);

Status cost_check_sort(const Cost *c);
Status cost_write(Job *j, ReportSpec spec);

#endif
