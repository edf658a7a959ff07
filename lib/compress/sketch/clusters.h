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

/* Returns the number of buckets of all clusters together. */
static inline uint64_t cluster_model_buckets(const ClusterModel *m)
{
    uint64_t sum = 0;
    for (size_t j = 0; j < cluster_model_clusters(m); j++)
        sum += m->cluster[j].buckets;
    return sum;
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

/* Sets above[j], the threshold between clusters j and j + 1: cluster j has only values x <= above[j]. */
void cluster_model_thresholds(const ClusterModel *m, float *above);

#endif
