/* sources.h -- the test vectors for every codec. The project's random number generator makes them, so no
 * data files are needed. Their hashes are checked first: a change of the generator must not look like a
 * change of a codec. */
#ifndef ATOMO_SOURCES_H
#define ATOMO_SOURCES_H

#include "base/rng.h"
#include "dump/tensor.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const char *name;
    int rank;
    size_t dim[4];
    void (*fill)(const Rng *rng, const Shape *shape, float *x);
    uint64_t hash; /* hash of the vector's bytes, as float32 */
    /* true: no single element dominates, so moments converge within a few thousand draws */
    bool smooth;
} Source;

static inline void fill_zeros(const Rng *rng, const Shape *s, float *x)
{
    (void)rng;
    memset(x, 0, s->n * sizeof *x);
}
static inline void fill_normal(const Rng *rng, const Shape *s, float *x)
{
    rng_normals(rng, USE_TEST, 0, s->n, 0.01, x);
}
static inline void fill_laplace(const Rng *rng, const Shape *s, float *x)
{
    for (size_t i = 0; i < s->n; i++) {
        const double u = rng_unit(rng, USE_TEST, i) - 0.5;
        x[i] = (float)copysign(log1p(-2 * fabs(u)), u);
    }
}
/* Fills x with numbers of Student's t distribution with three degrees of freedom, which has a heavier tail than
 * most gradients. */
static inline void fill_heavy(const Rng *rng, const Shape *s, float *x)
{
    for (size_t i = 0; i < s->n; i++) {
        double chi2 = 0;
        for (size_t k = 1; k <= 3; k++)
            chi2 += pow(rng_normal(rng, USE_TEST, k * s->n + i), 2);
        x[i] = (float)(rng_normal(rng, USE_TEST, i) / sqrt(chi2 / 3));
    }
}
static inline void fill_spike(const Rng *rng, const Shape *s, float *x)
{
    fill_normal(rng, s, x);
    if (s->n)
        x[s->n / 3] = 1e6f;
}
static inline void fill_constant(const Rng *rng, const Shape *s, float *x)
{
    (void)rng;
    for (size_t i = 0; i < s->n; i++)
        x[i] = 0.25f;
}
static inline void fill_signed_zeros(const Rng *rng, const Shape *s, float *x)
{
    for (size_t i = 0; i < s->n; i++)
        x[i] = rng_unit(rng, USE_TEST, i) < 0.5 ? -0.0f : 0.0f;
    if (s->n)
        x[0] = 1;
}
static inline void fill_denormal(const Rng *rng, const Shape *s, float *x)
{
    rng_normals(rng, USE_TEST, 0, s->n, 1e-41, x);
}
static inline void fill_tiny(const Rng *rng, const Shape *s, float *x)
{
    rng_normals(rng, USE_TEST, 0, s->n, 1e-30, x);
}
static inline void fill_large(const Rng *rng, const Shape *s, float *x)
{
    rng_normals(rng, USE_TEST, 0, s->n, 1e30, x);
}
/* Fills x with numbers so large that the norm of x exceeds float32's range. A codec that sends the norm must
 * refuse x, and must never send an infinity. */
static inline void fill_huge(const Rng *rng, const Shape *s, float *x)
{
    for (size_t i = 0; i < s->n; i++)
        x[i] = rng_unit(rng, USE_TEST, i) < 0.5 ? -FLT_MAX : FLT_MAX;
}
static inline void fill_alternating(const Rng *rng, const Shape *s, float *x)
{
    (void)rng;
    for (size_t i = 0; i < s->n; i++)
        x[i] = i % 2 ? -1.0f : 1.0f;
}
/* Fills x with a sum of two outer products, so that x, viewed as a matrix as in the ATOMO paper, has rank 2. */
static inline void fill_low_rank(const Rng *rng, const Shape *s, float *x)
{
    size_t rows, cols;
    matrix_view(s, RESHAPE_PAPER, &rows, &cols);
    for (size_t i = 0; i < s->n; i++) {
        const size_t r = i / cols, c = s->n + i % cols;
        x[i] = (float)(rng_normal(rng, USE_TEST, r) * rng_normal(rng, USE_TEST, c) +
                       0.1 * rng_normal(rng, USE_TEST, rows + r) * rng_normal(rng, USE_TEST, cols + c));
    }
}

static const Source sources[] = {
    {"normal-4096", 1, {4096}, fill_normal, UINT64_C(0x13f9f4cf35ef5c4f), true},
    {"laplace-8x4x3x3", 4, {8, 4, 3, 3}, fill_laplace, UINT64_C(0x3d620569a22622ad), true},
    {"normal-64x48", 2, {64, 48}, fill_normal, UINT64_C(0x639758cc48d09e35), true},
    {"heavy-1009", 1, {1009}, fill_heavy, UINT64_C(0x3d943d79f9a2d1d2), false},
    {"low-rank-40x30", 2, {40, 30}, fill_low_rank, UINT64_C(0x8214fcd2bda014e5), true},
    {"constant-600", 1, {600}, fill_constant, UINT64_C(0x60a319b130bedea5), true},
    {"alternating-16x8x3x3", 4, {16, 8, 3, 3}, fill_alternating, UINT64_C(0x114be38d27195725), true},
    {"spike-1000", 1, {1000}, fill_spike, UINT64_C(0xf46625c1bc0d9fab), false},
    {"zeros-300", 1, {300}, fill_zeros, UINT64_C(0x74b4429a2fdd70e5), false},
    {"signed-zeros-130", 1, {130}, fill_signed_zeros, UINT64_C(0x74c23ec2ae488918), false},
    {"denormal-200", 1, {200}, fill_denormal, UINT64_C(0xf2d7380085feaf5e), false},
    {"tiny-33x7", 2, {33, 7}, fill_tiny, UINT64_C(0x76f68a6652ab97cf), true},
    {"large-12x5x1x1", 4, {12, 5, 1, 1}, fill_large, UINT64_C(0xcec6c20498bfa6d2), true},
    {"huge-700", 1, {700}, fill_huge, UINT64_C(0x4228290a056d71f5), false},
    {"one", 1, {1}, fill_constant, UINT64_C(0x4b72487f9c5c314b), false},
    {"two", 1, {2}, fill_laplace, UINT64_C(0xdbe737924eb06f66), true},
    {"three", 1, {3}, fill_laplace, UINT64_C(0x5b79bb2c150cb372), true},
    {"scalar", 0, {0}, fill_constant, UINT64_C(0x4b72487f9c5c314b), false},
    {"empty", 1, {0}, fill_zeros, UINT64_C(0xcbf29ce484222325), false},
    {"normal-70001", 1, {70001}, fill_normal, UINT64_C(0x162b4037336a004d), true},
};

static inline Shape source_shape(const Source *s)
{
    Shape shape;
    if (!shape_make(&shape, s->rank, s->dim))
        abort();
    return shape;
}
static inline void source_fill(const Source *s, float *x)
{
    const Rng rng = rng_open(1, 0, 0, 0, rng_hash(s->name));
    const Shape shape = source_shape(s);
    s->fill(&rng, &shape, x);
}
static inline uint64_t hash_bytes(const void *data, size_t size)
{
    const uint8_t *p = data;
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    return h;
}
/* Returns another hash, in a seventh of the time. */
static inline uint64_t digest(const void *data, size_t size)
{
    const uint8_t *p = data;
    const size_t words = size / 8;
    uint64_t h = size;
    for (size_t i = 0; i < words; i++) {
        uint64_t word;
        memcpy(&word, p + 8 * i, 8);
        h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 32;
    }
    return h ^ hash_bytes(words ? p + 8 * words : p, size % 8);
}

#endif
