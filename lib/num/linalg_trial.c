/* linalg_trial.c -- a small computation with each kind of routine that the programs take from OpenBLAS. */
#include "num/linalg.h"

#include <math.h>

enum { ROWS = 40, COLS = 30 };

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

/* The eigenvalues of A'A are the squares of the singular values, and its trace their sum. */
static Status check_eigenvalues(const Tall *a, const double *s, Arena *arena, Error *err)
{
    static const size_t last = COLS - 1;
    double g[COLS * COLS], v[COLS], trace = 0, sum = 0, length = 0;
    Eigen e;
    TRY(linalg_gram(a, 1, g, arena, err));
    for (size_t i = 0; i < COLS; i++)
        trace += g[i * COLS + i];
    TRY(eigen_open(&e, g, COLS, arena, err));
    TRY(eigen_some(&e, &last, 1, v, arena, err));
    bool good = true;
    for (size_t i = 0; i < COLS; i++) {
        sum += e.value[i];
        length += v[i] * v[i];
        good = good && near(e.value[COLS - 1 - i], s[i] * s[i]);
    }
    return good && near(sum, trace) && near(length, 1) ? OK
                                                       : FAIL(err, ERR_NUMERIC, "it gives wrong eigenvalues");
}

Status linalg_trial(Error *err)
{
    float x[COLS * ROWS];
    double s[COLS];
    for (size_t i = 0; i < COLS * ROWS; i++)
        x[i] = sinf((float)(i * i)) / 2;
    const Tall a = tall_of(x, COLS, ROWS);
    Arena *arena = arena_open(0);
    Status status = check_svd(&a, s, arena, err);
    if (status == OK)
        status = check_eigenvalues(&a, s, arena, err);
    arena_close(arena);
    return status;
}
