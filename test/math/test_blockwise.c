/* test_blockwise.c -- compares sums and largest magnitudes of long vectors with plain loops, at lengths round those of
 * chunks and blocks, on one thread and on three. */
#include "rig/check.h"
#include "base/bytes.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "math/blockwise.h"
#include "math/vec/kernels.h"

enum { CHUNK = 2048, MOST = 3 * BLOCK + CHUNK + 5 };

static const size_t lengths[] = {0, 1, CHUNK - 1, CHUNK, CHUNK + 1, BLOCK - 1, BLOCK, BLOCK + 1, MOST};
/* an element of the last chunk, of the first, and on both sides of each boundary */
static const size_t spots[] = {0, CHUNK - 1, CHUNK, BLOCK - 1, BLOCK, 2 * BLOCK + 7, MOST - 1};
static const float odd[] = {INFINITY, -INFINITY, NAN};

static float *drawn(uint64_t seed)
{
    float *x = malloc(MOST * sizeof *x);
    const Rng rng = rng_open(seed, 0, 0, 0, 0);
    for (size_t i = 0; x && i < MOST; i++)
        x[i] = (float)rng_normal(&rng, USE_DATA, i);
    return x;
}

TEST(sums_are_those_of_a_loop)
{
    float *a = drawn(1), *b = drawn(2), *sum = drawn(3);
    for (size_t k = 0; k < countof(lengths); k++)
        for (int threads = 1; threads <= 3; threads += 2) {
            const size_t n = lengths[k];
            memset(sum, 0, MOST * sizeof *sum);
            check(blockwise_add(a, b, -0.75f, n, threads, sum));
            for (size_t i = 0; i < n; i++)
                check(sum[i] == a[i] + -0.75f * b[i]);
            check(n == MOST || sum[n] == 0);
        }
    /* in place */
    memcpy(sum, b, MOST * sizeof *sum);
    check(blockwise_add(a, sum, 1, MOST, 2, sum));
    for (size_t i = 0; i < MOST; i++)
        check(sum[i] == a[i] + b[i]);
    free(a), free(b), free(sum);
}

TEST(any_sum_that_is_not_finite_is_found)
{
    float *a = drawn(1), *b = drawn(2), *sum = drawn(3);
    for (size_t k = 0; k < countof(spots); k++)
        for (int threads = 1; threads <= 3; threads += 2) {
            const float before = a[spots[k]], other = b[spots[k]];
            a[spots[k]] = b[spots[k]] = 3e38f;
            check(!blockwise_add(a, b, 1, MOST, threads, sum));
            check(blockwise_add(a, b, -1, MOST, threads, sum));
            check(blockwise_add(a, b, 1, spots[k], threads, sum));
            a[spots[k]] = before, b[spots[k]] = other;
        }
    free(a), free(b), free(sum);
}

TEST(loaded_floats_are_copies_and_are_checked)
{
    float *a = drawn(1), *x = drawn(2);
    uint8_t *bytes = malloc(4 * MOST + 1);
    for (size_t i = 0; i < MOST; i++)
        store_f32(bytes + 1 + 4 * i, a[i]);
    check(blockwise_load(bytes + 1, MOST, 2, x) && !memcmp(a, x, MOST * sizeof *a));
    for (size_t k = 0; k < countof(spots); k++)
        for (size_t o = 0; o < countof(odd); o++) {
            store_f32(bytes + 1 + 4 * spots[k], odd[o]);
            check(!blockwise_load(bytes + 1, MOST, 2, x));
            store_f32(bytes + 1 + 4 * spots[k], a[spots[k]]);
        }
    free(a), free(x), free(bytes);
}

TEST(the_largest_magnitude_is_found_anywhere)
{
    float *x = drawn(1);
    check(blockwise_most(x, 0, 2) == 0);
    for (size_t k = 0; k < countof(spots); k++)
        for (int threads = 1; threads <= 3; threads += 2) {
            const float before = x[spots[k]];
            x[spots[k]] = k % 2 ? 77 : -77;
            check(blockwise_most(x, MOST, threads) == 77);
            x[spots[k]] = -INFINITY;
            check(blockwise_most(x, MOST, threads) == INFINITY);
            x[spots[k]] = NAN;
            check(isnan(blockwise_most(x, MOST, threads)));
            x[spots[k]] = before;
        }
    free(x);
}

TEST(squares_add_up_in_order_for_any_thread_count)
{
    const size_t n = 37 * BLOCK + 5;
    float *x = malloc(n * sizeof *x);
    double sum = 0;
    long double exact = 0;
    for (size_t i = 0; i < n; i++) {
        x[i] = (float)((double)(i % 251) - 97) / 7 * (float)(1 + i / BLOCK);
        exact += (long double)x[i] * (long double)x[i];
    }
    for (size_t b = 0; b < blocks_of(n); b++)
        sum += kernels()->sum_squares(x + b * BLOCK, block_size(n, b));
    check_rel(sum, (double)exact, 1e-13);
    for (int threads = 1; threads <= 8; threads++)
        check(blockwise_squares(x, n, threads) == sum);
    check(blockwise_squares(x, 0, 2) == 0);
    free(x);
}

CHECK_ALL(NULL, NULL)
