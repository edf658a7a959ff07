/* cas_table.h -- the buckets of the cluster-aware sketch. Each cluster of values has its own buckets. An
 * element is added to one bucket of its cluster, and decodes to the mean of that bucket.
 *
 * The element's index i selects the bucket: number floor(word_i size / 2^32) of the `size` buckets in a slice
 * (slices.h) of its cluster's buckets. word_i is a random word that is the same on all workers. Results do not
 * depend on the number of threads. */
#ifndef ATOMO_CAS_TABLE_H
#define ATOMO_CAS_TABLE_H

#include "compress/sketch/clusters.h"
#include "compress/compressor.h"

typedef struct {
    const Call *c;
    size_t n, clusters, buckets;
    float above[CLUSTERS_MOST]; /* from cluster_model_thresholds */
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
