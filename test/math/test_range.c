/* test_range.c -- the randomized range finder must find the singular vectors of matrices of low rank, as gesdd
 * does, and must return no vectors for all other matrices. */
#include "math/spectral.c"
#include "rig/linalg_rig.h"

enum { SIDES = 5 };
static const size_t sides[SIDES][2] = {{300, 140}, {140, 300}, {200, 200}, {700, 260}, {6000, 140}};

/* A sum of `rank` outer products of random vectors, each half as large as the one before. The elements are
 * rounded to float, so all singular values beyond `rank` are rounding errors. */
static Tall low_rank(size_t side, size_t rank, double scale)
{
    const size_t rows = sides[side][0], cols = sides[side][1];
    const float *l = normal(rank * rows, 1, 1), *r = normal(rank * cols, 2, 1);
    float *x = NEW(arena, float, rows *cols);
    double half[32];
    for (size_t k = 0; k < rank; k++)
        half[k] = ldexp(1, -(int)k);
    for (size_t i = 0; i < rows * cols; i++) {
        double sum = 0;
        for (size_t k = 0; k < rank; k++)
            sum += half[k] * (double)l[k * rows + i / cols] * (double)r[k * cols + i % cols];
        x[i] = (float)(scale * sum);
    }
    return tall_of(x, rows, cols);
}

static Range range_of(Tall a, int threads)
{
    Range r;
    check_ok(linalg_range(&a, 1e-12, threads, &r, arena, &err), &err);
    return r;
}

TEST_BETWEEN(singular_vectors_are_those_of_gesdd, open_arena, close_arena)
{
    const double scales[] = {1, 1e20, 1e-20};
    for (size_t side = 0; side < SIDES; side++)
        for (size_t rank = 1; rank <= 25; rank += 12) {
            const Tall a = low_rank(side, rank, scales[rank / 12]);
            const Range r = range_of(a, 1);
            Spectral g;
            check_ok(spectral_open(&g, a, SPECTRAL_GESDD, 1, arena, &err), &err);
            const double most = g.lambda[0] * g.lambda[0];
            double rest = 0;
            check(r.count > 0 && r.count <= rank);
            for (size_t i = 0; i < g.k; i++) {
                const double square = g.lambda[i] * g.lambda[i];
                if (i >= r.count) {
                    check(square <= 1.01e-12 * most);
                    rest += square;
                    continue;
                }
                check_near(r.square[i], square, 1e-12 * most);
                double same = 0;
                for (size_t j = 0; j < g.k; j++)
                    same += r.v[i * g.k + j] * g.v[i * g.k + j];
                /* a singular value that is a thousand times the rounding errors has an accurate vector */
                if (square > 1e-8 * most)
                    check_near(fabs(same), 1, 1e-6);
            }
            check_near(r.rest, rest, 0.01 * rest + 1e-20 * most);
        }
}

/* Returns the squared norm of A minus the sum of (A v_i) v_i'. */
static double outside(Tall a, const Range *r)
{
    double sum = 0;
    double *row = NEW(arena, double, a.cols);
    for (size_t i = 0; i < a.rows; i++) {
        for (size_t j = 0; j < a.cols; j++)
            row[j] = entry(&a, i, j);
        for (size_t k = 0; k < r->count; k++) {
            double dot = 0;
            for (size_t j = 0; j < a.cols; j++)
                dot += entry(&a, i, j) * r->v[k * a.cols + j];
            for (size_t j = 0; j < a.cols; j++)
                row[j] -= dot * r->v[k * a.cols + j];
        }
        for (size_t j = 0; j < a.cols; j++)
            sum += row[j] * row[j];
    }
    return sum;
}

TEST_BETWEEN(vectors_are_orthonormal_and_the_same_for_any_number_of_threads, open_arena, close_arena)
{
    for (size_t side = 0; side < SIDES; side++) {
        const Tall a = low_rank(side, 20, 1);
        const Range r = range_of(a, 1), many = range_of(a, 8);
        for (size_t i = 0; i < r.count; i++)
            for (size_t j = 0; j <= i; j++) {
                double dot = 0;
                for (size_t q = 0; q < a.cols; q++)
                    dot += r.v[i * a.cols + q] * r.v[j * a.cols + q];
                check_near(dot, i == j, 1e-9);
            }
        check_near(r.rest, outside(a, &r), 1e-3 * r.rest);
        check(many.count == r.count && many.rest == r.rest);
        check(!memcmp(many.square, r.square, r.count * sizeof *r.square));
        check(!memcmp(many.v, r.v, r.count * a.cols * sizeof *r.v));
    }
}

/* The range finder judges the rank from a sample of rows and columns. It must also notice elements outside the
 * sample. */
TEST_BETWEEN(other_matrices_are_left_alone, open_arena, close_arena)
{
    const size_t n = 200;
    check(range_of(tall_of(normal(n * n, 5, 1), n, n), 1).count == 0); /* full rank */
    check(range_of(tall_of(NEW_ZERO(arena, float, n *n), n, n), 1).count == 0);
    check(range_of(tall_of(normal(500 * 100, 5, 1e-30), 500, 100), 1).count == 0);
    float *x = normal(n * n, 6, 1);
    for (size_t i = 0; i < n; i += 4) /* the sample takes every fourth row and column: all zeros */
        memset(x + i * n, 0, n * sizeof *x);
    check(range_of(tall_of(x, n, n), 1).count == 0);
    for (size_t i = 0; i < n * n; i++)
        x[i] = i / n % 4 ? 1e-4F * x[i] : 1; /* rank one in the sample, noise outside of it */
    check(range_of(tall_of(x, n, n), 1).count == 0);
}

TEST_BETWEEN(huge_tiny_and_bad_elements_are_left_to_the_gram_matrix, open_arena, close_arena)
{
    const float scales[] = {0x1p100F, 0x1p-100F, INFINITY, NAN};
    for (size_t i = 0; i < countof(scales); i++) {
        const Tall a = low_rank(0, 3, 1);
        float *x = NEW(arena, float, a.rows *a.cols);
        memcpy(x, a.x, a.rows * a.cols * sizeof *x);
        for (size_t j = 0; j < a.rows * a.cols; j++)
            x[j] *= isfinite(scales[i]) || j == 777 ? scales[i] : 1;
        const Tall b = {x, a.rows, a.cols, a.turned};
        Range r;
        Spectral s;
        const Status found = linalg_range(&b, 1e-12, 1, &r, arena, &err);
        check(found == ERR_NUMERIC || r.count == 0);
        const Status opened = spectral_open(&s, b, SPECTRAL_GRAM, 1, arena, &err);
        check(opened == (isfinite(scales[i]) ? OK : ERR_NUMERIC));
    }
}

CHECK_ALL(NULL, NULL)
