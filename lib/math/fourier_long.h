/* fourier_long.h -- the Fourier transform of a long line of complex numbers, in two passes of short transforms
 * that fit into the cache (the four-step method: Gentleman and Sande 1966; Bailey, J. Supercomputing 4, 1990).
 *
 * FFTW's own plan of a line beyond the cache takes two to three times as long, and runs on one thread.
 *
 * With m = a b, j = j1 b + j2 and k = k1 + a k2:
 *
 *     X[k] = sum over j2 of exp(s j2 k2 / b) exp(s j2 k1 / m) (sum over j1 of exp(s j1 k1 / a) x[j])
 *
 * where s = -2 pi i, or 2 pi i for the inverse. There is no scaling. */
#ifndef ATOMO_FOURIER_LONG_H
#define ATOMO_FOURIER_LONG_H

#include "math/rotor.h"

typedef struct {
    size_t sides[2]; /* a and b */
    /* FFTW's plans of one transform of length a and of one of length b, in place, of memory aligned as `slot` */
    struct fftwf_plan_s *plans[2];
    int threads;
    Rotor rotor;    /* exp(s k / m) */
    float *between; /* (m pairs) the line between the passes */
    float *slot;    /* room for strips of short transforms */
} FourierLong;

/* Returns a, at most the square root of `length`. Returns 0 if the line should not be transformed in two
 * passes: it is short, or its length has no two factors of which the longer is at most 16 times the shorter. */
size_t fourier_long_side(size_t length);

/* Takes memory for lines of `length` numbers, and sets all members but the plans. `between` is memory for one
 * line; NULL: it comes from `scratch`. Returns false if scratch memory runs out. */
bool fourier_long_open(FourierLong *f, size_t length, bool inverse, float *between, int threads,
                       Arena *scratch);

/* Transforms a line of pairs (re, im) in place. Two threads must not use the same `f` at the same time. */
void fourier_long_run(const FourierLong *f, float *line);

#endif
