/* svd_vectors.h -- writes and reads singular vectors as floats, or rounded by the codec bf16 (stochastically)
 * or qsgd.
 *
 *     f32           x:f32 x n
 *     bf16, qsgd    size:varint  payload             the payload of bf16 or qsgd for a vector of n elements
 *
 * The two vectors of an atom are rounded independently, each with its own random words, so the product of the
 * two unbiased estimates is unbiased. qsgd has its default keys except bits: l2 norms of 512 elements, Elias
 * codes, and raw floats for short vectors, whose codes might take as many bytes as raw floats. */
#ifndef ATOMO_SVD_VECTORS_H
#define ATOMO_SVD_VECTORS_H

#include "compress/compressor.h"

typedef enum { VECTORS_F32, VECTORS_BF16, VECTORS_QSGD } VectorForm;
extern const char *const svd_vector_forms[];

typedef struct {
    VectorForm form;
    const Codec *codec; /* the codec that rounds vectors; NULL for F32 */
    uint32_t s;         /* for QSGD: the highest level */
} Vectors;

/* Writes the spec of the codec that rounds singular vectors. `bits`, for QSGD only, is the number of bits of
 * a quantisation level. Returns false for F32, which needs no codec. */
bool svd_vectors_spec(VectorForm form, int64_t bits, char spec[PART_SPEC]);

/* Returns the Vectors of a form. `codec` must be the codec of the spec from svd_vectors_spec, and must
 * outlive the result. */
Vectors svd_vectors_of(VectorForm form, int64_t bits, const Codec *codec);

/* For a random unit vector of n elements: the expected bits, and the mean squared error of rounding. Singular
 * vectors of gradients have heavier tails, and take up to a fifth fewer bits. */
typedef struct {
    double bits, noise;
} VectorCost;
VectorCost svd_vectors_cost(const Vectors *v, const Call *c, size_t n);

/* Returns an upper bound on the bytes of a vector of n elements, in any form. */
size_t svd_vectors_most(size_t n);

/* Rounds the n elements x and appends them to `out` (not for F32). `index` selects the random words for the
 * vector. ERR_NUMERIC: a value is beyond the range of the form. */
Status svd_vectors_put(const Vectors *v, const Call *c, uint64_t index, const float *x, size_t n, Buf *out);

/* Returns the bytes of the next vector in r and sets *size to their number. NULL: r has too few bytes left. */
const uint8_t *svd_vectors_take(const Vectors *v, Reader *r, size_t n, size_t *size);

/* Decodes a vector's bytes to x (n). ERR_CORRUPT: svd_vectors_put cannot have written the bytes. */
Status svd_vectors_get(const Vectors *v, const Call *c, Bytes payload, size_t n, float *x);

/* Returns false only if the encoder cannot have made this payload from a unit vector. x (n) is the decoded
 * payload. */
bool svd_vectors_unit(const Vectors *v, Bytes payload, const float *x, size_t n);

/* Moments of the errors of rounding the unit vector x / |x|. D is the covariance matrix of the elements'
 * errors, which are independent. noise = trace D, along = x'Dx / |x|^2, squares = trace D^2. */
typedef struct {
    double noise, along, squares;
} VectorNoise;
VectorNoise svd_vectors_noise(const Vectors *v, const Call *c, const float *x, size_t n);

#endif
