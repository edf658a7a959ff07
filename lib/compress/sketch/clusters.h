/* clusters.h -- a gradient's values in clusters by sign and magnitude, and how many buckets each of them gets: the
 * model of the cluster-aware sketch (compress/cas.c).
 *
 * Values of either sign stand apart, zero with the negative ones. On each side the values from a percentile of the
 * magnitudes on are one cluster, centred on that percentile, and k-means finds the others in what is under it. A
 * value belongs to the nearest centre of its side. Only exact or correctly rounded arithmetic decides, so that
 * every machine has the same model. */
#ifndef ATOMO_CLUSTERS_H
#define ATOMO_CLUSTERS_H

#include "base/arena.h"
#include "base/rng.h"

enum { SIDE_MOST = 128, CLUSTERS_MOST = 2 * SIDE_MOST };

typedef struct {
    float centre;
    uint32_t buckets;
} Cluster;

/* Each side has one cluster at least, so that no value that comes later lands on the other. */
typedef struct {
    uint32_t minus, plus;           /* clusters of x <= 0, and of x > 0; both 0: nothing has been trained */
    Cluster cluster[CLUSTERS_MOST]; /* by rising centre */
} ClusterModel;

static inline size_t model_clusters(const ClusterModel *m)
{
    return (size_t)m->minus + m->plus;
}

/* What training saw of each cluster. */
typedef struct {
    double share[CLUSTERS_MOST];   /* of the sample */
    double entropy[CLUSTERS_MOST]; /* bits, of a histogram between its extremes */
} ClusterStats;

/* Up to `clusters` on either side, from all values, or from `sample` of them drawn with replacement where there are
 * more. Their buckets stay 0. */
typedef struct {
    size_t clusters, sample, bins;
    double percentile;
} ClusterSpec;
Status clusters_train(ClusterModel *m, ClusterStats *s, const ClusterSpec *spec, const float *x, size_t n,
                      const Rng *rng, Arena *scratch, Error *err);

/* Gives out exactly `budget` buckets, or one to each cluster where that is more: one each, and the rest in
 * proportion to `weight`, or alike where no weight is above zero. */
void clusters_share(ClusterModel *m, const double *weight, uint64_t budget);

/* Whether centres and buckets are such as training makes. */
bool model_good(const ClusterModel *m);
uint64_t model_buckets(const ClusterModel *m);

/* A value's cluster is the number of these (one fewer than there are clusters, rising) that it is above. */
void model_thresholds(const ClusterModel *m, float *above);

/* log2 of a whole number, the same on every machine. */
double log2_whole(uint64_t v);

#endif
