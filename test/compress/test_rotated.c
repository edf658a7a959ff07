/* test_rotated.c -- the codec rotated, which rotates a vector at random and rounds each coordinate at random to
 * uniform levels between the smallest and the largest coordinate. */
#include "rig/try.h"

/* Workers share the rotation but not the random numbers of rounding. So payloads of equal gradients have the
 * same smallest and largest coordinates, but different levels. */
TEST(workers_share_the_rotation_alone)
{
    Try *t = try_open("rotated", 4096);
    t->call.rng_shared = rng_open(1, 0, RNG_EVERYONE, 0, 0);
    uint8_t *first = NEW(t->arena, uint8_t, t->out.cap);
    try_normal(t, 51);
    try_both(t);
    memcpy(first, t->out.data, t->out.size);
    t->call.rng = rng_open(1, 0, 1, 0, 0);
    try_both(t);
    assert_memory_equal(first, t->out.data, 9);
    check(memcmp(first, t->out.data, t->out.size));
    try_close(t);
}

CHECK_ALL(NULL, NULL)
