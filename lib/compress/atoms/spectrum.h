/* spectrum.h -- the Fourier atoms of a real matrix: each is a frequency, its cosine and sine one complex number.
 *
 * X = Fourier transform / sqrt(n), X[j, k] the conjugate of X[-j, -k]: a pair is one atom, of coefficient
 * z = sqrt(2) X[j, k] for the one with k <= cols / 2 (k = 0 or cols / 2: that with j <= rows / 2); a frequency that
 * is its own partner is real, z = X. The tensor's squared norm is the sum of |z|^2. Order of the atoms:
 *
 *     j = 0 .. rows / 2 at k = 0;  k = 1 .. (cols - 1) / 2 for j = 0, for j = 1, ...;  and, for even cols,
 *     j = 0 .. rows / 2 at k = cols / 2
 *
 * so that a line's frequencies stand in their order. A matrix of more rows than columns is transposed first. */
#ifndef ATOMO_SPECTRUM_H
#define ATOMO_SPECTRUM_H

#include "codec/compressor.h"

typedef struct {
    bool turned;             /* it stands transposed */
    size_t rows, cols, room; /* floats of a row */
    size_t edge, middle;     /* atoms at k = 0, and in a row between the edges */
    size_t atoms;
    float *data; /* (rows, room) in scratch: pairs, those of atoms hold z */
} Spectrum;

typedef struct {
    size_t at; /* of the pair in data */
    bool real;
} Frequency;

Spectrum spectrum_shape(size_t rows, size_t cols);
Frequency spectrum_frequency(const Spectrum *s, size_t atom);

/* The spectrum of x, and every atom's gauge (phase.h). ERR_NUMERIC when one is beyond float32. */
Status spectrum_of(const Call *c, const float *x, Spectrum *s, float *gauge);

/* Memory of zeros for the atoms of an estimate, whose z are then put in times this. */
Status spectrum_clear(const Call *c, Spectrum *s);
double spectrum_factor(const Spectrum *s, Frequency f, double lift);

/* The estimate, off by nothing but rounding when lift is basis_lift of the largest |z|; false when a value is
 * beyond float32. */
Status spectrum_back(const Call *c, Spectrum *s, double lift, float *x, bool *in);

#endif
