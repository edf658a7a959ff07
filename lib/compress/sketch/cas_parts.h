/* cas_parts.h -- what the files cas*.c share: the parameters of the cluster-aware sketch, the limits that follow from
 * parameters and shape, the learning of clusters, the buckets, and the index. */
#ifndef ATOMO_CAS_PARTS_H
#define ATOMO_CAS_PARTS_H

#include "compress/compressor.h"
#include "compress/sketch/clusters.h"

typedef struct {
    int64_t clusters, buckets, bins, sample, min, period;
    double bits, percentile;
    int allocate, index;
    char sizes[96];
} Cas;

enum { BY_ENTROPY, BY_ENTROPY_CENTRE, BY_DENSITY, BY_HAND };

static inline const Cas *cas_params(const Call *c)
{
    return c->self->params;
}

/* Limits that encoder and decoder compute from the spec and the shape. */
typedef struct {
    size_t clusters;  /* upper bound on the number of clusters of both signs together */
    uint64_t buckets; /* upper bound on the number of buckets */
    size_t bytes;     /* upper bound on the bytes of a payload */
    bool raw;         /* the tensor is sent as raw floats */
} CasLimits;

Status cas_check(const Codec *codec, Error *err);
CasLimits cas_limits(const Call *c);

/* Learns clusters from the values x, within cas_limits, and divides the buckets between the clusters. */
Status cas_learn(const Call *c, const float *x, ClusterModel *m);

/* True if a model, learned or read from a payload, is within the limits. */
bool cas_fits(const ClusterModel *m, const CasLimits *l);

/* ---- codes the cluster number of each element with Huffman codes.
 *
 *     table of code lengths (huffman.h), padded to a byte  [ { size:u32 } x blocks ]  { stream } x blocks
 *
 * There is a stream for each block of 2^16 elements, padded to a byte; the sizes of the streams are sent only
 * when n > 2^16. */

enum { INDEX_MOST = 256 }; /* most clusters */

typedef struct {
    size_t n;
    uint32_t clusters; /* 2 .. INDEX_MOST */
    int threads;
    Arena *scratch;
    Error *err;
} ClusterIndex;

/* Counts the elements of each cluster, from their cluster numbers code (n). */
Status cluster_index_counts(const ClusterIndex *index, const uint8_t *code, uint64_t count[INDEX_MOST]);

/* Codes the cluster numbers code (n) and appends the bytes to `out`. */
Status cluster_index_put(const ClusterIndex *index, const uint8_t *code, Buf *out);

/* Reads cluster numbers into code (n); their bytes must extend to the end of r. Returns ERR_CORRUPT for bytes
 * that cluster_index_put never writes, with a reason in *why. */
Status cluster_index_get(const ClusterIndex *index, Reader *r, uint8_t *code, const char **why);

/* ---- the buckets of the cluster-aware sketch. Each cluster of values has its own buckets. An
 * element is added to one bucket of its cluster, and decodes to the mean of that bucket.
 *
 * The element's index i selects the bucket: number floor(word_i size / 2^32) of the `size` buckets in a slice
 * (slices.h) of its cluster's buckets. word_i is a random word that is the same on all workers. Results do not
 * depend on the number of threads. */

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
