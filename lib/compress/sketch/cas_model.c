/* cas_model.c -- checks the parameters of the cluster-aware sketch, and learns clusters (cas_model.h). A
 * tensor's index is the list of its elements' cluster numbers. */
#include "compress/sketch/cas_model.h"

#include "compress/sketch/cluster_index.h"

#include <math.h>

/* ---- parameters and limits ---- */

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

Status cas_check(const Codec *codec, Error *err)
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

CasLimits cas_limits(const Call *c)
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
              cluster_index_most(n, (uint32_t)l.clusters);
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
        TRY(cluster_index_bits(s->share, (uint32_t)cluster_model_clusters(m), &index, c->scratch, c->err));
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

Status cas_learn(const Call *c, const float *x, ClusterModel *m)
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

bool cas_fits(const ClusterModel *m, const CasLimits *l)
{
    return cluster_model_good(m) && m->minus <= l->clusters / 2 && m->plus <= l->clusters / 2 &&
           cluster_model_buckets(m) <= l->buckets;
}
