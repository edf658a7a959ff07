/* linalg_range.c -- finds singular vectors of a matrix without its Gram matrix: all of them if the rank is low,
 * or the leading ones of any matrix.
 *
 * Matrices of low rank are common: the gradient of a fully connected layer is the sum of one matrix of rank one
 * for each example of the batch. The method is the randomized range finder (Halko, Martinsson and Tropp, SIAM
 * Review 53(2), 2011, Algorithms 4.1, 4.4 and 5.1): products of A with random signs span the column space of A; a
 * small singular value decomposition inside this space gives the singular vectors. The random signs are
 * fixed, so equal matrices have equal results. */
#include "math/linalg_blas.h"
#include "base/rng.h"
#include "math/blockwise.h"

#include <math.h>
#include <string.h>

enum {
    COLS_MIN = 128,   /* smaller matrices take the Gram matrix, which is as fast */
    SAMPLE_MAX = 256, /* the most rows and columns of the sample whose rank is tested */
    SPARE = 8         /* number of random products beyond the rank of the sample */
};

/* ---- a quick test of the rank ---- */

/* Copies `side` rows and columns of A, evenly spaced, to m (side, side). */
static void take_sample(const Tall *a, size_t side, double *m)
{
    for (size_t i = 0; i < side; i++)
        for (size_t j = 0; j < side; j++) {
            const size_t row = i * a->rows / side, col = j * a->cols / side;
            m[i * side + j] = (double)(a->turned ? a->x[col * a->rows + row] : a->x[row * a->cols + col]);
        }
}

static size_t largest_of(const double *x, size_t n)
{
    size_t best = 0;
    for (size_t j = 1; j < n; j++)
        best = fabs(x[j]) > fabs(x[best]) ? j : best;
    return best;
}

/* Returns the rank of m (side, side) by Gaussian elimination, which overwrites m. A row counts as 0 if all
 * its magnitudes are at most `least` after the elimination. Stops when the rank exceeds `most`. */
static size_t rank_of(double *m, size_t side, double least, size_t most)
{
    size_t pivot_row[SAMPLE_MAX], pivot_col[SAMPLE_MAX], rank = 0;
    for (size_t i = 0; i < side && rank <= most; i++) {
        double *row = m + i * side;
        for (size_t p = 0; p < rank; p++) {
            const double *other = m + pivot_row[p] * side, factor = row[pivot_col[p]] / other[pivot_col[p]];
            for (size_t j = 0; j < side; j++)
                row[j] -= factor * other[j];
        }
        const size_t col = largest_of(row, side);
        if (fabs(row[col]) > least) {
            pivot_row[rank] = i;
            pivot_col[rank++] = col;
        }
    }
    return rank;
}

/* True if sums of products in float neither overflow nor underflow. */
static bool floats_suffice(double largest)
{
    return largest > 0x1p-80 && largest < 0x1p80;
}

/* Returns how many random products should span the column space of A: SPARE more than the rank of a sample of
 * its elements. 0: its rank is too high, or its elements are out of range. */
static size_t products_wanted(const Tall *a, double dust, double largest, Arena *scratch)
{
    const size_t quarter = a->cols / 4, side = quarter < SAMPLE_MAX ? quarter : SAMPLE_MAX;
    if (!floats_suffice(largest))
        return 0;
    const ArenaMark mark = arena_mark(scratch);
    double *m = NEW(scratch, double, side *side);
    size_t rank = side;
    if (m) {
        take_sample(a, side, m);
        rank = rank_of(m, side, sqrt(dust) * largest, side - SPARE);
    }
    arena_rewind(scratch, mark);
    return rank + SPARE <= side ? rank + SPARE : 0;
}

/* ---- the column space ---- */

/* Writes `count` vectors of random signs to `signs` (count, cols). */
static void random_signs(size_t count, size_t cols, float *signs)
{
    const Rng rng = rng_open(0, 0, RNG_EVERYONE, 0, 0);
    for (size_t k = 0; k < count; k++) {
        const RngKey key = rng_key(&rng, USE_SIGN, k);
        for (size_t j = 0; j < cols; j++)
            signs[k * cols + j] = rng_word(&key, (uint32_t)j) >> 31 ? 1 : -1;
    }
}

/* Writes to q (count, rows) an orthonormal basis of the span of A's products with the vectors `start`
 * (count, cols). The products are in float, whose rounding errors turn the basis only a little. */
static Status column_space(const Tall *a, const float *start, size_t count, double largest, int threads,
                           double *q, Arena *scratch, Error *err)
{
    const size_t n = count * a->rows;
    float *product = NEW(scratch, float, n);
    double *spanning = NEW(scratch, double, n);
    size_t *index = NEW(scratch, size_t, count);
    TRY(arena_check(product && spanning && index, scratch, err));
    linalg_multiply(&(Product){.a = start,
                               .b = a->x,
                               .c = product,
                               .m = count,
                               .n = a->rows,
                               .k = a->cols,
                               .b_turned = !a->turned,
                               .scale = 1 / (float)largest},
                    threads);
    for (size_t i = 0; i < n; i++)
        spanning[i] = (double)product[i];
    for (size_t k = 0; k < count; k++)
        index[k] = k;
    Completion c;
    TRY(completion_open(&c, spanning, count, a->rows, scratch, err));
    return completion_some(&c, index, count, q, scratch, err);
}

/* ---- the singular vectors ---- */

/* Sets b (count, cols) to Q A, where row k of Q is vector k of q (count, rows). */
static Status restrict_to(const Tall *a, const double *q, size_t count, double *b, Arena *scratch, Error *err)
{
    Panel p;
    TRY(panel_open(&p, a, scratch, err));
    memset(b, 0, count * a->cols * sizeof *b);
    for (size_t from = 0; from < a->rows; from += p.step) {
        panel_load(&p, from);
        const int rows = blas_int(p.rows), cols = blas_int(a->cols);
        blas_routines()->cblas_dgemm(ROW_MAJOR, NO_TRANSPOSE, a->turned ? TRANSPOSE : NO_TRANSPOSE,
                                     blas_int(count), cols, rows, 1, q + from, blas_int(a->rows), p.x,
                                     a->turned ? rows : cols, 1, b, cols);
    }
    return OK;
}

/* Writes to v the `strong` right singular vectors of b (count, cols) whose left singular vectors are the rows
 * of `left` (strong, count). Rounding errors make the computed vectors not quite orthogonal; the completion
 * makes them orthonormal. */
static Status right_vectors(const double *left, size_t strong, const double *b, size_t count, size_t cols,
                            double *v, Arena *scratch, Error *err)
{
    double *product = NEW(scratch, double, strong *cols);
    size_t *index = NEW(scratch, size_t, strong);
    Completion c;
    TRY(arena_check(product && index, scratch, err));
    blas_routines()->cblas_dgemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, blas_int(strong), blas_int(cols),
                                 blas_int(count), 1, left, blas_int(count), b, blas_int(cols), 0, product,
                                 blas_int(cols));
    for (size_t i = 0; i < strong; i++)
        index[i] = i;
    TRY(completion_open(&c, product, strong, cols, scratch, err));
    return completion_some(&c, index, strong, v, scratch, err);
}

/* The matrix B = Q A, where row k of Q is vector k of a basis of `count` vectors, and the eigenvectors of B B'. */
typedef struct {
    double *b;             /* (count, cols) */
    double *square, *left; /* (count) eigenvalues, descending; (count, count) their eigenvectors, as rows */
} Restricted;

static Status decompose(const Tall *a, const double *q, size_t count, Restricted *r, Arena *scratch,
                        Error *err)
{
    double *g = NEW_ZERO(scratch, double, count *count);
    Eigen e;
    *r = (Restricted){NEW(scratch, double, count * a->cols), NEW(scratch, double, count),
                      NEW(scratch, double, count *count)};
    TRY(arena_check(g && r->b && r->square && r->left, scratch, err));
    TRY(restrict_to(a, q, count, r->b, scratch, err));
    blas_routines()->cblas_dsyrk(ROW_MAJOR, UPPER, NO_TRANSPOSE, blas_int(count), blas_int(a->cols), 1, r->b,
                                 blas_int(a->cols), 0, g, blas_int(count));
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            g[i * count + j] = g[j * count + i];
    TRY(eigen_open(&e, g, count, scratch, err));
    TRY(eigen_all(&e, scratch, err));
    for (size_t i = 0; i < count; i++) {
        const size_t at = count - 1 - i; /* eigenvalues of `e` ascend */
        r->square[i] = e.value[at];
        memcpy(r->left + i * count, e.vector + at * count, count * sizeof *r->left);
    }
    return OK;
}

/* Writes to r->v the right singular vectors of A from a basis q (count, rows) of its column space, and sets
 * r->count. */
static Status find_vectors(const Tall *a, const double *q, size_t count, double dust, Range *r,
                           Arena *scratch, Error *err)
{
    Restricted in;
    TRY(decompose(a, q, count, &in, scratch, err));
    size_t strong = 0;
    for (size_t i = 0; i < count; i++)
        strong += in.square[i] > dust * in.square[0];
    /* If A had more than `count` strong singular values, all `count` eigenvalues here would be strong. So a
     * few weak eigenvalues show that no strong singular value of A is missing. */
    r->count = strong + SPARE / 2 <= count ? strong : 0;
    return r->count ? right_vectors(in.left, strong, in.b, count, a->cols, r->v, scratch, err) : OK;
}

/* Sets r->square[i] to |A v_i|^2 for each vector v_i in `r->v`, and `r->rest` to the squared Frobenius norm
 * of A - sum of (A v_i) v_i'. */
static Status measure(const Tall *a, Range *r, Arena *scratch, Error *err)
{
    const Blas *blas = blas_routines();
    const int cols = blas_int(a->cols), some = blas_int(r->count);
    Panel p;
    TRY(panel_open(&p, a, scratch, err));
    double *u = NEW(scratch, double, p.step * r->count);
    TRY(arena_check(u, scratch, err));
    memset(r->square, 0, r->count * sizeof *r->square);
    for (size_t from = 0; from < a->rows; from += p.step) {
        panel_load(&p, from);
        const int rows = blas_int(p.rows), lead = a->turned ? rows : cols;
        blas->cblas_dgemm(ROW_MAJOR, a->turned ? TRANSPOSE : NO_TRANSPOSE, TRANSPOSE, rows, some, cols, 1,
                          p.x, lead, r->v, cols, 0, u, some);
        if (a->turned)
            blas->cblas_dgemm(ROW_MAJOR, TRANSPOSE, TRANSPOSE, cols, rows, some, -1, r->v, cols, u, some, 1,
                              p.x, lead);
        else
            blas->cblas_dgemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, rows, cols, some, -1, u, some, r->v,
                              cols, 1, p.x, lead);
        for (size_t i = 0; i < p.rows * r->count; i++)
            r->square[i % r->count] += u[i] * u[i];
        for (size_t i = 0; i < p.rows * a->cols; i++)
            r->rest += p.x[i] * p.x[i];
    }
    return OK;
}

Status linalg_range(const Tall *a, double dust, int threads, Range *r, Arena *arena, Error *err)
{
    *r = (Range){0};
    if (a->cols < COLS_MIN)
        return OK;
    const double largest = (double)blockwise_most(a->x, a->rows * a->cols, threads);
    const size_t count = products_wanted(a, dust, largest, arena);
    if (count == 0)
        return OK;
    TRY(linalg_ready(err));
    r->square = NEW(arena, double, count);
    r->v = NEW(arena, double, count * a->cols);
    TRY(arena_check(r->square && r->v, arena, err));
    const ArenaMark mark = arena_mark(arena);
    double *q = NEW(arena, double, count * a->rows);
    float *signs = NEW(arena, float, count * a->cols);
    TRY(arena_check(q && signs, arena, err));
    random_signs(count, a->cols, signs);
    TRY(column_space(a, signs, count, largest, threads, q, arena, err));
    TRY(find_vectors(a, q, count, dust, r, arena, err));
    if (r->count)
        TRY(measure(a, r, arena, err));
    arena_rewind(arena, mark);
    return OK;
}

Status linalg_leading(const Tall *a, size_t count, int threads, double **v, Arena *arena, Error *err)
{
    enum { TIMES = 2 }; /* a third iteration lowers the variance of svd by at most 3 % */
    const double largest = (double)blockwise_most(a->x, a->rows * a->cols, threads);
    *v = NULL;
    if (!floats_suffice(largest))
        return OK;
    TRY(linalg_ready(err));
    double *found = NEW(arena, double, count * a->cols);
    TRY(arena_check(found, arena, err));
    const ArenaMark mark = arena_mark(arena);
    double *q = NEW(arena, double, count * a->rows);
    float *start = NEW(arena, float, count * a->cols);
    TRY(arena_check(q && start, arena, err));
    random_signs(count, a->cols, start);
    for (int time = 0; time < TIMES; time++) {
        const ArenaMark before = arena_mark(arena);
        Restricted in;
        TRY(column_space(a, start, count, largest, threads, q, arena, err));
        TRY(decompose(a, q, count, &in, arena, err));
        TRY(right_vectors(in.left, count, in.b, count, a->cols, found, arena, err));
        for (size_t i = 0; i < count * a->cols; i++)
            start[i] = (float)found[i];
        arena_rewind(arena, before);
    }
    arena_rewind(arena, mark);
    *v = found;
    return OK;
}
