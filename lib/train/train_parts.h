/* train_parts.h -- the fields of a trainer, for the files of this room only. */
#ifndef ATOMO_TRAIN_PARTS_H
#define ATOMO_TRAIN_PARTS_H

#include "exchange/gradient.h"
#include "exchange/relay.h"
#include "train/model.h"
#include "train/train_settings.h"

/* Results of one worker's part of a step, before the exchange. */
typedef struct {
    double loss,
        correct; /* mean cross-entropy; number of labels (of images or tokens) that have the largest output */
    double seconds;
} WorkerScore;

/* Measurements of one rank in a step. */
typedef struct {
    double measure[RANK_MEASURES];
    double encode; /* seconds of its slowest worker */
} RankTimes;

/* A worker's own weights and state of the inner optimizer, in training with local steps. Each array has as many
 * floats as the network has parameters. `square` is NULL unless the optimizer keeps squares. */
typedef struct {
    float *weights, *velocity, *square;
} InnerState;

/* Layers that are exchanged together: tensors of the network, `floats` parameters. */
typedef struct {
    GradientExchange *exchange;
    GradientTensor *tensor;
    size_t tensors, floats;
} Fragment;

struct Trainer {
    Arena *arena;
    TrainSetup s;
    Model *model;
    Fragment *fragment; /* (s.local.fragments) without local steps, one */
    size_t own, end; /* this rank's workers: own .. end - 1 */
    /* seconds in this step: encoding of each worker, decoding of one receiver */
    double *encode, decode;
    double waited;           /* seconds that this rank waited for others in this step's exchange */
    bool early;              /* true: the gradient that is computed now is sent while it is computed */
    size_t unchecked;        /* with `early`: number of parameters whose gradients have not been checked */
    double sending;          /* seconds of checking, encoding and sending while this gradient was computed */
    WorkerScore *score;      /* (workers) */
    RankTimes *times;        /* (ranks) of this step */
    uint64_t sent, received; /* this rank's counts of bytes when this step began */
    float *running_start;    /* (running_floats) running statistics before the first step */
    const float *start;      /* (floats) initial weights from a file; NULL: they are drawn from the seed */
    size_t floats;           /* number of parameters */
    /* (floats) `velocity` and `square`: state of the optimizer; `square` is NULL unless it keeps squares; `agreed`: mean
     * of the workers' estimates */
    float *weights, *velocity, *square, *agreed;
    float *room; /* (optimizer_room) working memory of the optimizer */
    /* (workers) NULL: no local steps. With local steps, `weights` are the common weights, `velocity` is the state of
     * the outer optimizer, and `gradient` holds the pseudo-gradients during an exchange. Rank 0 has the arrays of all
     * workers; on other ranks the pointers of other workers are NULL. */
    InnerState *inner;
    /* (workers) gradient and running statistics of each worker. Rank 0 has arrays for all workers, other ranks
     * for their own; the other pointers are NULL. */
    float **gradient, **running;
    float **running_before; /* (workers) running statistics before the present step */
    size_t running_floats;
    double *weight; /* (workers) weight of each worker's gradient in the mean, if the worker sends */
    bool *sends;    /* (workers) true: the worker sends in this step */
    /* (workers) the workers that have arrived in this step, in place of a choice; NULL: setup.arrival finds them, or they
     * are chosen */
    const bool *arrived;
    float *images; /* images of one worker's batch or of one testing pass */
    uint32_t *labels;
    uint32_t *order; /* order of the training images in epoch number `ordered` - 1 */
    size_t ordered;  /* the epoch whose order is in `order`, plus 1; 0: `order` is not filled yet */
    uint32_t *index; /* indices of the images of a testing pass */
    size_t step;     /* number of the last step that has been done */
};

/* Returns the number of images that worker w has seen since the exchange before `step` of the same layers, those of `step`
 * included. */
size_t round_images(const Trainer *t, size_t step, size_t w);

/* Returns the way that payloads travel in a topology. */
static inline NetWay way_of(Topology topology)
{
    static const NetWay ways[] = {[TOPOLOGY_PS] = NET_ROOT,
                                  [TOPOLOGY_ALLGATHER] = NET_ALL,
                                  [TOPOLOGY_RING] = NET_RING,
                                  [TOPOLOGY_TREE] = NET_TREE,
                                  [TOPOLOGY_TWOSHOT] = NET_RING,
                                  [TOPOLOGY_HIER] = NET_RING};
    return ways[topology];
}

/* True if the optimizer has averages of squares: AdamW, and Muon for what is no matrix. */
static inline bool optimizer_squares(const Optimizer *o)
{
    return o->kind == OPTIMIZER_ADAMW || o->kind == OPTIMIZER_MUON;
}

/* Returns the floats of working memory that the optimizer needs. */
size_t optimizer_room(const Optimizer *o, const Model *m);

/* The arrays that one optimizer step reads and changes, (floats) each. `square` is NULL unless the optimizer keeps squares. */
typedef struct {
    const float *gradient;
    float *weights, *velocity, *square;
} Optimized;

/* Makes the optimizer's step number `step` on a whole network. */
void optimize(const Trainer *t, size_t step, const Optimized *o);

/* ---- local steps (local_steps.c) ---- */

/* Sets t->inner, and the tensors of t->fragment. t->inner stays NULL for training without local steps, and for settings that
 * give the same training. */
Status local_open(Trainer *t, Error *err);
void local_reset(Trainer *t);

/* Makes the step of the inner optimizer on each worker of this process. Does nothing if t->inner is NULL; so does
 * local_differences. */
void local_update(Trainer *t, size_t step);

/* Replaces the gradient of each worker of this process by its pseudo-gradient. */
void local_differences(Trainer *t);

/* If the mean of a fragment's pseudo-gradients, in t->agreed, is due at `step`, applies it to the common weights, from which all
 * workers go on. */
void local_outer_step(Trainer *t, size_t step);

#endif
