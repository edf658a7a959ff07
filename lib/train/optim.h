/* optim.h -- the optimizers: SGD with momentum and AdamW, as torch.optim defines them, and signSGD. */
#ifndef ATOMO_OPTIM_H
#define ATOMO_OPTIM_H

#include "base/base.h"

typedef enum { OPTIMIZER_SGD, OPTIMIZER_ADAMW, OPTIMIZER_SIGNSGD } OptimizerKind;
extern const char *const optimizer_names[]; /* by OptimizerKind; ends in NULL */

typedef struct {
    double lr, momentum, weight_decay; /* momentum: beta1 of AdamW; signSGD has none */
    double decay;                      /* factor on the learning rate lr after each `every` steps */
    size_t every;                      /* steps between two decays; 0: no decays */
    OptimizerKind kind;
    double beta2; /* of AdamW */
    double clip; /* largest norm of a whole gradient: a larger gradient is scaled to this norm; 0: no limit */
    /* The rate rises in equal steps and reaches lr at step `warmup` + 1. Then it falls along half a cosine to `least`
     * at step `cosine` + 1, and stays there. `cosine` 0: it does not fall along a cosine. */
    size_t warmup, cosine;
    double least;
} Optimizer;

/* ERR_USAGE: settings that exclude each other, that need another one, or that are out of AdamW's range. */
Status optimizer_check(const Optimizer *o, Error *err);

/* Returns the learning rate of a step. Steps count from 1. */
double optimizer_rate(const Optimizer *o, size_t step);

/* Returns the factor that `clip` puts on a gradient of n elements. */
double optimizer_scale(const Optimizer *o, const float *gradient, size_t n, int threads);

/* One parameter of n elements. `velocity` and `square` start at zero; only AdamW uses `square`. */
typedef struct {
    const float *gradient;
    float *velocity, *square, *weights;
    size_t n;
    bool matrix;  /* true: has two axes or more, so that the decay of AdamW and signSGD applies */
    double scale; /* the factor of `optimizer_scale` on the gradient */
} Updated;

/* Makes one step. w: weights, g: scaled gradient, v: velocity, r: learning rate, d: weight_decay.
 * SGD: v = momentum v + (g + d w), w = w - r v.
 * AdamW (Loshchilov & Hutter 2019): w = (1 - r d) w; v and s are moving averages of g and g^2 with the factors
 * momentum and beta2; w = w - r v' / (sqrt(s') + 1e-8), v' and s' being v and s without their bias to zero.
 * signSGD (Bernstein et al. 2018): w = (1 - r d) w - r sign(g). */
void optimizer_step(const Optimizer *o, size_t step, const Updated *u, int threads);

#endif
