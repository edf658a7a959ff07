/* train.h -- a network in training: P simulated workers on one model, with any codec between them.
 *
 * All follows from the setup and the number of the step: which images make its batch, who is heard, what is drawn. So
 * a trainer that is put back to a step goes on as if it had never stopped, to the bit, for any number of threads. */
#ifndef ATOMO_TRAIN_H
#define ATOMO_TRAIN_H

#include "codec/codec.h"
#include "data/dataset.h"
#include "dump/groups.h"
#include "measure/netcost.h"
#include "nn/optim.h"

typedef struct {
    const char *network;
    const Dataset *train, *test; /* test NULL: none */
    const Codec *codec;
    size_t workers, aggregate; /* of which so many are heard, chosen by the seed */
    size_t batch, test_batch;  /* images, of all workers together */
    Grouping grouping;         /* GROUP_TENSOR or GROUP_ALL */
    size_t min_elements;
    Sgd sgd;
    uint64_t seed;
    int threads;
    Topology topology;
    const Link *link;
} TrainSetup;

typedef struct Trainer Trainer;

Status trainer_open(Trainer **out, const TrainSetup *setup, Error *err);
void trainer_close(Trainer *t); /* NULL is fine */
void trainer_reset(Trainer *t); /* back to initial weights, at step 0 */

size_t trainer_step_done(const Trainer *t);   /* 0: none yet */
size_t trainer_epoch_steps(const Trainer *t); /* steps to an epoch */
size_t trainer_parameters(const Trainer *t);  /* how many floats */
const float *trainer_weights(const Trainer *t);

/* A mean loss and a share of right answers. */
typedef struct {
    double loss, accuracy;
} Tested;

typedef struct {
    size_t step, epoch; /* both from 1 */
    double lr;
    Tested train;                         /* over the step's batch, before its update */
    Tested test;                          /* NaN where nobody tested */
    double bytes_up, bytes_down;          /* of a worker */
    double compute, encode, comm, decode; /* seconds */
} StepRecord;

/* ERR_NUMERIC names the step, and the layer or tensor. */
Status trainer_step(Trainer *t, StepRecord *r, Error *err);

/* With worker 0's running statistics. */
Status trainer_test(Trainer *t, const Dataset *d, Tested *out, Error *err);

#endif
