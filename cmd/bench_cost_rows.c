/* bench_cost_rows.c -- cost's records: by link, number of workers, compressor and topology. */
#include "bench_cost.h"

enum {
    COMPRESSOR,
    WORKERS,
    TOPOLOGY,
    LINK,
    COMPUTE,
    ENCODE,
    COMM,
    DECODE,
    TOTAL,
    BREAK_EVEN,
    PAYS,
    SPEEDUP,
    BYTES_UP,
    BYTES_MERGED,
    ROUNDS,
    ALPHA,
    BETA,
    ERROR_TEXT
};

const Column cost_columns[COST_FIELDS] = {
    [COMPRESSOR] = {"compressor", "compressor", 0},
    [WORKERS] = {"workers", "workers", 0},
    [TOPOLOGY] = {"topology", "topology", 0},
    [LINK] = {"link", "link", 0},
    [COMPUTE] = {"compute_ms", "compute ms", 0},
    [ENCODE] = {"encode_ms", "encode ms", 0},
    [COMM] = {"comm_ms", "comm ms", 0},
    [DECODE] = {"decode_ms", "decode ms", 0},
    [TOTAL] = {"total_ms", "total ms", 0},
    [BREAK_EVEN] = {"break_even_gbps", "break-even GB/s", 0},
    [PAYS] = {"pays", "pays", 0},
    [SPEEDUP] = {"speedup", "speed-up", 0},
    [BYTES_UP] = {"bytes_up", NULL, 0},
    [BYTES_MERGED] = {"bytes_merged", NULL, 0},
    [ROUNDS] = {"rounds", NULL, 0},
    [ALPHA] = {"alpha_ms", "alpha ms", 0},
    [BETA] = {"beta_gbps", "beta GB/s", 0},
    [ERROR_TEXT] = {"error", "error", 0},
};

typedef struct {
    const Cost *cost;
    CostRows out;

    /* The row at work. */
    const Link *link;
    size_t workers;
    const CostLayer *plain, *layer;
    size_t codec;
} Sheet;

/* ---- one record ---- */

static Iteration iteration_of(const Sheet *s, size_t codec, const CostLayer *layer, Topology topology)
{
    const Cost *c = s->cost;
    const Codec *k = c->job.codec[codec];
    return (Iteration){.layer = layer,
                       .layers = c->layers,
                       .plan = c->alone[codec].plan,
                       .rounds = codec_rounds(k),
                       .workers = (double)s->workers,
                       .adds = codec_adds(k),
                       .topology = topology,
                       .compute = c->compute_ms / 1e3,
                       .latency = s->link->latency,
                       .overlap = c->overlap};
}

/* What a compressor is held against: floats through the same server, up and down the same tree, round a ring. */
static Topology plain_topology(Topology t)
{
    return t == TOPOLOGY_ALLGATHER ? TOPOLOGY_RING : t;
}

static void put_times(const Sheet *s, Topology topology, Value *row)
{
    const Iteration it = iteration_of(s, s->codec, s->layer, topology),
                    plain = iteration_of(s, 0, s->plain, plain_topology(topology));
    const double b = s->link->bandwidth;
    const IterationTime t = iteration_time(&it, b);
    double even;
    row[COMPUTE] = value_real(1e3 * t.compute);
    row[ENCODE] = value_real(1e3 * t.encode);
    row[COMM] = value_real(1e3 * t.comm);
    row[DECODE] = value_real(1e3 * t.decode);
    row[TOTAL] = value_real(1e3 * t.total);
    row[SPEEDUP] = value_real(iteration_time(&plain, b).total / t.total);
    if (s->codec == 0 && topology == plain.topology)
        return;
    row[PAYS] = value_text(pays_names[iteration_pays(&it, &plain, &even)]);
    row[BREAK_EVEN] = value_real(even / 1e9); /* none where it is NaN */
}

static void put_sizes(const Sheet *s, Value *row)
{
    const Codec *codec = s->cost->job.codec[s->codec];
    double bytes = 0, merged = 0;
    for (size_t i = 0; i < s->cost->layers; i++) {
        bytes += s->layer[i].bytes;
        merged += s->layer[i].merged;
    }
    row[BYTES_UP] = value_real(bytes);
    row[BYTES_MERGED] = codec_adds(codec) ? value_real(merged) : value_none();
}

static Status add_row(Sheet *s, Topology topology)
{
    const Cost *c = s->cost;
    const Job *j = &c->job;
    const bool adds = codec_adds(j->codec[s->codec]);
    const char *error = cost_error(c, s->codec);
    Value *row = s->out.row + s->out.rows++ * COST_FIELDS;
    row[COMPRESSOR] = value_text(j->name[s->codec]);
    row[WORKERS] = value_int((int64_t)s->workers);
    row[TOPOLOGY] = value_text(topology_names[topology]);
    row[LINK] = value_text(s->link->name);
    row[ROUNDS] = value_int(codec_rounds(j->codec[s->codec]));
    row[ALPHA] = value_real(1e3 * s->link->latency);
    row[BETA] = value_real(s->link->bandwidth / 1e9);
    if (!error)
        put_sizes(s, row);
    if (!error && topology_adds(topology) && !adds)
        error = "its payloads do not add";
    else if (!error)
        put_times(s, topology, row);
    row[ERROR_TEXT] = value_text(error);
    s->out.errors = s->out.errors || error;
    return OK;
}

/* ---- all records ---- */

static Topology resolve(const Sheet *s, int topology)
{
    return topology != TOPOLOGY_AUTO                  ? (Topology)topology
           : codec_adds(s->cost->job.codec[s->codec]) ? TOPOLOGY_RING
                                                      : TOPOLOGY_ALLGATHER;
}

static Status add_codec(Sheet *s)
{
    const Cost *c = s->cost;
    bool done[TOPOLOGY_AUTO] = {false};
    s->layer = cost_layers(c, s->codec, s->workers);
    if (!s->layer)
        return arena_fail(c->job.a, c->job.err);
    for (size_t t = 0; t < c->topologies; t++) {
        const Topology topology = resolve(s, c->topology[t]);
        if (!done[topology])
            TRY(add_row(s, topology));
        done[topology] = true;
    }
    return OK;
}

static Status add_all(Sheet *s)
{
    const Cost *c = s->cost;
    for (size_t l = 0; l < c->links; l++)
        for (size_t p = 0; p < c->workers.count; p++) {
            s->link = &c->link[l];
            s->workers = c->workers.number[p];
            s->plain = cost_layers(c, 0, s->workers);
            if (!s->plain)
                return arena_fail(c->job.a, c->job.err);
            for (s->codec = 0; s->codec < c->job.codecs; s->codec++)
                TRY(add_codec(s));
        }
    return OK;
}

Status cost_rows(CostRows *out, const Cost *c)
{
    const size_t most = c->links * c->workers.count * c->job.codecs * c->topologies;
    Sheet s = {.cost = c, .out.row = NEW_ZERO(c->job.a, Value, most * COST_FIELDS)};
    if (!s.out.row)
        return arena_fail(c->job.a, c->job.err);
    TRY(add_all(&s));
    *out = s.out;
    return OK;
}
