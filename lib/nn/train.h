/* train.h -- trains a network: P simulated workers share one model, and a codec compresses their gradients.
 *
 * The setup and a step's number determine the step: its images, the workers that send, every random number. A trainer put
 * back to an earlier step therefore repeats the run bit for bit, for any number of threads. */
#ifndef ATOMO_TRAIN_H
#define ATOMO_TRAIN_H

#include "codec/codec.h"
#include "data/dataset.h"
#include "dump/groups.h"
#include "network/netcost.h"
#include "nn/optim.h"

typedef struct {
    const char *network;
    const Dataset *train, *test; /* test NULL: never tested */
    const Codec *codec;
    size_t workers, aggregate; /* `aggregate` of the workers send in each step, drawn from the seed */
    size_t batch, test_batch;  /* images in a step, over all workers; images in a testing pass */
    Grouping grouping;         /* GROUP_TENSOR or GROUP_ALL */
    size_t min_elements;       /* smaller tensors are sent as floats */
    Sgd sgd;
    uint64_t seed;
    int threads;
    Topology topology;
    const Link *link; /* NULL: no communication time */
} TrainSetup;

typedef struct Trainer Trainer;

/* `setup` and all that it points to must outlive the trainer. ERR_USAGE: options that do not go together. */
Status trainer_open(Trainer **out, const TrainSetup *setup, Error *err);
void trainer_close(Trainer *t); /* NULL is fine */
void trainer_reset(Trainer *t); /* back to the initial weights, at step 0 */

size_t trainer_step_done(const Trainer *t);   /* number of the last step; 0: none yet */
size_t trainer_epoch_steps(const Trainer *t); /* steps in an epoch */
size_t trainer_parameters(const Trainer *t);  /* floats in the weights */
const float *trainer_weights(const Trainer *t);

typedef struct {
    double loss;     /* mean cross-entropy */
    double accuracy; /* share of images whose largest output is their label's */
} MeanScore;

typedef struct {
    size_t step, epoch; /* both from 1 */
    double lr;
    MeanScore train;                      /* over the step's batch, before its update */
    MeanScore test;                       /* NaN where the step was not tested */
    double bytes_up, bytes_down;          /* sent and received by one worker, on average */
    double compute, encode, comm, decode; /* seconds; compute and encode of the slowest worker */
} StepRecord;

/* ERR_NUMERIC: values that are not finite; the error names the step and the layer or tensor. */
Status trainer_step(Trainer *t, StepRecord *r, Error *err);

/* Scores all of `d` with worker 0's running statistics. */
Status trainer_test(Trainer *t, const Dataset *d, MeanScore *out, Error *err);

#endif
