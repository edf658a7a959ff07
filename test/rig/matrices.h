/* matrices.h -- makes matrices for tests of low-rank codecs, and encodes one matrix in successive steps. */
#ifndef ATOMO_MATRICES_H
#define ATOMO_MATRICES_H

#include "rig/codec_rig.h"

static inline Shape shape_of(int rank, const size_t *dim)
{
    Shape shape;
    check(shape_make(&shape, rank, dim));
    return shape;
}

static inline Shape matrix(size_t rows, size_t cols)
{
    return shape_of(2, (const size_t[]){rows, cols});
}

static inline void normal(float *x, size_t n, uint64_t seed)
{
    const Rng rng = rng_open(seed, 0, 0, 0, 5);
    rng_normals(&rng, USE_TEST, 0, n, 1, x);
}

/* Fills x with a sum of `rank` outer products of normal vectors. Product k = 0, 1, ... is multiplied by
 * 2^-k. */
static inline void low_rank(float *x, size_t rows, size_t cols, size_t rank, uint64_t seed)
{
    const Rng rng = rng_open(seed, 0, 0, 0, 6);
    for (size_t i = 0; i < rows * cols; i++) {
        double v = 0;
        for (size_t k = 0; k < rank; k++)
            v += ldexp(rng_normal(&rng, USE_TEST, k * rows + i / cols) *
                           rng_normal(&rng, USE_DATA, k * cols + i % cols),
                       -(int)k);
        x[i] = (float)v;
    }
}

static inline double error_share(const float *x, const float *y, size_t n)
{
    double error = 0, whole = 0;
    for (size_t i = 0; i < n; i++) {
        error += pow((double)x[i] - (double)y[i], 2);
        whole += pow((double)x[i], 2);
    }
    return error / whole;
}

static inline void send(Rig *rig, const float *x, uint64_t step)
{
    check_ok(rig_encode(rig, x, step), &rig->err);
    check_ok(rig_decode(rig), &rig->err);
}

static inline void settle(Rig *rig, const float *x)
{
    check_ok(codec_settle(&rig->call, x, rig->message.round, rig->decoded, rig->state), &rig->err);
}

#endif
