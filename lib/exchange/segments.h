/* segments.h -- merges the payloads of one round in segments, one on each rank: an all-reduce of payloads. For
 * payloads that merge number by number (codec/numbers.h).
 *
 * Rank r receives segment r of all payloads (a reduce-scatter), and adds them up in the order of workers. Then the
 * merged segments go round a ring (an all-gather). With P ranks and as many workers, a rank sends (P - 1) / P of a
 * payload and (P - 1) / P of the merged payload.
 *
 * The sums are those of codec_merge, bit for bit, because each number is added in the same order. A ring that adds
 * on the way would add each segment in another order. */
#ifndef ATOMO_SEGMENTS_H
#define ATOMO_SEGMENTS_H

#include "codec/numbers.h"
#include "exchange/relay.h"

typedef struct {
    const Relay *r;
    Exchange *x;
    const ExchangeWorker *first; /* the first worker that sends */
    const bool *sends;
    Call call;
    Numbers numbers;
} Segments;

Segments segments_of(const Relay *r, Exchange *x, const ExchangeWorker *first, const bool *sends);

/* Returns true if the round's payloads are merged in segments: on a ring, if payloads have at least 64 numbers for
 * each rank. r->size has the sizes of all payloads. */
bool segments_used(const Segments *s);

/* Merges the payloads. `sent` has the payloads of this rank's workers. `*merged` is valid to the end of the step.
 * Errors are the same on all ranks. */
Status segments_merge(const Segments *s, Bytes (*sent)[ROUNDS_MAX], Bytes *merged);

#endif
