/* clusters.h -- the model of the cluster-aware sketch (cas.c): clusters of a gradient's values by sign and
 * magnitude, and each cluster's number of buckets.
 *
 * Values x <= 0 and values x > 0 are clustered separately. Of each sign the magnitudes from a percentile on form
 * one cluster, whose centre is the percentile, and k-means clusters the magnitudes below the percentile. A value
 * belongs to the cluster of its sign whose centre is nearest. All decisions use exact or correctly rounded
 * arithmetic, so every machine learns the same model. */
#ifndef ATOMO_CLUSTERS_H
#define ATOMO_CLUSTERS_H

#include "base/arena.h"
#include "base/rng.h"

enum { SIDE_MOST = 128, CLUSTERS_MOST = 2 * SIDE_MOST };

typedef struct {
    float centre;
    uint32_t buckets;
} Cluster;

/* Each sign has at least one cluster, so that no later value falls into a cluster of the other sign. */
typedef struct {
    /* minus: number of clusters of x <= 0; plus: number of clusters of x > 0; both 0: not learned yet */
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
    /* entropy in bits of a histogram between the cluster's smallest and largest value */
    double entropy[CLUSTERS_MOST];
} ClusterStats;

typedef struct {
    size_t clusters; /* upper bound on the number of clusters of each sign */
    /* upper bound on the number of values to learn from; if x has more, values are drawn with replacement */
    size_t sample;
    size_t bins;       /* number of bins of a cluster's histogram */
    double percentile; /* the magnitudes of a sign from this percentile on form one cluster */
} ClusterSpec;

/* Learns the clusters' centres from x (n). Sets all numbers of buckets to 0. */
Status clusters_train(ClusterModel *m, ClusterStats *s, const ClusterSpec *spec, const float *x, size_t n,
                      const Rng *rng, Arena *scratch, Error *err);

/* Divides `budget` buckets between the clusters: one bucket to each cluster, even beyond the budget, and the rest
 * in proportion to weight (an array with an entry for each cluster), or evenly if no weight is above zero. */
void clusters_share(ClusterModel *m, const double *weight, uint64_t budget);

/* True if the model is valid: each sign has clusters, their centres are finite, rising and of this sign, and no
 * cluster has 0 buckets. */
bool cluster_model_good(const ClusterModel *m);

/* Returns the number of buckets of all clusters together. */
uint64_t cluster_model_buckets(const ClusterModel *m);

/* Sets above (clusters - 1), in rising order: a value's cluster is the number of thresholds that are below it. */
void cluster_model_thresholds(const ClusterModel *m, float *above);

/* Returns log2 of v > 0, rounded to the same number on every machine. */
double log2_whole(uint64_t v);

#endif
