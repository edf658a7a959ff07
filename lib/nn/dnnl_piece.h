/* dnnl_piece.h -- oneDNN's convolution primitives for pieces of images, and the order they want weights in.
 *
 * oneDNN's weight gradient differs in its last bits from one number of threads to another, so primitives are made for
 * one thread and for pieces of images whose size follows from the layer's shape alone. */
#ifndef ATOMO_DNNL_PIECE_H
#define ATOMO_DNNL_PIECE_H

#include "nn/layers.h"

#include <dnnl.h>

#if DNNL_VERSION_MAJOR != 2
#error "want oneDNN 2 (Debian 12's libdnnl-dev)"
#endif

enum { FORWARD, BACK_DATA, BACK_WEIGHTS, WAYS };
enum { CONV_PIECE_MOST = 2 * PIECE }; /* images */

/* The primitives for one number of images, made when a pass first has a piece of that size. */
typedef struct {
    dnnl_primitive_desc_t desc[WAYS];
    dnnl_primitive_t run[WAYS]; /* BACK_DATA: NULL where the input is the images themselves */
} Piece;

typedef struct {
    dnnl_engine_t engine;
    size_t images;                    /* of a whole piece: PIECE, or where they are small CONV_PIECE_MOST */
    dnnl_alg_kind_t back;             /* how gradients are made; outputs are always made directly */
    Piece piece[CONV_PIECE_MOST + 1]; /* by images */
    dnnl_memory_desc_t plain;
    dnnl_memory_desc_t order[WAYS]; /* of weights, as the first primitive of each way chose it */
    bool chosen;
} Primitives;

Status dnnl_check(dnnl_status_t status, const char *what, Error *err);

/* Primitives of a convolution layer for passes of up to `images`; close also what could not be opened whole. */
Status primitives_open(Primitives *s, const Layer *l, size_t images, Error *err);
void primitives_close(Primitives *s);

/* Those that a pass of `images` needs. Not to be called from several threads at once. */
Status primitives_ready(Primitives *s, const Layer *l, size_t images, Error *err);

/* ---- weights: plain is [out][in][row][column] ---- */

/* Floats that weights take in such an order, room between and behind them included. */
size_t weights_room(const dnnl_memory_desc_t *order);

Status weights_put(const float *plain, const dnnl_memory_desc_t *order, float *ordered, int threads,
                   Arena *scratch, Error *err);
Status weights_get(const float *ordered, const dnnl_memory_desc_t *order, float *plain, int threads,
                   Arena *scratch, Error *err);

#endif
