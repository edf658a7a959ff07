/* test_thin.c -- compares products of a matrix with a few vectors with products in long double, on every
 * instruction set and for any number of threads. Also tests the orthonormalisation of vectors. */
#include "rig/check.h"

#include "math/vec/kernels.h"
#include "compress/lowrank/lowrank.c"

enum { MOST = 40000 };

static const size_t shapes[][2] = {{1, 1},   {3, 2},    {2, 9},    {5, 8},    {8, 5},   {17, 31},
                                   {64, 27}, {130, 70}, {600, 20}, {3, 2500}, {1, 9000}};

static void fill(float *x, size_t n, uint64_t seed)
{
    const Rng rng = rng_open(seed, 0, 0, 0, 3);
    rng_normals(&rng, USE_INIT, 0, n, 1, x);
}

#define EACH_ISA(k)                                                                                          \
    for (int isa = 0; isa < ISA_COUNT; isa++)                                                                \
        for (const Kernels *k = kernels_of((Isa)isa); k; k = NULL)

TEST(products_agree_to_the_bit_between_instruction_sets)
{
    static float a[MOST], v[4][9000], first[4][9000], out[4][9000];
    static double first_sum[4][9000], sum[4][9000];
    for (size_t s = 0; s < countof(shapes); s++)
        for (size_t count = 1; count <= 4; count++) {
            const size_t rows = shapes[s][0], cols = shapes[s][1], stride = cols - cols / 3;
            const float *in[4] = {v[0], v[1], v[2], v[3]};
            float *dots[4] = {out[0], out[1], out[2], out[3]};
            double *sums[4] = {sum[0], sum[1], sum[2], sum[3]};
            fill(a, rows * cols, 1);
            fill(v[0], 4 * 9000, 2);
            EACH_ISA(k)
            {
                k->rows_dot(a, rows, cols, in, count, dots);
                memset(sum, 0, sizeof sum);
                /* rows_add reads only the first `stride` columns of each row */
                k->rows_add(a, cols, rows, stride, in, count, sums);
                for (size_t i = 0; i < count; i++) {
                    if (isa == 0)
                        memcpy(first[i], out[i], rows * 4), memcpy(first_sum[i], sum[i], stride * 8);
                    check(!memcmp(first[i], out[i], rows * 4) && !memcmp(first_sum[i], sum[i], stride * 8));
                }
            }
        }
}

TEST(products_are_those_of_long_doubles_for_any_number_of_threads)
{
    Error err;
    Arena *a = arena_open(0);
    for (size_t s = 0; s < countof(shapes); s++)
        for (size_t count = 1; count <= 6; count += 5) {
            const size_t rows = shapes[s][0], cols = shapes[s][1];
            float *m = NEW(a, float, rows *cols), *q = NEW(a, float, count *cols),
                  *p = NEW(a, float, count *rows), *one = NEW(a, float, count *(rows + cols)),
                  *many = NEW(a, float, count *(rows + cols));
            fill(m, rows * cols, 1), fill(q, count * cols, 2), fill(p, count * rows, 3);
            thin_right(m, rows, cols, q, count, 1, one);
            check_ok(thin_left(m, rows, cols, p, count, 1, one + count * rows, a, &err), &err);
            for (int threads = 2; threads <= 8; threads += 6) {
                thin_right(m, rows, cols, q, count, threads, many);
                check_ok(thin_left(m, rows, cols, p, count, threads, many + count * rows, a, &err), &err);
                check(!memcmp(one, many, count * (rows + cols) * sizeof *one));
            }
            for (size_t k = 0; k < count; k++) {
                for (size_t i = 0; i < rows; i++) {
                    long double want = 0;
                    for (size_t j = 0; j < cols; j++)
                        want += (long double)m[i * cols + j] * q[k * cols + j];
                    check_near((double)one[k * rows + i], (double)want, 1e-6 * (double)cols);
                }
                for (size_t j = 0; j < cols; j++) {
                    long double want = 0;
                    for (size_t i = 0; i < rows; i++)
                        want += (long double)m[i * cols + j] * p[k * rows + i];
                    check_near((double)one[count * rows + k * cols + j], (double)want, 1e-6 * (double)rows);
                }
            }
        }
    arena_close(a);
}

static double dot(const float *u, const float *v, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)u[i] * (double)v[i];
    return sum;
}

enum { N = 50, COUNT = 5 };

static void make_orthonormal(float *v, uint64_t seed)
{
    Error err;
    Arena *a = arena_open(0);
    const Rng rng = rng_open(seed, 0, 0, 0, 4);
    check_ok(thin_orthonormal(v, COUNT, N, &rng, a, &err), &err);
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j <= i; j++)
            check_near(dot(v + i * N, v + j * N, N), i == j, 3e-7);
    arena_close(a);
}

TEST(vectors_become_orthonormal_and_span_the_same)
{
    float v[COUNT * N], was[COUNT * N];
    static const float scales[] = {1, 1e30f, 1e-30f};
    for (size_t s = 0; s < countof(scales); s++) {
        fill(v, COUNT * N, 8);
        for (size_t i = 0; i < N; i++)
            v[N + i] = v[i] + 1e-4f * v[N + i]; /* makes the second vector nearly parallel to the first */
        for (size_t i = 0; i < COUNT * N; i++)
            was[i] = v[i] *= scales[s];
        make_orthonormal(v, 1);
        /* each original vector k must be a linear combination of the new vectors 0 .. k */
        for (size_t k = 0; k < COUNT; k++) {
            double along = 0;
            for (size_t j = 0; j <= k; j++)
                along += pow(dot(was + k * N, v + j * N, N), 2);
            check_rel(along, dot(was + k * N, was + k * N, N), 1e-6);
        }
    }
}

TEST(missing_directions_are_drawn)
{
    float v[COUNT * N], again[COUNT * N];
    fill(v, COUNT * N, 8);
    memset(v, 0, N * sizeof *v);                 /* the zero vector */
    memcpy(v + 3 * N, v + 2 * N, N * sizeof *v); /* an equal vector */
    /* makes vector 4 a linear combination of the vectors 1 and 2, up to rounding */
    for (size_t i = 0; i < N; i++)
        v[4 * N + i] = -3.3f * v[2 * N + i] + v[N + i];
    memcpy(again, v, sizeof v);
    make_orthonormal(v, 1);
    make_orthonormal(again, 1);
    check(!memcmp(v, again, sizeof v));
    memset(v, 0, sizeof v);
    memset(again, 0, sizeof v);
    make_orthonormal(v, 1);
    make_orthonormal(again, 2);
    check(memcmp(v, again, sizeof v) != 0);
}

CHECK_ALL(NULL, NULL)
