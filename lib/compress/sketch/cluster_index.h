/* cluster_index.h -- which of a few clusters each element is in, as one stream.
 *
 *     fixed    bit planes (planes.h) of codes as wide as the number of clusters less one
 *     bitmap   for each cluster a bit for each element, bit i % 8 of byte i / 8, zeros behind the last
 *     huffman  table of the code (huffman.h), padded to a byte  [ { length:u32 } x blocks ]  { stream } x blocks
 *
 * Huffman's streams are those of blocks of 2^16 elements, each padded to a byte; their table of lengths is there
 * only when n > 2^16. */
#ifndef ATOMO_CLUSTER_INDEX_H
#define ATOMO_CLUSTER_INDEX_H

#include "base/arena.h"
#include "base/bytes.h"

typedef enum { INDEX_HUFFMAN, INDEX_FIXED, INDEX_BITMAP } IndexForm;

enum { INDEX_MOST = 256 }; /* clusters */

typedef struct {
    IndexForm form;
    size_t n;
    uint32_t clusters; /* 2 .. INDEX_MOST */
    int threads;
    Arena *scratch;
    Error *err;
} ClusterIndex;

size_t index_most(IndexForm form, size_t n, uint32_t clusters); /* bytes at most */

/* How many elements are in each cluster. */
Status index_counts(const ClusterIndex *index, const uint8_t *code, uint64_t count[INDEX_MOST]);

Status index_put(const ClusterIndex *index, const uint8_t *code, Buf *out);

/* Takes the index from r. ERR_CORRUPT, and a reason in `why`, for what index_put does not write; all of r is the
 * index. */
Status index_get(const ClusterIndex *index, Reader *r, uint8_t *code, const char **why);

/* Bits an element of Huffman codes for clusters of these shares; an estimate from a sample. */
Status index_huffman_bits(const double *share, uint32_t clusters, double *bits, Arena *scratch, Error *err);

#endif
