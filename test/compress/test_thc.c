/* test_thc.c -- the codec thc, which rotates a vector, clips the coordinates and rounds them to uniform levels:
 * levels, and the norm that workers share. */
#include "rig/crowd.h"

#include "coder/planes.h"
#include "math/rotation.h"

static const size_t sizes[] = {0, 1, 63, 64, 65, 200, 256, 600, 1000, 1200, 4096, 65536, 65537, 200000};
/* clipped[bits] is the probability P(|Z| > T) that a standard normal Z is clipped; levels are from -T to T */
static const double clipped[9] = {0,         1.0 / 32,  1.0 / 32,   1.0 / 32,  1.0 / 32,
                                  1.0 / 128, 1.0 / 512, 1.0 / 2048, 1.0 / 8192};

static Try *open_thc(int bits, bool share, size_t n)
{
    char spec[64];
    snprintf(spec, sizeof spec, "thc:bits=%d,share=%s", bits, share ? "on" : "off");
    Try *t = try_open(spec, n);
    t->call.rng_shared = rng_open(1, 0, RNG_EVERYONE, 0, 0);
    return t;
}

/* Returns the T with P(|Z| > T) = clipped[bits] for a standard normal Z, found by bisection. */
static double end_ref(int bits)
{
    double low = 0, high = 8;
    for (int i = 0; i < 60; i++) {
        const double mid = (low + high) / 2;
        *(erfc(mid / sqrt(2)) > clipped[bits] ? &low : &high) = mid;
    }
    return low;
}

/* The squared error for a given rotation is the sum of an error by rounding and an error by clipping. */
typedef struct {
    double rounding, clipping;
} Loss;

/* Checks the norm and the levels of each block, and returns the expected squared errors of all blocks. */
static Loss check_levels(const Try *t, int bits, const uint8_t *norm, const uint8_t *codes)
{
    Loss loss = {0, 0};
    const int steps = (1 << bits) - 1;
    for (size_t p = 0; p < rotation_pieces(t->shape.n); p++)
        for (size_t start = 0, end = rotation_piece(t->shape.n, p), n; start < end; start += n) {
            n = rotation_block(end - start);
            float *z = NEW(t->scratch, float, n), *y = NEW(t->scratch, float, n);
            uint8_t *code = NEW(t->scratch, uint8_t, n);
            const Rotation r = rotation_open(&t->call.rng_shared, p, start, 1);
            double squares = 0;
            rotation_turn(&r, t->x + p * BLOCK + start, n, 1, z);
            rotation_turn(&r, t->y + p * BLOCK + start, n, 1, y);
            check(planes_get8(codes, n, bits, code));
            for (size_t i = 0; i < n; i++)
                squares += (double)z[i] * (double)z[i];
            check_rel((double)load_f32(norm), sqrt(squares), 1e-6);
            const double T = end_ref(bits) * sqrt(squares / (double)n), D = 2 * T / steps;
            for (size_t i = 0; i < n; i++) {
                const double in = fmin(fmax((double)z[i], -T), T), level = (in + T) / D;
                const double f = level - floor(level), off = (double)z[i] - in;
                check(code[i] <= steps && fabs(code[i] - level) < 1 + 1e-4);
                check_near((double)y[i], -T + D * code[i], 1e-5);
                loss.rounding += D * D * f * (1 - f);
                loss.clipping += off * off;
            }
            norm += 4;
            codes += planes_size(n, bits);
        }
    check(codes == t->out.data + t->out.size);
    return loss;
}

static size_t blocks_ref(size_t n)
{
    size_t count = 0;
    for (size_t p = 0; p < rotation_pieces(n); p++)
        for (size_t left = rotation_piece(n, p); left; left -= rotation_block(left))
            count++;
    return count;
}

/* ---- tests with one worker ---- */

static void every_size_has_levels_next_to_the_clipped_rotated_vector(void **state)
{
    (void)state;
    for (int bits = 1; bits <= 8; bits++)
        for (size_t k = 0; k < countof(sizes); k++) {
            const size_t n = sizes[k];
            Try *t = open_thc(bits, true, n), *u = open_thc(bits, false, n);
            try_normal(t, 30 + k), try_normal(u, 30 + k);
            try_both(t), try_both(u);
            assert_memory_equal(t->y, u->y, n * sizeof(float));
            if (n < ROTATION_SHORTEST) {
                assert_memory_equal(t->x, t->y, n * sizeof(float));
                check(t->sent.round[0].size == 0);
            } else {
                const size_t blocks = blocks_ref(n);
                assert_int_equal(t->sent.round[0].size, 1 + 4 * blocks);
                assert_int_equal(t->sent.round[1].size, 1 + planes_size(n, bits));
                assert_int_equal(u->out.size, 1 + 4 * blocks + planes_size(n, bits));
                check_levels(t, bits, t->sent.round[0].data + 1, t->sent.round[1].data + 1);
            }
            try_close(t), try_close(u);
        }
}

/* ---- tests with several workers ---- */

static double norm_of(const float *x, size_t n)
{
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += (double)x[i] * (double)x[i];
    return sqrt(squares);
}

/* For each block, all workers use the range of levels of the worker with the largest norm. */
static void workers_share_each_blocks_largest_norm(void **state)
{
    (void)state;
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

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_size_has_levels_next_to_the_clipped_rotated_vector),
    cmocka_unit_test(workers_share_each_blocks_largest_norm),
};

CHECK_MAIN(tests)
