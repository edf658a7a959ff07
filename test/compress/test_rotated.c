/* test_rotated.c -- the codec rotated, which rotates a vector at random and rounds each coordinate at random to
 * uniform levels between the smallest and the largest coordinate. */
#include "rig/try.h"

#include "coder/planes.h"
#include "math/vec/quantise.h"
#include "math/rotation.h"

static const size_t sizes[] = {0, 1, 63, 64, 65, 200, 256, 600, 1000, 1200, 4096, 65536, 65537, 200000};

static Try *open_rotated(const char *spec, size_t n)
{
    Try *t = try_open(spec, n);
    t->call.rng_shared = rng_open(1, 0, RNG_EVERYONE, 0, 0);
    return t;
}

/* Checks the smallest and the largest coordinate and the levels of each block in the payload. Returns the
 * closed form of the variance. */
static double check_levels(const Try *t, unsigned steps, const uint8_t *payload)
{
    double variance = 0;
    const uint8_t *at = payload + 1;
    const int width = level_bits(steps);
    for (size_t p = 0; p < rotation_pieces(t->shape.n); p++)
        for (size_t start = 0, end = rotation_piece(t->shape.n, p), n; start < end; start += n) {
            n = rotation_block(end - start);
            float *z = NEW(t->scratch, float, n), *y = NEW(t->scratch, float, n);
            uint8_t *code = NEW(t->scratch, uint8_t, n);
            const Rotation r = rotation_open(&t->call.rng_shared, p, start, 1);
            const double low = (double)load_f32(at), high = (double)load_f32(at + 4),
                         D = (high - low) / steps;
            rotation_turn(&r, t->x + p * BLOCK + start, n, 1, z);
            rotation_turn(&r, t->y + p * BLOCK + start, n, 1, y);
            check(planes_get8(at + 8, n, width, code));
            for (size_t i = 0; i < n; i++) {
                const double level = ((double)z[i] - low) / D, f = level - floor(level);
                check((double)z[i] >= low && (double)z[i] <= high && code[i] <= steps);
                check(fabs(code[i] - level) < 1 + 1e-4);
                check_near((double)y[i], low + D * code[i], 1e-5);
                variance += D * D * f * (1 - f);
            }
            at += 8 + planes_size(n, width);
        }
    check(at == t->out.data + t->out.size);
    return variance;
}

static void every_size_has_levels_next_to_the_rotated_vector(void **state)
{
    (void)state;
    for (int bits = 1; bits <= 8; bits++)
        for (size_t k = 0; k < countof(sizes); k++) {
            char spec[32];
            snprintf(spec, sizeof spec, "rotated:bits=%d", bits);
            Try *t = open_rotated(spec, sizes[k]);
            try_normal(t, 30 + k);
            try_both(t);
            if (sizes[k] < ROTATION_SHORTEST)
                assert_memory_equal(t->x, t->y, sizes[k] * sizeof(float));
            else
                check_levels(t, (1u << bits) - 1, t->out.data);
            try_close(t);
        }
}

/* Workers share the rotation but not the random numbers of rounding. So payloads of equal gradients have the
 * same smallest and largest coordinates, but different levels. */
static void workers_share_the_rotation_alone(void **state)
{
    (void)state;
    Try *t = open_rotated("rotated", 4096);
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

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_size_has_levels_next_to_the_rotated_vector),
    cmocka_unit_test(workers_share_the_rotation_alone),
};

CHECK_MAIN(tests)
