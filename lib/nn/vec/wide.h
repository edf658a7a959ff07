/* wide.h -- what the loops of a network share: a row of 16 lanes is the 16 images of a piece. */
#ifndef ATOMO_NN_WIDE_H
#define ATOMO_NN_WIDE_H

#include "nn/loops.h"
#include "vec/vec.h"

void ISA_NAME(direct)(const Direct *d);
void ISA_NAME(direct_weights)(const DirectWeights *d);
void ISA_NAME(windows_max)(const Windows *w, const float *x, float *y, uint8_t *place);
void ISA_NAME(windows_max_back)(const Windows *w, const float *dy, const uint8_t *place, bool add, float *dx);

/* Sums that fit the registers beside what is read. */
enum { WIDEST = VEC_BYTES == 64 ? 24 : 12 };

INLINE VecF splat(float x)
{
    return x - (VecF){0};
}

#endif
