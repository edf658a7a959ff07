/* svd_vectors.h -- how a singular vector travels: as floats, or as what bf16 (rounded stochastically) or qsgd
 * makes of it.
 *
 *     f32           x:f32 x n
 *     bf16, qsgd    size:varint  payload             the payload of that codec for a vector of n elements
 *
 * An atom's two vectors are rounded independently, each by words of its own address, so that the product of
 * the two unbiased estimates is unbiased. qsgd is used as it is: l2 norms of 512 elements, Elias codes, floats
 * for vectors so short that these could be no shorter. */
#ifndef ATOMO_SVD_VECTORS_H
#define ATOMO_SVD_VECTORS_H

#include "codec/compressor.h"

typedef enum { VECTORS_F32, VECTORS_BF16, VECTORS_QSGD } VectorForm;
extern const char *const vector_forms[];

typedef struct {
    VectorForm form;
    const Codec *codec; /* F32: NULL */
    uint32_t s;         /* QSGD: the highest level */
} Vectors;

/* `bits` of a level matter to QSGD alone. The codec lives in c->scratch. */
Status vectors_open(const Call *c, VectorForm form, int64_t bits, Vectors *v);

/* What a random vector of n elements and length one costs on average, and the mean square of what rounding
 * adds to it. Singular vectors have heavier tails than random ones, and take up to a fifth fewer bits. */
typedef struct {
    double bits, noise;
} VectorCost;
VectorCost vectors_cost(const Vectors *v, const Call *c, size_t n);

/* The most bytes a vector takes in any form. */
size_t vectors_most(size_t n);

/* `index` is the vector's random address; not for F32. ERR_NUMERIC where a value is beyond the form's range. */
Status vectors_put(const Vectors *v, const Call *c, uint64_t index, const float *x, size_t n, Buf *out);

/* The vector's payload (F32: its floats), or NULL where it is cut short. */
const uint8_t *vectors_take(const Vectors *v, Reader *r, size_t n, size_t *size);

/* x from a payload; refuses what vectors_put does not write. */
Status vectors_get(const Vectors *v, const Call *c, Bytes payload, size_t n, float *x);

/* Whether vectors_put may have had a vector of length one when it wrote this payload, which gives x. */
bool vectors_unit(const Vectors *v, Bytes payload, const float *x, size_t n);

/* The covariance D of what rounding adds to x, elements being independent: its trace, x'Dx, and the trace of
 * its square; for x of length one. */
typedef struct {
    double noise, along, squares;
} VectorNoise;
VectorNoise vectors_noise(const Vectors *v, const Call *c, const float *x, size_t n);

#endif
