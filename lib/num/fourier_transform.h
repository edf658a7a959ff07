/* fourier_transform.h -- discrete Fourier transforms of real data, any length, in float32: the one door to FFTW.
 *
 * Data and spectrum take turns in the same memory: a matrix stands in rows of fourier_room(cols) floats, cols
 * reals and the rest unused, and each row becomes X[k] = sum x[c] exp(-2 pi i c k / cols), complex numbers as
 * pairs, for k <= cols / 2. FOURIER_MATRIX goes on down the columns of these. Back gives the data times their
 * number. Neither way is scaled.
 *
 * Rows of even length are transformed as complex numbers of half the length: FFTW plans those in less time and
 * memory than long real ones. Plans are FFTW_ESTIMATE: what comes out depends on the data and the machine alone.
 * FFTW remembers how it planned, which takes milliseconds the first time and does not change a later plan. It
 * plans on one thread at a time: open and close on the thread that was called, run anywhere. */
#ifndef ATOMO_FOURIER_H
#define ATOMO_FOURIER_H

#include "base/arena.h"

/* ---- factors of a transform: exp(i angle k) for k = 0, 1, 2, ..., a chunk at a time ----
 *
 * Each is the product of an entry of two short tables, in double; a table of all would be as large as the data. */

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

/* ---- transforms ---- */

typedef enum { FOURIER_FORWARD, FOURIER_BACK } FourierWay;
typedef enum { FOURIER_ROWS, FOURIER_MATRIX } FourierSide;

typedef struct {
    struct fftwf_plan_s *along, *down; /* down: NULL where there is nothing to do */
    FourierWay way;
    size_t rows, cols;
    Rotor rotor;
} Fourier;

static inline size_t fourier_room(size_t cols)
{
    return 2 * (cols / 2 + 1);
}

/* `data` is where it will run, or memory as well aligned, and is left alone; `scratch` keeps tables until close. */
Status fourier_open(Fourier *f, size_t rows, size_t cols, FourierSide side, FourierWay way, float *data,
                    Arena *scratch, Error *err);
void fourier_run(const Fourier *f, float *data);
void fourier_close(Fourier *f);

#endif
