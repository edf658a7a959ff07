/* sketchml.c -- SketchML (Jiang, Fu, Yang, Cui 2018): quantile bins, their numbers in a sketch of least values, the keys
 * of what is not zero as distances.
 *
 *     kind:8 = 1  above:varint below:varint  { value:f32 } x (above + below)  group...
 *     group  = keys  cells                        first those above zero, from zero outwards, then those below
 *     keys   = sketchml.h
 *     cells  = bit planes of rows x max(1, ceil(cols count)) bins, as wide as the group's number of bins needs
 *
 * A group is a run of `quantiles / groups` bins of one side. Its cells hold the least bin, counted in the group, of the
 * elements hashed there, or the last bin where there are none; the largest of an element's cells is at most its own
 * bin. Where this would not be smaller than the tensor, that travels as floats. */
#include "coder/planes.h"
#include "compress/sketch/sketchml_groups.h"

#include <math.h>

static const char *const key_forms[] = {"delta-binary", "delta-adaptive", NULL};

static const Param schema[] = {
    PARAM(Sketchml, quantiles, "256", 2, BINS_MOST, "bins of both sides of zero together"),
    PARAM(Sketchml, rows, "2", 1, ROWS_MOST, "rows of a group's sketch, each with a hash of its own"),
    PARAM(Sketchml, cols, "0.3", 0, 1, "cells in a row as a share of the group's elements", .above = true,
          .rate = true),
    PARAM(Sketchml, groups, "8", 1, BINS_MOST, "runs of bins that have a sketch of their own, about"),
    PARAM_OF(Sketchml, keys, "delta-binary", key_forms,
             "distances in whole bytes, or in the best Golomb code"),
    {0},
};

static unsigned traits(const Codec *codec)
{
    (void)codec;
    return RANDOM | EXACT_BYTES;
}

/* Keys of four bytes and flags are more than Golomb codes take; n rows cells of a byte, and what groups begin with. */
static size_t bound(const Call *c)
{
    const size_t n = c->shape->n, rows = (size_t)sketchml_of(c)->rows;
    return n > UINT32_MAX
               ? raw_size(c)
               : 1 + 2 * VARINT_MAX + 4 * BINS_MOST + (5 + rows) * n + GROUPS_MOST * (64 + 9 * rows);
}

/* ---- encoding ---- */

static void put_group(const Call *c, const Group *g, Buf *out)
{
    const size_t n = c->shape->n, cells = (size_t)sketchml_of(c)->rows * g->cols;
    keys_put(sketchml_of(c)->keys, g->key, g->count, n, g->bin, out); /* the bins are in the cells by now */
    streams_subset(c->streams, n, g->count);
    if (!g->count || !g->width)
        return;
    planes_put8(g->cell, cells, g->width, buf_room(out, planes_size(cells, g->width)));
    uint64_t count[BINS_MOST] = {0};
    for (size_t i = 0; c->streams && i < cells; i++)
        count[g->cell[i]]++;
    streams_symbols(c->streams, count, BINS_MOST);
}

static void put_bins(const Bins *b, const Call *c, Buf *out)
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
    Bins bins;
    Groups *groups = NEW(c->scratch, Groups, 1);
    if (!groups)
        return arena_fail(c->scratch, c->err);
    TRY(bins_find(&bins, c, x, (size_t)sketchml_of(c)->quantiles));
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

/* Magnitudes are positive and rise. */
static Status take_bins(const Call *c, Reader *r, Bins *b)
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

static Status take_cells(const Call *c, Reader *r, Group *g)
{
    const size_t cells = (size_t)sketchml_of(c)->rows * g->cols;
    const uint8_t *planes = take_bytes(r, planes_size(cells, g->width));
    if (!planes)
        return payload_bad(c, "%zu cells that end early", cells);
    g->cell = NEW(c->scratch, uint8_t, cells);
    if (!g->cell)
        return arena_fail(c->scratch, c->err);
    bool good = planes_get8(planes, cells, g->width, g->cell);
    for (size_t i = 0; i < cells; i++)
        good &= g->cell[i] < g->bins;
    return good ? OK : payload_bad(c, "cells that no encoder writes");
}

/* The largest of each member's cells. */
static void query_run(const Call *c, const Group *g, size_t i, size_t n, const uint32_t at[MEMBERS_RUN],
                      uint8_t bin[MEMBERS_RUN])
{
    uint32_t bucket[MEMBERS_RUN];
    memset(bin, 0, n);
    for (size_t row = 0; row < (size_t)sketchml_of(c)->rows && g->width; row++) {
        const uint8_t *const cell = g->cell + row * g->cols;
        group_buckets(g, c, row, g->key[i] / BLOCK, at, n, bucket);
        for (size_t k = 0; k < n; k++)
            bin[k] = cell[bucket[k]] > bin[k] ? cell[bucket[k]] : bin[k];
    }
}

static Status take_group(const Call *c, Reader *r, Group *g, const float *value, float *x)
{
    size_t count;
    uint32_t at[MEMBERS_RUN];
    uint8_t bin[MEMBERS_RUN];
    TRY(keys_get(sketchml_of(c)->keys, c, r, &g->key, &count));
    group_size(g, sketchml_of(c), count);
    if (count && g->width)
        TRY(take_cells(c, r, g));
    for (size_t i = 0, n; i < count; i += n) {
        n = group_run(g, i, at);
        query_run(c, g, i, n, at, bin);
        for (size_t k = 0; k < n; k++) {
            const size_t key = g->key[i + k];
            const float v = value[g->first + bin[k]];
            if (x[key] != 0)
                return payload_bad(c, "element %zu is in two groups", key);
            x[key] = g->side == BELOW_ZERO ? -v : v;
        }
    }
    return OK;
}

static Status decode(const Call *c, Bytes in, float *x)
{
    Reader r = reader_open(in);
    const unsigned kind = take_u8(&r);
    Bins bins;
    Groups *groups = NEW(c->scratch, Groups, 1);
    if (!groups)
        return arena_fail(c->scratch, c->err);
    TRY(payload_kind(c, kind, c->shape->n > UINT32_MAX ? PAYLOAD_RAW : PAYLOAD_METHOD));
    if (in.size >= raw_size(c))
        return payload_bad(c, "%zu bytes, where floats would take no more", in.size);
    TRY(take_bins(c, &r, &bins));
    groups_cut(groups, &bins, sketchml_of(c));
    memset(x, 0, c->shape->n * sizeof *x);
    for (size_t k = 0; k < groups->count; k++) {
        const ArenaMark mark = arena_mark(c->scratch);
        Group *g = &groups->group[k];
        TRY(take_group(c, &r, g, bins.value[g->side], x));
        arena_rewind(c->scratch, mark);
    }
    return reader_done(&r) ? OK : payload_bad(c, "%zu bytes left over", reader_left(&r));
}

const Compressor compressor_sketchml = {
    .name = "sketchml",
    .brief = "quantile bins in a sketch of least bins, keys as distances; for sparse gradients",
    .formula =
        "Elements that are not zero go into `quantiles` bins of equally many elements, each side of zero\n"
        "having its share; a bin stands for the midpoint of its edges. Bins are counted from zero outwards,\n"
        "and runs of ceil(quantiles / groups) of them are groups. Of each group travel\n"
        "  the keys: delta-binary, 2 bits and 1 to 4 bytes each, or delta-adaptive, the Golomb code that\n"
        "  suits the group (within 3 % of their entropy at densities up to 0.2);\n"
        "  a MinMaxSketch of rows x ceil(cols count) cells: cell = least bin hashed to it;\n"
        "decoded bin = the largest of an element's cells, which is its own bin or one nearer to zero, so no\n"
        "magnitude exceeds its bin's; what is lost grows with cols falling, by less than a group's bins.\n"
        "Edges are exact quantiles for up to 2^18 elements that are not zero; of more, those of a sample of\n"
        "one in each stretch of equally many, whose rank errors have a standard deviation of 0.001 at most.\n"
        "Biased towards zero: for ef+ or methods that scale. Zeros do not travel. Raw where smaller, as for\n"
        "dense gradients with delta-binary and many cells.",
    .paper = "Jiang, Fu, Yang, Cui: SketchML: Accelerating Distributed Machine Learning with Data Sketches,\n"
             "SIGMOD 2018",
    .params = schema,
    .params_size = sizeof(Sketchml),
    .traits = traits,
    .bound = bound,
    .encode = encode,
    .decode = decode,
};
