/* cas_table.c -- sums and counts the elements in the buckets of the cluster-aware sketch (cas_parts.h). */
#include "compress/sketch/cas_parts.h"

#include "compress/sketch/slices.h"
#include "math/vec/kernels.h"

enum { RUN = 2048, PIECES_MOST = 8 };

void cas_table_open(CasTable *s, const Call *c, const ClusterModel *m)
{
    *s = (CasTable){.c = c, .n = c->shape->n, .clusters = cluster_model_clusters(m)};
    cluster_model_thresholds(m, s->above);
    for (size_t j = 0; j < s->clusters; j++) {
        s->size[j] = m->cluster[j].buckets;
        s->from[j] = (uint32_t)s->buckets;
        s->buckets += s->size[j];
    }
}

typedef struct {
    const CasTable *s;
    size_t pieces;
    const float *x;
    uint8_t *code_out;
    const uint8_t *code;
    double *sums; /* (pieces x buckets) for each piece of the vector, the sum of each bucket */
    /* (pieces x buckets) for each piece of the vector, the number of elements in each bucket */
    uint64_t *counts;
    const float *mean;
    const double *wide;
    float *y;
    double *onto;
} TableJob;

/* Threads work on pieces of the vector. Each piece has its own table, with a sum or a count for each bucket. If
 * there are several pieces, all tables together take at most 8 bytes per element of the vector. */
static size_t pieces_of(const CasTable *s)
{
    const size_t blocks = blocks_of(s->n), room = s->n / (s->buckets + 1);
    const size_t pieces = blocks < PIECES_MOST ? blocks : PIECES_MOST;
    return room < 1 || pieces < 1 ? 1 : room < pieces ? room : pieces;
}

typedef void Visit(const TableJob *job, size_t piece, size_t i, size_t count, const uint32_t *slot);

/* Finds the buckets of elements [from, to), and calls `visit` for up to RUN elements at a time. `from` must be
 * the first element of a block. If job->x is set, first finds the elements' clusters. */
static void walk(const TableJob *job, size_t piece, size_t from, size_t to, Visit *visit)
{
    const Kernels *k = kernels();
    const CasTable *s = job->s;
    uint32_t slot[RUN], first[CLUSTERS_MOST], size[CLUSTERS_MOST]; /* of the clusters' slices */
    RngKey key = {0};
    for (size_t i = from, count; i < to; i += count) {
        count = to - i < RUN ? to - i : RUN;
        if (i % BLOCK == 0) {
            key = rng_key(&s->c->rng_shared, USE_ATOM, i / BLOCK);
            for (size_t j = 0; j < s->clusters; j++) {
                const Slice slice = slice_of(s->size[j], s->n, i / BLOCK);
                first[j] = s->from[j] + (uint32_t)slice.first;
                size[j] = slice.count;
            }
        }
        if (job->x)
            k->stretches(job->x + i, count, s->above, s->clusters - 1, job->code_out + i);
        k->cluster_slots(key, (uint32_t)(i % BLOCK), count, job->code + i, s->clusters, first, size,
                         slot);
        visit(job, piece, i, count, slot);
    }
}

/* ---- sums and counts of the buckets ---- */

static void add_values(const TableJob *job, size_t piece, size_t i, size_t count, const uint32_t *slot)
{
    double *sum = job->sums + piece * job->s->buckets;
    const float *x = job->x + i;
    for (size_t k = 0; k < count; k++)
        sum[slot[k]] += (double)x[k];
}

static void add_ones(const TableJob *job, size_t piece, size_t i, size_t count, const uint32_t *slot)
{
    uint64_t *sum = job->counts + piece * job->s->buckets;
    (void)i;
    for (size_t k = 0; k < count; k++)
        sum[slot[k]]++;
}

static void add_piece(void *data, size_t piece)
{
    const TableJob *job = data;
    const Stretch s = stretch_of(job->s->n, job->pieces, piece);
    walk(job, piece, s.from, s.to, job->sums ? add_values : add_ones);
}

Status cas_table_sums(const CasTable *s, const float *x, uint8_t *code, double *sum)
{
    const ArenaMark mark = arena_mark(s->c->scratch);
    TableJob job = {.s = s, .pieces = pieces_of(s), .x = x, .code_out = code, .code = code};
    job.sums = NEW_ZERO(s->c->scratch, double, job.pieces * s->buckets);
    TRY(arena_check(job.sums, s->c->scratch, s->c->err));
    parallel_for(s->c->threads, job.pieces, add_piece, &job);
    memcpy(sum, job.sums, s->buckets * sizeof *sum);
    for (size_t p = 1; p < job.pieces; p++)
        for (size_t b = 0; b < s->buckets; b++)
            sum[b] += job.sums[p * s->buckets + b];
    arena_rewind(s->c->scratch, mark);
    return OK;
}

Status cas_table_counts(const CasTable *s, const uint8_t *code, uint64_t *count)
{
    const ArenaMark mark = arena_mark(s->c->scratch);
    TableJob job = {.s = s, .pieces = pieces_of(s), .code = code};
    job.counts = NEW_ZERO(s->c->scratch, uint64_t, job.pieces * s->buckets);
    TRY(arena_check(job.counts, s->c->scratch, s->c->err));
    parallel_for(s->c->threads, job.pieces, add_piece, &job);
    for (size_t p = 0; p < job.pieces; p++)
        for (size_t b = 0; b < s->buckets; b++)
            count[b] += job.counts[p * s->buckets + b];
    arena_rewind(s->c->scratch, mark);
    return OK;
}

/* ---- means ---- */

static void give_means(const TableJob *job, size_t piece, size_t i, size_t count, const uint32_t *slot)
{
    (void)piece;
    for (size_t k = 0; k < count; k++)
        job->y[i + k] = job->mean[slot[k]];
}

static void add_means(const TableJob *job, size_t piece, size_t i, size_t count, const uint32_t *slot)
{
    (void)piece;
    for (size_t k = 0; k < count; k++)
        job->onto[i + k] += job->wide[slot[k]];
}

static void spread_block(void *data, size_t block)
{
    const TableJob *job = data;
    const size_t from = block * BLOCK;
    walk(job, 0, from, from + block_size(job->s->n, block), job->y ? give_means : add_means);
}

void cas_table_spread(const CasTable *s, const float *mean, const uint8_t *code, float *x)
{
    TableJob job = {.s = s, .code = code, .mean = mean, .y = x};
    parallel_for(s->c->threads, blocks_of(s->n), spread_block, &job);
}

void cas_table_spread_onto(const CasTable *s, const double *mean, const uint8_t *code, double *sum)
{
    TableJob job = {.s = s, .code = code, .wide = mean, .onto = sum};
    parallel_for(s->c->threads, blocks_of(s->n), spread_block, &job);
}
