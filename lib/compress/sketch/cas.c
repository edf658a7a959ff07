/* cas.c -- the cluster-aware sketch (LSS; Ge, Zhang, Fu, Lai, Deng, Li 2021): values are clustered by sign and
 * magnitude, each cluster has buckets of its own, and an element decodes to the mean of the bucket it falls into.
 *
 *     kind:8 = 1  clusters  { sum:f32 } x buckets  index                            index: cluster_index.h
 *     merged: kind:8 = 2  workers:varint  form:8 = 0  clusters  { sum:f64 } x buckets  { size:varint index } x workers
 *             kind:8 = 2  workers:varint  form:8 = 1  { sum:f32 } x n               where that is shorter
 *     clusters = minus:8  plus:8  { centre:f32 buckets:u32 } x (minus + plus)
 *
 * How many elements a bucket has, a decoder counts in the index. Buckets are found by words that all workers share
 * (cas_table.h), so sums add and merging is exact. State: the clusters, learned every `period` steps, and the steps
 * since. Raw floats travel where the shape alone allows a payload that is no smaller, and under `min` elements. */
#include "compress/sketch/cas.h"

#include <float.h>
#include <math.h>

static const char *const allocations[] = {"entropy", "entropy-centre", "density", "manual", NULL};
static const char *const index_names[] = {"huffman", "fixed", "bitmap", NULL};
static const char *const size_lists[] = {"a:b:...", NULL};

static const Param schema[] = {
    PARAM(Cas, clusters, "2", 1, SIDE_MOST, "clusters of either sign", .rate = true, .group = 1),
    PARAM(Cas, bits, NULL, 1, 32,
          "payload bits per element instead: as many clusters as they hold, buckets for what is left",
          .fine = true, .group = 1),
    PARAM(Cas, percentile, "95", 0, 100,
          "of a sign's magnitudes; what is from there on is one of its clusters"),
    PARAM(Cas, buckets, "0", 0, 1 << 30, "buckets of all clusters together, 0: a hundredth of the elements"),
    PARAM(Cas, bins, "5", 1, 1 << 16, "equally wide bins of the histogram that a cluster's entropy is of"),
    PARAM_OF(Cas, allocate, "entropy", allocations,
             "what buckets are shared out by: entropy, entropy times centre, density, or sizes"),
    PARAM_WORDS(
        Cas, sizes, size_lists,
        "allocate=manual: buckets of each cluster, from zero outwards for both signs, or from the lowest "
        "cluster to the highest; alike if unset"),
    PARAM(Cas, sample, "100000", 1, 1 << 30, "values that clusters are learned from, at most"),
    PARAM(Cas, min, "1000", 0, 1e15, "elements under which a tensor travels as floats"),
    PARAM(Cas, period, "10", 1, 1e9, "steps for which clusters are kept"),
    PARAM_OF(Cas, index, "huffman", index_names, "how the clusters of all elements travel"),
    {0},
};

static unsigned traits(const Codec *codec)
{
    (void)codec;
    return MERGEABLE | RANDOM | EXACT_BYTES;
}

static size_t bound(const Call *c)
{
    return cas_limits(c).bytes;
}

/* ---- state ---- */

typedef struct {
    uint64_t age; /* steps since the clusters were learned */
    ClusterModel model;
} State;

static size_t state_size(const Call *c)
{
    (void)c;
    return sizeof(State);
}

static Status train(const Call *c, const float *x, void *state)
{
    State *s = state;
    const CasLimits l = cas_limits(c);
    if (l.raw || (s->age && cas_fits(&s->model, &l)))
        return OK;
    return cas_learn(c, x, &s->model);
}

static Status settle(const Call *c, const float *x, const Bytes *sent, const float *agreed, void *state)
{
    State *s = state;
    (void)x;
    (void)sent;
    (void)agreed;
    s->age = (s->age + 1) % (uint64_t)cas_params(c)->period;
    return OK;
}

static Status model_for(const Call *c, const CasLimits *l, const float *x, ClusterModel *m)
{
    const State *s = c->state;
    if (!s || !cas_fits(&s->model, l))
        return cas_learn(c, x, m);
    *m = s->model;
    return OK;
}

/* ---- sending ---- */

static Status report(const Call *c, const ClusterIndex *index, const uint8_t *code, size_t buckets)
{
    uint64_t count[INDEX_MOST];
    TRY(index_counts(index, code, count));
    streams_bits(c->streams, 64.0 * index->clusters);
    streams_floats(c->streams, buckets);
    streams_symbols(c->streams, count, index->clusters);
    return OK;
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    const CasLimits l = cas_limits(c);
    const size_t n = c->shape->n;
    ClusterModel m;
    CasTable s;
    if (l.raw)
        return raw_put(c, x, out);
    TRY(model_for(c, &l, x, &m));
    table_open(&s, c, &m);
    uint8_t *code = NEW(c->scratch, uint8_t, n);
    double *sum = NEW(c->scratch, double, s.buckets);
    if (!code || !sum)
        return arena_fail(c->scratch, c->err);
    TRY(table_sums(&s, x, code, sum));
    buf_u8(out, PAYLOAD_METHOD);
    cas_put_model(&m, out);
    for (size_t b = 0; b < s.buckets; b++) {
        if (fabs(sum[b]) > (double)FLT_MAX)
            return FAIL(c->err, ERR_NUMERIC, "cas: the sum of bucket %zu is beyond float32", b);
        buf_f32(out, (float)sum[b]);
    }
    const ClusterIndex index = cas_index(c, s.clusters);
    TRY(index_put(&index, code, out));
    return c->streams ? report(c, &index, code, s.buckets) : OK;
}

const Compressor compressor_cas = {
    .name = "cas",
    .brief = "buckets of values that are alike: clusters by sign and magnitude, each with buckets of its own",
    .formula =
        "Clusters, learned from a sample every `period` steps: each sign's magnitudes from its percentile on "
        "are\n"
        "one, centred there; k-means++ finds clusters - 1 in the rest. Zero counts as negative.\n"
        "  c(i) = nearest centre of x_i's sign;   h(i) = floor(w_i size_c / 2^32), w_i a word all workers "
        "share\n"
        "  sum[c, b] = sum of x_i with c(i) = c, h(i) = b;   x^_i = sum[c(i), h(i)] / how many are there\n"
        "`buckets` are shared out in proportion to what `allocate` names, one at least to each cluster:\n"
        "  entropy: H_c = - sum p log2 p over `bins` equally wide bins;  entropy-centre: H_c |centre_c|;\n"
        "  density: the cluster's share of the elements.\n"
        "Sums of buckets, and with them the sum of all elements, are kept; signs do not flip; one bucket "
        "per\n"
        "cluster is a k-means quantiser. Biased towards the means of clusters: an element is not kept on "
        "average.\n"
        "Merged: sums add, indices stand side by side, and x^_i adds its bucket's mean for each worker.\n"
        "An element costs its cluster's code, 32 bits a bucket and 64 a cluster come on top.",
    .paper = "Ge, Zhang, Fu, Lai, Deng, Li: CASQ: Accelerate Distributed Deep Learning with Sketch-Based "
             "Gradient\n"
             "Quantization, IEEE CLUSTER 2021; Fu, Li, Zhang, Chen: Clustering-preserving Network Flow "
             "Sketching,\n"
             "INFOCOM 2020",
    .params = schema,
    .params_size = sizeof(Cas),
    .traits = traits,
    .check = cas_check,
    .bound = bound,
    .encode = encode,
    .decode = cas_decode,
    .merge = cas_merge,
    .state_size = state_size,
    .train = train,
    .settle = settle,
};
