/* clusters.h -- the model of the cluster-aware sketch (cas.c): clusters of a gradient's values by sign and magnitude,
 * and each cluster's number of buckets.
 *
 * Values x <= 0 and values x > 0 are clustered separately. Of each sign the magnitudes from a percentile on are one
 * cluster, centred on that percentile, and k-means clusters the magnitudes below it. A value belongs to the nearest
 * centre of its sign. All decisions use exact or correctly rounded arithmetic, so every machine learns the same
 * model. */
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
    uint32_t minus, plus;           /* clusters of x <= 0, and of x > 0; both 0: not trained */
    Cluster cluster[CLUSTERS_MOST]; /* the clusters in order of rising centres */
} ClusterModel;

static inline size_t cluster_model_clusters(const ClusterModel *m)
{
    return (size_t)m->minus + m->plus;
}

/* Statistics of the clusters in the training sample. */
typedef struct {
    double share[CLUSTERS_MOST]; /* share of the sample's values */
    /* in bits, of a histogram between the cluster's smallest and largest value */
    double entropy[CLUSTERS_MOST];
} ClusterStats;

typedef struct {
    size_t clusters;   /* most clusters of each sign */
    size_t sample;     /* most values to learn from; drawn with replacement if x has more */
    size_t bins;       /* number of bins of a cluster's histogram */
    double percentile; /* the magnitudes of a sign from this percentile on form one cluster */
} ClusterSpec;

/* Learns the centres from x (n). Leaves all numbers of buckets at 0. */
Status clusters_train(ClusterModel *m, ClusterStats *s, const ClusterSpec *spec, const float *x, size_t n,
                      const Rng *rng, Arena *scratch, Error *err);

/* Divides `budget` buckets between the clusters: one to each, even beyond the budget, and the rest in proportion to
 * weight (clusters), or evenly if no weight is above zero. */
void clusters_share(ClusterModel *m, const double *weight, uint64_t budget);

/* True if the model is valid: each sign has centres, they are finite, rising and of that sign, and no cluster has 0
 * buckets. */
bool cluster_model_good(const ClusterModel *m);

/* Returns the number of buckets of all clusters together. */
uint64_t cluster_model_buckets(const ClusterModel *m);

/* Sets above (clusters - 1), in rising order: a value's cluster is the number of thresholds that are below it. */
void cluster_model_thresholds(const ClusterModel *m, float *above);

/* Returns log2 of v > 0, the same on every machine. */
double log2_whole(uint64_t v);

#endif
