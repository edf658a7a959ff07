/* clusters.h -- the model of the cluster-aware sketch (cas.c): it clusters a gradient's values by sign and
 * magnitude, and gives each cluster a number of hash buckets.
 *
 * Values x <= 0 and values x > 0 are clustered separately. For each sign, the magnitudes from a given
 * percentile on form one cluster, whose centre is the percentile. k-means clusters the smaller magnitudes. A
 * value belongs to the cluster of its sign with the nearest centre. All arithmetic is exact or correctly
 * rounded, so every machine learns the same model. */
#ifndef ATOMO_CLUSTERS_H
#define ATOMO_CLUSTERS_H

#include "compress/codec.h"

enum { SIDE_MOST = 128, CLUSTERS_MOST = 2 * SIDE_MOST };

typedef struct {
    float centre;
    uint32_t buckets;
} Cluster;

/* Each sign has at least one cluster, so that every value has a cluster of its own sign. */
typedef struct {
    /* number of clusters of x <= 0 (`minus`) and of x > 0 (`plus`); both 0: not learned yet */
    uint32_t minus, plus;
    Cluster cluster[CLUSTERS_MOST]; /* the clusters in order of rising centres */
} ClusterModel;

static inline size_t cluster_model_clusters(const ClusterModel *m)
{
    return (size_t)m->minus + m->plus;
}

/* Statistics of the clusters in the training sample. */
typedef struct {
    double share[CLUSTERS_MOST]; /* share of the sample's values */
    /* entropy in bits of a histogram of the cluster's values */
    double entropy[CLUSTERS_MOST];
} ClusterStats;

typedef struct {
    size_t clusters; /* upper bound on the number of clusters of each sign */
    /* if x has more values, `sample` of them are drawn with replacement to learn from */
    size_t sample;
    size_t bins;       /* number of bins of a cluster's histogram */
    double percentile; /* the magnitudes of a sign from this percentile on form one cluster */
} ClusterSpec;

/* Learns the clusters' centres from the n values x. Sets the clusters' numbers of buckets to 0. */
Status clusters_train(ClusterModel *m, ClusterStats *s, const ClusterSpec *spec, const float *x, size_t n,
                      const Rng *rng, Arena *scratch, Error *err);

/* Divides `budget` buckets between the clusters. Each cluster gets one bucket, even if there are more clusters
 * than `budget`. The rest is divided in proportion to weight[cluster], or evenly if no weight is positive. */
void clusters_share(ClusterModel *m, const double *weight, uint64_t budget);

/* True if the model is valid: each sign has clusters, the centres rise and are finite and of the right sign,
 * and every cluster has a bucket. */
bool cluster_model_good(const ClusterModel *m);

/* Returns the number of buckets of all clusters together. */
uint64_t cluster_model_buckets(const ClusterModel *m);

/* ---- the buckets of the cluster-aware sketch. Each cluster of values has its own buckets. An
 * element is added to one bucket of its cluster, and decodes to the mean of that bucket.
 *
 * The element's index i selects the bucket: number floor(word_i size / 2^32) of the `size` buckets in a slice
 * (slices.h) of its cluster's buckets. word_i is a random word that is the same on all workers. Results do not
 * depend on the number of threads. */

typedef struct {
    const Call *c;
    size_t n, clusters, buckets;
    float above[CLUSTERS_MOST]; /* between the clusters, in rising order */
    /* for each cluster: `size` is its number of buckets, `from` is the index of its first bucket */
    uint32_t size[CLUSTERS_MOST], from[CLUSTERS_MOST];
} CasTable;

void cas_table_open(CasTable *s, const Call *c, const ClusterModel *m);

/* Sets code[i] to the number of element i's cluster. Sets each bucket's `sum` to the sum of its elements. */
Status cas_table_sums(const CasTable *s, const float *x, uint8_t *code, double *sum);

/* Adds each bucket's number of elements to count (buckets). */
Status cas_table_counts(const CasTable *s, const uint8_t *code, uint64_t *count);

/* Sets x (n) to the mean of each element's bucket. */
void cas_table_spread(const CasTable *s, const float *mean, const uint8_t *code, float *x);
/* Adds the mean of each element's bucket to sum (n). */
void cas_table_spread_onto(const CasTable *s, const double *mean, const uint8_t *code, double *sum);

#endif
