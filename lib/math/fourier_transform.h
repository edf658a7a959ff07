/* fourier_transform.h -- discrete Fourier and cosine transforms of float32 data of any length. */
#ifndef ATOMO_FOURIER_H
#define ATOMO_FOURIER_H

#include "base/arena.h"

/* ---- the factors exp(i angle k) of a transform, for k = 0, 1, 2, ... ----
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

/* Writes exp(i angle k) to *re and *im. */
static inline void rotor_at(const Rotor *r, size_t k, double *re, double *im)
{
    const double *c = r->coarse + 2 * (k / ROTOR_CHUNK), *f = r->fine + 2 * (k % ROTOR_CHUNK);
    *re = c[0] * f[0] - c[1] * f[1];
    *im = c[0] * f[1] + c[1] * f[0];
}

/* ---- the Fourier transform of a long line of complex numbers ----
 *
 * It takes two passes of short transforms that fit into the cache (the four-step method: Gentleman and Sande 1966; Bailey, J. Supercomputing 4, 1990).
 *
 * FFTW's own plan of a line beyond the cache takes two to three times as long, and runs on one thread.
 *
 * With m = a b, j = j1 b + j2 and k = k1 + a k2:
 *
 *     X[k] = sum over j2 of exp(s j2 k2 / b) exp(s j2 k1 / m) (sum over j1 of exp(s j1 k1 / a) x[j])
 *
 * where s = -2 pi i, or 2 pi i for the inverse. There is no scaling. */

typedef struct {
    size_t sides[2]; /* a and b */
    /* FFTW's plans of one transform of length a and of one of length b, in place, of memory aligned as `slot` */
    struct fftwf_plan_s *plans[2];
    int threads;
    Rotor rotor;    /* exp(s k / m) */
    float *between; /* (m pairs) the line between the passes */
    float *slot;    /* room for strips of short transforms */
} FourierLong;

/* ---- Fourier transforms of real data, by FFTW ----
 *
 * Transforms are in place. A matrix is stored in rows of fourier_room(cols) floats, whose first `cols`
 * floats are used. The transform of a row is X[k] = sum over c of x[c] exp(-2 pi i c k / cols) for k <= cols
 * / 2, stored as pairs (re, im). FOURIER_MATRIX also transforms the columns. There is no scaling: a forward
 * and then an inverse transform multiply the data by `cols`, or by rows * cols with FOURIER_MATRIX.
 *
 * A single long row is transformed in two passes (FourierLong). Plans are FFTW_ESTIMATE, so results
 * depend only on the data and the machine. The first plan of a size takes milliseconds. FFTW's planner is not thread-safe, so `fourier_open` and
 * `fourier_close` take a mutex. */

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

/* ---- cosine transforms ---- */

/* The orthonormal DCT-II of a matrix, and its inverse, the DCT-III.
 *
 *     y_k = sqrt((1 + [k > 0]) / n) sum_i x_i cos(pi (2 i + 1) k / (2 n))       along rows, then along columns
 *
 * The matrix may have any size. A side of length 1 is not transformed. x and y are rows * cols floats,
 * row-major, and may be the same array. Scratch memory is at most about as large as x. Results are the same
 * for any number of threads. */

Status cosine_forward(const float *x, size_t rows, size_t cols, float *y, int threads, Arena *scratch,
                      Error *err);
Status cosine_back(const float *y, size_t rows, size_t cols, float *x, int threads, Arena *scratch,
                   Error *err);

#endif
