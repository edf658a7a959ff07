/* linalg_trial.c -- a small computation with each routine that the programs take from OpenBLAS, but dgesvd, which
 * they call only where dgesdd fails. */
#include "num/linalg_blas.h"

#include <math.h>

/* eigen_open reduces a matrix of side COLS to tridiagonal form, and decomposes one of side FEW at once. */
enum { ROWS = 50, COLS = 40, FEW = 8 };

static bool near(double x, double want)
{
    return fabs(x - want) <= 1e-3; /* false for NaN */
}

/* A' = sum of s_i v_i u_i' */
static Status check_svd(const Tall *a, double *s, Arena *arena, Error *err)
{
    double u[COLS * ROWS], v[COLS * COLS];
    float l[COLS * COLS], r[COLS * ROWS], x[COLS * ROWS];
    TRY(linalg_svd(a, u, s, v, arena, err));
    for (size_t i = 0; i < COLS * COLS; i++)
        l[i] = (float)(v[i] * s[i / COLS]);
    for (size_t i = 0; i < COLS * ROWS; i++)
        r[i] = (float)u[i];
    linalg_multiply(
        &(Product){.a = l, .b = r, .c = x, .m = COLS, .n = ROWS, .k = COLS, .a_turned = true, .scale = 1}, 1);
    for (size_t i = 0; i < COLS * ROWS; i++)
        if (!near(x[i], a->x[i]))
            return FAIL(err, ERR_NUMERIC, "it gives a wrong singular value decomposition");
    return OK;
}

/* V V' = I, where the rows of v (count, COLS) are eigenvectors. */
static bool is_orthonormal(const double *v, size_t count)
{
    double product[COLS * COLS];
    const int n = blas_int(count);
    bool good = true;
    blas_routines()->cblas_dgemm(ROW_MAJOR, NO_TRANSPOSE, TRANSPOSE, n, n, COLS, 1, v, COLS, v, COLS, 0,
                                 product, n);
    for (size_t i = 0; i < count * count; i++)
        good = good && near(product[i], i / count == i % count);
    return good;
}

/* The eigenvalues of A'A are the squares of the singular values. Inverse iteration and the basis of all eigenvectors give
 * the same last eigenvector, up to its sign. v is set to it. */
static Status check_eigenvalues(const Tall *a, const double *s, double *v, Arena *arena, Error *err)
{
    static const size_t last = COLS - 1;
    double g[COLS * COLS], cosine = 0;
    Eigen e;
    TRY(linalg_gram(a, 1, g, arena, err));
    TRY(eigen_open(&e, g, COLS, arena, err));
    TRY(eigen_some(&e, &last, 1, v, arena, err));
    TRY(eigen_all(&e, arena, err));
    bool good = is_orthonormal(e.vector, COLS);
    for (size_t i = 0; i < COLS; i++) {
        cosine += v[i] * e.vector[last * COLS + i];
        good = good && near(e.value[last - i], s[i] * s[i]);
    }
    return good && near(fabs(cosine), 1) ? OK : FAIL(err, ERR_NUMERIC, "it gives wrong eigenvalues");
}

/* In every orthonormal basis v_i, the sum of |A v_i|^2 is that of the squared singular values. If v_0 is the first
 * singular vector, |A v_0| is the first singular value. */
static Status check_completion(const Tall *a, const double *s, double *v, Arena *arena, Error *err)
{
    double square[COLS], sum = 0;
    Completion c;
    TRY(completion_open(&c, v, 1, COLS, arena, err));
    TRY(completion_squares(&c, a, square, arena, err));
    for (size_t i = 0; i < COLS; i++)
        sum += square[i] - s[i] * s[i];
    return near(square[0], s[0] * s[0]) && near(sum, 0) ? OK
                                                        : FAIL(err, ERR_NUMERIC, "it gives a wrong basis");
}

/* The matrix with 2 on its diagonal and 1 elsewhere has the eigenvalue 1 and, for the vector of ones, FEW + 1. */
static Status check_small(Arena *arena, Error *err)
{
    double g[FEW * FEW];
    Eigen e;
    for (size_t i = 0; i < FEW * FEW; i++)
        g[i] = i / FEW == i % FEW ? 2 : 1;
    TRY(eigen_open(&e, g, FEW, arena, err));
    bool good = near(e.value[FEW - 1], FEW + 1);
    for (size_t i = 0; i < FEW; i++)
        good = good && near(fabs(e.vector[(FEW - 1) * FEW + i]), sqrt(1.0 / FEW)) &&
               (i == FEW - 1 || near(e.value[i], 1));
    return good ? OK : FAIL(err, ERR_NUMERIC, "it gives wrong eigenvalues of a small matrix");
}

Status linalg_trial(Error *err)
{
    float x[COLS * ROWS];
    double s[COLS], v[COLS];
    for (size_t i = 0; i < COLS * ROWS; i++)
        x[i] = sinf((float)(i * i)) / 2;
    const Tall a = tall_of(x, COLS, ROWS);
    Arena *arena = arena_open(0);
    Status status = check_svd(&a, s, arena, err);
    if (status == OK)
        status = check_eigenvalues(&a, s, v, arena, err);
    if (status == OK)
        status = check_completion(&a, s, v, arena, err);
    if (status == OK)
        status = check_small(arena, err);
    arena_close(arena);
    return status;
}
