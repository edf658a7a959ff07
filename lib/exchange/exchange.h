/* exchange.h -- exchanges one tensor between P workers in one training step. The workers send payloads, and
 * all workers get the same estimate of the mean gradient. The functions are called in this order:
 *
 *     exchange_begin
 *     in each round, for each worker that sends:
 *         exchange_send     encodes the worker's gradient; left out if another process has encoded it
 *         exchange_take     decodes a payload, of this or another process, or keeps it until it is merged
 *     exchange_end_round    after each round; the next round's encoders read the merged payload
 *     exchange_receive      computes the mean of the estimates
 *     exchange_settle       for each worker: computes the codec state of the next step
 *
 * The payloads of some codecs can be merged without decoding (codec_adds). For other codecs each payload is
 * decoded, and the estimates are averaged.
 *
 * Workers are handled one after another. The gradient of a worker is needed only while this worker is
 * handled. With `batch` above 0 and `keep` false, at most `batch` payloads wait to be merged, so memory does
 * not grow with the number of workers.
 *
 * A worker may drop out of a step, which means that it sends nothing. `call.workers` counts only the workers
 * that send. For a worker that dropped out, exchange_settle_dropped computes the codec state of the next
 * step. */
#ifndef ATOMO_EXCHANGE_H
#define ATOMO_EXCHANGE_H

#include "compress/codec.h"

enum { EXCHANGE_BATCH = 8 };

/* A worker in the exchange of one tensor. */
typedef struct {
    size_t index;     /* 0 .. P - 1; the worker's random numbers depend on it */
    void *state;      /* codec state (states.h); NULL: the codec keeps none */
    const void *plan; /* codec_plan's record for this tensor; NULL: none */
    Kept *kept; /* codec.h; emptied before `exchange_begin`. NULL: each call computes its vector again, which takes less memory */
} ExchangeWorker;

typedef enum {
    /* divides a worker's bit budget between the vectors of its gradient; only in exchange/gradient.h */
    EXCHANGE_PLAN,
    EXCHANGE_TRAIN,    /* learns, on one worker, the state that all workers start the step with */
    EXCHANGE_ENCODE,   /* encodes a worker's payload of one round */
    EXCHANGE_MERGE,    /* merges a batch of payloads */
    EXCHANGE_ESTIMATE, /* decodes a worker's payload */
    /* adds a decoded payload to the sum, and at the end divides the sum by the number of workers */
    EXCHANGE_AVERAGE,
    EXCHANGE_DECODE, /* decodes the merged payload */
    EXCHANGE_SCALE,  /* divides the decoded sum by the number of workers */
} ExchangePhase;

/* For callers that measure the time of phases. `run` must call work(arg). In the phases ENCODE, MERGE,
 * ESTIMATE and DECODE it may call work(arg) several times, because each call gives the same result. `worker`
 * is the worker that does the work. In work that every receiver does (MERGE, DECODE, SCALE, and the division
 * in AVERAGE) it is the first worker that sent. */
typedef struct {
    Status (*run)(void *data, ExchangePhase phase, size_t worker, Status (*work)(void *arg), void *arg);
    void *data;
} ExchangeClock;

typedef struct {
    /* The caller sets `self`, `shape`, `threads`, `scratch`, `err`, `workers` (the number of workers that
     * send in this step, at least 1) and `leader` (of these, number exchange_leader). */
    Call call;
    /* with `step` and the worker's index, these select the random numbers (`rng_open`) */
    uint64_t seed, repeat, tensor;
    int64_t step;
    /* the largest number of new payloads in one merge, besides the result of the previous merge; 0: all
     * payloads of a round */
    size_t batch;
    /* true: the mean of an element, or of a coefficient that the codec sends, is over the workers whose estimate of
     * it is not 0; only for codecs that promise LEAVES_OUT, whose payloads do not add */
    bool senders;
    /* true: what is encoded is no worker's gradient but a mean (shots.h); its random numbers are of no worker */
    bool again;
    bool each; /* true: payloads that can be merged are also decoded one by one and averaged */
    /* true: payloads stay valid until the arena is rewound, as `exchange_settle` needs; false: a payload is
     * valid until it has been merged or, if it is not merged, decoded */
    bool keep;
    /* (shape.n) the payload decoded last; after `exchange_receive`, the mean. While a worker encodes, the
     * caller may use this array as working memory. */
    float *y;
    Arena *payloads; /* the caller marks this arena before `exchange_begin` and rewinds it after the step */
    ExchangeClock clock; /* {0}: each phase runs once, without timing */

    /* Results that callers may read. */
    int rounds;
    bool adds; /* true: payloads of the last round can be merged without decoding */
    /* merged payload of each round; empty for the last round if its payloads cannot be merged */
    Bytes heard[ROUNDS_MAX];

    /* Members used by exchange.c only. */
    ExchangeWorker receiver; /* the first worker that sent */
    size_t taken;            /* number of payloads taken in this round */
    double *sum; /* (shape.n) sum of decoded payloads; NULL: payloads are not decoded one by one */
    uint32_t *sent; /* (shape.n) with `senders`: number of workers that sent each element */
    const float *gradient;
    Buf payload;
    Bytes last, *waiting;
    /* `held`: number of payloads in `waiting`. `merged_before`: 1 if one of them is the result of a merge,
     * else 0. `room`: capacity of `waiting`. */
    size_t held, merged_before, room;
    Buf merged[2]; /* used in turn for the results of merges */
    int turn;
    ArenaMark round_start;
} Exchange;

/* Returns which of a step's senders leads, 0 .. senders - 1. Multiples of the golden ratio spread the leaders evenly over the
 * senders, whatever number of steps lies between exchanges. */
static inline size_t exchange_leader(int64_t step, size_t senders)
{
    return (uint64_t)((uint32_t)step * 0x9e3779b9u) * senders >> 32;
}

Status exchange_begin(Exchange *x);

/* Returns the Call of a worker in the current round, for codec_plan, codec_variance and the like. */
Call exchange_call(const Exchange *x, const ExchangeWorker *w);

/* For codecs with a train hook, called before exchange_begin: learns from the gradient of worker w, and
 * stores the result in this worker's state. */
Status exchange_train(Exchange *x, const ExchangeWorker *w, const float *gradient);

/* Returns the part of the worker's state that exchange_train has learned, and its bytes in *size; *size is 0
 * if the codec learns nothing. Without a state, returns NULL but sets *size. */
void *exchange_learned(const Exchange *x, const ExchangeWorker *w, size_t *size);

/* Encodes the worker's gradient (shape.n) for this round. The caller passes `*sent` to `exchange_take`. With
 * `keep`, `*sent` is valid until the arena is rewound; otherwise until it has been merged or decoded. */
Status exchange_send(Exchange *x, const ExchangeWorker *w, const float *gradient, Bytes *sent);

/* Decodes the worker's payload of this round, or keeps it until it is merged with other payloads. A payload
 * from another process must stay valid until the round ends. */
Status exchange_take(Exchange *x, const ExchangeWorker *w, Bytes payload);

/* Ends a round, after its last worker: merges the payloads that still wait. */
Status exchange_end_round(Exchange *x);

/* Ends a round whose payloads have been merged elsewhere: by another process, or in segments by all
 * processes. `merged` is the merged payload, and must stay valid to the end of the step. `first` is the first
 * worker that sent. */
Status exchange_hear(Exchange *x, const ExchangeWorker *first, Bytes merged);

/* Sets y to the mean of the estimates of all workers that sent. */
Status exchange_receive(Exchange *x);

/* Decodes to y a payload that travels by itself, with the Call of worker w. `phase`: EXCHANGE_ESTIMATE or
 * EXCHANGE_DECODE. */
Status exchange_decode(Exchange *x, ExchangePhase phase, const ExchangeWorker *w, Bytes payload);

/* Computes the worker's state for the next step. `sent` are the worker's payloads of every round. Does
 * nothing if the worker has no state. */
Status exchange_settle(Exchange *x, const ExchangeWorker *w, const float *gradient, const Bytes *sent);

/* Computes the next state of a worker that dropped out, as if it had sent zeros as raw floats. If the codec
 * refuses raw floats or has several rounds, as if it had sent its payloads for a zero gradient and a zero
 * state. */
Status exchange_settle_dropped(Exchange *x, const ExchangeWorker *w, const float *gradient);

/* ---- over which workers the mean of an element is taken: all, or only those that sent the element ---- */

/* AVERAGE_AUTO: as the codec's paper does (the promise SENDERS_MEAN). */
typedef enum { AVERAGE_AUTO, AVERAGE_ALL, AVERAGE_SENDERS } Average;

extern const char *const average_names[]; /* "auto", "all", "senders", NULL: the values of --average */
extern const char average_help[];         /* the help text of --average */

/* Fails with ERR_USAGE if the codec does not leave elements out, so that a mean over senders is none. */
Status average_check(Average average, const Codec *codec, Error *err);

/* Returns true if the mean is over the workers that sent an element (Exchange.senders). */
bool average_over_senders(Average average, const Codec *codec);

/* Adds x (n) to sum (n). */
void mean_add(double *sum, const float *x, size_t n, int threads);

/* Sets mean (n) to sum / count, rounded to float. */
void mean_of_sum(float *mean, const double *sum, size_t n, double count, int threads);

#endif
