/* test_hadamard.c -- the Walsh-Hadamard transform: against its matrix; against plain butterflies, bit for bit;
 * and the kernels of every instruction set against each other. */
#include "rig/check.h"

#include "base/arena.h"
#include "math/dyadic_transform.h"
#include "math/vec/kernels.h"

#include <float.h>

static Arena *a;

static float *normal(size_t n, uint64_t seed)
{
    const Rng rng = rng_open(seed, 0, 0, 0, 0);
    float *x = NEW(a, float, n);
    rng_normals(&rng, USE_TEST, 0, n, 1, x);
    return x;
}

/* A vector is cut into blocks whose lengths are powers of two. Returns the length of the block that holds
 * element i; *start is the index of the block's first element. */
static size_t block_at(size_t n, size_t i, size_t *start)
{
    size_t at = 0, size = (size_t)1 << 40;
    for (; size; size /= 2)
        if (n & size) {
            if (i < at + size)
                break;
            at += size;
        }
    *start = at;
    return size;
}

/* Returns entry (k, i) of the transform's matrix for vectors of length n, which is block diagonal with
 * Walsh-Hadamard matrices. */
static double entry(size_t n, size_t k, size_t i)
{
    size_t start, other;
    const size_t size = block_at(n, k, &start);
    block_at(n, i, &other);
    if (start != other)
        return 0;
    return (__builtin_popcountll((k - start) & (i - start)) % 2 ? -1 : 1) / sqrt((double)size);
}

TEST(unit_vectors_become_columns_of_the_matrix)
{
    static const size_t more[] = {63, 64, 127, 256, 257, 511, 600, 1000, 2048 + 256 + 1};
    for (size_t t = 1; t <= 40 + countof(more); t++) {
        const size_t n = t <= 40 ? t : more[t - 41], stride = n > 40 ? n / 37 + 1 : 1;
        const ArenaMark mark = arena_mark(a);
        float *x = NEW(a, float, n);
        for (size_t i = 0; i < n; i += stride) {
            memset(x, 0, n * sizeof *x);
            x[i] = 1;
            hadamard(x, n, 1);
            for (size_t k = 0; k < n; k++)
                check_near((double)x[k], entry(n, k, i), FLT_EPSILON);
        }
        arena_rewind(a, mark);
    }
}

static const size_t sizes[] = {0,
                               1,
                               2,
                               255,
                               4096,
                               65535,
                               65536,
                               65539,
                               70001,
                               131072,
                               (1 << 18) + 77,
                               300000,
                               (1 << 20) + (1 << 17) + 3};

/* Transforms x by butterflies of rising stride, then multiplies by the scale. If the scale is a power of two,
 * multiplying first gives the same result. */
static void butterflies_ref(float *x, size_t n)
{
    for (size_t i = 0, start; i < n; i++) {
        const size_t size = block_at(n, i, &start);
        if (i != start)
            continue;
        for (size_t stride = 1; stride < size; stride *= 2)
            for (size_t k = start; k < start + size; k++)
                if (!((k - start) & stride)) {
                    const float low = x[k], high = x[k + stride];
                    x[k] = low + high;
                    x[k + stride] = low - high;
                }
        for (size_t k = start; k < start + size; k++)
            x[k] *= (float)sqrt(1 / (double)size);
    }
}

TEST(any_length_equals_plain_butterflies_to_the_bit_on_any_threads)
{
    for (size_t s = 0; s < countof(sizes); s++) {
        const size_t n = sizes[s];
        const ArenaMark mark = arena_mark(a);
        const float *x = normal(n, s);
        float *want = NEW(a, float, n), *got = NEW(a, float, n);
        memcpy(want, x, n * sizeof *x);
        butterflies_ref(want, n);
        for (int threads = 1; threads <= 8; threads = threads * 2 + 1) {
            hadamard_of(x, got, n, threads);
            assert_memory_equal(got, want, n * sizeof *x);
        }
        memcpy(got, x, n * sizeof *x);
        hadamard(got, n, 2);
        assert_memory_equal(got, want, n * sizeof *x);
        arena_rewind(a, mark);
    }
}

TEST(denormals_are_rounded_to_their_grid_alone)
{
    float x[600], y[600];
    for (size_t i = 0; i < 600; i++)
        x[i] = (float)(1e-41 * sin((double)i));
    hadamard_of(x, y, 600, 1);
    hadamard(y, 600, 1);
    /* The input has denormals. The transform rounds each of 512 elements, by at most half the least denormal.
     * The inverse averages these errors and rounds once more. */
    for (size_t i = 0; i < 600; i++)
        check_near((double)x[i], (double)y[i], 8 * (double)FLT_TRUE_MIN);
}

/* ---- kernels ---- */

static void rows_ref(float *x, size_t stride, int log_rows, size_t cols, float scale)
{
    const size_t rows = (size_t)1 << log_rows;
    for (size_t c = 0; c < cols; c++) {
        for (size_t s = 1; s < rows; s *= 2)
            for (size_t r = 0; r < rows; r++)
                if (!(r & s)) {
                    const float low = x[r * stride + c], high = x[(r + s) * stride + c];
                    x[r * stride + c] = low + high;
                    x[(r + s) * stride + c] = low - high;
                }
        for (size_t r = 0; r < rows; r++)
            x[r * stride + c] *= scale;
    }
}

TEST(instruction_sets_agree_to_the_bit)
{
    enum { RUNS = 5, MOST = HADAMARD_TILE * 2 };
    const ArenaMark mark = arena_mark(a);
    const float *x = normal(MOST, 9);
    float *want = NEW(a, float, MOST), *got = NEW(a, float, MOST);
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        const Kernels *k = kernels_of((Isa)isa);
        if (!k)
            continue;
        memcpy(want, x, MOST * sizeof *x);
        memcpy(got, x, MOST * sizeof *x);
        for (size_t r = 0; r < RUNS; r++)
            rows_ref(want + r * HADAMARD_RUN, 1, 8, 1, 1);
        k->hadamard_runs(got, RUNS);
        assert_memory_equal(got, want, MOST * sizeof *x);
        for (int log_rows = 0; log_rows <= 8; log_rows++)
            for (size_t cols = 16; cols << log_rows <= HADAMARD_TILE; cols *= 2) {
                const size_t stride =
                    2 * cols < (size_t)MOST >> log_rows ? 2 * cols : (size_t)MOST >> log_rows;
                memcpy(want, x, MOST * sizeof *x);
                memcpy(got, x, MOST * sizeof *x);
                rows_ref(want, stride, log_rows, cols, 0.7f);
                k->hadamard_rows(got, stride, log_rows, cols, 0.7f);
                assert_memory_equal(got, want, MOST * sizeof *x);
            }
    }
    arena_rewind(a, mark);
}

CHECK_ALL_IN(a)
