/* sketch.h -- payloads of countsketch and countmin: tables of sums over hash buckets.
 *
 *     kind:8 = 1  { cell:f32 } x rows x tables x cols     merged: kind:8 = 2  workers:varint  { cell:f32 } ...
 *
 * Row j puts element i into bucket floor(word_i c / 2^32) of its slice (slices.h), which has c buckets; word_i is a
 * random word that depends on i and j and is the same for all workers, so the workers' cells can be added. If there
 * would be at least as many cells as elements, the elements are sent as raw floats, which can be added too. */
#ifndef ATOMO_SKETCH_H
#define ATOMO_SKETCH_H

#include "compress/compressor.h"
#include "math/vec/kernels.h"

/* What a cell (a hash bucket of a row) sums, and how an element is estimated from its cells, one in each
 * row. */
typedef enum {
    /* sums elements times random signs; estimate: median over rows of the cell times the element's sign */
    SKETCH_SIGNED,
    /* One table sums the positive elements, another the magnitudes of the negative elements. Estimate: the
     * element's least cell in the first table, minus its least cell in the second. */
    SKETCH_SPLIT,
    SKETCH_PLAIN, /* a cell sums elements; estimate: median over rows of the cell */
} SketchKind;

typedef struct {
    int64_t rows, cols, topk;
    double bits;
    int estimate; /* index into the codec's array of SketchKind */
} SketchParams;

enum { SKETCH_ROWS = MEDIAN_MOST };

/* The parameters that countsketch and countmin share. */
#define SKETCH_KEYS                                                                                          \
    PARAM(SketchParams, rows, "5", 1, SKETCH_ROWS, "rows of buckets, each with a hash of its own"),          \
        PARAM(SketchParams, bits, "1", 0, 32, "payload bits an element", .above = true, .rate = true,        \
              .group = 1),                                                                                   \
        PARAM(SketchParams, cols, NULL, 1, 2147483647, "buckets in a row", .group = 1),                      \
        PARAM(SketchParams, topk, "0", 0, 1e15, "decode only the topk largest estimates; 0: all")

/* The hooks of a Compressor whose `family` is an array of SketchKind, one for each value of the key
 * `estimate`. */
size_t sketch_bound(const Call *c);
Status sketch_encode(const Call *c, const float *x, Buf *out);
Status sketch_decode(const Call *c, Bytes in, float *x);
Status sketch_merge(const Call *c, const Bytes *in, size_t count, Buf *out);
Numbers sketch_numbers(const Call *c);

#endif
