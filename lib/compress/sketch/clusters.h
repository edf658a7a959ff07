/* clusters.h -- the model of the cluster-aware sketch (cas.c): clusters of a gradient's values by sign and magnitude, and
 * each cluster's number of buckets.
 *
 * The two sides, x <= 0 and x > 0, are clustered apart. On each side the magnitudes from a percentile on are one cluster,
 * centred on that percentile, and k-means clusters the magnitudes below it. A value belongs to the nearest centre of its
 * side. All decisions use exact or correctly rounded arithmetic, so every machine learns the same model. */
#ifndef ATOMO_CLUSTERS_H
#define ATOMO_CLUSTERS_H

#include "base/arena.h"
#include "base/rng.h"

enum { SIDE_MOST = 128, CLUSTERS_MOST = 2 * SIDE_MOST };

typedef struct {
    float centre;
    uint32_t buckets;
} Cluster;

/* Each side has at least one cluster, so no later value falls into a cluster of the other sign. */
typedef struct {
    uint32_t minus, plus;           /* clusters of x <= 0, and of x > 0; both 0: not trained */
    Cluster cluster[CLUSTERS_MOST]; /* by rising centre */
} ClusterModel;

static inline size_t cluster_model_clusters(const ClusterModel *m)
{
    return (size_t)m->minus + m->plus;
}

/* Statistics of the clusters in the training sample. */
typedef struct {
    double share[CLUSTERS_MOST];   /* of the sample's values */
    double entropy[CLUSTERS_MOST]; /* bits; of a histogram between the cluster's extremes */
} ClusterStats;

typedef struct {
    size_t clusters;   /* of each side, at most */
    size_t sample;     /* values to learn from, at most; drawn with replacement where there are more */
    size_t bins;       /* of a cluster's histogram */
    double percentile; /* of a side's magnitudes */
} ClusterSpec;

/* Learns the centres from x (n). All buckets stay 0. */
Status clusters_train(ClusterModel *m, ClusterStats *s, const ClusterSpec *spec, const float *x, size_t n,
                      const Rng *rng, Arena *scratch, Error *err);

/* Shares out `budget` buckets: one to each cluster, even beyond the budget, and the rest in proportion to weight
 * (clusters), or evenly where no weight is above zero. */
void clusters_share(ClusterModel *m, const double *weight, uint64_t budget);

/* Whether the model is valid: each side has its centres, finite, rising and of its sign, and no cluster has 0 buckets. */
bool cluster_model_good(const ClusterModel *m);

/* Buckets of all clusters. */
uint64_t cluster_model_buckets(const ClusterModel *m);

/* above (clusters - 1), rising: a value's cluster is the number of thresholds that it is above. */
void cluster_model_thresholds(const ClusterModel *m, float *above);

/* log2 of v > 0, the same on every machine. */
double log2_whole(uint64_t v);

#endif
