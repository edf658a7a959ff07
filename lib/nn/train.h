/* train.h -- trains a network: simulated workers share one model, and a codec compresses their gradients.
 *
 * The setup and a step's number determine the step: its images, the workers that send, every random number.
 * So a trainer that is restored to an earlier step repeats the later steps bit for bit, for any number of
 * threads. */
#ifndef ATOMO_TRAIN_H
#define ATOMO_TRAIN_H

#include "codec/codec.h"
#include "data/dataset.h"
#include "dump/groups.h"
#include "network/netcost.h"
#include "nn/optim.h"

typedef struct {
    const char *network;
    const Dataset *train, *test; /* training and test images; test NULL: the run is never tested */
    const Codec *codec;
    size_t workers, aggregate; /* in each step `aggregate` workers, drawn from the seed, send gradients */
    /* `batch`: images in a step, over all workers; `test_batch`: images in a testing pass */
    size_t batch, test_batch;
    Grouping grouping;   /* GROUP_TENSOR or GROUP_ALL */
    size_t min_elements; /* tensors with fewer elements are sent as floats, without the codec */
    Optimizer optimizer;
    uint64_t seed;
    int threads;
    Topology topology;
    const Link *link;      /* network model for the communication time; NULL: no communication time */
    bool (*stopped)(void); /* returns true when the user has asked to stop; may be NULL */
} TrainSetup;

typedef struct Trainer Trainer;

/* Opens a trainer. `setup` and all objects that it points to must outlive the trainer. ERR_USAGE: options
 * that exclude each other. */
Status trainer_open(Trainer **out, const TrainSetup *setup, Error *err);
void trainer_close(Trainer *t); /* NULL is fine */
void trainer_reset(Trainer *t); /* sets the initial weights again, as before step 1 */

size_t trainer_step_done(const Trainer *t);   /* returns the number of the last step; 0: no step yet */
size_t trainer_epoch_steps(const Trainer *t); /* returns the number of steps in an epoch */
size_t trainer_parameters(const Trainer *t);  /* returns the number of weights */
/* Returns the bytes of activations, weights, gradients and batches, without the state of the codec. */
size_t trainer_bytes(const Trainer *t);
const float *trainer_weights(const Trainer *t);

typedef struct {
    double loss;     /* mean cross-entropy */
    double accuracy; /* share of images whose largest output is that of their label */
} MeanScore;

typedef struct {
    size_t step, epoch; /* both from 1 */
    double lr;
    /* on the step's batch, before the step's update of the weights */
    MeanScore train;
    /* on the test images; NaN if the step was not tested */
    MeanScore test;
    /* bytes sent (mean over the workers that send) and received by one worker */
    double bytes_up, bytes_down;
    double compute, encode, comm, decode; /* seconds; for compute and encode, of the slowest worker */
} StepRecord;

/* Runs one step. ERR_NUMERIC: there are values that are not finite; the error names the step and the layer
 * or tensor. ERR_STOPPED: stopped while a gradient was computed; the trainer is as before the step. */
Status trainer_step(Trainer *t, StepRecord *r, Error *err);

/* Computes loss and accuracy on all images of `d` with worker 0's running statistics. ERR_STOPPED: stopped. */
Status trainer_test(Trainer *t, const Dataset *d, MeanScore *out, Error *err);

#endif
