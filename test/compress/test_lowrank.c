/* test_lowrank.c -- the codec lowrank, which sends M Q for the matrix M and random normal directions Q: the
 * estimate M Q Q', its error and its size. */
#include "rig/codec_rig.h"
#include "rig/draws.h"

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

TEST(it_is_the_matrix_times_what_all_workers_draw)
{
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
TEST(error_and_size_are_those_of_the_closed_form)
{
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

CHECK_ALL(NULL, NULL)
