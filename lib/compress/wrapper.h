/* wrapper.h -- functions for wrappers: compressors that encode with another codec, the inner codec.
 *
 * A wrapper's state is its own bytes, which its hook state_size counts, padded to a multiple of 64, and then the inner
 * codec's state. For
 * rounds, train, plan, state and residual, a wrapper without its own function uses the inner codec's. The inner codec
 * trains and plans for the vector of the wrapper's hook `input`. */
#ifndef ATOMO_WRAPPER_H
#define ATOMO_WRAPPER_H

#include "compress/compressor.h"
#include "math/blockwise.h"

/* Returns the inner codec's Call, made from the wrapper's Call `c`. */
Call call_inner(const Call *c);

/* Returns the inner codec's part of the wrapper's state. */
void *state_inner(const Call *c, void *state);

/* Rounds up to a multiple of 64. */
static inline size_t state_round(size_t bytes)
{
    return (bytes + 63) & ~(size_t)63;
}

/* True if the innermost codec's state is computed from a sum of payloads over all workers */
bool codec_learns_sums(const Codec *codec);
bool codec_bare(const Codec *codec); /* True if the codec's payloads have no kind byte */

/* A sufficient condition for the sum of two vectors to be within float32's range. Returns true if all elements of x are
 * below 2^103 in magnitude. Then the sum of x and any finite float32 vector is finite, because adding less than 2^103 to
 * a finite float32 cannot round up to infinity. */
static inline bool sum_is_safe(const float *x, size_t n, int threads)
{
    return blockwise_most(x, n, threads) < 0x1p103f;
}

#endif
