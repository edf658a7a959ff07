/* rotor.h -- the factors exp(i angle k) of a transform, for k = 0, 1, 2, ...
 *
 * Each factor is the product, in double, of an entry of the table `coarse` and an entry of the table `fine`.
 * One table of all factors would be as large as the data. */
#ifndef ATOMO_ROTOR_H
#define ATOMO_ROTOR_H

#include "base/arena.h"

enum { ROTOR_CHUNK = 256 };

typedef struct {
    /* pairs (re, im); `coarse`: every ROTOR_CHUNK-th factor; `fine`: the first ROTOR_CHUNK factors */
    double *coarse, *fine;
} Rotor;

typedef struct {
    float re[ROTOR_CHUNK], im[ROTOR_CHUNK];
} RotorChunk;

/* Prepares the factors exp(i angle k) for k < count. Returns false if scratch memory runs out. */
bool rotor_open(Rotor *r, double angle, size_t count, Arena *scratch);

/* Writes scale exp(i angle k) for k = at, ..., at + ROTOR_CHUNK - 1. `at` must be a multiple of ROTOR_CHUNK. */
void rotor_chunk(const Rotor *r, size_t at, double scale, RotorChunk *out);

/* Writes exp(i angle k) to *re and *im. */
static inline void rotor_at(const Rotor *r, size_t k, double *re, double *im)
{
    const double *c = r->coarse + 2 * (k / ROTOR_CHUNK), *f = r->fine + 2 * (k % ROTOR_CHUNK);
    *re = c[0] * f[0] - c[1] * f[1];
    *im = c[0] * f[1] + c[1] * f[0];
}

#endif
