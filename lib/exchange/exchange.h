/* exchange.h -- one step of P workers through a codec, on one tensor: all send, all end with the same estimate of the
 * mean gradient.
 *
 *     exchange_begin
 *     in each round, for each worker that sends:
 *         exchange_send     encodes the worker's gradient; nothing to do where another process has encoded it
 *         exchange_take     counts the payload, this process's or another's
 *     exchange_end_round    after each round; the merged payload is what the next round's encoders have heard
 *     exchange_receive      the mean of the estimates
 *     exchange_settle       for each worker: the codec state of the next step
 *
 * Payloads merge undecoded where the codec's payloads add (codec_adds), and are decoded one by one and averaged where
 * they do not. Workers pass one after another, each with a gradient that may be gone when the next one comes, and at
 * most `batch` payloads wait to be merged: memory does not depend on the number of workers. A worker that drops out
 * sends nothing; `call.workers` counts the others, and exchange_settle_dropped moves its state on. */
#ifndef ATOMO_EXCHANGE_H
#define ATOMO_EXCHANGE_H

#include "codec/codec.h"

enum { EXCHANGE_BATCH = 8 };

/* One worker on this tensor. */
typedef struct {
    size_t index;     /* 0 .. P - 1: part of its random address */
    void *state;      /* of its codec (states.h); NULL: the codec keeps none */
    const void *plan; /* its record of this tensor (codec_plan); NULL: none */
} ExchangeWorker;

typedef enum {
    EXCHANGE_PLAN,     /* plans a worker's whole gradient: exchange/gradient.h alone */
    EXCHANGE_TRAIN,    /* learns, on one worker, what all of them start the step with */
    EXCHANGE_ENCODE,   /* encodes a worker's payload of one round */
    EXCHANGE_MERGE,    /* merges a batch of payloads */
    EXCHANGE_ESTIMATE, /* decodes a worker's payload */
    EXCHANGE_AVERAGE,  /* adds a decoded payload to the sum; at the end divides the sum */
    EXCHANGE_DECODE,   /* decodes the merged payload */
    EXCHANGE_SCALE,    /* divides the decoded sum by the number of workers */
} ExchangePhase;

/* For callers that time phases: `run` calls work(arg) in place of the exchange, which reads no clock itself. Work on
 * ENCODE, MERGE, ESTIMATE and DECODE may be called any number of times: each call gives the same result. `worker` is the
 * one at work; in MERGE and DECODE, which every receiver does alike, the first that sent. */
typedef struct {
    Status (*run)(void *data, ExchangePhase phase, size_t worker, Status (*work)(void *arg), void *arg);
    void *data;
} ExchangeClock;

typedef struct {
    /* Set by the caller, and kept by it until the step is over. */
    Call call; /* self, shape, threads, scratch and err; workers: how many send in this step, 1 or more */
    uint64_t seed, repeat, tensor; /* random address, with `step` and the worker (rng_open) */
    int64_t step;
    size_t batch; /* payloads merged at a time, beside what was merged before; 0: those of a round at once */
    bool each;    /* decode and average the payloads too where they merge */
    bool keep;    /* payloads stay until the arena is rewound, for exchange_settle; else for their batch */
    float *y;     /* (shape.n) decoded payloads, at the end the mean; free while encoding */
    Arena *payloads;     /* the caller marks it before exchange_begin and rewinds it after the step */
    ExchangeClock clock; /* {0}: phases run once, untimed */

    /* For callers to read. */
    int rounds;
    bool adds;               /* payloads of the last round merge */
    Bytes heard[ROUNDS_MAX]; /* merged payload of each round; empty in the last where payloads do not merge */

    /* The engine's own. */
    ExchangeWorker receiver; /* the first that sent */
    size_t taken;            /* payloads of this round */
    double *sum;             /* (shape.n) of decoded payloads; NULL: none is decoded by itself */
    const float *gradient;
    Buf payload;
    Bytes last, *waiting;
    size_t held, merged_before, room; /* in `waiting`; of these the merged one (0 or 1); at most */
    Buf merged[2];                    /* taking turns */
    int turn;
    ArenaMark round_start;
} Exchange;

Status exchange_begin(Exchange *x);

/* The Call of a worker in the round at work, for codec_plan, codec_variance and the like. */
Call exchange_call(const Exchange *x, const ExchangeWorker *w);

/* Before exchange_begin, for codecs with a train hook: learns from worker w's gradient, into its state. */
Status exchange_train(Exchange *x, const ExchangeWorker *w, const float *gradient);

/* After exchange_train: `to` gets what `from` has learned. */
void exchange_share_training(const Exchange *x, const ExchangeWorker *from, const ExchangeWorker *to);

/* Encodes the worker's gradient (shape.n) for this round. `*sent` is good until its batch is merged, with `keep` until
 * the step ends; it still has to be given to exchange_take. ERR_NUMERIC and others are the codec's. */
Status exchange_send(Exchange *x, const ExchangeWorker *w, const float *gradient, Bytes *sent);

/* Counts the worker's payload of this round. One that was not made by exchange_send stays with the caller until the
 * round ends. */
Status exchange_take(Exchange *x, const ExchangeWorker *w, Bytes payload);

/* To be called after the last worker of each round. */
Status exchange_end_round(Exchange *x);

/* Into y: the mean of the estimates over the workers that sent. */
Status exchange_receive(Exchange *x);

/* Moves the worker's state on; `sent`: its payload of every round. Does nothing without a state. */
Status exchange_settle(Exchange *x, const ExchangeWorker *w, const float *gradient, const Bytes *sent);

/* The same for a worker that dropped out. Others take it to have sent zeros: floats, or where the codec sends none, its
 * payload of a zero gradient from a zero state. */
Status exchange_settle_dropped(Exchange *x, const ExchangeWorker *w, const float *gradient);

#endif
