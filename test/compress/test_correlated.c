/* test_correlated.c -- rounding that is correlated between workers (rounding=correlated, base/rng.h): each worker's estimate is
 * unbiased, and the workers' errors cancel in the mean. */
#include "rig/check.h"

#include "compress/codec.h"
#include "compress/harness.h"
#include "compress/spec.h"

enum { N = 2048, MOST = 64 };

static float x[MOST][N], y[N];
static uint8_t bytes[64 * N];
static Arena *scratch;
static Error err;

/* Encodes and decodes x[w] in y, as worker w of `workers` in step `step`. */
static void estimate(const Codec *codec, int w, int workers, int step, const float *from)
{
    const Shape shape = shape_vector(N);
    const Call c = {.self = codec,
                    .shape = &shape,
                    .rng = rng_open(9, 0, w, step, 1),
                    .rng_shared = rng_open(9, 0, RNG_EVERYONE, step, 1),
                    .worker = w,
                    .workers = workers,
                    .threads = 1,
                    .scratch = scratch,
                    .err = &err};
    Buf out = {.data = bytes, .cap = sizeof bytes};
    check_ok(codec_encode(&c, from, &out), &err);
    check_ok(codec_decode(&c, buf_bytes(&out), y), &err);
}

static double variance_of(const Codec *codec, const float *from)
{
    const Shape shape = shape_vector(N);
    const Call c = {.self = codec, .shape = &shape, .threads = 1, .workers = 1, .scratch = scratch, .err = &err,
                    .rng_shared = rng_open(9, 0, RNG_EVERYONE, 0, 1)};
    return codec_variance(&c, from);
}

/* Squared error of the mean of the workers' estimates; a mean over `steps` steps. */
static double error_of_mean(const Codec *codec, int workers, int steps, bool equal)
{
    double total = 0;
    for (int step = 0; step < steps; step++) {
        static double off[N];
        memset(off, 0, sizeof off);
        for (int w = 0; w < workers; w++) {
            const float *from = x[equal ? 0 : w];
            estimate(codec, w, workers, step, from);
            for (size_t i = 0; i < N; i++)
                off[i] += ((double)y[i] - (double)from[i]) / workers;
        }
        for (size_t i = 0; i < N; i++)
            total += off[i] * off[i] / steps;
    }
    return total;
}

static const char *const codecs[] = {"qsgd:norm=linf,bucket=64,", "qsgd:bits=1,norm=linf,bucket=64,", "minmax:", "rotated:",
                                     "intsgd:share=off,bits=5,", "terngrad:", "mxfp4:", "nvfp4:"};

static void open_pair(const char *keys, const Codec **plain, const Codec **correlated, Arena *a)
{
    char spec[80];
    snprintf(spec, sizeof spec, "%srounding=%s", keys, strncmp(keys, "minmax", 6) && !strstr(keys, "fp4") ? "independent" : "stochastic");
    check_ok(codec_open(plain, spec, a, &err), &err);
    snprintf(spec, sizeof spec, "%srounding=correlated", keys);
    check_ok(codec_open(correlated, spec, a, &err), &err);
}

/* The mean of T estimates of a worker has 1/T of the variance, whichever worker it is. */
TEST(each_worker_is_unbiased)
{
    enum { DRAWS = 300 };
    Arena *a = arena_open(0);
    for (size_t k = 0; k < countof(codecs); k++) {
        const Codec *plain, *codec;
        open_pair(codecs[k], &plain, &codec, a);
        for (int w = 0; w < 3; w += 2) {
            static double sum[N];
            double off = 0;
            memset(sum, 0, sizeof sum);
            for (int t = 0; t < DRAWS; t++) {
                estimate(codec, w, 3, t, x[0]);
                for (size_t i = 0; i < N; i++)
                    sum[i] += (double)y[i] - (double)x[0][i];
            }
            for (size_t i = 0; i < N; i++)
                off += sum[i] / DRAWS * sum[i];
            check_rel(off, variance_of(plain, x[0]), 0.25);
        }
    }
    arena_close(a);
}

/* With equal gradients the error of P workers falls as 1/P^2 where the fractional parts are spread over 0 to 1, and with
 * independent ones it is half that of independent rounding. One worker alone rounds as ever. */
TEST(the_errors_of_workers_cancel)
{
    Arena *a = arena_open(0);
    for (size_t k = 0; k < countof(codecs); k++) {
        const Codec *plain, *codec;
        open_pair(codecs[k], &plain, &codec, a);
        check(error_of_mean(codec, 1, 1, true) == error_of_mean(plain, 1, 1, true));
        const double two = error_of_mean(codec, 2, 12, true), sixty_four = error_of_mean(codec, 64, 6, true);
        const double same = error_of_mean(codec, 16, 8, true) / error_of_mean(plain, 16, 8, true),
                     apart = error_of_mean(codec, 16, 8, false) / error_of_mean(plain, 16, 8, false);
        if (strncmp(codecs[k], "terngrad", 8) && !strstr(codecs[k], "bits=1,")) {
            check_near(log(two / sixty_four) / log(32), 2, 0.1);
            check_rel(same, 1.0 / 16, 0.1);
            check_near(apart, strstr(codecs[k], "fp4") ? 0.61 : 0.51, 0.06); /* floats are not evenly apart */
        } else {
            check(same < 0.15 && apart < 0.9);
        }
    }
    arena_close(a);
}

int main(void)
{
    const Rng rng = {{1, 2, 3, 4}};
    scratch = arena_open(0);
    for (size_t w = 0; w < MOST; w++)
        rng_normals(&rng, USE_TEST, w * N, N, 1, x[w]);
    const int failed = check_run(NULL, NULL);
    arena_close(scratch);
    return failed ? 1 : 0;
}
