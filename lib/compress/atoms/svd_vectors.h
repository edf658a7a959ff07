/* svd_vectors.h -- writes and reads singular vectors as floats, or rounded by the codec bf16 (stochastically) or
 * qsgd.
 *
 *     f32           x:f32 x n
 *     bf16, qsgd    size:varint  payload             the payload of bf16 or qsgd for a vector of n elements
 *
 * The two vectors of an atom are rounded independently, each with its own random words, so the product of the two
 * unbiased estimates is unbiased. qsgd has its default keys except bits: l2 norms of 512 elements, Elias codes,
 * and raw floats for short vectors, whose codes might take as many bytes as raw floats. */
#ifndef ATOMO_SVD_VECTORS_H
#define ATOMO_SVD_VECTORS_H

#include "codec/compressor.h"

typedef enum { VECTORS_F32, VECTORS_BF16, VECTORS_QSGD } VectorForm;
extern const char *const svd_vector_forms[];

typedef struct {
    VectorForm form;
    const Codec *codec; /* the codec that rounds vectors; NULL for F32 */
    uint32_t s;         /* for QSGD: the highest level */
} Vectors;

/* Writes the spec of the codec that rounds vectors; false for F32, which needs no codec. `bits`: bits of a level,
 * for QSGD only. */
bool svd_vectors_spec(VectorForm form, int64_t bits, char spec[PART_SPEC]);

/* Returns the Vectors of a form; `codec` is opened from the spec of svd_vectors_spec, and must outlive the result. */
Vectors svd_vectors_of(VectorForm form, int64_t bits, const Codec *codec);

/* The expected bits of a random unit vector of n elements, and the mean squared error of its rounding. Singular
 * vectors have heavier tails than random vectors and take up to a fifth fewer bits. */
typedef struct {
    double bits, noise;
} VectorCost;
VectorCost svd_vectors_cost(const Vectors *v, const Call *c, size_t n);

/* Returns an upper bound on the bytes of a vector of n elements, in any form. */
size_t svd_vectors_most(size_t n);

/* Appends x (n) in a rounded form (not for F32). `index` selects the vector's random words. ERR_NUMERIC: a value
 * is beyond the form's range. */
Status svd_vectors_put(const Vectors *v, const Call *c, uint64_t index, const float *x, size_t n, Buf *out);

/* Returns the bytes of the next vector in r (for F32 its floats) and sets *size to the number of bytes; NULL: r
 * has too few bytes. */
const uint8_t *svd_vectors_take(const Vectors *v, Reader *r, size_t n, size_t *size);

/* Decodes a vector's bytes to x (n). ERR_CORRUPT: svd_vectors_put does not write these bytes. */
Status svd_vectors_get(const Vectors *v, const Call *c, Bytes payload, size_t n, float *x);

/* True if this payload, which decodes to x (n), can be the payload of a unit vector. */
bool svd_vectors_unit(const Vectors *v, Bytes payload, const float *x, size_t n);

/* Moments of the rounding errors of the unit vector x / |x|, whose elements' errors are independent. With their
 * covariance D: noise = trace D, along = x'Dx / |x|^2, squares = trace D^2. */
typedef struct {
    double noise, along, squares;
} VectorNoise;
VectorNoise svd_vectors_noise(const Vectors *v, const Call *c, const float *x, size_t n);

#endif
