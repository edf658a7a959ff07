/* rotor.c -- computes the factors of a transform; implements rotor.h. */
#include "math/rotor.h"

#include <math.h>

static void fill(double *pair, size_t count, double angle)
{
    for (size_t i = 0; i < count; i++) {
        pair[2 * i] = cos(angle * (double)i);
        pair[2 * i + 1] = sin(angle * (double)i);
    }
}

bool rotor_open(Rotor *r, double angle, size_t count, Arena *scratch)
{
    const size_t coarse = count / ROTOR_CHUNK + 1;
    r->coarse = NEW(scratch, double, 2 * coarse);
    r->fine = NEW_ZERO(scratch, double, 2 * ROTOR_CHUNK);
    if (!r->coarse || !r->fine)
        return false;
    fill(r->coarse, coarse, angle * ROTOR_CHUNK);
    fill(r->fine, count < ROTOR_CHUNK ? count : ROTOR_CHUNK, angle);
    return true;
}

void rotor_chunk(const Rotor *r, size_t at, double scale, RotorChunk *out)
{
    const double re = r->coarse[2 * (at / ROTOR_CHUNK)] * scale;
    const double im = r->coarse[2 * (at / ROTOR_CHUNK) + 1] * scale;
    const double *fine = r->fine;
    for (size_t i = 0; i < ROTOR_CHUNK; i++) {
        out->re[i] = (float)(re * fine[2 * i] - im * fine[2 * i + 1]);
        out->im[i] = (float)(re * fine[2 * i + 1] + im * fine[2 * i]);
    }
}
