/* fourier_transform.h -- discrete Fourier transforms of real float32 data of any length, by FFTW.
 *
 * Transforms are in place. A matrix is stored in rows of fourier_room(cols) floats, whose first `cols`
 * floats are used. The transform of a row is X[k] = sum over c of x[c] exp(-2 pi i c k / cols) for k <= cols
 * / 2, stored as pairs (re, im). FOURIER_MATRIX also transforms the columns. There is no scaling: a forward
 * and then an inverse transform multiply the data by `cols`, or by rows * cols with FOURIER_MATRIX.
 *
 * A single long row is transformed in two passes (fourier_long.h). Plans are FFTW_ESTIMATE, so results
 * depend only on the data and the machine. The first plan of a size takes milliseconds. FFTW's planner is not thread-safe, so `fourier_open` and
 * `fourier_close` take a mutex. */
#ifndef ATOMO_FOURIER_H
#define ATOMO_FOURIER_H

#include "math/fourier_long.h"

typedef enum { FOURIER_FORWARD, FOURIER_BACK } FourierWay;
typedef enum { FOURIER_ROWS, FOURIER_MATRIX } FourierSide;

typedef struct {
    /* FFTW's plans: `along` transforms rows, `down` columns; `down` NULL: rows only */
    struct fftwf_plan_s *along, *down;
    bool is_long; /* there is one long row, and `line` instead of `along` transforms it */
    FourierLong line;
    FourierWay way;
    size_t rows, cols;
    int threads;
    Rotor rotor; /* of a long row */
} Fourier;

static inline size_t fourier_room(size_t cols)
{
    return 2 * (cols / 2 + 1);
}

/* Plans a transform of `rows` rows. `data` is the array to transform later, or another array with the same
 * alignment; its contents do not change. `spare` is memory for `cols` floats, which `fourier_run` may overwrite
 * if there is only one row; NULL: it comes from `scratch`. `scratch` holds tables until `fourier_close`.
 * ERR_MEMORY: no memory for a plan. */
Status fourier_open(Fourier *f, size_t rows, size_t cols, FourierSide side, FourierWay way, float *data,
                    float *spare, int threads, Arena *scratch, Error *err);

/* Transforms `data`, on up to `threads` threads. Several threads may transform different arrays at the same
 * time if there is more than one row. */
void fourier_run(const Fourier *f, float *data);
void fourier_close(Fourier *f);

#endif
