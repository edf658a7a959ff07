/* svd_payload.h -- payloads of singular vectors:
 *
 *     kind:8 = 1   count:varint   { left:vector  right:vector } x count             (vectors: svd_vectors.h)
 *
 * Before rounding, an atom's shorter vector (of equally long vectors: the right one) has l2 norm 1, and the
 * other vector has l2 norm lambda / p. */
#ifndef ATOMO_SVD_PAYLOAD_H
#define ATOMO_SVD_PAYLOAD_H

#include "compress/atoms/svd_plan.h"

/* The atoms of a payload: left (count, rows), right (count, cols). */
typedef struct {
    size_t rows, cols, count;
    float *left, *right;
} SvdAtoms;

/* Returns an upper bound on the bytes of a payload. */
size_t svd_payload_most(const Call *c);

/* Appends a payload of the `count` atoms whose indices are in `kept`. Each atom is divided by its probability
 * p. */
Status svd_put(const Call *c, SvdPlan *plan, const size_t *kept, size_t count, Buf *out);

/* Reads the atoms of a payload into memory from c->scratch. ERR_CORRUPT: svd_put cannot have written the
 * payload. */
Status svd_get(const Call *c, Bytes in, SvdAtoms *a);

/* Returns an upper bound on the magnitude of every element of the atoms' sum. */
double svd_ceiling(const SvdAtoms *a);

/* Sets left[i] and right[i] to the moments of the errors of rounding the unit vectors of atom i, for all k
 * atoms. The moments are 0 if nothing is rounded, or if atom i has p = 0. */
Status svd_noise(const Call *c, SvdPlan *plan, VectorNoise *left, VectorNoise *right);

#endif
