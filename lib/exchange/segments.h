/* segments.h -- merges the payloads of one round, of one or several tensors, in segments, one on each rank: an
 * all-reduce of payloads. For payloads that merge number by number (compress/numbers.h).
 *
 * Rank r receives segment r of all payloads (a reduce-scatter), and adds them up in the order of workers. Then the
 * merged segments go round a ring (an all-gather). With P ranks and as many workers, a rank sends (P - 1) / P of a
 * payload and (P - 1) / P of the merged payload.
 *
 * The sums are those of codec_merge, bit for bit, because each number is added in the same order. A ring that adds
 * on the way would add each segment in another order. */
#ifndef ATOMO_SEGMENTS_H
#define ATOMO_SEGMENTS_H

#include "compress/numbers.h"
#include "exchange/relay.h"

typedef struct {
    const Relay *r;
    RelayTensor *tensor;
    const bool *sends;
    Call call;
    Numbers numbers;
} Segments;

Segments segments_of(const Relay *r, RelayTensor *t, const bool *sends);

/* Returns true if the round's payloads are merged in segments: if they have at least 64 numbers for each rank. */
bool segments_used(const Segments *s);

/* Merges the payloads of `count` tensors to s[j].tensor->merged. s[j].tensor->sent has the payloads of this rank's
 * workers. The merged payloads are valid to the end of the step. Errors are the same on all ranks. */
Status segments_merge(const Segments *s, size_t count);

#endif
