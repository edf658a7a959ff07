/* wrapper.h -- for compressors that wrap another codec: the inner codec's Calls, and questions about it.
 *
 * A wrapper's state is its own bytes, rounded up by state_round, then the inner codec's state. Without hooks of its
 * own for rounds, train, plan, state and residual, a wrapper has the inner codec's. */
#ifndef ATOMO_WRAPPER_H
#define ATOMO_WRAPPER_H

#include "codec/compressor.h"

/* The inner codec's Call; the wrapper's own part of the state has `own_state` bytes. */
Call call_inner(const Call *c, size_t own_state);

/* The same for every tensor of a step; the Calls are in scratch. */
Status step_inner(const Step *step, size_t (*own_state)(const Call *c), Step *inner);

size_t state_round(size_t bytes); /* up to a multiple of 64 */

bool codec_learns_sums(
    const Codec *codec);             /* the innermost codec's state needs the sum of all workers' payloads */
bool codec_bare(const Codec *codec); /* its payloads have no kind byte */

#endif
