/* cluster_index.h -- codes the cluster number of each element with Huffman codes.
 *
 *     table of code lengths (huffman.h), padded to a byte  [ { size:u32 } x blocks ]  { stream } x blocks
 *
 * There is a stream for each block of 2^16 elements, padded to a byte; the sizes of the streams are sent only
 * when n > 2^16. */
#ifndef ATOMO_CLUSTER_INDEX_H
#define ATOMO_CLUSTER_INDEX_H

#include "base/arena.h"
#include "base/bytes.h"

enum { INDEX_MOST = 256 }; /* most clusters */

typedef struct {
    size_t n;
    uint32_t clusters; /* 2 .. INDEX_MOST */
    int threads;
    Arena *scratch;
    Error *err;
} ClusterIndex;

/* Returns an upper bound on the bytes of the cluster numbers of n elements. */
size_t cluster_index_most(size_t n, uint32_t clusters);

/* Counts the elements of each cluster, from their cluster numbers code (n). */
Status cluster_index_counts(const ClusterIndex *index, const uint8_t *code, uint64_t count[INDEX_MOST]);

/* Codes the cluster numbers code (n) and appends the bytes to `out`. */
Status cluster_index_put(const ClusterIndex *index, const uint8_t *code, Buf *out);

/* Reads cluster numbers into code (n); their bytes must extend to the end of r. Returns ERR_CORRUPT for bytes
 * that cluster_index_put never writes, with a reason in *why. */
Status cluster_index_get(const ClusterIndex *index, Reader *r, uint8_t *code, const char **why);

/* Sets *bits to the mean length of a Huffman code for cluster numbers; share[k] is the share of elements in
 * cluster k. */
Status cluster_index_bits(const double *share, uint32_t clusters, double *bits, Arena *scratch, Error *err);

#endif
