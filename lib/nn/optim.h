/* optim.h -- stochastic gradient descent with momentum and weight decay, as torch.optim.SGD defines it. */
#ifndef ATOMO_OPTIM_H
#define ATOMO_OPTIM_H

#include "base/base.h"

typedef struct {
    double lr, momentum, weight_decay;
    double decay; /* factor on the learning rate lr after each `every` steps */
    size_t every; /* steps between two decays; 0: lr stays constant */
} Sgd;

/* Returns the learning rate of a step. Steps count from 1. */
double sgd_rate(const Sgd *s, size_t step);

/* Makes one step: v = momentum v + (g + weight_decay w), then w = w - rate v. Here g is the gradient, w the
 * weights and v the velocities, which start at zero. */
void sgd_step(const Sgd *s, size_t step, size_t n, const float *gradient, float *velocity, float *weights,
              int threads);

#endif
