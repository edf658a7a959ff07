/* spectral.c -- computes the atoms of a matrix (singular values and vectors); implements spectral.h. */
#include "math/spectral.h"
#include "base/bytes.h"
#include "math/vec/kernels.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Eigenvalues of A'A below DUST times the largest eigenvalue have at most two correct digits. */
#define DUST 1e-12

/* Returns the index of atom i's eigenvalue. Eigenvalues are in ascending order, atoms in descending order of
 * lambda. */
static size_t eigen_index(const Spectral *s, size_t i)
{
    return s->k - 1 - i;
}

static void swap_vectors(double *a, double *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const double t = a[i];
        a[i] = b[i];
        b[i] = t;
    }
}

/* Writes to v (count, k) the eigenvectors of the atoms index[q]. */
static Status eigenvectors(Spectral *s, const size_t *index, size_t count, double *v, Arena *arena,
                           Error *err)
{
    size_t *wanted = NEW(arena, size_t, count);
    TRY(arena_check(wanted, arena, err));
    for (size_t q = 0; q < count; q++)
        wanted[count - 1 - q] = eigen_index(s, index[q]);
    TRY(eigen_some(&s->eigen, wanted, count, v, arena, err));
    for (size_t q = 0; q < count / 2; q++)
        swap_vectors(v + q * s->k, v + (count - 1 - q) * s->k, s->k);
    return OK;
}

/* Sets lambda_i to |A v_i| for the atoms i >= first, whose eigenvalues are mostly rounding error. */
static Status measure_dust(Spectral *s, size_t first, Arena *arena, Error *err)
{
    enum { AT_ONCE = 256 };
    TRY(eigen_all(&s->eigen, arena, err));
    const ArenaMark mark = arena_mark(arena);
    float *u = NEW(arena, float, (s->k - first < AT_ONCE ? s->k - first : AT_ONCE) * s->a.rows);
    uint8_t *to[AT_ONCE];
    TRY(arena_check(u, arena, err));
    for (size_t q = 0; q < AT_ONCE && q < s->k - first; q++)
        to[q] = (uint8_t *)(u + q * s->a.rows);
    /* atoms are in descending order of lambda, eigenvectors in ascending order of eigenvalue */
    for (size_t i = first; i < s->k; i += AT_ONCE) {
        const size_t some = s->k - i < AT_ONCE ? s->k - i : AT_ONCE, row = eigen_index(s, i + some - 1);
        TRY(linalg_project(&s->a, s->eigen.vector + row * s->k, some, s->threads, to, arena, err));
        floats_order(u, some * s->a.rows);
        for (size_t q = 0; q < some; q++)
            s->lambda[i + some - 1 - q] = sqrt(kernels()->sum_squares(u + q * s->a.rows, s->a.rows));
    }
    arena_rewind(arena, mark);
    return OK;
}

/* Completes the first `strong` eigenvectors to an orthonormal basis. Any completion will do, since A is
 * mostly rounding error in the other directions. Leaves `s->rest` empty if all eigenvectors are already
 * computed. */
static Status complete(Spectral *s, size_t strong, Arena *arena, Error *err)
{
    double *v = NEW(arena, double, strong * s->k), *square = NEW(arena, double, s->k);
    size_t *index = NEW(arena, size_t, strong);
    TRY(arena_check(v && square && index, arena, err));
    for (size_t i = 0; i < strong; i++)
        index[i] = i;
    TRY(eigenvectors(s, index, strong, v, arena, err));
    if (s->eigen.vector)
        return OK;
    TRY(completion_open(&s->rest, v, strong, s->k, arena, err));
    TRY(completion_squares(&s->rest, &s->a, square, arena, err));
    for (size_t i = strong; i < s->k; i++)
        s->lambda[i] = sqrt(square[i]);
    return OK;
}

/* Takes the singular vectors of a matrix of low rank, and completes them to an orthonormal basis. The norms
 * of the added atoms, mostly rounding errors, become their root mean square, which keeps the sum of squares. */
static Status take_range(Spectral *s, const Range *r, Arena *arena, Error *err)
{
    for (size_t i = 0; i < s->k; i++)
        s->lambda[i] = sqrt(i < r->count ? r->square[i] : r->rest / (double)(s->k - r->count));
    return completion_open(&s->rest, r->v, r->count, s->k, arena, err);
}

static Status open_eigen(Spectral *s, Arena *arena, Error *err)
{
    double *g = NEW(arena, double, s->k * s->k);
    TRY(arena_check(g, arena, err));
    TRY(linalg_gram(&s->a, s->threads, g, arena, err));
    TRY(eigen_open(&s->eigen, g, s->k, arena, err));
    const double most = s->k ? s->eigen.value[s->k - 1] : 0;
    size_t clean = 0;
    for (; clean < s->k && s->eigen.value[eigen_index(s, clean)] > DUST * most; clean++)
        s->lambda[clean] = sqrt(s->eigen.value[eigen_index(s, clean)]);
    if (clean < s->k / 4 && !s->eigen.vector)
        TRY(complete(s, clean, arena, err));
    return clean < s->k && !s->rest.k ? measure_dust(s, clean, arena, err) : OK;
}

static Status open_gram(Spectral *s, Arena *arena, Error *err)
{
    Range range;
    TRY(eigen_fits(s->k, err)); /* fails early if k is too large */
    TRY(linalg_range(&s->a, DUST, s->threads, &range, arena, err));
    return range.count ? take_range(s, &range, arena, err) : open_eigen(s, arena, err);
}

typedef struct {
    double square;
    size_t vector; /* its number in the basis */
} Ranked;

static int larger_first(const void *a, const void *b)
{
    const Ranked *x = a, *y = b;
    const int order = (x->square < y->square) - (x->square > y->square);
    return order ? order : (x->vector > y->vector) - (x->vector < y->vector);
}

/* Completes the rows of v (count, k) to an orthonormal basis, and puts its atoms in descending order. */
static Status take_leading(Spectral *s, double *v, size_t count, Arena *arena, Error *err)
{
    double *square = NEW(arena, double, s->k);
    Ranked *ranked = NEW(arena, Ranked, s->k);
    s->order = NEW(arena, size_t, s->k);
    TRY(arena_check(square && ranked && s->order, arena, err));
    TRY(completion_open(&s->rest, v, count, s->k, arena, err));
    TRY(completion_squares(&s->rest, &s->a, square, arena, err));
    for (size_t i = 0; i < s->k; i++)
        ranked[i] = (Ranked){square[i], i};
    qsort(ranked, s->k, sizeof *ranked, larger_first);
    for (size_t i = 0; i < s->k; i++) {
        s->lambda[i] = sqrt(ranked[i].square);
        s->order[i] = ranked[i].vector;
    }
    return OK;
}

static Status open_leading(Spectral *s, size_t leading, Arena *arena, Error *err)
{
    Range range;
    double *v;
    if (leading > s->k / 4)
        return open_gram(s, arena, err);
    TRY(linalg_range(&s->a, DUST, s->threads, &range, arena, err));
    if (range.count)
        return take_range(s, &range, arena, err);
    TRY(linalg_leading(&s->a, leading, s->threads, &v, arena, err));
    if (v)
        return take_leading(s, v, leading, arena, err);
    TRY(eigen_fits(s->k, err));
    return open_eigen(s, arena, err);
}

static Status open_gesdd(Spectral *s, Arena *arena, Error *err)
{
    s->u = NEW(arena, double, s->k * s->a.rows);
    s->v = NEW(arena, double, s->k * s->k);
    TRY(arena_check(s->u && s->v, arena, err));
    return linalg_svd(&s->a, s->u, s->lambda, s->v, arena, err);
}

static Status start(Spectral *s, Tall a, int threads, Arena *arena, Error *err)
{
    *s = (Spectral){.a = a, .k = a.cols, .lambda = NEW(arena, double, a.cols), .threads = threads};
    return arena_check(s->lambda, arena, err);
}

/* The basis is orthonormal only up to rounding, so a lambda below the rounding error of the largest is set to
 * 0. */
static void drop_dust(Spectral *s)
{
    for (size_t i = 1; i < s->k; i++)
        if (s->lambda[i] <= (double)s->k * DBL_EPSILON * s->lambda[0])
            s->lambda[i] = 0;
}

Status spectral_open(Spectral *s, Tall a, SpectralMethod method, int threads, Arena *arena, Error *err)
{
    TRY(start(s, a, threads, arena, err));
    TRY((method == SPECTRAL_GRAM ? open_gram : open_gesdd)(s, arena, err));
    drop_dust(s);
    return OK;
}

Status spectral_open_leading(Spectral *s, Tall a, size_t leading, int threads, Arena *arena, Error *err)
{
    TRY(start(s, a, threads, arena, err));
    TRY(open_leading(s, leading, arena, err));
    drop_dust(s);
    return OK;
}

/* Writes `times` x as n floats. */
static void put_floats(const double *x, double times, size_t n, uint8_t *out)
{
    for (size_t i = 0; i < n; i++)
        store_f32(out + i * sizeof(float), (float)(x[i] * times));
}

static void copy_pairs(const Spectral *s, const size_t *index, const double *scale, size_t count,
                       uint8_t *const *u, uint8_t *const *v)
{
    for (size_t q = 0; q < count; q++) {
        put_floats(s->u + index[q] * s->a.rows, s->lambda[index[q]] * scale[q], s->a.rows, u[q]);
        put_floats(s->v + index[q] * s->k, 1, s->k, v[q]);
    }
}

Status spectral_atoms(Spectral *s, const size_t *index, const double *scale, size_t count, uint8_t *const *u,
                      uint8_t *const *v, Arena *arena, Error *err)
{
    if (s->u) {
        copy_pairs(s, index, scale, count, u, v);
        return OK;
    }
    double *basis = NEW(arena, double, count * s->k);
    size_t *number = NEW(arena, size_t, count);
    TRY(arena_check(basis && number, arena, err));
    for (size_t q = 0; q < count; q++)
        number[q] = s->order ? s->order[index[q]] : index[q];
    TRY(s->rest.k ? completion_some(&s->rest, number, count, basis, arena, err)
                  : eigenvectors(s, index, count, basis, arena, err));
    for (size_t q = 0; q < count; q++) {
        put_floats(basis + q * s->k, 1, s->k, v[q]);
        for (size_t j = 0; j < s->k; j++)
            basis[q * s->k + j] *= scale[q];
    }
    return linalg_project(&s->a, basis, count, s->threads, u, arena, err);
}
