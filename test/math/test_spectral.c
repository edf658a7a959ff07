/* test_spectral.c -- the singular values of a matrix, by the Gram matrix, by LAPACK's gesdd, and the leading ones
 * alone; the matrix's atoms (singular value times outer product of singular vectors); and matrices that must be
 * refused. */
#include "rig/linalg_rig.h"
#include "math/spectral.h"

TEST(gram_and_gesdd_agree_on_the_spectrum)
{
    for (size_t s = 0; s < countof(shapes); s++) {
        const Tall a = tall_of(normal(shapes[s][0] * shapes[s][1], s, 1e-3), shapes[s][0], shapes[s][1]);
        Spectral gram, gesdd;
        check_ok(spectral_open(&gram, a, SPECTRAL_GRAM, 2, arena, &err), &err);
        check_ok(spectral_open(&gesdd, a, SPECTRAL_GESDD, 2, arena, &err), &err);
        for (size_t i = 0; i < gram.k; i++)
            check_near(gram.lambda[i], gesdd.lambda[i], 1e-10 * gesdd.lambda[0]);
    }
}

/* For singular values below 1e-8 of the largest, the square root of an eigenvalue of A'A is inaccurate. So the
 * library computes singular values as lengths |A v|, which must stay accurate. */
TEST(small_singular_values_survive_the_gram_matrix)
{
    enum { N = 6 };
    float x[10 * N] = {0};
    for (size_t i = 0; i < N; i++)
        x[i * N + i] = powf(10, -2 * (float)i);
    Spectral s;
    check_ok(spectral_open(&s, tall_of(x, 10, N), SPECTRAL_GRAM, 1, arena, &err), &err);
    for (size_t i = 0; i < N; i++)
        check_rel(s.lambda[i], (double)x[i * N + i], 1e-7);
}

/* The matrix is a product of integer matrices, so its rank is exactly 3. */
TEST(a_matrix_of_rank_three_has_three_atoms)
{
    const size_t sides[][2] = {{200, 18}, {18, 200}, {90, 70}, {70, 90}};
    for (size_t c = 0; c < countof(sides); c++) {
        const size_t rows = sides[c][0], cols = sides[c][1];
        float *x = NEW_ZERO(arena, float, rows *cols);
        for (size_t q = 0; q < 3; q++)
            for (size_t i = 0; i < rows; i++)
                for (size_t j = 0; j < cols; j++)
                    x[i * cols + j] +=
                        (float)((int)((i * (7 + q) + q) % 11) - 5) * (float)((int)((j * (5 + q)) % 13) - 6);
        for (int method = SPECTRAL_GRAM; method <= SPECTRAL_GESDD; method++) {
            Spectral s;
            check_ok(spectral_open(&s, tall_of(x, rows, cols), (SpectralMethod)method, 1, arena, &err), &err);
            size_t atoms = 0;
            for (size_t i = 0; i < s.k; i++)
                atoms += s.lambda[i] > 0;
            check(atoms == 3);
        }
    }
}

/* Checks all atoms of A: the singular vectors are orthonormal, the singular values are those in `lambda`, and
 * the atoms add up to A. For singular values that are rounding errors, only the sum of squares must be
 * right. The norms of leading atoms are measured in float, so the rounding errors are float's. */
static void check_atoms(Spectral s)
{
    const Tall a = s.a;
    const size_t k = s.k;
    const double dust = s.order ? 3e-7 : 1e-13;
    float *u = NEW(arena, float, k *a.rows), *v = NEW(arena, float, k *k);
    double *one = NEW(arena, double, k), off = 0, weak = 0, weak_lambda = 0;
    size_t *index = NEW(arena, size_t, k);
    for (size_t i = 0; i < k; i++) {
        index[i] = i;
        one[i] = 1;
    }
    check_ok(spectral_atoms(&s, index, one, k, slots((uint8_t *)u, k, a.rows), slots((uint8_t *)v, k, k),
                            arena, &err),
             &err);
    for (size_t i = 0; i < k; i++) {
        double length = 0;
        for (size_t r = 0; r < a.rows; r++)
            length += (double)u[i * a.rows + r] * (double)u[i * a.rows + r];
        if (s.lambda[i] > 1e-6 * s.lambda[0])
            check_near(sqrt(length), s.lambda[i], 1e-6 * s.lambda[i] + dust * s.lambda[0]);
        else {
            weak += length;
            weak_lambda += s.lambda[i] * s.lambda[i];
        }
        for (size_t j = 0; j <= i; j++) {
            double dot = 0;
            for (size_t q = 0; q < k; q++)
                dot += (double)v[i * k + q] * (double)v[j * k + q];
            check_near(dot, i == j, 1e-6);
        }
    }
    for (size_t r = 0; r < a.rows; r++)
        for (size_t c = 0; c < k; c++) {
            double sum = 0;
            for (size_t i = 0; i < k; i++)
                sum += (double)u[i * a.rows + r] * (double)v[i * k + c];
            off += (sum - entry(&a, r, c)) * (sum - entry(&a, r, c));
        }
    check_near(sqrt(weak), sqrt(weak_lambda), 1e-6 * sqrt(weak_lambda) + dust * s.lambda[0]);
    check(sqrt(off) <= 1e-6 * s.lambda[0]);
}

/* The matrices are sums of a few outer products. Some have added noise, in most cases about as large as
 * float32's rounding error. */
TEST(the_atoms_of_nearly_singular_matrices_are_a_basis)
{
    const size_t sides[][2] = {{90, 18}, {18, 90}, {150, 70}, {70, 150}, {40, 40}, {150, 140}, {140, 170}};
    const double noise[] = {0, 1e-8, 1e-7, 1};
    for (size_t c = 0; c < countof(sides); c++)
        for (size_t strong = 0; strong <= 5; strong += strong < 2 ? 1 : 3)
            for (size_t q = 0; q < countof(noise); q++) {
                const size_t rows = sides[c][0], cols = sides[c][1];
                const float *l = normal(strong * rows, 1, 1), *r = normal(strong * cols, 2, 1);
                float *x = normal(rows * cols, 3, noise[q]);
                for (size_t i = 0; i < rows * cols; i++)
                    for (size_t k = 0; k < strong; k++)
                        x[i] += l[k * rows + i / cols] * r[k * cols + i % cols];
                const Tall a = tall_of(x, rows, cols);
                Spectral s[3];
                check_ok(spectral_open(&s[0], a, SPECTRAL_GRAM, 1, arena, &err), &err);
                check_ok(spectral_open(&s[1], a, SPECTRAL_GESDD, 1, arena, &err), &err);
                check_ok(spectral_open_leading(&s[2], a, 4, 1, arena, &err), &err);
                for (size_t i = 0; i < countof(s); i++)
                    check_atoms(s[i]);
            }
}

/* Of a decomposition two squares of doubles stay: the reduced Gram matrix, and all eigenvectors, which rounding errors need. */
TEST(a_decomposition_keeps_little_beside_its_vectors)
{
    enum { ROWS = 150, COLS = 100 };
    const float *l = normal(ROWS, 1, 1), *r = normal(COLS, 2, 1);
    float *x = NEW(arena, float, ROWS * COLS);
    Spectral s;
    for (size_t i = 0; i < ROWS * COLS; i++)
        x[i] = l[i / COLS] * r[i % COLS];
    const size_t before = arena_used(arena);
    check_ok(spectral_open(&s, tall_of(x, ROWS, COLS), SPECTRAL_GRAM, 1, arena, &err), &err);
    check(s.eigen.vector && arena_used(arena) - before < (2 * COLS + 50) * COLS * sizeof(double));
}

/* Six strong directions above noise, in matrices with both sides the longer one. The noise's rank is full. */
static Tall six_and_noise(size_t rows, size_t cols)
{
    const float *l = normal(6 * rows, 1, 1), *r = normal(6 * cols, 2, 1);
    float *x = normal(rows * cols, 3, 1);
    for (size_t i = 0; i < rows * cols; i++)
        for (size_t k = 0; k < 6; k++)
            x[i] += ldexpf(l[k * rows + i / cols] * r[k * cols + i % cols], 2 - (int)k);
    return tall_of(x, rows, cols);
}

/* The first atoms have the largest singular values. The largest is at least 10 times the noise's, so one power
 * iteration leaves an error below 1e-6. All norms descend, and do not depend on the number of threads. */
TEST(leading_atoms_are_those_of_the_largest_singular_values)
{
    const size_t sides[][2] = {{300, 140}, {140, 300}, {200, 200}};
    for (size_t c = 0; c < countof(sides); c++) {
        const Tall a = six_and_noise(sides[c][0], sides[c][1]);
        Spectral exact, near, threads;
        double norm = 0, sum = 0;
        check_ok(spectral_open(&exact, a, SPECTRAL_GESDD, 1, arena, &err), &err);
        check_ok(spectral_open_leading(&near, a, 16, 1, arena, &err), &err);
        check_ok(spectral_open_leading(&threads, a, 16, 3, arena, &err), &err);
        check(near.order != NULL && near.eigen.k == 0);
        check_rel(near.lambda[0], exact.lambda[0], 1e-6);
        for (size_t i = 0; i < near.k; i++) {
            norm += exact.lambda[i] * exact.lambda[i];
            sum += near.lambda[i] * near.lambda[i];
            check(i == 0 || near.lambda[i] <= near.lambda[i - 1]);
            check(near.lambda[i] == threads.lambda[i]);
            /* the best basis has the largest sum over the first i, whatever i */
            check(sum <= norm * (1 + 1e-6));
            check(i >= 6 || near.lambda[i] > 0.9 * exact.lambda[i]);
        }
        check_rel(sum, norm, 1e-6);
        check_atoms(near);
    }
}

/* LAPACK's gesdd may loop for ever on an infinity, so NaN and infinity must be refused before gesdd is
 * called. */
TEST(nan_and_infinity_are_refused_at_once)
{
    const float bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t s = 0; s < countof(shapes); s++)
        for (size_t b = 0; b < countof(bad); b++) {
            const size_t n = shapes[s][0] * shapes[s][1];
            float *x = normal(n, 9, 1);
            x[n / 2] = bad[b];
            Spectral spectral;
            const Tall a = tall_of(x, shapes[s][0], shapes[s][1]);
            check(spectral_open(&spectral, a, SPECTRAL_GRAM, 1, arena, &err) == ERR_NUMERIC);
            check(spectral_open(&spectral, a, SPECTRAL_GESDD, 1, arena, &err) == ERR_NUMERIC);
            check(spectral_open_leading(&spectral, a, 2, 1, arena, &err) == ERR_NUMERIC);
        }
}

CHECK_ALL(open_arena, close_arena)
