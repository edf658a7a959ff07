/* sketchml_groups.c -- elements sorted into groups of bins, block by block, and each group's sketch of least bins. */
#include "compress/sketch/sketchml_groups.h"

#include "vec/kernels.h"

#include <math.h>

static int width_of(size_t bins)
{
    return bins > 1 ? 32 - __builtin_clz((uint32_t)bins - 1) : 0;
}

void groups_cut(Groups *groups, const Bins *bins, const Sketchml *p)
{
    const size_t per_group = (size_t)((p->quantiles + p->groups - 1) / p->groups);
    groups->count = 0;
    memset(groups->of, 0, sizeof groups->of); /* bins that there are not have no members */
    for (int side = 0; side < TWO_SIDES; side++) {
        for (size_t b = 0; b < bins->bins[side]; b += per_group) {
            const size_t left = bins->bins[side] - b, some = left < per_group ? left : per_group;
            for (size_t k = b; k < b + some; k++)
                groups->of[(size_t)side * BINS_MOST + k] = (uint16_t)groups->count;
            groups->group[groups->count++] =
                (Group){.side = side, .first = b, .bins = some, .width = width_of(some)};
        }
    }
}

void group_size(Group *g, const Sketchml *p, size_t count)
{
    const double cols = ceil(p->cols * (double)count);
    g->count = count;
    g->cols = cols < 1 ? 1 : (size_t)cols;
}

/* ---- sorting ---- */

typedef struct {
    const Call *c;
    const float *x;
    const Bins *bins;
    Groups *groups;
    BinIndex index;
    uint8_t *bin;   /* (n) */
    size_t *before; /* (blocks, groups): where a block's members go */
} Job;

/* The bin among those of both sides. */
static inline size_t either_bin(float x, uint8_t bin)
{
    return (size_t)(float_bits(x) >> 31) * BINS_MOST + bin;
}

static void bin_block(void *data, size_t block)
{
    const Job *job = data;
    const float *const x = job->x + block * BLOCK;
    uint8_t *const bin = job->bin + block * BLOCK;
    const size_t n = block_size(job->c->shape->n, block);
    size_t *const count = job->before + block * job->groups->count;
    uint32_t members[TWO_SIDES * BINS_MOST] = {0};
    bins_take(job->bins, &job->index, x, n, bin);
    for (size_t i = 0; i < n; i++)
        members[either_bin(x[i], bin[i])] += x[i] != 0;
    memset(count, 0, job->groups->count * sizeof *count);
    for (size_t b = 0; b < countof(members); b++)
        count[job->groups->of[b]] += members[b];
}

static void place_block(void *data, size_t block)
{
    const Job *job = data;
    const float *const x = job->x + block * BLOCK;
    const uint8_t *const bin = job->bin + block * BLOCK;
    const size_t n = block_size(job->c->shape->n, block);
    const size_t *const before = job->before + block * job->groups->count;
    uint32_t *key[GROUPS_MOST];
    uint8_t *own[GROUPS_MOST]; /* where each group's next member goes */
    for (size_t k = 0; k < job->groups->count; k++) {
        key[k] = job->groups->group[k].key + before[k];
        own[k] = job->groups->group[k].bin + before[k];
    }
    for (size_t i = 0; i < n; i++)
        if (x[i] != 0) {
            const size_t k = job->groups->of[either_bin(x[i], bin[i])];
            *key[k]++ = (uint32_t)(block * BLOCK + i);
            *own[k]++ = bin[i];
        }
}

/* ---- sketching ---- */

size_t group_run(const Group *g, size_t i, uint32_t at[MEMBERS_RUN])
{
    const uint32_t block = g->key[i] / BLOCK;
    const size_t most = g->count - i < MEMBERS_RUN ? g->count - i : MEMBERS_RUN;
    size_t n = most;
    if (g->key[i + most - 1] / BLOCK != block)
        for (n = 1; g->key[i + n] / BLOCK == block;)
            n++;
    for (size_t k = 0; k < n; k++)
        at[k] = g->key[i + k] % BLOCK;
    return n;
}

void group_buckets(const Group *g, const Call *c, size_t row, size_t block, const uint32_t *at, size_t n,
                   uint32_t *bucket)
{
    const Rng rng = rng_below(&c->rng, row);
    kernels()->hash_places(rng_key(&rng, USE_BUCKET, block), at, n, (uint32_t)g->cols, bucket);
}

/* A row of a group. */
static void fill_row(void *data, size_t piece)
{
    const Job *job = data;
    const size_t rows = (size_t)sketchml_of(job->c)->rows, row = piece % rows;
    const Group *g = &job->groups->group[piece / rows];
    uint8_t *const cell = g->cell + row * g->cols;
    uint32_t at[MEMBERS_RUN], bucket[MEMBERS_RUN];
    const uint8_t first = (uint8_t)g->first;
    memset(cell, (int)(g->bins - 1), g->cols);
    for (size_t i = 0, n; i < g->count && g->width; i += n) {
        n = group_run(g, i, at);
        group_buckets(g, job->c, row, g->key[i] / BLOCK, at, n, bucket);
        for (size_t k = 0; k < n; k++) {
            const uint8_t own = (uint8_t)(g->bin[i + k] - first);
            cell[bucket[k]] = own < cell[bucket[k]] ? own : cell[bucket[k]];
        }
    }
}

/* Counts of blocks become places, and groups get their memory. */
static Status lay_out(Job *job)
{
    const Call *c = job->c;
    for (size_t k = 0; k < job->groups->count; k++) {
        Group *g = &job->groups->group[k];
        size_t total = 0;
        for (size_t b = 0; b < blocks_of(c->shape->n); b++) {
            const size_t count = job->before[b * job->groups->count + k];
            job->before[b * job->groups->count + k] = total;
            total += count;
        }
        group_size(g, sketchml_of(c), total);
        g->key = NEW(c->scratch, uint32_t, total);
        g->bin = NEW(c->scratch, uint8_t, total);
        g->cell = NEW(c->scratch, uint8_t, (size_t)sketchml_of(c)->rows * g->cols);
        if (!g->key || !g->bin || !g->cell)
            return arena_fail(c->scratch, c->err);
    }
    return OK;
}

Status groups_fill(Groups *groups, const Call *c, const float *x, const Bins *bins)
{
    const size_t blocks = blocks_of(c->shape->n);
    if (!groups->count)
        return OK;
    Job *job = NEW(c->scratch, Job, 1);
    if (!job)
        return arena_fail(c->scratch, c->err);
    *job = (Job){.c = c, .x = x, .bins = bins, .groups = groups};
    bins_index(bins, &job->index);
    job->bin = NEW(c->scratch, uint8_t, c->shape->n);
    job->before = NEW(c->scratch, size_t, blocks * groups->count);
    if (!job->bin || !job->before)
        return arena_fail(c->scratch, c->err);
    parallel_for(c->threads, blocks, bin_block, job);
    TRY(lay_out(job));
    parallel_for(c->threads, blocks, place_block, job);
    parallel_for(c->threads, groups->count * (size_t)sketchml_of(c)->rows, fill_row, job);
    return OK;
}
