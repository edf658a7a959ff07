/* cas_table.h -- buckets of the cluster-aware sketch: an element adds its value to one bucket of its cluster, and
 * decodes to the mean of that bucket.
 *
 * Element i goes into bucket floor(word_i size / 2^32) of its cluster's `size` buckets; word_i is a random word
 * that is the same for all workers. The vector is cut into a few pieces, whose sums are added in order; the number
 * of pieces depends on the sizes only, so sums do not depend on the number of threads. */
#ifndef ATOMO_CAS_TABLE_H
#define ATOMO_CAS_TABLE_H

#include "compress/sketch/clusters.h"
#include "codec/compressor.h"

typedef struct {
    const Call *c;
    size_t n, clusters, buckets;
    float above[CLUSTERS_MOST]; /* from cluster_model_thresholds */
    /* size: each cluster's number of buckets; from: the index of each cluster's first bucket */
    uint32_t size[CLUSTERS_MOST], from[CLUSTERS_MOST];
} CasTable;

void cas_table_open(CasTable *s, const Call *c, const ClusterModel *m);

/* Sets code (n) to each element's cluster, and sum (buckets) to the sum of x over each bucket's elements. */
Status cas_table_sums(const CasTable *s, const float *x, uint8_t *code, double *sum);

/* Adds each bucket's number of elements to count (buckets). */
Status cas_table_counts(const CasTable *s, const uint8_t *code, uint64_t *count);

/* Sets x (n) to the mean of each element's bucket. */
void cas_table_spread(const CasTable *s, const float *mean, const uint8_t *code, float *x);
/* Adds the mean of each element's bucket to sum (n). */
void cas_table_spread_onto(const CasTable *s, const double *mean, const uint8_t *code, double *sum);

#endif
