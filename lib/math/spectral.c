/* spectral.c -- computes the atoms of a matrix (singular values and vectors); implements spectral.h.
 *
 * A few orthonormal vectors are completed to a basis of the whole space by Householder reflectors, one for each
 * vector. Only the reflectors are stored. Applied to a unit vector e_i they give vector i of the basis; applied to
 * A, block by block, they give A in this basis.
 *
 * Singular vectors are found without the Gram matrix if the rank is low, or if only the leading ones are wanted.
 * Matrices of low rank are common: the gradient of a fully connected layer is the sum of one matrix of rank one
 * for each example of the batch. The method is the randomized range finder (Halko, Martinsson and Tropp, SIAM
 * Review 53(2), 2011, Algorithms 4.1, 4.4 and 5.1): products of A with random signs span the column space of A; a
 * small singular value decomposition inside this space gives the singular vectors. The random signs are
 * fixed, so equal matrices have equal results. */
#include "math/spectral.h"
#include "base/bytes.h"
#include "base/rng.h"
#include "math/blockwise.h"
#include "math/linalg_blas.h"
#include "math/vec/kernels.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- completing a few vectors to a basis ---- */

/* Completes the rows of v (count, k), which are orthonormal, to a basis. Overwrites v; v and the arena must
 * outlive `c`. */
static Status completion_open(Completion *c, double *v, size_t count, size_t k, Arena *a, Error *err)
{
    const Blas *blas = blas_routines();
    int info;
    TRY(linalg_ready(err));
    *c = (Completion){.k = k, .count = count, .reflector = v, .tau = NEW(a, double, count)};
    TRY(arena_check(c->tau, a, err));
    if (count == 0)
        return OK;
    const int rows = blas_int(k), columns = blas_int(count);
    WITH_WORK(a, err, blas->dgeqrf_(&rows, &columns, v, &rows, c->tau, work, &size, &info));
    return info ? lapack_failed("dgeqrf", info, err) : OK;
}

/* Writes to v (count, k) the basis vectors with the `count` indices in index[]. */
static Status completion_some(const Completion *c, const size_t *index, size_t count, double *v, Arena *a,
                       Error *err)
{
    const int m = blas_int(c->k), n = blas_int(count), reflectors = blas_int(c->count);
    const Blas *blas = blas_routines();
    int info;
    memset(v, 0, count * c->k * sizeof *v);
    for (size_t i = 0; i < count; i++)
        v[i * c->k + index[i]] = 1;
    if (count == 0 || reflectors == 0)
        return OK;
    const ArenaMark mark = arena_mark(a);
    WITH_WORK(a, err,
              blas->dormqr_("L", "N", &m, &n, &reflectors, c->reflector, &m, c->tau, v, &m, work, &size, &info, 1, 1));
    arena_rewind(a, mark);
    return info ? lapack_failed("dormqr", info, err) : OK;
}

/* Writes the reflectors to v and V T to vt, both (k, count), where H = I - V T V' is the matrix whose columns are the vectors
 * of the basis. */
static Status compact_form(const Completion *c, float *v, float *vt, Arena *scratch, Error *err)
{
    const int k = blas_int(c->k), count = blas_int(c->count);
    double *t = NEW_ZERO(scratch, double, c->count * c->count);
    float *t_columns = NEW(scratch, float, c->count * c->count);
    TRY(arena_check(t && t_columns, scratch, err));
    blas_routines()->dlarft_("F", "C", &k, &count, c->reflector, &k, c->tau, t, &count, 1, 1);
    for (size_t i = 0; i < c->count * c->count; i++)
        t_columns[i] = (float)t[i];
    for (size_t r = 0; r < c->k; r++)
        for (size_t i = 0; i < c->count; i++)
            v[r * c->count + i] = r < i ? 0 : r == i ? 1 : (float)c->reflector[i * c->k + r];
    linalg_multiply(&(Product){.a = v, .b = t_columns, .c = vt, .m = c->k, .n = c->count, .k = c->count, .b_turned = true, .scale = 1}, 1);
    return OK;
}

/* Sets square[i] = |A h_i|^2 for each of the k > 0 vectors h_i of the basis, from A H = A - (A V T) V' in float, block by block
 * of A's rows in memory. */
static Status completion_squares(const Completion *c, const Tall *a, int threads, double *square, Arena *scratch,
                                 Error *err)
{
    const ArenaMark mark = arena_mark(scratch);
    const size_t lines = a->turned ? a->cols : a->rows, length = a->turned ? a->rows : a->cols, count = c->count;
    const size_t most = (1 << 20) / length + 16, step = lines < most ? lines : most;
    float *v = NEW(scratch, float, c->k * count), *vt = NEW(scratch, float, c->k * count);
    float *w = NEW(scratch, float, a->rows * count), *block = NEW(scratch, float, step *length);
    TRY(arena_check(v && vt && w && block, scratch, err));
    TRY(compact_form(c, v, vt, scratch, err));
    linalg_multiply(&(Product){.a = a->x, .b = vt, .c = w, .m = a->rows, .n = count, .k = a->cols, .a_turned = a->turned, .scale = 1},
                    threads);
    const float *left = a->turned ? v : w, *right = a->turned ? w : v;
    memset(square, 0, c->k * sizeof *square);
    for (size_t from = 0; from < lines; from += step) {
        const size_t some = lines - from < step ? lines - from : step;
        memcpy(block, a->x + from * length, some * length * sizeof *block);
        linalg_multiply(&(Product){.a = left + from * count, .b = right, .c = block, .m = some, .n = length, .k = count,
                                   .b_turned = true, .add = true, .scale = -1},
                        threads);
        for (size_t i = 0; i < some && a->turned; i++)
            square[from + i] = kernels()->sum_squares(block + i * length, length);
        for (size_t i = 0; i < some && !a->turned; i++)
            for (size_t j = 0; j < length; j++)
                square[j] += (double)block[i * length + j] * (double)block[i * length + j];
    }
    arena_rewind(scratch, mark);
    return OK;
}

/* ---- low rank, and leading singular vectors ---- */

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

/* Writes to `out` the products of A with the `count` vectors v, in float: A v_i, for v (count, cols), or A'v_i, for v (count,
 * rows). */
static Status multiply_floats(const Tall *a, bool transposed, const float *v, size_t count, float scale, int threads,
                              double *out, Arena *scratch, Error *err)
{
    const size_t n = transposed ? a->cols : a->rows, k = transposed ? a->rows : a->cols;
    float *product = NEW(scratch, float, count * n);
    TRY(arena_check(product, scratch, err));
    linalg_multiply(&(Product){.a = v,
                               .b = a->x,
                               .c = product,
                               .m = count,
                               .n = n,
                               .k = k,
                               .b_turned = transposed == a->turned,
                               .scale = scale},
                    threads);
    for (size_t i = 0; i < count * n; i++)
        out[i] = (double)product[i];
    return OK;
}

/* Replaces the rows of v (count, k), count <= k, by an orthonormal basis of their span. */
static Status orthonormalize(double *v, size_t count, size_t k, Arena *scratch, Error *err)
{
    Completion c;
    const int rows = blas_int(k), columns = blas_int(count);
    int info;
    TRY(completion_open(&c, v, count, k, scratch, err));
    WITH_WORK(scratch, err,
              blas_routines()->dorgqr_(&rows, &columns, &columns, v, &rows, c.tau, work, &size, &info));
    return info ? lapack_failed("dorgqr", info, err) : OK;
}

/* Writes to q (count, rows) an orthonormal basis of the span of A's products with the vectors `start`
 * (count, cols). The products are in float, whose rounding errors turn the basis only a little. */
static Status column_space(const Tall *a, const float *start, size_t count, double largest, int threads,
                           double *q, Arena *scratch, Error *err)
{
    TRY(multiply_floats(a, false, start, count, 1 / (float)largest, threads, q, scratch, err));
    return orthonormalize(q, count, a->rows, scratch, err);
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
 * of `left` (strong, count). Rounding errors make the computed vectors not quite orthogonal, so they are made
 * orthonormal. */
static Status right_vectors(const double *left, size_t strong, const double *b, size_t count, size_t cols,
                            double *v, Arena *scratch, Error *err)
{
    blas_routines()->cblas_dgemm(ROW_MAJOR, NO_TRANSPOSE, NO_TRANSPOSE, blas_int(strong), blas_int(cols),
                                 blas_int(count), 1, left, blas_int(count), b, blas_int(cols), 0, v, blas_int(cols));
    return orthonormalize(v, strong, cols, scratch, err);
}

/* The matrix B = Q A, where row k of Q is vector k of a basis of `count` vectors, and the eigenvectors of B B'. */
typedef struct {
    double *b;             /* (count, cols) */
    double *square, *left; /* (count) eigenvalues, descending; (count, count) their eigenvectors, as rows */
} Restricted;

/* Sets the eigenvalues and eigenvectors of r->b. */
static Status decompose(size_t count, size_t cols, Restricted *r, Arena *scratch, Error *err)
{
    double *g = NEW_ZERO(scratch, double, count *count);
    Eigen e;
    r->square = NEW(scratch, double, count);
    r->left = NEW(scratch, double, count *count);
    TRY(arena_check(g && r->square && r->left, scratch, err));
    blas_routines()->cblas_dsyrk(ROW_MAJOR, UPPER, NO_TRANSPOSE, blas_int(count), blas_int(cols), 1, r->b,
                                 blas_int(cols), 0, g, blas_int(count));
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
    Restricted in = {.b = NEW(scratch, double, count * a->cols)};
    TRY(arena_check(in.b, scratch, err));
    TRY(restrict_to(a, q, count, in.b, scratch, err));
    TRY(decompose(count, a->cols, &in, scratch, err));
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

/* Finds the singular vectors of A whose singular values exceed sqrt(dust) times the largest one, if these
 * vectors are few. The memory comes from `arena`. */
static Status linalg_range(const Tall *a, double dust, int threads, Range *r, Arena *arena, Error *err)
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

/* Sets *v to (count, cols), an orthonormal basis near the span of A's `count` leading right singular vectors.
 * The faster the singular values fall, the nearer the spans. Equal matrices have equal results. Sets *v to
 * NULL if A has a NaN or infinity, or if its elements are too small or too large for products in float. Takes
 * about 8 * count operations in float per element of A; count <= cols. *v comes from `arena`. */
static Status find_leading(const Tall *a, size_t count, int threads, double **v, Arena *arena, Error *err)
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
    double *q = NEW(arena, double, count * a->rows), *b = NEW(arena, double, count * a->cols);
    float *start = NEW(arena, float, count * a->cols), *narrow = NEW(arena, float, count * a->rows);
    TRY(arena_check(q && b && start && narrow, arena, err));
    random_signs(count, a->cols, start);
    for (int time = 0; time < TIMES; time++) {
        const ArenaMark before = arena_mark(arena);
        Restricted in = {.b = b};
        TRY(column_space(a, start, count, largest, threads, q, arena, err));
        for (size_t i = 0; i < count * a->rows; i++)
            narrow[i] = (float)q[i];
        TRY(multiply_floats(a, true, narrow, count, 1, threads, b, arena, err));
        TRY(decompose(count, a->cols, &in, arena, err));
        TRY(right_vectors(in.left, count, in.b, count, a->cols, found, arena, err));
        for (size_t i = 0; i < count * a->cols; i++)
            start[i] = (float)found[i];
        arena_rewind(arena, before);
    }
    arena_rewind(arena, mark);
    *v = found;
    return OK;
}

/* ---- atoms ---- */

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

/* Takes the singular vectors of a matrix of low rank, and completes them to an orthonormal basis. The norms
 * of the added atoms, mostly rounding errors, become their root mean square, which keeps the sum of squares. */
static Status take_range(Spectral *s, const Range *r, Arena *arena, Error *err)
{
    for (size_t i = 0; i < s->k; i++)
        s->lambda[i] = sqrt(i < r->count ? r->square[i] : r->rest / (double)(s->k - r->count));
    return completion_open(&s->rest, r->v, r->count, s->k, arena, err);
}

static Status check_side(const Spectral *s, Error *err)
{
    return s->k <= EIGEN_MOST
               ? OK
               : FAIL(err, ERR_NUMERIC, "a matrix of side %zu: want at most %d", s->k, EIGEN_MOST);
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
    return clean < s->k ? measure_dust(s, clean, arena, err) : OK;
}

static Status open_gram(Spectral *s, Arena *arena, Error *err)
{
    Range range;
    TRY(check_side(s, err)); /* fails early */
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
    TRY(completion_squares(&s->rest, &s->a, s->threads, square, arena, err));
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
    TRY(find_leading(&s->a, leading, s->threads, &v, arena, err));
    if (v)
        return take_leading(s, v, leading, arena, err);
    TRY(check_side(s, err));
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
