/* sketch.h -- tables of sums over buckets that a hash puts the elements into: what countsketch and countmin send.
 *
 *     kind:8 = 1  { cell:f32 } x rows x tables x cols        merged: kind:8 = 2  workers:varint  { cell:f32 } x ...
 *
 * READ ME FIRST: the hash is everyone's, from rng_shared: row j puts element i into the bucket
 * floor(word cols / 2^32) of the address below that ends in j, so all workers' cells add and no table travels but
 * that of the cells. Where there would be as many cells as elements, the elements travel as floats and add alike. */
#ifndef ATOMO_SKETCH_H
#define ATOMO_SKETCH_H

#include "codec/compressor.h"
#include "vec/kernels.h"

/* What a cell adds up, and how a row's cell becomes an estimate. */
typedef enum {
    SKETCH_SIGNED, /* elements times random signs; times the sign again, median over rows */
    SKETCH_SPLIT,  /* a table of positive parts and one of negative ones; difference of the least cells */
    SKETCH_PLAIN,  /* elements as they are; median over rows */
} SketchKind;

typedef struct {
    int64_t rows, cols, topk;
    double bits;
    int estimate;
} SketchParams;

enum { SKETCH_ROWS = MEDIAN_MOST };

/* The keys that sketches share. */
#define SKETCH_KEYS                                                                                          \
    PARAM(SketchParams, rows, "5", 1, SKETCH_ROWS, "rows of buckets, each with a hash of its own"),          \
        PARAM(SketchParams, bits, "1", 0, 32, "payload bits an element", .above = true, .rate = true,        \
              .group = 1),                                                                                   \
        PARAM(SketchParams, cols, NULL, 1, 2147483647, "buckets in a row", .group = 1),                      \
        PARAM(SketchParams, topk, "0", 0, 1e15, "decode only so many, the largest estimates; 0: all")

size_t sketch_bound(const Call *c, SketchKind kind);
Status sketch_encode(const Call *c, SketchKind kind, const float *x, Buf *out);
Status sketch_decode(const Call *c, SketchKind kind, Bytes in, float *x);
Status sketch_merge(const Call *c, SketchKind kind, const Bytes *in, size_t count, Buf *out);

#endif
