/* sketchml.c -- SketchML (Jiang, Fu, Yang, Cui 2018). The indices ("keys") of the non-zero elements are sent as
 * gaps. Their values are quantised to quantile bins, which are sent in MinMaxSketches: hash tables in which a
 * cell holds the least bin of all elements that hash to the cell.
 *
 *     kind:8 = 1  above:varint below:varint  { value:f32 } x (above + below)  group...
 *     group  = keys  cells         groups of x > 0 first; of each sign from zero outwards
 *     keys   = delta-binary: count:varint  planes of { bytes - 1 : 2 } x count  { gap: 1 to 4 bytes } x count
 *              delta-adaptive: indices.h
 *     cells  = bit planes of rows x max(1, ceil(cols count)) bins, as wide as the group's number of bins needs
 *
 * `above` and `below` are the numbers of bins of positive and of negative values. A gap is the difference
 * between two successive keys; the first gap is the first key + 1. A group has about `quantiles / groups`
 * consecutive bins of one sign, and its own sketch. Cells count bins from the first bin of the group. A cell to
 * which no element hashes holds the last bin. An element decodes to the value of the largest bin in its cells
 * (one in each row), which is at most its own bin. The tensor is sent as raw floats if raw floats take no more
 * bytes. */
#include "coder/indices.h"
#include "coder/planes.h"
#include "compress/sketch/sketchml_bins.h"
#include "compress/sketch/slices.h"
#include "math/vec/kernels.h"

#include <math.h>

typedef struct {
    int64_t quantiles, rows, groups;
    double cols;
    int keys;
} Sketchml;

enum { ROWS_MOST = 8, GROUPS_MOST = TWO_SIDES * BINS_MOST };
/* elements processed at a time, so that buffers fit on the stack */
enum { MEMBERS_RUN = 1024 };
enum { DELTA_BINARY, DELTA_ADAPTIVE };
static const char *const key_forms[] = {"delta-binary", "delta-adaptive", NULL};

static const Param schema[] = {
    PARAM(Sketchml, quantiles, "256", 2, BINS_MOST, "bins of both signs together"),
    PARAM(Sketchml, rows, "2", 1, ROWS_MOST, "rows of a group's sketch, each with a hash of its own"),
    PARAM(Sketchml, cols, "0.3", 0, 1, "cells in a row as a share of the group's elements", .above = true,
          .rate = true),
    PARAM(Sketchml, groups, "8", 1, BINS_MOST, "about how many groups of bins have a sketch of their own"),
    PARAM_OF(Sketchml, keys, "delta-binary", key_forms,
             "gaps between indices in whole bytes, or in the best Golomb code"),
    {0},
};

static const Sketchml *sketchml_of(const Call *c)
{
    return c->self->params;
}

/* Returns an upper bound on the bytes of a payload. A key takes at most 4 bytes and 2 bits in delta-binary;
 * Golomb codes are shorter. An element's cells take at most one byte per row. */
static size_t bound(const Call *c)
{
    const size_t n = c->shape->n, rows = (size_t)sketchml_of(c)->rows;
    return n > UINT32_MAX
               ? raw_size(c)
               : 1 + 2 * VARINT_MAX + 4 * BINS_MOST + (5 + rows) * n + GROUPS_MOST * (64 + 9 * rows);
}

/* ---- groups ---- */

typedef struct {
    /* `count`: number of elements of the group (its members); `cols`: number of cells in a row */
    size_t count, cols;
    size_t first, bins; /* the bins of the group are first .. first + bins - 1 of its sign */
    int side, width;    /* width: bits that a cell takes */
    uint32_t *key;      /* `count` entries: indices of the group's members, rising */
    uint8_t *bin;       /* `count` entries: the members' bins */
    uint8_t *cell;      /* rows x cols cells */
} BinGroup;

typedef struct {
    BinGroup group[GROUPS_MOST];
    uint16_t of[TWO_SIDES * BINS_MOST]; /* group number of each bin of each sign */
    size_t count;
} BinGroups;

static void groups_cut(BinGroups *groups, const QuantileBins *bins, const Sketchml *p)
{
    const size_t per_group = (size_t)((p->quantiles + p->groups - 1) / p->groups);
    groups->count = 0;
    /* bins that do not exist have no elements; assign them to group 0 */
    memset(groups->of, 0, sizeof groups->of);
    for (int side = 0; side < TWO_SIDES; side++) {
        for (size_t b = 0; b < bins->bins[side]; b += per_group) {
            const size_t left = bins->bins[side] - b, some = left < per_group ? left : per_group;
            for (size_t k = b; k < b + some; k++)
                groups->of[(size_t)side * BINS_MOST + k] = (uint16_t)groups->count;
            const int width = some > 1 ? 32 - __builtin_clz((uint32_t)some - 1) : 0;
            groups->group[groups->count++] = (BinGroup){.side = side, .first = b, .bins = some, .width = width};
        }
    }
}

/* Sets a group's number of elements, and from that number the cells in a row. */
static void group_size(BinGroup *g, const Sketchml *p, size_t count)
{
    const double cols = ceil(p->cols * (double)count);
    g->count = count;
    g->cols = cols < 1 ? 1 : (size_t)cols;
}

/* Returns how many members from member i on lie in the same block of the tensor and in the same BLOCK members, at
 * most MEMBERS_RUN, and sets at[] to their positions in the block. */
static size_t group_run(const BinGroup *g, size_t i, uint32_t at[MEMBERS_RUN])
{
    const uint32_t block = g->key[i] / BLOCK;
    const size_t left = i % BLOCK + MEMBERS_RUN <= BLOCK ? MEMBERS_RUN : BLOCK - i % BLOCK;
    const size_t most = g->count - i < left ? g->count - i : left;
    size_t n = most;
    if (g->key[i + most - 1] / BLOCK != block)
        for (n = 1; g->key[i + n] / BLOCK == block;)
            n++;
    for (size_t k = 0; k < n; k++)
        at[k] = g->key[i + k] % BLOCK;
    return n;
}

/* Sets bucket[] to the cells to which the n members from member i on hash, counted from the first cell of their
 * slice (slices.h), and returns that cell. `row`: one row of the sketch. at[] are the members' positions in their
 * block. */
static uint8_t *group_buckets(const BinGroup *g, const Call *c, size_t row, size_t i, const uint32_t *at,
                              size_t n, uint32_t *bucket)
{
    const Rng rng = rng_below(&c->rng, row);
    const Slice slice = slice_of(g->cols, g->count, i / BLOCK);
    kernels()->hash_places(rng_key(&rng, USE_BUCKET, g->key[i] / BLOCK), at, n, slice.count, bucket);
    return g->cell + row * g->cols + slice.first;
}

/* ---- keys ---- */

/* Returns how many bytes (1 to 4) the index gap `delta` takes. */
static unsigned bytes_of(uint32_t delta)
{
    return (39 - (unsigned)__builtin_clz(delta)) / 8;
}

/* Writes `count` rising keys. `bytes` is scratch memory of `count` bytes. */
static void put_deltas(const uint32_t *key, size_t count, uint8_t *bytes, Buf *out)
{
    buf_varint(out, count);
    uint8_t *planes = buf_room(out, planes_size(count, 2));
    uint32_t previous = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        const uint32_t delta = key[i] - previous;
        const unsigned size = bytes_of(delta);
        store_u32(buf_room(out, size), delta); /* `bound` has room for the zeros behind the last gap */
        bytes[i] = (uint8_t)(size - 1);
        previous = key[i];
    }
    planes_put(bytes, false, count, 2, planes);
}

static const size_t *keys_run(const Indices *set, size_t run, size_t room[INDEX_RUN], size_t *count)
{
    const uint32_t *key = (const uint32_t *)set->data + run * INDEX_RUN;
    const size_t left = set->count - run * INDEX_RUN;
    *count = left < INDEX_RUN ? left : INDEX_RUN;
    for (size_t i = 0; i < *count; i++)
        room[i] = key[i];
    return room;
}

/* Reads keys from their gaps, which take `bytes[i]` + 1 bytes each. Returns false for gaps that no encoder writes. */
static bool get_deltas(const uint8_t *bytes, Bytes gaps, size_t count, size_t n, uint32_t *key)
{
    const uint8_t *at = gaps.data, *const end = gaps.data + gaps.size;
    size_t next = 0;
    for (size_t i = 0; i < count; i++) {
        const unsigned size = bytes[i] + 1u;
        uint8_t last[4] = {0};
        const uint8_t *from = at;
        if (end - at < 4)
            from = memcpy(last, at, size);
        const uint32_t delta = load_u32(from) & UINT32_MAX >> (32 - 8 * size);
        if (delta == 0 || bytes_of(delta) != size || delta > n - next)
            return false;
        at += size;
        next += delta;
        key[i] = (uint32_t)(next - 1);
    }
    return true;
}

static Status make_members(const Call *c, BinGroup *g, size_t count, size_t most)
{
    if (count > most)
        return payload_bad(c, "a group of %zu keys out of %zu", count, most);
    g->count = count;
    g->key = NEW(c->scratch, uint32_t, count);
    g->bin = NEW(c->scratch, uint8_t, count);
    return arena_check(g->key && g->bin, c->scratch, c->err);
}

/* Finds the gaps of a group's keys in the payload; g->bin gets their sizes in bytes, minus 1. */
static Status take_binary(const Call *c, Reader *in, size_t most, BinGroup *g, Bytes *gaps)
{
    const uint64_t k = take_varint(in);
    const uint8_t *planes = in->bad || k > most ? NULL : take_bytes(in, planes_size(k, 2));
    if (in->bad)
        return payload_bad(c, "keys that end early");
    TRY(make_members(c, g, k, most));
    bool good = planes_get(planes, k, 2, g->bin, false);
    gaps->size = k;
    for (size_t i = 0; i < k; i++)
        gaps->size += g->bin[i];
    gaps->data = take_bytes(in, gaps->size);
    return good && gaps->data ? OK : payload_bad(c, "keys that no encoder writes");
}

static Status take_adaptive(const Call *c, Reader *in, size_t most, BinGroup *g)
{
    Places set;
    if (!indices_get(in, c->shape->n, c->scratch, &set))
        return in->bad ? payload_bad(c, "keys that no encoder writes") : arena_fail(c->scratch, c->err);
    TRY(make_members(c, g, set.count, most));
    for (size_t b = 0; b < blocks_of(c->shape->n); b++)
        for (size_t i = set.before[b]; i < set.before[b + 1]; i++)
            g->key[i] = (uint32_t)(b * BLOCK + set.at[i]);
    return OK;
}

/* ---- sorting elements into groups ---- */

typedef struct {
    const Call *c;
    const float *x;
    const QuantileBins *bins;
    BinGroups *groups;
    BinIndex index;
    uint8_t *bin; /* the bin of each of the n elements */
    /* before[block, group]: first the number of the group's members in the block. lay_out replaces the entry by
     * the number of the group's members in all earlier blocks. */
    size_t *before;
} GroupJob;

/* Returns the index of element x's bin in an array that has the bins of both signs. */
static inline size_t either_bin(float x, uint8_t bin)
{
    return (size_t)(float_bits(x) >> 31) * BINS_MOST + bin;
}

static void bin_block(void *data, size_t block)
{
    const GroupJob *job = data;
    const float *const x = job->x + block * BLOCK;
    uint8_t *const bin = job->bin + block * BLOCK;
    const size_t n = block_size(job->c->shape->n, block);
    size_t *const count = job->before + block * job->groups->count;
    uint32_t members[TWO_SIDES * BINS_MOST] = {0};
    quantile_bins_take(job->bins, &job->index, x, n, bin);
    for (size_t i = 0; i < n; i++)
        members[either_bin(x[i], bin[i])] += x[i] != 0;
    memset(count, 0, job->groups->count * sizeof *count);
    for (size_t b = 0; b < countof(members); b++)
        count[job->groups->of[b]] += members[b];
}

static void place_block(void *data, size_t block)
{
    const GroupJob *job = data;
    const float *const x = job->x + block * BLOCK;
    const uint8_t *const bin = job->bin + block * BLOCK;
    const size_t n = block_size(job->c->shape->n, block);
    const size_t *const before = job->before + block * job->groups->count;
    uint32_t *key[GROUPS_MOST];
    /* key[k] and own[k]: where the key and the bin of the next member of group k go */
    uint8_t *own[GROUPS_MOST];
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

static void fill_row(void *data, size_t piece)
{
    const GroupJob *job = data;
    const size_t rows = (size_t)sketchml_of(job->c)->rows, row = piece % rows;
    const BinGroup *g = &job->groups->group[piece / rows];
    uint32_t at[MEMBERS_RUN], bucket[MEMBERS_RUN];
    const uint8_t first = (uint8_t)g->first;
    memset(g->cell + row * g->cols, (int)(g->bins - 1), g->cols);
    for (size_t i = 0, n; i < g->count && g->width; i += n) {
        n = group_run(g, i, at);
        uint8_t *const cell = group_buckets(g, job->c, row, i, at, n, bucket);
        for (size_t k = 0; k < n; k++) {
            const uint8_t own = (uint8_t)(g->bin[i + k] - first);
            cell[bucket[k]] = own < cell[bucket[k]] ? own : cell[bucket[k]];
        }
    }
}

/* Allocates the groups' arrays, and turns the counts in job->before into sums over all earlier blocks. */
static Status lay_out(GroupJob *job)
{
    const Call *c = job->c;
    for (size_t k = 0; k < job->groups->count; k++) {
        BinGroup *g = &job->groups->group[k];
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
        TRY(arena_check(g->key && g->bin && g->cell, c->scratch, c->err));
    }
    return OK;
}

static Status groups_fill(BinGroups *groups, const Call *c, const float *x, const QuantileBins *bins)
{
    const size_t blocks = blocks_of(c->shape->n);
    if (!groups->count)
        return OK;
    GroupJob *job = NEW(c->scratch, GroupJob, 1);
    TRY(arena_check(job, c->scratch, c->err));
    *job = (GroupJob){.c = c, .x = x, .bins = bins, .groups = groups};
    quantile_bins_index(bins, &job->index);
    job->bin = NEW(c->scratch, uint8_t, c->shape->n);
    job->before = NEW(c->scratch, size_t, blocks * groups->count);
    TRY(arena_check(job->bin && job->before, c->scratch, c->err));
    parallel_for(c->threads, blocks, bin_block, job);
    TRY(lay_out(job));
    parallel_for(c->threads, blocks, place_block, job);
    parallel_for(c->threads, groups->count * (size_t)sketchml_of(c)->rows, fill_row, job);
    return OK;
}

/* ---- encoding ---- */

static void put_group(const Call *c, const BinGroup *g, Buf *out)
{
    const size_t cells = (size_t)sketchml_of(c)->rows * g->cols;
    const Indices set = {
        .count = g->count, .runs = (g->count + INDEX_RUN - 1) / INDEX_RUN, .data = g->key, .run = keys_run};
    if (sketchml_of(c)->keys == DELTA_ADAPTIVE)
        indices_put(&set, c->shape->n, out);
    else
        put_deltas(g->key, g->count, g->bin, out); /* g->bin serves as scratch memory: the cells are already computed */
    streams_gaps(c, &set);
    if (!g->count || !g->width)
        return;
    planes_put(g->cell, false, cells, g->width, buf_room(out, planes_size(cells, g->width)));
    uint64_t count[BINS_MOST] = {0};
    for (size_t i = 0; c->streams && i < cells; i++)
        count[g->cell[i]]++;
    streams_symbols(c->streams, count, BINS_MOST);
}

static void put_bins(const QuantileBins *b, const Call *c, Buf *out)
{
    for (int side = 0; side < TWO_SIDES; side++)
        buf_varint(out, b->bins[side]);
    for (int side = 0; side < TWO_SIDES; side++)
        for (size_t i = 0; i < b->bins[side]; i++)
            buf_f32(out, b->value[side][i]);
    streams_floats(c->streams, b->bins[ABOVE_ZERO] + b->bins[BELOW_ZERO]);
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    const size_t n = c->shape->n, start = out->size;
    const Streams before = c->streams ? *c->streams : (Streams){0};
    if (n > UINT32_MAX)
        return raw_put(c, x, out);
    QuantileBins bins;
    BinGroups *groups = NEW(c->scratch, BinGroups, 1);
    TRY(arena_check(groups, c->scratch, c->err));
    TRY(quantile_bins_find(&bins, c, x, (size_t)sketchml_of(c)->quantiles));
    groups_cut(groups, &bins, sketchml_of(c));
    TRY(groups_fill(groups, c, x, &bins));
    buf_u8(out, PAYLOAD_METHOD);
    put_bins(&bins, c, out);
    for (size_t k = 0; k < groups->count; k++)
        put_group(c, &groups->group[k], out);
    if (out->size - start < raw_size(c))
        return OK;
    out->size = start;
    if (c->streams)
        *c->streams = before;
    return raw_put(c, x, out);
}

/* ---- decoding ---- */

/* Reads the values of the bins. Refuses values that are not positive or that fall from one bin to the next. */
static Status take_bins(const Call *c, Reader *r, QuantileBins *b)
{
    uint64_t bins[TWO_SIDES];
    for (int side = 0; side < TWO_SIDES; side++)
        bins[side] = take_varint(r);
    const uint64_t most = (uint64_t)sketchml_of(c)->quantiles;
    if (r->bad || bins[0] > most || bins[1] > most - bins[0])
        return payload_bad(c, "more than %llu bins", (unsigned long long)most);
    for (int side = 0; side < TWO_SIDES; side++) {
        float last = 0;
        b->bins[side] = (size_t)bins[side];
        for (size_t i = 0; i < b->bins[side]; i++) {
            const float v = b->value[side][i] = take_f32(r);
            if (!isfinite(v) || v <= 0 || v < last)
                return payload_bad(c, "bin %zu holds %g, which is no larger magnitude", i, (double)v);
            last = v;
        }
    }
    return OK;
}

static Status take_cells(const Call *c, Reader *r, BinGroup *g)
{
    const size_t cells = (size_t)sketchml_of(c)->rows * g->cols;
    const uint8_t *planes = take_bytes(r, planes_size(cells, g->width));
    if (!planes)
        return payload_bad(c, "%zu cells that end early", cells);
    g->cell = NEW(c->scratch, uint8_t, cells);
    TRY(arena_check(g->cell, c->scratch, c->err));
    bool good = planes_get(planes, cells, g->width, g->cell, false);
    for (size_t i = 0; i < cells; i++)
        good &= g->cell[i] < g->bins;
    return good ? OK : payload_bad(c, "cells that no encoder writes");
}

/* Estimates the bins of all members of a group: a member's bin is the largest of its cells. */
static void query(const Call *c, const BinGroup *g)
{
    uint32_t at[MEMBERS_RUN], bucket[MEMBERS_RUN];
    memset(g->bin, 0, g->count);
    for (size_t row = 0; row < (size_t)sketchml_of(c)->rows && g->width; row++)
        for (size_t i = 0, n; i < g->count; i += n) {
            uint8_t *const bin = g->bin + i;
            n = group_run(g, i, at);
            const uint8_t *const cell = group_buckets(g, c, row, i, at, n, bucket);
            for (size_t k = 0; k < n; k++)
                bin[k] = cell[bucket[k]] > bin[k] ? cell[bucket[k]] : bin[k];
        }
}

/* The decoder first finds the groups in the payload, then reads the keys and estimates the bins of each group, then
 * fills each block of the tensor with the members of all groups. */
typedef struct {
    const Call *c;
    const QuantileBins *bins;
    BinGroups *groups;
    /* for each group, with delta-binary keys: the gaps; until they are read, `bin` has their sizes */
    Bytes *gaps;
    _Atomic bool bad, twice; /* a group has gaps that no encoder writes; an element is in two groups */
    float *x;
} Fill;

/* The keys of all groups differ, so there are at most n. */
static Status take_groups(Fill *f, Reader *r)
{
    const Call *c = f->c;
    size_t left = c->shape->n;
    for (size_t k = 0; k < f->groups->count; k++) {
        BinGroup *g = &f->groups->group[k];
        if (sketchml_of(c)->keys == DELTA_BINARY)
            TRY(take_binary(c, r, left, g, &f->gaps[k]));
        else
            TRY(take_adaptive(c, r, left, g));
        left -= g->count;
        group_size(g, sketchml_of(c), g->count);
        if (g->count && g->width)
            TRY(take_cells(c, r, g));
    }
    return reader_done(r) ? OK : payload_bad(c, "%zu bytes left over", reader_left(r));
}

static void read_group(void *data, size_t k)
{
    Fill *f = data;
    const BinGroup *g = &f->groups->group[k];
    if (f->gaps[k].data && !get_deltas(g->bin, f->gaps[k], g->count, f->c->shape->n, g->key))
        f->bad = true;
    else
        query(f->c, g);
}

/* Returns the index of the first key >= `least`. */
static size_t first_key(const BinGroup *g, size_t least)
{
    size_t low = 0, high = g->count;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (g->key[mid] < least)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void fill_block(void *data, size_t block)
{
    Fill *f = data;
    float *const x = f->x + block * BLOCK;
    bool twice = false;
    memset(x, 0, block_size(f->c->shape->n, block) * sizeof *x);
    for (size_t k = 0; k < f->groups->count; k++) {
        const BinGroup *g = &f->groups->group[k];
        const float *const value = f->bins->value[g->side] + g->first, sign = g->side == BELOW_ZERO ? -1 : 1;
        const size_t end = first_key(g, (block + 1) * BLOCK);
        for (size_t i = first_key(g, block * BLOCK); i < end; i++) {
            float *const at = &x[g->key[i] % BLOCK];
            twice |= *at != 0;
            *at = sign * value[g->bin[i]];
        }
    }
    if (twice)
        f->twice = true;
}

static Status fill(Fill *f)
{
    const Call *c = f->c;
    parallel_for(c->threads, f->groups->count, read_group, f);
    if (f->bad)
        return payload_bad(c, "keys that no encoder writes");
    parallel_for(c->threads, blocks_of(c->shape->n), fill_block, f);
    return f->twice ? payload_bad(c, "an element is in two groups") : OK;
}

static Status decode(const Call *c, Bytes in, float *x)
{
    Reader r = reader_open(in);
    const unsigned kind = take_u8(&r);
    QuantileBins bins;
    Fill f = {.c = c, .bins = &bins, .groups = NEW(c->scratch, BinGroups, 1), .x = x};
    TRY(arena_check(f.groups, c->scratch, c->err));
    TRY(payload_kind(c, kind, c->shape->n > UINT32_MAX ? PAYLOAD_RAW : PAYLOAD_METHOD));
    TRY(payload_shorter(c, in));
    TRY(take_bins(c, &r, &bins));
    groups_cut(f.groups, &bins, sketchml_of(c));
    f.gaps = NEW_ZERO(c->scratch, Bytes, f.groups->count);
    TRY(arena_check(f.gaps, c->scratch, c->err));
    TRY(take_groups(&f, &r));
    return fill(&f);
}

const Compressor compressor_sketchml = {
    .name = "sketchml",
    .brief = "quantile bins in a sketch of least bins, keys as gaps; for sparse gradients",
    .plain = "Sorts the elements that are not zero into quantile bins, and sends the gaps between their "
             "indices and the bins in a small sketch. Collisions make elements smaller, never larger.",
    .use_when = "gradients are sparse, as those of embeddings and of linear models are.",
    .example = "atomo-bench synth -o g.h5 --force --law sparse\n"
               "atomo-bench compare g.h5 -c sketchml -c topk:ratio=0.01",
    .formula =
        "Nonzero elements go into `quantiles` bins of about equally many elements, shared between the signs\n"
        "by their numbers of elements; a bin decodes to the midpoint of its edges. Bins are counted from\n"
        "zero outwards, and ceil(quantiles / groups) of them in a row are a group. Of each group are sent\n"
        "  the indices (keys): delta-binary, 2 bits and 1 to 4 bytes each, or delta-adaptive, the Golomb code\n"
        "  that suits the group (within 3 % of their entropy at densities up to 0.2);\n"
        "  a MinMaxSketch of rows x ceil(cols count) cells: cell = least bin hashed to it.\n"
        "Decoded bin = the largest of an element's cells, which is its own bin or one of the group nearer to\n"
        "zero, so no magnitude exceeds its bin's; fewer cols make larger errors.\n"
        "Edges are exact quantiles for up to 2^18 nonzero elements. For more they are those of a sample of one\n"
        "element in each run of equally many; their ranks have a standard deviation of 0.001 at most.\n"
        "Biased towards zero: for ef+ or methods that scale. Raw where that takes fewer bytes, as for dense\n"
        "gradients with delta-binary and many cells.",
    .paper = "Jiang, Fu, Yang, Cui: SketchML: Accelerating Distributed Machine Learning with Data Sketches,\n"
             "SIGMOD 2018",
    .look = {HUE_SKETCH, 3, 3},
    .params = schema,
    .promises = RANDOM | EXACT_BYTES | NEEDS_ALL,
    .bound = bound,
    .encode = encode,
    .decode = decode,
};
