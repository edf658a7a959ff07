/* train_parts.h -- the fields of a trainer, shared by train.c, checkpoint.c, train_dump.c and
 * training_run.c. */
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
    /* seconds in this step: encoding of each worker, decoding of one receiver */
    double *encode, decode;
    size_t floats; /* number of parameters */
    /* (floats) `velocity` and `square`: state of the optimizer; `square` is NULL unless it is AdamW; `agreed`: mean
     * of the workers' estimates */
    float *weights, *velocity, *square, *agreed;
    float **gradient, **running; /* (workers) gradient and running statistics of each worker */
    float **running_before;      /* (workers) running statistics before the present step */
    size_t running_floats;
    double *weight; /* (workers) weight of each worker's gradient in the mean, if the worker sends */
    bool *sends;    /* (workers) true: the worker sends in this step */
    float *images;  /* images of one worker's batch or of one testing pass */
    uint8_t *labels;
    uint32_t *order; /* order of the training images in epoch number `ordered` - 1 */
    size_t ordered;  /* the epoch whose order is in `order`, plus 1; 0: `order` is not filled yet */
    uint32_t *index; /* indices of the images of a testing pass */
    size_t step;     /* number of the last step that has been done */
};

/* The images of a step: order[place .. place + count - 1], where `order` lists the epoch's images in
 * shuffled order. `epoch` and `place` count from 0. */
typedef struct {
    size_t epoch, place, count;
} Portion;
Portion portion_of(const Trainer *t, size_t step);

/* Returns the images of a step that worker w takes. */
Portion portion_share(const Portion *all, size_t workers, size_t w);

/* ---- the training setup, written as attributes into the files of a run ---- */

enum { SETUP_MOST = 32 };

static inline Attr attr_whole(const char *name, uint64_t v)
{
    return (Attr){.name = name, .type = ATTR_INT, .whole = (int64_t)v};
}

static inline Attr attr_real(const char *name, double v)
{
    return (Attr){.name = name, .type = ATTR_REAL, .real = v};
}

static inline Attr attr_text(const char *name, const char *v)
{
    return (Attr){.name = name, .type = ATTR_TEXT, .text = v};
}

/* Returns the attribute called `name`; NULL if there is none. `list` NULL: no attributes. */
const Attr *attr_find(const AttrList *list, const char *name);

/* Writes to `out` every setting that the weights depend on, except the network. Returns the number of
 * attributes. Memory for texts comes from `a`. */
size_t setup_attrs(const TrainSetup *s, Attr out[SETUP_MOST], Arena *a);

/* Checks that a file's attributes `theirs` include all of `own` with equal values. Returns ERR_CORRUPT if an
 * attribute is missing: the file is not `what` (for example "a checkpoint"). Returns ERR_USAGE if a value
 * differs: the file belongs to another setup. */
Status setup_check(const Attr *own, size_t count, const AttrList *theirs, const char *path, const char *what,
                   Error *err);

#endif
