/* cas.c -- the cluster-aware sketch (LSS; Ge, Zhang, Fu, Lai, Deng, Li 2021): values are clustered by sign and
 * magnitude, each cluster has its own buckets, and an element decodes to the mean of its bucket.
 *
 *     kind:8 = 1  clusters  { sum:f32 } x buckets  index                          index: huffman.h
 *     merged: kind:8 = 2  workers:varint  form:8 = 0  clusters  { sum:f64 } x buckets
 *                                                     { size:varint index } x workers
 *             kind:8 = 2  workers:varint  form:8 = 1  { sum:f32 } x n     if shorter, or for raw tensors
 *     clusters = minus:8  plus:8  { centre:f32 buckets:u32 } x (minus + plus)
 *
 * An index is the list of the elements' cluster numbers, from which the decoder counts each bucket's elements.
 * A random word that all workers share selects an element's bucket in its cluster (CasTable). So workers
 * with the same clusters can add their bucket sums without decoding. The codec's state is the clusters,
 * learned every `period` steps, and the number of steps since then. The tensor is sent raw if it has fewer
 * than `min` elements, or if its longest possible payload is not shorter than raw floats. */
#include "compress/compressor.h"
#include "compress/sketch/clusters.h"
#include "compress/sketch/slices.h"
#include "math/log_series.h"
#include "math/vec/kernels.h"
#include "coder/huffman.h"

#include <float.h>
#include <math.h>

typedef struct {
    int64_t clusters, buckets, bins, sample, min, period;
    double bits, percentile;
    int allocate, index;
    char sizes[96];
} Cas;

enum { BY_ENTROPY, BY_ENTROPY_CENTRE, BY_DENSITY, BY_HAND };

static inline const Cas *cas_params(const Call *c)
{
    return c->self->params;
}

static const char *const allocations[] = {"entropy", "entropy-centre", "density", "manual", NULL};
static const char *const index_names[] = {"huffman", NULL};
static const char *const size_lists[] = {"a:b:...", NULL};

static const Param schema[] = {
    PARAM(Cas, clusters, "2", 1, SIDE_MOST, "clusters of each sign", .rate = true, .group = 1),
    PARAM(Cas, bits, NULL, 1, 32,
          "payload bits an element instead: as many clusters as fit, the rest for buckets", .fine = true,
          .group = 1),
    PARAM(Cas, percentile, "95", 0, 100, "percentile of a sign's magnitudes; those above it are one cluster"),
    PARAM(Cas, buckets, "0", 0, 1 << 30, "buckets of all clusters together; 0: a hundredth of the elements"),
    PARAM(Cas, bins, "5", 1, 1 << 16, "equally wide bins of the histogram for a cluster's entropy"),
    PARAM_OF(Cas, allocate, "entropy", allocations,
             "buckets are shared out by entropy, entropy times centre, density, or `sizes`"),
    PARAM_WORDS(
        Cas, sizes, size_lists,
        "allocate=manual: buckets of each cluster, from zero outwards for both signs, or from the lowest "
        "cluster to the highest; equal if unset"),
    PARAM(Cas, sample, "100000", 1, 1 << 30, "most values to learn clusters from"),
    PARAM(Cas, min, "1000", 0, 1e15, "tensors of fewer elements are sent raw"),
    PARAM(Cas, period, "10", 1, 1e9, "clusters are learned anew after so many steps"),
    PARAM_OF(Cas, index, "huffman", index_names, "the code for the elements' cluster numbers"),
    {0},
};

/* ---- parameters and limits ---- */

/* Limits that encoder and decoder compute from the spec and the shape. */
typedef struct {
    size_t clusters;  /* upper bound on the number of clusters of both signs together */
    uint64_t buckets; /* upper bound on the number of buckets */
    size_t bytes;     /* upper bound on the bytes of a payload */
    bool raw;         /* the tensor is sent as raw floats */
} CasLimits;

/* Returns the largest number of clusters per sign to try when the payload may take `bits` bits per element.
 * With k clusters per sign, the index (each element's cluster number) takes about log2(2 k) bits per element, or
 * fewer. Half a bit less is assumed, because learn_for_bits reduces the number of clusters if they take too many
 * bits. */
static size_t clusters_for(double bits)
{
    size_t k = 1;
    while (k < SIDE_MOST && log2_whole(2 * (k + 1)) - 0.5 <= bits)
        k++;
    return k;
}

static size_t clusters_of(const Codec *codec)
{
    const Cas *p = codec->params;
    return isnan(p->bits) ? (size_t)p->clusters : clusters_for(p->bits);
}

/* Parses sizes=a:b:...; returns the number of sizes, or 0 if a size is not a number from 1 to 2^30. */
static size_t read_sizes(const char *text, uint64_t size[CLUSTERS_MOST])
{
    size_t count = 0;
    for (const char *at = text; *at; count++) {
        uint64_t v = 0;
        const char *digit = at;
        for (; *digit >= '0' && *digit <= '9' && v < UINT64_C(1) << 30; digit++)
            v = 10 * v + (uint64_t)(*digit - '0');
        if (count == CLUSTERS_MOST || digit == at || (*digit && (*digit != ':' || !digit[1])) || v < 1 ||
            v > UINT64_C(1) << 30)
            return 0;
        size[count] = v;
        at = *digit ? digit + 1 : digit;
    }
    return count;
}

static Status cas_check(const Codec *codec, Error *err)
{
    const Cas *p = codec->params;
    uint64_t size[CLUSTERS_MOST];
    const size_t k = clusters_of(codec), count = read_sizes(p->sizes, size);
    if (p->sizes[0] && p->allocate != BY_HAND)
        return FAIL(err, ERR_USAGE, "cas: sizes=%s without allocate=manual", p->sizes);
    if (p->sizes[0] && count != k && count != 2 * k)
        return FAIL(err, ERR_USAGE, "cas: sizes=%s: want %zu or %zu numbers of buckets, from 1 to 2^30",
                    p->sizes, k, 2 * k);
    if (p->buckets && (p->sizes[0] || !isnan(p->bits)))
        return FAIL(err, ERR_USAGE, "cas: buckets=%lld, but %s sets the number of buckets",
                    (long long)p->buckets, p->sizes[0] ? "sizes" : "bits");
    if (p->sizes[0] && !isnan(p->bits))
        return FAIL(err, ERR_USAGE, "cas: bits and sizes, but both set the number of buckets");
    return OK;
}

static uint64_t sizes_sum(const Cas *p, size_t k)
{
    uint64_t size[CLUSTERS_MOST], sum = 0;
    const size_t count = read_sizes(p->sizes, size);
    for (size_t j = 0; j < count; j++)
        sum += count == k ? 2 * size[j] : size[j];
    return sum;
}

static CasLimits cas_limits(const Call *c)
{
    const Cas *p = cas_params(c);
    const size_t n = c->shape->n, k = clusters_of(c->self);
    CasLimits l = {.clusters = 2 * k};
    l.buckets = p->sizes[0]       ? sizes_sum(p, k)
                : !isnan(p->bits) ? (uint64_t)(p->bits / 32 * (double)n)
                : p->buckets      ? (uint64_t)p->buckets
                                  : n / 100;
    l.buckets = l.buckets < l.clusters ? l.clusters : l.buckets > UINT32_MAX ? UINT32_MAX : l.buckets;
    l.bytes = 3 + 8 * l.clusters + 4 * (size_t)l.buckets +
              huffman_most(n, (uint32_t)l.clusters);
    l.raw = n < (uint64_t)p->min || l.bytes >= raw_size(c);
    if (l.raw)
        l.bytes = raw_size(c);
    return l;
}

/* ---- learning ---- */

/* Sets the clusters' numbers of buckets to the sizes of the spec. k sizes are for the clusters of each sign,
 * from zero outwards; 2 k sizes are for all clusters, from the lowest to the highest. If there are fewer
 * clusters than sizes, the sizes for the outermost clusters are not used. */
static void share_by_hand(ClusterModel *m, const Cas *p, size_t k)
{
    uint64_t size[CLUSTERS_MOST];
    const size_t count = read_sizes(p->sizes, size);
    for (size_t j = 0; j < cluster_model_clusters(m); j++) {
        const size_t outwards = j < m->minus ? m->minus - 1 - j : j - m->minus;
        const size_t at = count == k ? outwards : j < m->minus ? k - 1 - outwards : k + outwards;
        m->cluster[j].buckets = (uint32_t)size[at];
    }
}

/* The index may take at most the share INDEX_SHARE of the wanted bits per element; the buckets take the
 * remaining bits. */
#define INDEX_SHARE 0.97

/* Starts from the largest number of clusters, and decreases it until the index takes at most INDEX_SHARE of
 * `bits` per element. Sets *budget to the number of buckets for which the remaining bits suffice. */
static Status learn_for_bits(const Call *c, const float *x, ClusterSpec *spec, ClusterModel *m,
                             ClusterStats *s, uint64_t *budget)
{
    const double bits = cas_params(c)->bits, n = (double)c->shape->n;
    double index;
    for (;;) {
        TRY(clusters_train(m, s, spec, x, c->shape->n, &c->rng_shared, c->scratch, c->err));
        index = huffman_mean_bits(s->share, (uint32_t)cluster_model_clusters(m));
        if (spec->clusters == 1 || index <= INDEX_SHARE * bits)
            break;
        spec->clusters -= 1 + spec->clusters / 8;
    }
    const double left = ((bits - index) * n - 8 * (3 + 8 * (double)cluster_model_clusters(m))) / 32;
    *budget = left > 0 ? (uint64_t)left : 0;
    return OK;
}

static void weigh(const Cas *p, const ClusterModel *m, const ClusterStats *s, double *weight)
{
    double most = 0;
    for (size_t j = 0; j < cluster_model_clusters(m); j++)
        if (fabs((double)m->cluster[j].centre) > most)
            most = fabs((double)m->cluster[j].centre);
    for (size_t j = 0; j < cluster_model_clusters(m); j++)
        weight[j] = p->allocate == BY_DENSITY   ? s->share[j]
                    : p->allocate == BY_HAND    ? 1
                    : p->allocate == BY_ENTROPY ? s->entropy[j]
                    : most > 0                  ? s->entropy[j] * (fabs((double)m->cluster[j].centre) / most)
                                                : 0;
}

/* Learns clusters from the values x, within cas_limits, and divides the buckets between the clusters. */
static Status cas_learn(const Call *c, const float *x, ClusterModel *m)
{
    const Cas *p = cas_params(c);
    const CasLimits l = cas_limits(c);
    ClusterSpec spec = {l.clusters / 2, (size_t)p->sample, (size_t)p->bins, p->percentile};
    ClusterStats s;
    uint64_t budget = l.buckets;
    double weight[CLUSTERS_MOST];
    if (isnan(p->bits))
        TRY(clusters_train(m, &s, &spec, x, c->shape->n, &c->rng_shared, c->scratch, c->err));
    else
        TRY(learn_for_bits(c, x, &spec, m, &s, &budget));
    if (p->sizes[0]) {
        share_by_hand(m, p, spec.clusters);
        return OK;
    }
    weigh(p, m, &s, weight);
    clusters_share(m, weight, budget < l.buckets ? budget : l.buckets);
    return OK;
}

/* True if a model, learned or read from a payload, is within the limits. */
static bool cas_fits(const ClusterModel *m, const CasLimits *l)
{
    return cluster_model_good(m) && m->minus <= l->clusters / 2 && m->plus <= l->clusters / 2 &&
           cluster_model_buckets(m) <= l->buckets;
}

static size_t bound(const Call *c)
{
    return cas_limits(c).bytes;
}

/* ---- state ---- */

typedef struct {
    uint64_t age; /* steps since the clusters were learned */
    ClusterModel model;
} CasState;

static size_t state_size(const Call *c)
{
    (void)c;
    return sizeof(CasState);
}

static Status train(const Call *c, const float *x, void *state)
{
    CasState *s = state;
    const CasLimits l = cas_limits(c);
    if (l.raw || (s->age && cas_fits(&s->model, &l)))
        return OK;
    return cas_learn(c, x, &s->model);
}

static Status settle(const Call *c, const float *x, const Bytes *sent, const float *agreed, void *state)
{
    CasState *s = state;
    (void)x;
    (void)sent;
    (void)agreed;
    s->age = (s->age + 1) % (uint64_t)cas_params(c)->period;
    return OK;
}

static Status model_for(const Call *c, const CasLimits *l, const float *x, ClusterModel *m)
{
    const CasState *s = c->state;
    if (!s || !cas_fits(&s->model, l))
        return cas_learn(c, x, m);
    *m = s->model;
    return OK;
}

/* ---- buckets: an element is added to one bucket of its cluster, and decodes to the mean of that bucket.
 *
 * The element's index i selects the bucket: number floor(word_i size / 2^32) of the `size` buckets in a slice
 * (slices.h) of its cluster's buckets. word_i is a random word that is the same on all workers. ---- */

typedef struct {
    const Call *c;
    size_t n, clusters, buckets, pieces;
    float above[CLUSTERS_MOST]; /* between the clusters, in rising order */
    /* for each cluster: `size` is its number of buckets, `from` is the index of its first bucket */
    uint32_t size[CLUSTERS_MOST], from[CLUSTERS_MOST];
    uint8_t *code;       /* (n) number of each element's cluster */
    const float *x;      /* the elements; NULL: an element adds 1 to its bucket */
    double *sum;         /* (pieces x buckets) for each piece of the vector, the sum of each bucket */
    const double *mean;  /* (buckets) */
    float *y;            /* (n) gets the mean of each element's bucket; NULL: the means are added to `onto` (n) */
    double *onto;
} CasTable;

/* Threads sum pieces of the vector, each with its own table of buckets. If there are several pieces, all tables together
 * take at most 8 bytes per element of the vector. */
enum { PIECES_MOST = 8 };

static void table_open(CasTable *t, const Call *c, const ClusterModel *m, uint8_t *code)
{
    *t = (CasTable){.c = c, .n = c->shape->n, .clusters = cluster_model_clusters(m), .code = code};
    cluster_model_thresholds(m, t->above);
    for (size_t j = 0; j < t->clusters; j++) {
        t->size[j] = m->cluster[j].buckets;
        t->from[j] = (uint32_t)t->buckets;
        t->buckets += t->size[j];
    }
    const size_t blocks = blocks_of(t->n), room = t->n / (t->buckets + 1);
    const size_t pieces = blocks < PIECES_MOST ? blocks : PIECES_MOST;
    t->pieces = room < 1 || pieces < 1 ? 1 : room < pieces ? room : pieces;
}

/* The slices of one block of elements, and the buckets of a run of them, which stay in the first-level cache. */
enum { RUN = 2048 };
typedef struct {
    RngKey key;
    uint32_t first[CLUSTERS_MOST], size[CLUSTERS_MOST], slot[RUN];
} CasRun;

/* Finds the buckets of the elements from `from` on, at most RUN and none beyond `to`; with t->x, first their clusters. Returns
 * the number of elements. `from` is the first element of a block, or the one behind the previous run. */
static size_t next_run(const CasTable *t, size_t from, size_t to, CasRun *run)
{
    const size_t n = to - from < RUN ? to - from : RUN, block = from / BLOCK;
    for (size_t j = 0; from % BLOCK == 0 && j < t->clusters; j++) {
        const Slice slice = slice_of(t->size[j], t->n, block);
        run->first[j] = t->from[j] + (uint32_t)slice.first;
        run->size[j] = slice.count;
    }
    if (from % BLOCK == 0)
        run->key = rng_key(&t->c->rng_shared, USE_ATOM, block);
    if (t->x)
        kernels()->stretches(t->x + from, n, t->above, t->clusters - 1, t->code + from);
    kernels()->cluster_slots(run->key, (uint32_t)(from % BLOCK), n, t->code + from, t->clusters, run->first, run->size, run->slot);
    return n;
}

static void sum_piece(void *data, size_t piece)
{
    const CasTable *t = data;
    const Stretch s = stretch_of(t->n, t->pieces, piece);
    double *sum = t->sum + piece * t->buckets;
    CasRun run;
    for (size_t i = s.from, n; i < s.to; i += n) {
        n = next_run(t, i, s.to, &run);
        for (size_t k = 0; t->x && k < n; k++)
            sum[run.slot[k]] += (double)t->x[i + k];
        for (size_t k = 0; !t->x && k < n; k++)
            sum[run.slot[k]]++;
    }
}

/* Adds the elements x to the sums of their buckets, and sets t->code to their clusters. Without x, adds the number of
 * elements of each bucket. */
static Status table_add(CasTable *t, const float *x, double *sum)
{
    const ArenaMark mark = arena_mark(t->c->scratch);
    t->x = x;
    t->sum = NEW_ZERO(t->c->scratch, double, t->pieces * t->buckets);
    TRY(arena_check(t->sum, t->c->scratch, t->c->err));
    parallel_for(t->c->threads, t->pieces, sum_piece, t);
    for (size_t p = 0; p < t->pieces; p++)
        for (size_t b = 0; b < t->buckets; b++)
            sum[b] += t->sum[p * t->buckets + b];
    arena_rewind(t->c->scratch, mark);
    return OK;
}

static void spread_block(void *data, size_t block)
{
    const CasTable *t = data;
    const size_t to = block * BLOCK + block_size(t->n, block);
    CasRun run;
    for (size_t i = block * BLOCK, n; i < to; i += n) {
        n = next_run(t, i, to, &run);
        for (size_t k = 0; k < n && t->y; k++)
            t->y[i + k] = (float)t->mean[run.slot[k]];
        for (size_t k = 0; k < n && !t->y; k++)
            t->onto[i + k] += t->mean[run.slot[k]];
    }
}

/* ---- encoding ---- */

static void put_model(const ClusterModel *m, Buf *out)
{
    buf_u8(out, (uint8_t)m->minus);
    buf_u8(out, (uint8_t)m->plus);
    for (size_t j = 0; j < cluster_model_clusters(m); j++) {
        buf_f32(out, m->cluster[j].centre);
        buf_u32(out, m->cluster[j].buckets);
    }
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    const CasLimits l = cas_limits(c);
    const size_t n = c->shape->n;
    ClusterModel m;
    CasTable t;
    if (l.raw)
        return raw_put(c, x, out);
    TRY(model_for(c, &l, x, &m));
    table_open(&t, c, &m, NEW(c->scratch, uint8_t, n));
    double *sum = NEW_ZERO(c->scratch, double, t.buckets);
    TRY(arena_check(t.code && sum, c->scratch, c->err));
    TRY(table_add(&t, x, sum));
    buf_u8(out, PAYLOAD_METHOD);
    put_model(&m, out);
    for (size_t b = 0; b < t.buckets; b++) {
        if (fabs(sum[b]) > (double)FLT_MAX)
            return FAIL(c->err, ERR_NUMERIC, "cas: the sum of bucket %zu is beyond float32", b);
        buf_f32(out, (float)sum[b]);
    }
    uint64_t count[HUFFMAN_ALPHABET];
    TRY(huffman_put(t.code, n, (uint32_t)t.clusters, c->threads, c->scratch, c->err, out, count));
    streams_bits(c->streams, 64.0 * (double)t.clusters);
    streams_floats(c->streams, t.buckets);
    streams_symbols(c->streams, count, t.clusters);
    return OK;
}

/* ---- reading ---- */

enum { FORM_SKETCH, FORM_FLOATS };

typedef struct {
    uint64_t workers;
    bool floats;
    const uint8_t *value; /* if `floats`: n floats, one for each element; otherwise the sums of the buckets */
    bool wide;            /* true: a sum is an f64 (merged payload); false: an f32 */
    ClusterModel model;
    size_t buckets;
    /* The payload from its first index on. A merged payload has one index for each worker, each after its
     * size. */
    Reader index;
} CasPayload;

static bool take_model(Reader *r, ClusterModel *m)
{
    m->minus = take_u8(r);
    m->plus = take_u8(r);
    if (r->bad || m->minus > SIDE_MOST || m->plus > SIDE_MOST)
        return false;
    for (size_t j = 0; j < cluster_model_clusters(m); j++) {
        const float centre = take_f32(r);
        m->cluster[j] = (Cluster){centre, take_u32(r)};
    }
    return !r->bad;
}

/* Reads a payload, and checks all its fields except the sums and the indices, which are checked when they are
 * read. */
static Status payload_open(const Call *c, Bytes in, CasPayload *p)
{
    const CasLimits l = cas_limits(c);
    Reader r = reader_open(in);
    const unsigned kind = take_u8(&r);
    TRY(payload_kind_or_merged(c, kind, l.raw ? PAYLOAD_RAW : PAYLOAD_METHOD));
    p->workers = kind == PAYLOAD_MERGED ? take_varint(&r) : 1;
    const unsigned form = kind == PAYLOAD_MERGED ? take_u8(&r) : l.raw ? FORM_FLOATS : FORM_SKETCH;
    if (r.bad || p->workers == 0 || form > FORM_FLOATS || (l.raw && form != FORM_FLOATS))
        return payload_bad(c, "form %u of %llu workers", form, (unsigned long long)p->workers);
    p->floats = form == FORM_FLOATS;
    p->wide = kind == PAYLOAD_MERGED;
    if (p->floats) {
        p->value = take_bytes(&r, 4 * c->shape->n);
        return reader_done(&r) ? OK : payload_bad(c, "%zu bytes, want %zu floats", in.size, c->shape->n);
    }
    if (!take_model(&r, &p->model) || !cas_fits(&p->model, &l))
        return payload_bad(c, "clusters that no encoder writes");
    p->buckets = (size_t)cluster_model_buckets(&p->model);
    p->value = take_bytes(&r, (p->wide ? 8 : 4) * p->buckets);
    p->index = r;
    return p->value ? OK : payload_bad(c, "%zu bytes, want %zu buckets", in.size, p->buckets);
}

/* Reads the next worker's index from r, and sets code[i] to the cluster of element i, for n elements. */
static Status take_index(const Call *c, const CasPayload *p, Reader *r, uint8_t *code)
{
    const uint32_t clusters = (uint32_t)cluster_model_clusters(&p->model);
    const char *why = "";
    Reader own = *r;
    if (p->wide) {
        const uint64_t size = take_varint(r);
        const uint8_t *at = size <= reader_left(r) ? take_bytes(r, (size_t)size) : NULL;
        if (!at)
            return payload_bad(c, "an index that is not there");
        own = reader_open((Bytes){at, (size_t)size});
    } else {
        take_bytes(r, reader_left(r));
    }
    const Status status =
        huffman_get(&own, c->shape->n, clusters, c->threads, c->scratch, c->err, code, &why);
    return status == ERR_CORRUPT ? payload_bad(c, "%s", why) : status;
}

static double sum_at(const CasPayload *p, size_t b)
{
    return p->wide ? load_f64(p->value + 8 * b) : (double)load_f32(p->value + 4 * b);
}

/* True if an encoder can write the sum of a bucket of `count` elements. An empty bucket has the sum +0.
 * Otherwise the sum has the sign of the cluster's values; for values <= 0 (`below`) the sum may also be +0. */
static bool sum_good(double sum, double count, bool below)
{
    if (count == 0 || sum == 0)
        return sum == 0 && !signbit(sum) && (count == 0 || below);
    return isfinite(sum) && (below ? sum < 0 : sum > 0);
}

/* Replaces the buckets' numbers of elements by their means. */
static Status take_means(const Call *c, const CasPayload *p, double *mean)
{
    size_t b = 0;
    for (size_t j = 0; j < cluster_model_clusters(&p->model); j++)
        for (uint32_t k = 0; k < p->model.cluster[j].buckets; k++, b++) {
            const double sum = sum_at(p, b), count = mean[b];
            if (!sum_good(sum, count, j < p->model.minus))
                return payload_bad(c, "bucket %zu of %.0f elements sums to %g", b, count, sum);
            mean[b] = count > 0 ? sum / count : 0;
        }
    return OK;
}

static Status narrow_sum(const Call *c, const double *sum, float *x)
{
    for (size_t i = 0; i < c->shape->n; i++) {
        if (!(fabs(sum[i]) <= (double)FLT_MAX))
            return payload_bad(c, "element %zu is beyond float32", i);
        x[i] = (float)sum[i];
    }
    return OK;
}

/* Adds the means of the buckets of every worker's elements. */
static Status spread_all(const Call *c, const CasPayload *p, CasTable *t, float *x)
{
    Reader r = p->index;
    t->onto = NEW_ZERO(c->scratch, double, t->n);
    TRY(arena_check(t->onto, c->scratch, c->err));
    for (uint64_t w = 0; w < p->workers; w++) {
        TRY(take_index(c, p, &r, t->code));
        parallel_for(c->threads, blocks_of(t->n), spread_block, t);
    }
    return narrow_sum(c, t->onto, x);
}

/* Fails if an index is not one that an encoder writes. */
static Status check_indices(const Call *c, const CasPayload *p)
{
    const ArenaMark mark = arena_mark(c->scratch);
    uint8_t *code = NEW(c->scratch, uint8_t, c->shape->n);
    Reader r = p->index;
    Status status = code ? OK : arena_fail(c->scratch, c->err);
    for (uint64_t w = 0; w < p->workers && status == OK; w++)
        status = take_index(c, p, &r, code);
    if (status == OK && !reader_done(&r))
        status = payload_bad(c, "more than its workers' indices");
    arena_rewind(c->scratch, mark);
    return status;
}

static Status decode_sketch(const Call *c, const CasPayload *p, float *x)
{
    CasTable t;
    table_open(&t, c, &p->model, NEW(c->scratch, uint8_t, c->shape->n));
    double *mean = NEW_ZERO(c->scratch, double, t.buckets);
    Reader r = p->index;
    TRY(arena_check(t.code && mean, c->scratch, c->err));
    for (uint64_t w = 0; w < p->workers; w++) {
        TRY(take_index(c, p, &r, t.code));
        TRY(table_add(&t, NULL, mean));
    }
    if (!reader_done(&r))
        return payload_bad(c, "more than its workers' indices");
    TRY(take_means(c, p, mean));
    t.mean = mean;
    if (p->wide)
        return spread_all(c, p, &t, x);
    t.y = x;
    parallel_for(c->threads, blocks_of(t.n), spread_block, &t);
    return OK;
}

static Status decode(const Call *c, Bytes in, float *x)
{
    CasPayload p;
    TRY(payload_open(c, in, &p));
    return p.floats ? payload_floats(c, p.value, x) : decode_sketch(c, &p, x);
}

/* ---- merging ---- */

typedef struct {
    const Call *c;
    uint64_t workers; /* of all payloads together */
    CasPayload *in;   /* (count) first the sketches; then the payloads that are floats, the last one first */
    size_t sketches, count;
} CasMerge;

static bool same_model(const ClusterModel *a, const ClusterModel *b)
{
    return a->minus == b->minus && a->plus == b->plus &&
           !memcmp(a->cluster, b->cluster, cluster_model_clusters(a) * sizeof *a->cluster);
}

/* Returns an upper bound on the bytes of the payload that merges the sketches. */
static size_t joined_size(const CasMerge *m)
{
    size_t size = 1 + VARINT_MAX + 3 + 8 * cluster_model_clusters(&m->in->model) + 8 * m->in->buckets;
    for (size_t i = 0; i < m->sketches; i++) {
        const size_t own = reader_left(&m->in[i].index);
        size += own + (m->in[i].wide ? 0 : varint_size(own));
    }
    return size;
}

static void join(const CasMerge *m, Buf *out)
{
    uint64_t workers = 0;
    for (size_t i = 0; i < m->sketches; i++)
        workers += m->in[i].workers;
    buf_u8(out, PAYLOAD_MERGED);
    buf_varint(out, workers);
    buf_u8(out, FORM_SKETCH);
    put_model(&m->in->model, out);
    for (size_t b = 0; b < m->in->buckets; b++) {
        double sum = 0;
        for (size_t i = 0; i < m->sketches; i++)
            sum += sum_at(&m->in[i], b);
        buf_f64(out, sum);
    }
    for (size_t i = 0; i < m->sketches; i++) {
        const Reader *index = &m->in[i].index;
        if (!m->in[i].wide)
            buf_varint(out, reader_left(index));
        buf_copy(out, index->at, reader_left(index));
    }
}

/* Adds all float payloads, and the estimate of the sketches together. */
static Status put_floats(const CasMerge *m, Buf *out)
{
    const size_t n = m->c->shape->n;
    Buf joined = {.cap = m->sketches ? joined_size(m) : 0};
    double *sum = NEW_ZERO(m->c->scratch, double, n);
    float *x = NEW(m->c->scratch, float, n);
    joined.data = NEW(m->c->scratch, uint8_t, joined.cap);
    TRY(arena_check(sum && x && joined.data, m->c->scratch, m->c->err));
    for (size_t i = m->count; i-- > m->sketches;)
        for (size_t k = 0; k < n; k++)
            sum[k] += (double)load_f32(m->in[i].value + 4 * k);
    if (m->sketches) {
        join(m, &joined);
        TRY(decode(m->c, buf_bytes(&joined), x));
        for (size_t k = 0; k < n; k++)
            sum[k] += (double)x[k];
    }
    TRY(narrow_sum(m->c, sum, x));
    buf_u8(out, PAYLOAD_MERGED);
    buf_varint(out, m->workers);
    buf_u8(out, FORM_FLOATS);
    buf_floats(out, x, n);
    return OK;
}

static Status merge(const Call *c, const Bytes *in, size_t count, Buf *out)
{
    CasMerge m = {.c = c, .in = NEW(c->scratch, CasPayload, count), .count = count};
    TRY(arena_check(m.in, c->scratch, c->err));
    for (size_t i = 0; i < count; i++) {
        CasPayload p;
        TRY(payload_open(c, in[i], &p));
        TRY(payload_add_workers(c, p.workers, &m.workers));
        if (p.floats) {
            m.in[count - 1 - (i - m.sketches)] = p;
            continue;
        }
        TRY(check_indices(c, &p));
        m.in[m.sketches++] = p;
        if (!same_model(&m.in->model, &p.model)) {
            FAIL(c->err, ERR_USAGE, "cas: payloads of different clusters do not merge");
            return error_hint(c->err, "all workers need the state that one of them was trained to");
        }
    }
    if (m.sketches < count || joined_size(&m) > 4 * c->shape->n)
        return put_floats(&m, out);
    join(&m, out);
    return OK;
}

const Compressor compressor_cas = {
    .name = "cas",
    .brief = "buckets of similar values: clusters by sign and magnitude, each with buckets of its own",
    .plain = "Learns clusters of similar values from a sample, shares buckets out among the clusters, and "
             "sends the mean of each bucket and the cluster of each element. Payloads add up.",
    .use_when = "payloads must add on their way and the values form clusters.",
    .example = "atomo-bench synth -o g.h5 --force --workers 4\n"
               "atomo-bench merge g.h5 -c cas:clusters=4 --workers 4",
    .formula =
        "Clusters are learned from a sample every `period` steps: of each sign, the magnitudes from the\n"
        "percentile on are one cluster, centred there; k-means++ finds clusters - 1 in the others. Zero counts\n"
        "as negative.\n"
        "  c(i) = nearest centre of x_i's sign;   h(i) = floor(w_i size_c / 2^32), w_i a word that all workers\n"
        "  share;   sum[c, b] = sum of x_i with c(i) = c, h(i) = b;   x^_i = sum[c(i), h(i)] / their number\n"
        "Each cluster gets at least one of the `buckets`, the rest in proportion to `allocate`:\n"
        "  entropy: H_c = - sum p log2 p over `bins` equally wide bins;  entropy-centre: H_c |centre_c|;\n"
        "  density: the cluster's share of the elements.\n"
        "The sum of each bucket is kept, hence that of all elements; signs do not flip; with one bucket per\n"
        "cluster this is a k-means quantiser. Biased: E x^_i is a mean of its cluster, not x_i.\n"
        "Merged: sums add, the workers' indices are kept, and x^_i is the sum of its buckets' means.\n"
        "An element takes its cluster's code, a bucket 32 bits, a cluster 64 bits.",
    .paper = "Ge, Zhang, Fu, Lai, Deng, Li: CASQ: Accelerate Distributed Deep Learning with Sketch-Based "
             "Gradient\n"
             "Quantization, IEEE CLUSTER 2021; Fu, Li, Zhang, Chen: Clustering-preserving Network Flow "
             "Sketching,\n"
             "INFOCOM 2020",
    .look = {HUE_SKETCH, 4, 4},
    .params = schema,
    .promises = MERGEABLE | RANDOM | EXACT_BYTES | SHARED_DRAWS,
    .check = cas_check,
    .bound = bound,
    .encode = encode,
    .decode = decode,
    .merge = merge,
    .state_size = state_size,
    .train = train,
    .settle = settle,
};
