/* svd_parts.h -- what svd.c, svd_payload.c and the tests of svd share: singular vectors and their rounding, the plan of
 * the atoms to keep, and payloads. */
#ifndef ATOMO_SVD_PARTS_H
#define ATOMO_SVD_PARTS_H

#include "compress/atoms/atoms.h"
#include "math/spectral.h"

/* ---- vectors: writes and reads singular vectors as floats, or rounded by the codec bf16 (stochastically)
 * or qsgd.
 *
 *     f32           x:f32 x n
 *     bf16, qsgd    size:varint  payload             the payload of bf16 or qsgd for a vector of n elements
 *
 * The two vectors of an atom are rounded independently, each with its own random words, so the product of the
 * two unbiased estimates is unbiased. qsgd has its default keys except bits: l2 norms of 512 elements, Elias
 * codes, and raw floats for short vectors, whose codes might take as many bytes as raw floats. */

typedef enum { VECTORS_F32, VECTORS_BF16, VECTORS_QSGD } VectorForm;
enum { BUCKET_SIZE = 512 }; /* the default of qsgd's key `bucket` */

/* For a random unit vector of n elements: the expected bits, and the mean squared error of rounding. Singular
 * vectors of gradients have heavier tails, and take up to a fifth fewer bits. */
typedef struct {
    double bits, noise;
} VectorCost;
VectorCost svd_vectors_cost(const Call *c, size_t n);

/* Moments of the errors of rounding the unit vector x / |x|. D is the covariance matrix of the elements'
 * errors, which are independent. noise = trace D, along = x'Dx / |x|^2, squares = trace D^2. */
typedef struct {
    double noise, along, squares;
} VectorNoise;

/* ---- the plan: spectral ATOMO without payloads: the singular values of a matrix, their probabilities, and a
 * draw.
 *
 * Atom i is kept with probability p_i = min(1, lambda_i / level). The level comes from `rank`, or from a plan
 * that divides one budget between several tensors (joint). ---- */

/* How the basis of a matrix is computed (spectral.h). SVD_AUTO: SVD_RANDOMIZED if rows and columns are more than
 * SVD_SIDE_MOST, else SVD_GRAM. */
typedef enum { SVD_AUTO, SVD_GRAM, SVD_GESDD, SVD_RANDOMIZED } SvdMethod;
enum { SVD_SIDE_MOST = 1024 };

/* The keys of the codec svd. */
typedef struct {
    double rank;
    int64_t vbits, directions;
    int reshape, method, vectors, probs, empty, draw;
} Svd;

typedef struct {
    size_t rows, cols; /* rows and columns of the matrix in memory */
    /* the matrix as a sum of k atoms; s.lambda has the atoms' norms, largest first: the singular values,
     * except with SVD_RANDOMIZED */
    Spectral s;
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

/* True if the codec `svd` takes only the leading singular vectors of a tensor of this shape. */
bool svd_takes_leading(const Codec *svd, const Shape *shape);

/* Computes the rows and columns of the matrix to which a tensor is reshaped. */
static inline void svd_view(const Call *c, size_t *rows, size_t *cols)
{
    matrix_view(c->shape, (Reshape)((const Svd *)c->self->params)->reshape, rows, cols);
}

/* ---- payloads of singular vectors:
 *
 *     kind:8 = 1   count:varint   { left:vector  right:vector } x count             (vectors: above)
 *
 * Before rounding, an atom's shorter vector (of equally long vectors: the right one) has l2 norm 1, and the
 * other vector has l2 norm lambda / p. */

/* The atoms of a payload: left (count, rows), right (count, cols). */
typedef struct {
    size_t rows, cols, count;
    float *left, *right;
} SvdAtoms;

/* Appends a payload of the `count` atoms whose indices are in `kept`. Each atom is divided by its probability
 * p. */
Status svd_put(const Call *c, SvdPlan *plan, const size_t *kept, size_t count, Buf *out);

/* Reads the atoms of a payload into memory from c->scratch. ERR_CORRUPT: svd_put cannot have written the
 * payload. */
Status svd_get(const Call *c, Bytes in, SvdAtoms *a);

/* Sets left[i] and right[i] to the moments of the errors of rounding the unit vectors of atom i, for all k
 * atoms. The moments are 0 if nothing is rounded, or if atom i has p = 0. */
Status svd_noise(const Call *c, SvdPlan *plan, VectorNoise *left, VectorNoise *right);

#endif
