/* test_thc.c -- the codec thc, which rotates a vector, clips the coordinates and rounds them to uniform levels:
 * the norm that workers share. */
#include "rig/crowd.h"

static double norm_of(const float *x, size_t n)
{
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += (double)x[i] * (double)x[i];
    return sqrt(squares);
}

/* For each block, all workers use the range of levels of the worker with the largest norm. */
TEST(workers_share_each_blocks_largest_norm)
{
    enum { COUNT = BLOCK + 4096 };
    Crowd k = crowd_open("thc", COUNT, 3);
    for (int w = 0; w < 3; w++) {
        try_normal(k.t[w], 70 + (uint64_t)w);
        for (size_t i = 0; i < COUNT; i++)
            k.t[w]->x[i] *= (i < BLOCK) == (w == 1) ? 3 : 1;
    }
    crowd_run(&k);
    assert_int_equal(k.heard.size, 2 + 2 * 4);
    const double first = norm_of(k.t[1]->x, BLOCK);
    const double last = fmax(norm_of(k.t[0]->x + BLOCK, 4096), norm_of(k.t[2]->x + BLOCK, 4096));
    check_rel((double)load_f32(k.heard.data + 2), first, 1e-6);
    check_rel((double)load_f32(k.heard.data + 6), last, 1e-6);
    crowd_close(&k);
}

CHECK_ALL(NULL, NULL)
