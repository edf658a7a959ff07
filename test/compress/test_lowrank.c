/* test_lowrank.c -- the codec lowrank, which sends M Q for the matrix M and random normal directions Q: the
 * estimate M Q Q', mean, variance and gain, sums over workers, and invalid payloads. */
#include "rig/codec_rig.h"
#include "rig/draws.h"

#include <float.h>

static Shape matrix(size_t rows, size_t cols)
{
    Shape shape;
    check(shape_make(&shape, 2, (const size_t[]){rows, cols}));
    return shape;
}

static void fill(float *x, size_t n, uint64_t seed, bool laplace)
{
    const Rng rng = rng_open(seed, 0, 0, 0, 5);
    for (size_t i = 0; i < n; i++) {
        const double u = 2 * rng_unit(&rng, USE_DATA, i) - 1;
        x[i] = (float)(!laplace ? rng_normal(&rng, USE_TEST, i) : u < 0 ? log1p(u) : -log1p(-u));
    }
}

static void it_is_the_matrix_times_what_all_workers_draw(void **state)
{
    (void)state;
    enum { M = 40, K = 27, R = 5 };
    Rig rig;
    float x[M * K], q[R * K];
    rig_open(&rig, "lowrank:rank=5", matrix(M, K));
    fill(x, M * K, 1, false);
    for (int worker = 0; worker < 3; worker++) {
        check_ok(rig_encode_as(&rig, x, 2, worker), &rig.err);
        check_ok(rig_decode(&rig), &rig.err);
        check(rig.payload.size == 1 + 4 * R * M);
        for (size_t i = 0; i < R * K; i++)
            q[i] = (float)(rng_normal(&rig.call.rng_shared, USE_INIT, i) / sqrt(R));
        for (size_t i = 0; i < M; i++) {
            double p[R] = {0};
            for (size_t k = 0; k < R; k++) {
                for (size_t j = 0; j < K; j++)
                    p[k] += (double)x[i * K + j] * (double)q[k * K + j];
                check_near((double)load_f32(rig.payload.data + 1 + 4 * (k * M + i)), p[k], 1e-5);
            }
            for (size_t j = 0; j < K; j++) {
                double y = 0;
                for (size_t k = 0; k < R; k++)
                    y += p[k] * (double)q[k * K + j];
                check_near((double)rig.decoded[i * K + j], y, 1e-5);
            }
        }
    }
    rig_close(&rig);
}

/* For a square matrix g with SIDE rows, the closed form of the variance is |g|^2 (SIDE + 1) / rank. */
static void error_and_size_are_those_of_the_closed_form(void **state)
{
    (void)state;
    enum { SIDE = 256, N = SIDE * SIDE };
    static float x[N];
    for (int laplace = 0; laplace < 2; laplace++)
        for (int rank = 2; rank <= 8; rank *= 4) {
            const size_t repeats = rank == 2 ? 300 : 100;
            char spec[32];
            Rig rig;
            double mse = 0, g = 0;
            snprintf(spec, sizeof spec, "lowrank:rank=%d", rank);
            rig_open(&rig, spec, matrix(SIDE, SIDE));
            fill(x, N, 3, laplace);
            for (size_t i = 0; i < N; i++)
                g += (double)x[i] * (double)x[i];
            for (size_t r = 0; r < repeats; r++) {
                check_ok(rig_encode(&rig, x, r), &rig.err);
                check_ok(rig_decode(&rig), &rig.err);
                for (size_t i = 0; i < N; i++)
                    mse += ((double)rig.decoded[i] - (double)x[i]) * ((double)rig.decoded[i] - (double)x[i]);
            }
            check_rel(codec_variance(&rig.call, x), g * (SIDE + 1) / rank, 1e-12);
            check_rel(mse / (double)repeats, g * (SIDE + 1) / rank, 0.03);
            check(8 * (double)rig.payload.size / N <= 32.0 * rank / SIDE + 0.001);
            rig_close(&rig);
        }
}

/* Row i of the matrix is divided by i + 1, so that the singular values are unequal and the gain <estimate, x> /
 * |x|^2 varies more. */
static void mean_variance_and_gain_are_right(void **state)
{
    (void)state;
    static const size_t shapes[][2] = {{20, 150}, {150, 20}, {1, 400}};
    for (size_t s = 0; s < countof(shapes); s++) {
        const size_t rows = shapes[s][0], cols = shapes[s][1], n = rows * cols, repeats = 2000;
        Rig rig;
        AtomMoments m;
        rig_open(&rig, "lowrank:rank=3", matrix(rows, cols));
        float *x = NEW(rig.forever, float, n);
        double g = 0;
        fill(x, n, 6, true);
        for (size_t i = 0; i < n; i++) {
            x[i] *= 1 / (float)(1 + i / cols);
            g += (double)x[i] * (double)x[i];
        }
        const Draws d = draws_take(&rig, x, repeats);
        check(draws_gain_is_one(&d) && draws_energy_is_right(&d));
        check(draws_variance_is(&d, (double)(cols + 1) / 3 * g));
        check(codec_moments(&rig.call, x, &m) == ATOMWISE);
        check_rel(d.gain_error * d.gain_error * (double)repeats, m.weighted / (g * g), 0.15);

        /* The moment `squares` is tr C^2 for the covariance C of the error: the mean of <e, e'>^2 for
         * independent errors e and e'. */
        double pairs = 0;
        float *last = NEW_ZERO(rig.forever, float, n);
        for (size_t r = 0; r < repeats; r++) {
            double product = 0;
            check_ok(rig_encode(&rig, x, repeats + r), &rig.err);
            check_ok(rig_decode(&rig), &rig.err);
            for (size_t i = 0; i < n; i++) {
                const float e = rig.decoded[i] - x[i];
                product += (double)e * (double)last[i];
                last[i] = e;
            }
            pairs += product * product / (double)repeats;
        }
        check_rel(pairs, m.squares, 0.2);
        rig_close(&rig);
    }
}

static void workers_add_up(void **state)
{
    (void)state;
    enum { M = 30, K = 44, WORKERS = 4 };
    /* rank 60 is above the rank of the matrix, so the payload is the raw floats */
    static const char *const specs[] = {"lowrank", "lowrank:rank=60"};
    for (size_t s = 0; s < countof(specs); s++) {
        Rig rig;
        float x[M * K], whole[M * K] = {0};
        double sum[M * K] = {0}, size = 0, off = 0;
        Bytes all[WORKERS];
        rig_open(&rig, specs[s], matrix(M, K));
        for (int w = 0; w < WORKERS; w++) {
            fill(x, M * K, 10 + (uint64_t)w, w % 2);
            check_ok(rig_encode_as(&rig, x, 0, w), &rig.err);
            check_ok(rig_decode(&rig), &rig.err);
            uint8_t *copy = NEW(rig.forever, uint8_t, rig.payload.size);
            memcpy(copy, rig.payload.data, rig.payload.size);
            all[w] = (Bytes){copy, rig.payload.size};
            for (size_t i = 0; i < M * K; i++) {
                sum[i] += (double)rig.decoded[i];
                whole[i] += x[i];
            }
        }
        Buf merged = {NEW(rig.forever, uint8_t, 6000), 0, 6000};
        check_ok(codec_merge(&rig.call, all, WORKERS, &merged), &rig.err);
        check(merged.size == all[0].size + 1 && merged.data[1] == WORKERS);
        float *y = NEW(rig.forever, float, M *K);
        check_ok(rig_decode_bytes(&rig, merged.data, merged.size, y), &rig.err);
        /* one worker encodes the sum of the matrices of all workers */
        check_ok(rig_encode(&rig, whole, 0), &rig.err);
        check_ok(rig_decode(&rig), &rig.err);
        for (size_t i = 0; i < M * K; i++) {
            size += sum[i] * sum[i];
            off += pow((double)y[i] - sum[i], 2) + pow((double)y[i] - (double)rig.decoded[i], 2);
        }
        check(off < 1e-12 * size);
        for (size_t cut = 0; cut < merged.size; cut++)
            check(rig_decode_bytes(&rig, merged.data, cut, y) == ERR_CORRUPT);
        rig_close(&rig);
    }
}

static void what_would_not_shrink_goes_as_floats(void **state)
{
    (void)state;
    static const struct {
        int rank;
        size_t dim[4];
        bool raw;
    } rows[] = {{0, {0}, true},           {1, {4096}, true},        {2, {500, 1}, true}, {2, {500, 2}, true},
                {2, {500, 3}, false},     {2, {0, 7}, true},        {2, {7, 0}, true},   {2, {1, 3}, false},
                {4, {9, 8, 1, 1}, false}, {4, {64, 3, 3, 3}, false}};
    for (size_t i = 0; i < countof(rows); i++) {
        Rig rig;
        Shape shape;
        check(shape_make(&shape, rows[i].rank, rows[i].dim));
        rig_open(&rig, "lowrank:rank=2", shape);
        float *x = NEW(rig.forever, float, shape.n + 1);
        fill(x, shape.n, i, false);
        check_ok(rig_encode(&rig, x, 0), &rig.err);
        check_ok(rig_decode(&rig), &rig.err);
        check((rig.payload.data[0] == PAYLOAD_RAW) == rows[i].raw);
        check(rig.payload.size == 1 + 4 * (rows[i].raw ? shape.n : 2 * rows[i].dim[0]));
        check(!rows[i].raw || (!memcmp(rig.decoded, x, 4 * shape.n) && codec_variance(&rig.call, x) == 0));
        rig_close(&rig);
    }
}

static void what_is_beyond_float32_is_said(void **state)
{
    (void)state;
    Rig rig;
    float x[20 * 30];
    rig_open(&rig, "lowrank", matrix(20, 30));
    for (size_t i = 0; i < 20 * 30; i++)
        x[i] = FLT_MAX / 2;
    check(rig_encode(&rig, x, 0) == ERR_NUMERIC);
    uint8_t one[1 + 4 * 40] = {PAYLOAD_METHOD};
    /* this value fits in float32, but the sum of two such payloads overflows */
    store_f32(one + 1, 0.03f * FLT_MAX);
    const Bytes two[] = {{one, sizeof one}, {one, sizeof one}};
    Buf merged = {NEW(rig.forever, uint8_t, 400), 0, 400};
    check(rig_decode_bytes(&rig, one, sizeof one, x) == OK);
    check(codec_merge(&rig.call, two, 1, &merged) == OK);
    merged.size = 0;
    check(codec_merge(&rig.call, two, 2, &merged) == ERR_NUMERIC);
    store_f32(one + 1, FLT_MAX);
    check(rig_decode_bytes(&rig, one, sizeof one, x) == ERR_CORRUPT);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_matrix_times_what_all_workers_draw),
        cmocka_unit_test(error_and_size_are_those_of_the_closed_form),
        cmocka_unit_test(mean_variance_and_gain_are_right),
        cmocka_unit_test(workers_add_up),
        cmocka_unit_test(what_would_not_shrink_goes_as_floats),
        cmocka_unit_test(what_is_beyond_float32_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}
