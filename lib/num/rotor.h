/* rotor.h -- exp(i angle k) for k = 0, 1, 2, ..., a chunk at a time: the factors that go round a transform.
 *
 * Each is the product of an entry of two short tables, in double; a table of all would be as large as the data. */
#ifndef ATOMO_ROTOR_H
#define ATOMO_ROTOR_H

#include "base/arena.h"

enum { ROTOR_CHUNK = 256 };

typedef struct {
    double *coarse, *fine; /* pairs: every ROTOR_CHUNK-th factor, and the first ROTOR_CHUNK */
} Rotor;

typedef struct {
    float re[ROTOR_CHUNK], im[ROTOR_CHUNK];
} RotorChunk;

/* For k < count; false when scratch has no memory. */
bool rotor_open(Rotor *r, double angle, size_t count, Arena *scratch);

/* scale exp(i angle k) for k = at, ..., at + ROTOR_CHUNK - 1; at is a multiple of ROTOR_CHUNK. */
void rotor_chunk(const Rotor *r, size_t at, double scale, RotorChunk *out);

#endif
