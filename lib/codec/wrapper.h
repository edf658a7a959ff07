/* wrapper.h -- for compressors that wrap another codec: makes the Calls of the inner codec, and answers questions
 * about the inner codec.
 *
 * A wrapper's state is its own bytes, rounded up by state_round, followed by the inner codec's state. A wrapper
 * inherits the inner codec's hooks for rounds, train, plan, state and residual unless it has its own. */
#ifndef ATOMO_WRAPPER_H
#define ATOMO_WRAPPER_H

#include "codec/compressor.h"

/* Returns the Call of the inner codec; `own_state` is the size of the wrapper's own part of the state, in bytes. */
Call call_inner(const Call *c, size_t own_state);

/* Sets *inner to the Step of the inner codec: the Call of each tensor becomes the result of call_inner. The Calls
 * are in the scratch arena. */
Status step_inner(const Step *step, size_t (*own_state)(const Call *c), Step *inner);

size_t state_round(size_t bytes); /* rounds up to a multiple of 64 */

/* True if the innermost codec's state needs the sum of all workers' payloads */
bool codec_learns_sums(const Codec *codec);
bool codec_bare(const Codec *codec); /* True if the codec's payloads have no kind byte */

#endif
