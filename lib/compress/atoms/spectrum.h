/* spectrum.h -- the Fourier atoms of a real matrix. An atom is a frequency; its coefficient is one complex
 * number.
 *
 * Let X be the Fourier transform divided by sqrt(n). X[j, k] is the conjugate of X[-j, -k], so these two are
 * one atom with the coefficient z = sqrt(2) X[j, k]. Of the two, X[j, k] is the one with k <= cols / 2 (and if
 * k is 0 or cols / 2, with j <= rows / 2). A frequency that is its own conjugate is a real atom, with z = X[j,
 * k]. The sum of |z|^2 is the squared norm of the matrix. The atoms have this order:
 *
 *     j = 0 .. rows / 2 at k = 0;  k = 1 .. (cols - 1) / 2 for j = 0, for j = 1, ...;  and, for even cols,
 *     j = 0 .. rows / 2 at k = cols / 2
 *
 * For a vector this is the order of frequency. A matrix with more rows than columns is transposed first. */
#ifndef ATOMO_SPECTRUM_H
#define ATOMO_SPECTRUM_H

#include "compress/compressor.h"

typedef struct {
    bool turned;             /* true: the matrix is transposed */
    size_t rows, cols, room; /* room: number of floats from one row to the next in memory */
    /* edge: number of atoms at k = 0; middle: number of atoms with 0 < k < cols / 2 for each j */
    size_t edge, middle;
    size_t atoms;
    float *data; /* (rows, room) in scratch: complex numbers; an atom's entry is z */
} FourierSpectrum;

typedef struct {
    size_t at; /* index into data; the imaginary part is at the next index */
    bool real;
} Frequency;

/* Returns the FourierSpectrum of a rows x cols matrix, with all fields but `data`. */
FourierSpectrum spectrum_shape(size_t rows, size_t cols);

/* Returns the position in s->data of the atom with number `atom`, and whether the atom is real. */
Frequency spectrum_frequency(const FourierSpectrum *s, size_t atom);

/* Computes s->data from x. Sets gauge[i] to the gauge of atom i: its |z| or up to 0.12 % more (math/phase.h).
 * ERR_NUMERIC: a gauge is beyond float32's range. */
Status spectrum_of(const Call *c, const float *x, FourierSpectrum *s, float *gauge);

/* Sets s->data to zeros, to begin an estimate. The caller then stores the z of each atom, times
 * spectrum_factor. */
Status spectrum_clear(const Call *c, FourierSpectrum *s);
double spectrum_factor(const FourierSpectrum *s, Frequency f, double lift);

/* Computes the tensor x from the atoms in s->data, which include the factor `lift` of spectrum_factor. `lift`
 * should be basis_lift of the largest |z|, so that values stay within float32's range. Sets *in to false if a
 * value is beyond float32's range. */
Status spectrum_back(const Call *c, FourierSpectrum *s, double lift, float *x, bool *in);

#endif
