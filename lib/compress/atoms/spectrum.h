/* spectrum.h -- the Fourier atoms of a real matrix. An atom is a frequency; its cosine and sine coefficients are
 * one complex number.
 *
 * X = Fourier transform / sqrt(n), and X[j, k] is the conjugate of X[-j, -k]. A conjugate pair is one atom with
 * coefficient z = sqrt(2) X[j, k], taken at the partner with k <= cols / 2 (if k is 0 or cols / 2: with j <= rows
 * / 2). A frequency that is its own conjugate partner is a real atom, with z = X[j, k]. The sum of |z|^2 is the
 * tensor's squared norm. Order of the atoms:
 *
 *     j = 0 .. rows / 2 at k = 0;  k = 1 .. (cols - 1) / 2 for j = 0, for j = 1, ...;  and, for even cols,
 *     j = 0 .. rows / 2 at k = cols / 2
 *
 * so the atoms of a vector are in order of frequency. A matrix with more rows than columns is transposed first. */
#ifndef ATOMO_SPECTRUM_H
#define ATOMO_SPECTRUM_H

#include "codec/compressor.h"

typedef struct {
    bool turned;             /* true: the matrix is transposed */
    size_t rows, cols, room; /* room: number of floats from one row to the next in memory */
    /* edge: number of atoms at k = 0; middle: number of atoms of a row with 0 < k < cols / 2 */
    size_t edge, middle;
    size_t atoms;
    float *data; /* (rows, room) in scratch: complex numbers; an atom's entry is z */
} FourierSpectrum;

typedef struct {
    size_t at; /* index into data; the imaginary part is at the next index */
    bool real;
} Frequency;

/* Returns the FourierSpectrum of a matrix of this size, without the array `data`. */
FourierSpectrum spectrum_shape(size_t rows, size_t cols);

/* Returns the position of atom number `atom` in s->data, and whether the atom is real. */
Frequency spectrum_frequency(const FourierSpectrum *s, size_t atom);

/* Computes s->data from x, and sets gauge (atoms) to the atoms' gauges (phase.h). ERR_NUMERIC: a gauge is beyond
 * float32's range. */
Status spectrum_of(const Call *c, const float *x, FourierSpectrum *s, float *gauge);

/* Prepares an estimate: sets s->data to zeros. The caller then stores each atom's z times spectrum_factor. */
Status spectrum_clear(const Call *c, FourierSpectrum *s);
double spectrum_factor(const FourierSpectrum *s, Frequency f, double lift);

/* Computes the tensor x from the atoms in s->data; exact up to rounding if lift is basis_lift of the largest |z|.
 * *in is set to false if a value is beyond float32's range. */
Status spectrum_back(const Call *c, FourierSpectrum *s, double lift, float *x, bool *in);

#endif
