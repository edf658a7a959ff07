/* fourier_transform.h -- discrete Fourier transforms of real data, any length, in float32, by FFTW.
 *
 * Transforms are in place: a matrix is stored in rows of fourier_room(cols) floats, of which the first cols are used,
 * and each row becomes X[k] = sum x[c] exp(-2 pi i c k / cols) for k <= cols / 2, complex numbers as pairs.
 * FOURIER_MATRIX also transforms the columns. Neither direction is scaled: forward and back multiply the data by
 * their number of elements.
 *
 * Rows of even length are transformed as complex numbers of half the length: FFTW plans those in less time and memory
 * than long real ones. Plans are FFTW_ESTIMATE, so results depend on the data and the machine alone. The first plan
 * of a size takes milliseconds. FFTW's planner is not thread-safe: open and close on one thread, run on any. */
#ifndef ATOMO_FOURIER_H
#define ATOMO_FOURIER_H

#include "base/arena.h"

/* ---- factors of a transform: exp(i angle k) for k = 0, 1, 2, ..., a chunk at a time ----
 *
 * Each factor is the product, in double, of an entry of the table `coarse` and an entry of the table `fine`; a single
 * table of all factors would be as large as the data. */

enum { ROTOR_CHUNK = 256 };

typedef struct {
    /* pairs (re, im). coarse: every ROTOR_CHUNK-th factor; fine: the first ROTOR_CHUNK factors */
    double *coarse, *fine;
} Rotor;

typedef struct {
    float re[ROTOR_CHUNK], im[ROTOR_CHUNK];
} RotorChunk;

/* Prepares the factors exp(i angle k) with k < count; false when scratch has no memory. */
bool rotor_open(Rotor *r, double angle, size_t count, Arena *scratch);

/* Writes scale exp(i angle k) for k = at, ..., at + ROTOR_CHUNK - 1; at is a multiple of ROTOR_CHUNK. */
void rotor_chunk(const Rotor *r, size_t at, double scale, RotorChunk *out);

/* ---- transforms ---- */

typedef enum { FOURIER_FORWARD, FOURIER_BACK } FourierWay;
typedef enum { FOURIER_ROWS, FOURIER_MATRIX } FourierSide;

typedef struct {
    /* FFTW's plans: `along` transforms rows, `down` columns; down NULL: rows only */
    struct fftwf_plan_s *along, *down;
    FourierWay way;
    size_t rows, cols;
    Rotor rotor;
} Fourier;

static inline size_t fourier_room(size_t cols)
{
    return 2 * (cols / 2 + 1);
}

/* Plans a transform of `rows` rows. `data` is the array that fourier_run will transform, or another array of the same
 * alignment; its contents are not changed. Tables stay in `scratch` until fourier_close. ERR_MEMORY when there is no
 * memory for a plan. */
Status fourier_open(Fourier *f, size_t rows, size_t cols, FourierSide side, FourierWay way, float *data,
                    Arena *scratch, Error *err);
void fourier_run(const Fourier *f, float *data);
void fourier_close(Fourier *f);

#endif
