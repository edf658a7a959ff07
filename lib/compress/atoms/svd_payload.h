/* svd_payload.h -- payloads of singular vectors:
 *
 *     kind:8 = 1   count:varint   { left:vector  right:vector } x count             (vectors: svd_vectors.h)
 *
 * where the vector of the shorter side has length one, and the other vector carries the scale. */
#ifndef ATOMO_SVD_PAYLOAD_H
#define ATOMO_SVD_PAYLOAD_H

#include "compress/atoms/svd_plan.h"

/* The atoms of a payload: left (count, rows), right (count, cols). */
typedef struct {
    size_t rows, cols, count;
    float *left, *right;
} SvdAtoms;

/* Most bytes of a payload. */
size_t svd_payload_most(const Call *c);

/* Appends the payload of the atoms kept (count) of the plan, each divided by its p. */
Status svd_put(const Call *c, SvdPlan *plan, const size_t *kept, size_t count, Buf *out);

/* Reads the atoms into c->scratch; ERR_CORRUPT for a payload that svd_put does not write. */
Status svd_get(const Call *c, Bytes in, SvdAtoms *a);

/* An upper bound for the magnitude of every element of the atoms' sum. */
double svd_ceiling(const SvdAtoms *a);

/* left, right (k): the noise that rounding adds to each atom's unit vectors; 0 for atoms that are never sent. */
Status svd_noise(const Call *c, SvdPlan *plan, VectorNoise *left, VectorNoise *right);

#endif
