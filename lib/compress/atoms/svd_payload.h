/* svd_payload.h -- a payload of atoms:
 *
 *     kind:8 = 1   count:varint   { left:vector  right:vector } x count             (vectors: svd_vectors.h)
 *
 * where the vector on the shorter side has length one and the other carries the scale. */
#ifndef ATOMO_SVD_PAYLOAD_H
#define ATOMO_SVD_PAYLOAD_H

#include "compress/atoms/svd_plan.h"

/* The atoms of a payload: left (count, rows), right (count, cols). */
typedef struct {
    size_t rows, cols, count;
    float *left, *right;
} SvdAtoms;

size_t svd_payload_most(const Call *c);

/* Sends the atoms kept[0 .. count-1] of the plan, each divided by its p. */
Status svd_put(const Call *c, SvdPlan *plan, const size_t *kept, size_t count, Buf *out);

/* Refuses what svd_put does not write; the atoms live in c->scratch. */
Status svd_get(const Call *c, Bytes in, SvdAtoms *a);

/* No value of the atoms' sum can be larger in magnitude. */
double svd_ceiling(const SvdAtoms *a);

/* What rounding adds to atom i's vectors, in units of their lengths. Both (k); 0 for atoms never sent. */
Status svd_noise(const Call *c, SvdPlan *plan, VectorNoise *left, VectorNoise *right);

#endif
