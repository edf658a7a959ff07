/* test_sort.c -- the kernels that sort floats by a network, against qsort. The network compares the same places for all
 * inputs. So numbers of two values, which by the zero-one principle are the hardest, are sorted beside numbers of many
 * values. */
#include "rig/wall.h"

#include "base/rng.h"
#include "math/vec/kernels.h"

#include <math.h>

static Walled input, output;

static int open_all(void **state)
{
    input = walled(SORT_MOST * sizeof(float));
    output = walled(SORT_MOST * sizeof(float));
    return 0;
}

static int close_all(void **state)
{
    drop_walled(input), drop_walled(output);
    return 0;
}

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return x < y ? -1 : x > y;
}

static float draw(const Rng *rng, unsigned law, size_t i, size_t n)
{
    const uint32_t word = rng_u32(rng, USE_TEST, i);
    const float many = ldexpf((float)word - 0x1p31f, (int)(word % 200) - 170);
    const float choice[] = {many, (float)(word >> 31), (float)(word % (uint32_t)n == 0), (float)(n - i),
                            word % 3 ? many : INFINITY};
    return choice[law] + 0.0f; /* no -0 */
}

TEST(networks_sort)
{
    float x[SORT_MOST], want[SORT_MOST];
    for (size_t n = SORT_LEAST; n <= SORT_MOST; n *= 2)
        for (unsigned trial = 0; trial < 150; trial++) {
            const Rng rng = rng_open(41, trial, 0, 0, n);
            for (size_t i = 0; i < n; i++)
                x[i] = draw(&rng, trial % 5, i, n);
            memcpy(want, x, sizeof want);
            qsort(want, n, sizeof *want, by_value);
            for (int isa = 0; isa < ISA_COUNT; isa++) {
                const Kernels *k = kernels_of((Isa)isa);
                float *const sorted = (float *)(void *)(output.end - n * sizeof *sorted);
                if (!k)
                    continue;
                k->sort_floats(at_the_end(input, x, n * sizeof *x), n, sorted);
                assert_memory_equal(sorted, want, n * sizeof *want);
            }
        }
}

CHECK_ALL(open_all, close_all)
