/* train.h -- trains a network: simulated workers share one model, and a codec compresses their gradients.
 *
 * The setup and a step's number determine the step: its images, every random number, and, without `arrival`, the
 * workers that send.
 * So a trainer that is restored to an earlier step repeats the later steps bit for bit, for any number of
 * threads.
 *
 * On several ranks (setup.net), all ranks together call trainer_step and trainer_spread.
 * Errors of trainer_step are the same on all ranks. */
#ifndef ATOMO_TRAIN_H
#define ATOMO_TRAIN_H

#include "compress/codec.h"
#include "train/dataset.h"
#include "dump/groups.h"
#include "exchange/exchange.h"
#include "exchange/net.h"
#include "measure/netcost.h"

/* ---- the optimizers: SGD with momentum and AdamW, as torch.optim defines them, signSGD, and Muon ---- */

typedef enum { OPTIMIZER_SGD, OPTIMIZER_ADAMW, OPTIMIZER_SIGNSGD, OPTIMIZER_MUON } OptimizerKind;

/* By which factor the step size of a matrix of d_out rows and d_in columns grows under Muon: sqrt(max(1, d_out / d_in)),
 * 0.2 sqrt(max(d_out, d_in)), sqrt(d_out / d_in). */
typedef enum { MUON_KELLER, MUON_MOONSHOT, MUON_DION } MuonScale;

typedef struct {
    double lr, momentum, weight_decay; /* momentum: beta1 of AdamW; signSGD has none */
    double decay;                      /* factor on the learning rate lr after each `every` steps */
    size_t every;                      /* steps between two decays; 0: no decays */
    OptimizerKind kind;
    double beta2; /* of AdamW */
    MuonScale scale;
    double other; /* with Muon: step size of AdamW, which changes all but the matrices, falling and rising as `lr` */
    double clip; /* largest norm of a whole gradient: a larger gradient is scaled to this norm; 0: no limit */
    /* The rate rises in equal steps and reaches lr at step `warmup` + 1. Then it falls along half a cosine to `least`
     * at step `cosine` + 1, and stays there. `cosine` 0: it does not fall along a cosine. */
    size_t warmup, cosine;
    double least;
} Optimizer;

/* Returns the learning rate of a step. Steps count from 1. */
double optimizer_rate(const Optimizer *o, size_t step);

/* ---- training ---- */

/* Local steps (DiLoCo, arXiv 2311.08105). The workers exchange the changes of their weights after every `steps`
 * steps. The outer optimizer, SGD with Nesterov's momentum, applies the mean of these changes. `steps` 0: the
 * workers exchange their gradients in every step.
 * Streaming (Streaming DiLoCo, arXiv 2501.18512): the layers are divided among `fragments` fragments in turn, which are exchanged
 * at different steps. The mean is applied `late` steps after it was sent; a worker then goes on from (1 - mix) times the common
 * weights plus `mix` times its own. */
typedef struct {
    size_t steps, fragments, late; /* fragments 0: 1 */
    double lr, momentum; /* of the outer optimizer; 1 and 0: the workers' weights are averaged */
    double mix;
} LocalSteps;

typedef struct { /* train_settings.h has a table of these settings */
    const char *network;
    const Dataset *train, *test; /* training and test images; test NULL: the run is never tested */
    const Codec *codec;
    size_t workers, aggregate; /* in each step `aggregate` workers, drawn from the seed, send gradients */
    /* 1: the `aggregate` workers whose gradients are computed first send them. The others leave the step: their
     * gradients are lost. Then the weights depend on which workers are fast. Only with TOPOLOGY_PS on several ranks. */
    int arrival;
    /* `batch`: images in a step, over all workers; `test_batch`: images in a testing pass */
    size_t batch, test_batch;
    Grouping grouping; /* GROUP_TENSOR or GROUP_ALL */
    Average average;   /* over which workers the mean of an element is taken */
    const char *
        weights; /* file of the initial weights (weights.h), which each rank reads; NULL: drawn from the seed */
    uint64_t initial; /* their checksum, set by trainer_open, or of a checkpoint that is tested; 0: drawn */
    size_t min_elements; /* tensors with fewer elements are sent as floats, without the codec */
    Optimizer optimizer; /* with local steps, the inner optimizer: each worker has its own state of it */
    LocalSteps local;
    uint64_t seed;
    int threads;
    Topology topology;
    /* of TOPOLOGY_HIER: workers in a node, the codec within nodes (`codec` is the one between them), and the link there */
    size_t node;
    const Codec *within;
    const Link *near;
    int owner_feedback; /* 1: the owner of a shard keeps the error of the second quantisation (exchange/gradient.h) */
    const Link *link; /* network model for the communication time; NULL: no communication time */
    /* returns true from the moment when the user asked to stop; several threads ask at a time; may be NULL */
    bool (*stopped)(void);
    /* The ranks that share the workers. NULL: this process simulates all workers. Each rank opens a trainer with
     * the same setup. All ranks get the same weights, bit for bit: without `arrival`, those of one process with all workers. */
    Net *net;
    /* of GradientSpec; neither changes the weights */
    size_t bucket_bytes;
    int overlap;
} TrainSetup;

/* Returns why training with `overlap` sends nothing before the backward pass ends; NULL: it sends earlier. */
const char *train_sends_late(const TrainSetup *s);

/* Fails with ERR_USAGE if options of the setup exclude each other. Needs no data: without `train`, what depends on the data
 * is not checked. */
Status train_check(const TrainSetup *s, Error *err);

typedef struct Trainer Trainer;

/* Opens a trainer. `setup` and all objects that it points to must outlive the trainer. ERR_USAGE: options
 * that exclude each other. */
Status trainer_open(Trainer **out, const TrainSetup *setup, Error *err);
void trainer_close(Trainer *t); /* NULL is fine */
void trainer_reset(Trainer *t); /* sets the initial weights again, as before step 1 */

size_t trainer_step_done(const Trainer *t);   /* returns the number of the last step; 0: no step yet */
size_t trainer_epoch_steps(const Trainer *t); /* returns the number of steps in an epoch */
size_t trainer_parameters(const Trainer *t);  /* returns the number of weights */

/* Returns the number, from 1, of the exchange that follows a step; 0: no exchange follows it. */
size_t trainer_exchange(const Trainer *t, size_t step);

typedef struct {
    double loss;     /* mean cross-entropy */
    double accuracy; /* share of labels (of images or tokens) that have the largest output */
} MeanScore;

/* What each rank measures in a step: seconds in which it computes, encodes, waits for other ranks and decodes, all its
 * workers together; bytes that it sends to others and receives, the sizes of payloads and all other messages included. */
enum { RANK_COMPUTE, RANK_ENCODE, RANK_WAIT, RANK_DECODE, RANK_SENT, RANK_RECEIVED, RANK_MEASURES };

/* Minimum, mean and maximum over ranks. */
typedef struct {
    double least, mean, most;
} RankSpread;

typedef struct {
    size_t step, epoch; /* both from 1 */
    double lr;
    /* on the step's batch, before the step's update of the weights */
    MeanScore train;
    /* on the test images; NaN if the step was not tested */
    MeanScore test;
    /* bytes sent (mean over the workers that send) and received by one worker; 0 in a step without exchange */
    double bytes_up, bytes_down;
    /* Seconds; for compute and encode, of the slowest worker. comm: on ranks, measured on the rank that waited
     * least for others; else as `modelled`. */
    double compute, encode, comm, decode;
    double modelled;                /* seconds of communication on setup.link by the network model */
    RankSpread rank[RANK_MEASURES]; /* 0 in one process */
    bool dumped;                    /* true: the step's gradients were saved, which took time */
} StepRecord;

/* Runs one step. ERR_NUMERIC: there are values that are not finite; the error names the step and the layer
 * or tensor. ERR_STOPPED: stopped while a gradient was computed; the trainer is as before the step. */
Status trainer_step(Trainer *t, StepRecord *r, Error *err);

/* Copies the state of rank 0's trainer, which has loaded a checkpoint, to the trainers of all ranks. */
Status trainer_spread(Trainer *t, Error *err);

/* Computes loss and accuracy on all images of `d` with worker 0's running statistics. ERR_STOPPED: stopped. */
Status trainer_test(Trainer *t, const Dataset *d, MeanScore *out, Error *err);

#endif
