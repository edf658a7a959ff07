/* fourier.h -- discrete Fourier transforms of real data, any length, in float32: the one door to FFTW.
 *
 * Data and spectrum take turns in the same memory: a matrix stands in rows of fourier_room(cols) floats, cols
 * reals and the rest unused, and becomes X[j, k] = sum x[r, c] exp(-2 pi i (r j / rows + c k / cols)) for
 * k <= cols / 2, complex numbers as pairs. Back gives rows cols times the matrix. Neither way is scaled.
 *
 * Plans are FFTW_ESTIMATE: what comes out depends on the data and the machine alone. FFTW remembers how it
 * planned, which takes milliseconds the first time and does not change a later plan.
 * FFTW plans on one thread at a time: open and close on the thread that was called, run anywhere. */
#ifndef ATOMO_FOURIER_H
#define ATOMO_FOURIER_H

#include "base.h"

typedef enum { FOURIER_FORWARD, FOURIER_BACK } FourierWay;

typedef struct {
    struct fftwf_plan_s *plan;
    FourierWay way;
} Fourier;

static inline size_t fourier_room(size_t cols)
{
    return 2 * (cols / 2 + 1);
}

/* For `count` matrices, one behind the other; rows = 1: lines. `data` is where it will run, or memory as well
 * aligned, and is left alone. ERR_MEMORY when FFTW has none. */
Status fourier_open(Fourier *f, size_t rows, size_t cols, size_t count, FourierWay way, float *data,
                    Error *err);
void fourier_run(const Fourier *f, float *data);
void fourier_close(Fourier *f);

#endif
