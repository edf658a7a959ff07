/* shots.h -- exchanges that quantise sums again, as collectives in production do with payloads that do not add. The vector
 * is cut into shards, each owned by one worker; a shard is encoded as a vector of its own.
 *
 *     SHOTS_TWO   every worker sends its payload of a shard to the owner, which decodes the payloads and averages
 *     SHOTS_HOPS  the shard's sum goes from worker to worker: each one decodes it, adds its own elements, and encodes; the
 *                 owner is the last one
 *     SHOTS_NODES nodes of K workers: each worker sends its payload of a shard, of a codec of its own, to the shard's leader in
 *                 its node, worker owner mod K there; the leaders exchange the means of their nodes by SHOTS_TWO, and send the
 *                 result, encoded by the nodes' codec, to the workers of their nodes
 *
 * In the first two the owner then encodes the mean, and sends this payload to all. So the mean has the codec's error of the first
 * shot or of the hops, and once more that of the codec on the mean. docs/cost.md has bytes, times and errors. */
#ifndef ATOMO_SHOTS_H
#define ATOMO_SHOTS_H

#include "exchange/exchange.h"

typedef enum { SHOTS_NONE, SHOTS_TWO, SHOTS_HOPS, SHOTS_NODES } Shots;

/* True if the codec's payloads are decoded and quantised again: they do not add, or travel by nodes. */
static inline bool shots_used(Shots shots, const Codec *codec)
{
    return shots == SHOTS_NODES || (shots != SHOTS_NONE && !codec_adds(codec));
}

/* Fails with ERR_USAGE if a sum of the codec's payloads cannot be quantised again. `senders`: of Exchange. */
Status shots_check(Shots shots, const Codec *codec, bool senders, Error *err);

/* Returns the first element of a shard of a vector of n elements, 0 <= shard <= workers. Shards begin at multiples of the
 * codec's bucket, and some may be empty. A codec that takes the tensor as a matrix (WHOLE) has one shard. */
size_t shots_cut(const Codec *codec, size_t n, size_t workers, size_t shard);

/* Writes to `chain` (workers) the workers that send, in the order in which a shard's sum visits them, and the owner last,
 * even if it sends nothing. Returns their number. `sends` (workers); NULL: all send. */
size_t shots_chain(const bool *sends, size_t workers, size_t owner, size_t *chain);

/* Adds to `sum` (shape.n) the payload of worker `from`. Overwrites x->y. */
Status shots_add(Exchange *x, const ExchangeWorker *from, Bytes payload, float *sum);

/* Sets mean (n) to sum / count, rounded to float. */
void shots_divide(float *mean, const float *sum, size_t n, double count);

/* Returns the exchange of the mean of x's shard, with this codec: the owner encodes the mean by exchange_send, and receivers
 * decode it by exchange_decode, phase EXCHANGE_DECODE. */
Exchange shots_mean(const Exchange *x, const Codec *codec);

#endif
