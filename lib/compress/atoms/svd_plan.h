/* svd_plan.h -- which atoms of a matrix spectral ATOMO sends and how likely: all that comes before the bytes.
 *
 * Atom i is kept with probability p_i = min(1, lambda_i / level). The level comes from `rank`, or from
 * whoever spreads one budget over several tensors:
 *
 *     svd_plan_open(c, x, &plan);          the lengths, and what an atom costs
 *     svd_plan_rank(c, &plan);             or svd_plan_level(c, &plan, level)
 *     count = svd_draw(c, &plan, kept); */
#ifndef ATOMO_SVD_PLAN_H
#define ATOMO_SVD_PLAN_H

#include "compress/atoms/atoms.h"
#include "num/spectral.h"
#include "compress/atoms/svd_vectors.h"

/* svd's keys. */
typedef struct {
    double rank;
    int64_t vbits;
    int reshape, method, vectors, probs, empty, draw;
} Svd;

typedef struct {
    size_t rows, cols; /* of the matrix as it lies in memory */
    Spectral s;        /* lambda: (k), largest first */
    Vectors vectors;
    double atom_bits; /* expected payload bits of an atom; the same for each */
    double
        atom_noise; /* expected (1 + w)(1 + w') where rounding adds w and w' to its vectors of length one */
    double level;   /* 0: every atom is kept that is not 0 */
    double *p;      /* (k) */
    double atoms;   /* expected number sent */
    double bits;    /* expected payload bits */
    bool raw;       /* which are expected to be no fewer than the floats' */
} SvdPlan;

/* The matrix that a tensor is sent as. */
void svd_view(const Call *c, size_t *rows, size_t *cols);

/* Everything lives in c->scratch. All but p and what follows from it. */
Status svd_plan_open(const Call *c, const float *x, SvdPlan *plan);

/* p for an expected number of `rank` atoms, or for a level from outside. */
Status svd_plan_rank(const Call *c, SvdPlan *plan);
Status svd_plan_level(const Call *c, SvdPlan *plan, double level);

/* The atoms that this draw keeps, ascending, into kept (k); returns how many. */
size_t svd_draw(const Call *c, const SvdPlan *plan, size_t *kept);

#endif
