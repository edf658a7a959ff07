/* product.h -- matrix products of layers.
 *
 * Where AVX2 is the widest instruction set, they are computed by the loops of lib/nn/vec/product_vec.c. On an
 * AMD EPYC with AVX2, OpenBLAS took a third longer for the products of a head's attention. On other CPUs OpenBLAS
 * computes them. */
#ifndef ATOMO_PRODUCT_H
#define ATOMO_PRODUCT_H

#include "num/linalg.h"

enum { PRODUCT_COLUMNS = 16, PRODUCT_ROWS = 48, PRODUCT_TERMS = 384, PRODUCT_BEHIND = 8 };

/* The loops of c = scale A B or c + scale A B (linalg.h). A sum is formed in steps of at most PRODUCT_TERMS terms,
 * each from first to last term. So an element of c does not depend on the blocks. */
typedef struct {
    /* Copies panel `panel` of B, its columns from PRODUCT_COLUMNS panel on, to packed (k, PRODUCT_COLUMNS). */
    void (*pack)(const Product *p, size_t panel, float *packed);
    /* Computes rows from, ..., from + count - 1 of c, count <= PRODUCT_ROWS. `packed` has all panels of B. `room` has
     * PRODUCT_ROWS PRODUCT_TERMS + PRODUCT_BEHIND floats. */
    void (*rows)(const Product *p, size_t from, size_t count, const float *packed, float *room);
} ProductLoops;

/* Computes a product on `threads` threads, to the same bytes for any number of them. The caller has called
 * `linalg_ready`. */
Status product(const Product *p, int threads, Arena *scratch, Error *err);

/* Computes a product on this thread. `room` has product_room(n, k) floats, or more. */
void product_alone(const Product *p, float *room);
size_t product_room(size_t n, size_t k);

#endif
