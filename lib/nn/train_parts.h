/* train_parts.h -- what a trainer is made of, for the files that make it up. */
#ifndef ATOMO_TRAIN_PARTS_H
#define ATOMO_TRAIN_PARTS_H

#include "exchange/gradient.h"
#include "nn/model.h"
#include "nn/train.h"

struct Trainer {
    Arena *arena;
    TrainSetup s;
    Model *model;
    GradientExchange *exchange;
    double *encode, decode;             /* (workers) seconds of the step at work, and of one receiver */
    size_t floats;                      /* parameters */
    float *weights, *velocity, *agreed; /* (floats) */
    float **gradient, **running;        /* (workers) */
    size_t running_floats;
    double *weight; /* (workers): share of the mean, of those that are heard */
    bool *heard;    /* (workers) */
    float *images;  /* one worker's, or those of a testing pass */
    uint8_t *labels;
    uint32_t *order; /* of the images, in epoch `ordered`; then of a test: 0, 1, 2, ... */
    size_t ordered;  /* 0: none yet */
    uint32_t *index;
    size_t step; /* done */
};

/* The images of a step: order[place .. place + count - 1] of its epoch. */
typedef struct {
    size_t epoch, place, count;
} Portion;
Portion portion_of(const Trainer *t, size_t step);

/* Which of these are worker w's. */
Portion portion_share(const Portion *all, size_t workers, size_t w);

/* Every array that a step leaves to the next: weights, velocities, running statistics, codec states. */
typedef Status (*ArrayVisit)(void *data, const char *path, const Shape *shape, float *x, Error *err);
Status trainer_arrays(Trainer *t, ArrayVisit visit, void *data, Error *err);

#endif
