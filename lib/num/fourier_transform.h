/* fourier_transform.h -- discrete Fourier transforms of real float32 data of any length, by FFTW.
 *
 * Transforms are in place. A matrix is stored in rows of fourier_room(cols) floats, whose first `cols`
 * floats are used. The transform of a row is X[k] = sum over c of x[c] exp(-2 pi i c k / cols) for k <= cols
 * / 2, stored as pairs (re, im). FOURIER_MATRIX also transforms the columns. There is no scaling: a forward
 * and then an inverse transform multiply the data by `cols`, or by rows * cols with FOURIER_MATRIX.
 *
 * Rows of even length are transformed as complex numbers of half the length, for which FFTW's plans take
 * less time and memory. Plans are FFTW_ESTIMATE, so results depend only on the data and the machine. The
 * first plan of a size takes milliseconds. FFTW's planner is not thread-safe, so `fourier_open` and
 * `fourier_close` take a mutex. */
#ifndef ATOMO_FOURIER_H
#define ATOMO_FOURIER_H

#include "base/arena.h"

/* ---- twiddle factors of a transform: exp(i angle k) for k = 0, 1, 2, ..., computed chunk by chunk ----
 *
 * Each factor is the product, in double, of an entry of the table `coarse` and an entry of the table `fine`.
 * One table of all factors would be as large as the data. */

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

/* ---- transforms ---- */

typedef enum { FOURIER_FORWARD, FOURIER_BACK } FourierWay;
typedef enum { FOURIER_ROWS, FOURIER_MATRIX } FourierSide;

typedef struct {
    /* FFTW's plans: `along` transforms rows, `down` columns; `down` NULL: rows only */
    struct fftwf_plan_s *along, *down;
    FourierWay way;
    size_t rows, cols;
    Rotor rotor;
} Fourier;

static inline size_t fourier_room(size_t cols)
{
    return 2 * (cols / 2 + 1);
}

/* Plans a transform of `rows` rows. `data` is the array to transform later, or another array with the same
 * alignment; its contents do not change. `scratch` holds tables until `fourier_close`. ERR_MEMORY: no memory
 * for a plan. */
Status fourier_open(Fourier *f, size_t rows, size_t cols, FourierSide side, FourierWay way, float *data,
                    Arena *scratch, Error *err);
void fourier_run(const Fourier *f, float *data);
void fourier_close(Fourier *f);

#endif
