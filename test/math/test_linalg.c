/* test_linalg.c -- compares matrix products with plain loops. Tests that the factors of matrix
 * decompositions multiply to the matrix. */
#include "math/vec/kernels.h"
#include "rig/linalg_rig.h"
#include "base/parallel.h"

#include <float.h>

static double *gram_ref(const Tall *a)
{
    double *g = NEW_ZERO(arena, double, a->cols * a->cols);
    for (size_t i = 0; i < a->rows; i++)
        for (size_t j = 0; j < a->cols; j++)
            for (size_t k = 0; k < a->cols; k++)
                g[j * a->cols + k] += entry(a, i, j) * entry(a, i, k);
    return g;
}

static double frobenius(const Tall *a)
{
    double sum = 0;
    for (size_t i = 0; i < a->rows * a->cols; i++)
        sum += (double)a->x[i] * (double)a->x[i];
    return sqrt(sum);
}

/* ---- products ---- */

TEST(every_instruction_set_gives_the_same_bytes)
{
    enum { ROWS = 205 };
    for (size_t cols = 1; cols <= 70; cols++) {
        const float *a = normal(ROWS * cols, cols, 1);
        const Rng rng = rng_open(cols, 1, 0, 0, 0);
        double *v = NEW(arena, double, 4 * cols);
        float *u = NEW(arena, float, 4 * ROWS), *u0 = NEW(arena, float, 4 * ROWS),
              *x = NEW(arena, float, ROWS *cols), *x0 = NEW(arena, float, ROWS *cols);
        double *g = NEW(arena, double, cols *cols), *g0 = NEW(arena, double, cols *cols);
        for (size_t i = 0; i < 4 * cols; i++)
            v[i] = rng_normal(&rng, USE_TEST, i);
        for (int isa = ISA_BASE; isa < ISA_COUNT; isa++) {
            const Kernels *k = kernels_of((Isa)isa);
            if (!k)
                continue;
            uint8_t *const lanes[4] = {(uint8_t *)u, (uint8_t *)(u + ROWS), (uint8_t *)(u + 2 * ROWS),
                                       (uint8_t *)(u + 3 * ROWS)};
            const float *const l[4] = {u, u + ROWS, u + 2 * ROWS, u + 3 * ROWS};
            const float *const r[4] = {a, a + cols, a + 2 * cols, a + 3 * cols};
            k->project_rows(a, ROWS, cols, v, 4, lanes);
            k->outer_rows(l, r, 3, ROWS, cols, false, x);
            k->outer_rows(l, r, 4, ROWS, cols, true, x);
            if (cols <= FEW_COLS)
                k->gram_rows(a, ROWS, cols, g);
            if (isa > ISA_BASE) {
                assert_memory_equal(u, u0, 4 * ROWS * sizeof *u);
                assert_memory_equal(x, x0, ROWS * cols * sizeof *x);
                if (cols <= FEW_COLS)
                    assert_memory_equal(g, g0, cols * cols * sizeof *g);
            }
            memcpy(u0, u, 4 * ROWS * sizeof *u);
            memcpy(x0, x, ROWS * cols * sizeof *x);
            if (cols <= FEW_COLS)
                memcpy(g0, g, cols * cols * sizeof *g);
        }
        for (size_t i = 0; i < ROWS; i++)
            for (size_t q = 0; q < 4; q++) {
                double sum = 0;
                for (size_t j = 0; j < cols; j++)
                    sum += (double)a[i * cols + j] * v[4 * j + q];
                check_near((double)u0[q * ROWS + i], sum, 1e-5);
            }
    }
}

TEST(gram_matrices_are_those_of_plain_loops_for_any_thread_count)
{
    for (size_t s = 0; s < countof(shapes); s++) {
        const size_t rows = shapes[s][0], cols = shapes[s][1];
        const Tall a = tall_of(normal(rows * cols, s, 1), rows, cols);
        check(a.rows >= a.cols && a.turned == (rows < cols));
        double *g = NEW(arena, double, a.cols *a.cols), *g4 = NEW(arena, double, a.cols *a.cols);
        const double *ref = gram_ref(&a);
        check_ok(linalg_gram(&a, 1, g, arena, &err), &err);
        check_ok(linalg_gram(&a, 4, g4, arena, &err), &err);
        for (size_t i = 0; i < a.cols * a.cols; i++)
            check_near(g[i], ref[i], 1e-14 * (double)a.rows * ref[0]);
        assert_memory_equal(g, g4, a.cols * a.cols * sizeof *g);
    }
}

TEST(projections_are_those_of_plain_loops_for_any_thread_count)
{
    const size_t counts[] = {1, 4, 7, 30};
    for (size_t s = 0; s < countof(shapes); s++)
        for (size_t c = 0; c < countof(counts); c++) {
            const size_t rows = shapes[s][0], cols = shapes[s][1], count = counts[c];
            const Tall a = tall_of(normal(rows * cols, s, 1), rows, cols);
            const Rng rng = rng_open(s, c, 0, 0, 0);
            double *v = NEW(arena, double, count *a.cols);
            for (size_t i = 0; i < count * a.cols; i++)
                v[i] = rng_normal(&rng, USE_TEST, i);
            float *u = NEW(arena, float, count *a.rows);
            /* the address odd + 2 is not a multiple of 4: linalg_project must also write to unaligned floats */
            uint8_t *odd = NEW(arena, uint8_t, 2 + count * a.rows * sizeof *u);
            check_ok(linalg_project(&a, v, count, 1, slots((uint8_t *)u, count, a.rows), arena, &err), &err);
            check_ok(linalg_project(&a, v, count, 3, slots(odd + 2, count, a.rows), arena, &err), &err);
            assert_memory_equal(u, odd + 2, count * a.rows * sizeof *u);
            for (size_t k = 0; k < count; k++)
                for (size_t i = 0; i < a.rows; i += 1 + a.rows / 50) {
                    double sum = 0, size = 0;
                    for (size_t j = 0; j < a.cols; j++) {
                        sum += entry(&a, i, j) * v[k * a.cols + j];
                        size += fabs(entry(&a, i, j) * v[k * a.cols + j]);
                    }
                    check_near((double)u[k * a.rows + i], sum, 0x1p-24 * fabs(sum) + 1e-14 * size);
                }
        }
}

TEST(rank_one_sums_are_those_of_plain_loops)
{
    for (size_t s = 0; s < countof(shapes); s++)
        for (size_t count = 0; count < 7; count++) {
            const size_t rows = shapes[s][0], cols = shapes[s][1];
            const float *l = normal(count * rows, 1, 1), *r = normal(count * cols, 2, 1);
            float *x = NEW(arena, float, rows *cols), *x4 = NEW(arena, float, rows *cols);
            linalg_outer(l, r, count, rows, cols, 1, x);
            linalg_outer(l, r, count, rows, cols, 4, x4);
            assert_memory_equal(x, x4, rows * cols * sizeof *x);
            for (size_t i = 0; i < rows; i++)
                for (size_t j = 0; j < cols; j++) {
                    double sum = 0, size = 0;
                    for (size_t k = 0; k < count; k++) {
                        sum += (double)l[k * rows + i] * (double)r[k * cols + j];
                        size += fabs((double)l[k * rows + i] * (double)r[k * cols + j]);
                    }
                    check_near((double)x[i * cols + j], sum, 7 * 0x1p-24 * size);
                }
        }
}

static void check_product(size_t m, size_t n, size_t k, int turns)
{
    const float *a = normal(m * k, 3, 1), *b = normal(k * n, 4, 1), *start = normal(m * n, 5, 1);
    float *c = NEW(arena, float, m *n), *c3 = NEW(arena, float, m *n);
    const bool at = turns & 1, bt = turns & 2, add = turns & 4;
    const Product p = {a, b, c, m, n, k, at, bt, add, 0.5F};
    Product p3 = p;
    p3.c = c3;
    memcpy(c, start, m * n * sizeof *c);
    memcpy(c3, start, m * n * sizeof *c);
    linalg_multiply(&p, 1);
    linalg_multiply(&p3, 3);
    assert_memory_equal(c, c3, m * n * sizeof *c);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = add ? (double)start[i * n + j] : 0;
            for (size_t l = 0; l < k; l++)
                sum += 0.5 * (double)a[at ? l * m + i : i * k + l] * (double)b[bt ? j * k + l : l * n + j];
            check_near((double)c[i * n + j], sum, 4e-7 * ((double)k + 10));
        }
}

TEST(products_are_sums_for_any_number_of_threads)
{
    static const size_t sizes[][3] = {{300, 7, 21}, {7, 600, 33}, {513, 17, 0}, {1, 1, 1}, {64, 65, 801}};
    for (size_t i = 0; i < countof(sizes); i++)
        for (int turns = 0; turns < 8; turns++)
            check_product(sizes[i][0], sizes[i][1], sizes[i][2], turns);
}

/* ---- decompositions ---- */

/* Returns the largest element of |V V' - I|: by how much the `count` rows of V deviate from an orthonormal
 * set. */
static double off_orthonormal(const double *v, size_t count, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j <= i; j++) {
            double dot = i == j ? -1 : 0;
            for (size_t k = 0; k < n; k++)
                dot += v[i * n + k] * v[j * n + k];
            most = fmax(most, fabs(dot));
        }
    return most;
}

static void check_svd(Tall a, double tol)
{
    const size_t k = a.cols;
    double *u = NEW(arena, double, k *a.rows), *s = NEW(arena, double, k), *v = NEW(arena, double, k *k),
           *alone = NEW(arena, double, k);
    check_ok(linalg_svd(&a, u, s, v, arena, &err), &err);
    check_ok(linalg_svd(&a, NULL, alone, NULL, arena, &err), &err);
    check(off_orthonormal(u, k, a.rows) < 1e-12);
    check(off_orthonormal(v, k, k) < 1e-12);
    for (size_t i = 0; i < k; i++) {
        check(s[i] >= 0 && (i == 0 || s[i] <= s[i - 1]));
        check_near(s[i], alone[i], 1e-13 * s[0]);
    }
    for (size_t i = 0; i < a.rows; i += 1 + a.rows / 60)
        for (size_t j = 0; j < k; j++) {
            double sum = 0;
            for (size_t q = 0; q < k; q++)
                sum += u[q * a.rows + i] * s[q] * v[q * k + j];
            check_near(sum, entry(&a, i, j), tol * frobenius(&a));
        }
}

TEST(singular_vectors_multiply_back)
{
    for (size_t s = 0; s < countof(shapes); s++)
        check_svd(tall_of(normal(shapes[s][0] * shapes[s][1], s, 1), shapes[s][0], shapes[s][1]), 1e-13);
}

TEST(tiny_huge_zero_and_identity_matrices_decompose)
{
    check_svd(tall_of(normal(400, 1, 1e-30), 40, 10), 1e-13);
    check_svd(tall_of(normal(400, 1, 1e-40), 10, 40), 1e-13);
    check_svd(tall_of(normal(400, 1, 1e37), 40, 10), 1e-13);
    float *x = NEW_ZERO(arena, float, 400);
    check_svd(tall_of(x, 20, 20), 0);
    for (size_t i = 0; i < 20; i++)
        x[i * 21] = 1;
    check_svd(tall_of(x, 20, 20), 1e-14);
}

/* Returns the symmetric matrix Q diag(w) Q' with the eigenvalues w; Q is the reflection in a random vector. */
static double *with_eigenvalues(const double *w, size_t k)
{
    const float *h = normal(k, 77, 1);
    double norm = 0, *g = NEW_ZERO(arena, double, k *k);
    for (size_t i = 0; i < k; i++)
        norm += (double)h[i] * (double)h[i];
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++)
            for (size_t q = 0; q < k; q++)
                g[i * k + j] += ((i == q) - 2 * (double)h[i] * (double)h[q] / norm) * w[q] *
                                ((j == q) - 2 * (double)h[j] * (double)h[q] / norm);
    return g;
}

static double *copy_of(const double *x, size_t n)
{
    double *copy = NEW(arena, double, n);
    memcpy(copy, x, n * sizeof *x);
    return copy;
}

TEST(eigenvectors_are_orthonormal_and_belong_to_their_values)
{
    const size_t sides[] = {1, 2, 18, 32, 33, 50, 120};
    for (size_t s = 0; s < countof(sides); s++) {
        const size_t k = sides[s];
        double *w = NEW(arena, double, k);
        for (size_t i = 0; i < k; i++)
            w[i] = pow(0.9, (double)(k - 1 - i));
        const double *g = with_eigenvalues(w, k);
        Eigen e;
        check_ok(eigen_open(&e, copy_of(g, k * k), k, arena, &err), &err);
        check_ok(eigen_all(&e, arena, &err), &err);
        check(off_orthonormal(e.vector, k, k) < 1e-12);
        for (size_t i = 0; i < k; i++) {
            check_near(e.value[i], w[i], 1e-13);
            for (size_t j = 0; j < k; j++) {
                double sum = 0;
                for (size_t q = 0; q < k; q++)
                    sum += g[j * k + q] * e.vector[i * k + q];
                check_near(sum, w[i] * e.vector[i * k + j], 1e-13);
            }
        }
    }
}

/* An eigenvector must not depend on which other eigenvectors are computed in the same call. Otherwise the
 * estimate of a codec that computes only the drawn ones would be biased. */
TEST(an_eigenvector_is_the_same_whichever_others_are_asked_for)
{
    enum { K = 80 };
    for (int close = 0; close < 3; close++) {
        double w[K];
        /* the eigenvalues w: all different, or in pairs that differ by a rounding error, or all equal */
        for (size_t i = 0; i < K; i++)
            w[i] = close == 2   ? 1
                   : close == 1 ? 1 + (double)(i / 2) + 1e-14 * (double)(i % 2)
                                : 1 + (double)i;
        const double *g = with_eigenvalues(w, K);
        Eigen whole;
        check_ok(eigen_open(&whole, copy_of(g, K * K), K, arena, &err), &err);
        check_ok(eigen_all(&whole, arena, &err), &err);
        for (size_t first = 0; first + 3 < K; first += 7) {
            const size_t index[] = {first, first + 2, first + 3};
            double v[3 * K];
            Eigen e;
            check_ok(eigen_open(&e, copy_of(g, K * K), K, arena, &err), &err);
            check_ok(eigen_some(&e, index, 3, v, arena, &err), &err);
            check((e.vector != NULL) == (close > 0));
            for (size_t i = 0; i < 3; i++) {
                /* the sign of an eigenvector may differ: it does not change the atom u v' */
                double dot = 0;
                for (size_t j = 0; j < K; j++)
                    dot += v[i * K + j] * whole.vector[index[i] * K + j];
                check_near(fabs(dot), 1, 1e-13);
            }
        }
    }
}

CHECK_ALL(open_arena, close_arena)
