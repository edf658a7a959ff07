/* cas_table.h -- buckets of the cluster-aware sketch: every element adds its value to one bucket of its cluster, and is
 * given the mean of that bucket.
 *
 * Element i's word, the same for all workers, says where among its cluster's buckets: bucket
 * floor(word size / 2^32). Sums are taken over a number of pieces that follows from the sizes alone, then over the
 * pieces. */
#ifndef ATOMO_CAS_TABLE_H
#define ATOMO_CAS_TABLE_H

#include "compress/sketch/clusters.h"
#include "codec/compressor.h"

typedef struct {
    const Call *c;
    size_t n, clusters, buckets;
    float above[CLUSTERS_MOST];
    uint32_t size[CLUSTERS_MOST], from[CLUSTERS_MOST]; /* of each cluster's buckets among all */
} CasTable;

void table_open(CasTable *s, const Call *c, const ClusterModel *m);

/* Each element's cluster, and each bucket's sum of x; and adds how many elements each bucket has. */
Status table_sums(const CasTable *s, const float *x, uint8_t *code, double *sum);
Status table_counts(const CasTable *s, const uint8_t *code, uint64_t *count);

/* Gives each element its bucket's mean, or adds that to what `sum` has of it. */
void table_spread(const CasTable *s, const float *mean, const uint8_t *code, float *x);
void table_spread_onto(const CasTable *s, const double *mean, const uint8_t *code, double *sum);

#endif
