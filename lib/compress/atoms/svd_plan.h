/* svd_plan.h -- spectral ATOMO without payloads: the singular values of a matrix, their probabilities, and a
 * draw.
 *
 * Atom i is kept with probability p_i = min(1, lambda_i / level). The level comes from `rank`, or from a plan
 * that divides one budget between several tensors (joint):
 *
 *     svd_plan_open(c, x, &plan);          singular values, expected bits of an atom
 *     svd_plan_rank(c, &plan);             or svd_plan_level(c, &plan, level)
 *     count = svd_draw(c, &plan, kept); */
#ifndef ATOMO_SVD_PLAN_H
#define ATOMO_SVD_PLAN_H

#include "compress/atoms/atoms.h"
#include "math/spectral.h"
#include "compress/atoms/svd_vectors.h"

/* How the basis of a matrix is computed (spectral.h). */
typedef enum { SVD_GRAM = SPECTRAL_GRAM, SVD_GESDD = SPECTRAL_GESDD, SVD_RANDOMIZED } SvdMethod;

/* The keys of the codec svd. */
typedef struct {
    double rank;
    int64_t vbits, directions;
    int reshape, method, vectors, probs, empty, draw;
} Svd;

typedef struct {
    size_t rows, cols; /* rows and columns of the matrix in memory */
    /* the matrix as a sum of k atoms; s.lambda has the atoms' norms, largest first: the singular values,
     * except with method=randomized */
    Spectral s;
    Vectors vectors;
    double atom_bits; /* expected payload bits of an atom, the same for all atoms */
    /* expected (1 + w)(1 + w'), where w and w' are the mean squared errors of rounding an atom's two unit
     * vectors */
    double atom_noise;
    double level; /* the water level; 0: every atom that is not 0 is kept */
    double *p;    /* (k) probability that each atom is kept */
    double atoms; /* expected number of kept atoms */
    double bits;  /* expected payload bits */
    /* true: the tensor is sent as raw floats, because the expected payload is not shorter, or because rounded
     * vectors cannot give the exact tensor that level 0 asks for */
    bool raw;
} SvdPlan;

/* Computes the rows and columns of the matrix to which a tensor is reshaped. */
void svd_view(const Call *c, size_t *rows, size_t *cols);

/* Sets all members of *plan except `level`, `p`, `atoms`, `bits` and `raw`; the memory is in c->scratch. */
Status svd_plan_open(const Call *c, const float *x, SvdPlan *plan);

/* Sets `level`, `p`, `atoms`, `bits` and `raw`, for an expected number of `rank` atoms. */
Status svd_plan_rank(const Call *c, SvdPlan *plan);
/* Sets `level`, `p`, `atoms`, `bits` and `raw`, for a given water level. */
Status svd_plan_level(const Call *c, SvdPlan *plan, double level);

/* Draws atoms: writes the indices of the kept atoms to kept (k) in rising order, and returns their number. */
size_t svd_draw(const Call *c, const SvdPlan *plan, size_t *kept);

/* Returns the bits of a payload of `count` atoms minus the mean bits of a payload. The result is exact if all
 * atoms take the same number of bits, and otherwise approximate. Returns 0 if memory runs out. */
double svd_excess(const Call *c, const SvdPlan *plan, size_t count);

#endif
