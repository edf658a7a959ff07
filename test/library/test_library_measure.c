/* test_library_measure.c -- tests the measurements of the public interface atomo.h. The metrics of two vectors
 * must equal sums over their elements. Comparisons must return JSON with records in the order of steps. Wrong
 * calls must be refused. */
#include "dump/tensor.h"
#include "rig/library_rig.h"
#include "rig/scratch_dir.h"

#include <math.h>

static double metric(const double *value, const char *name)
{
    for (size_t i = 0; atomo_metric(i); i++)
        if (!strcmp(atomo_metric(i), name))
            return value[i];
    check(false);
    return NAN;
}

TEST(a_pair_is_measured)
{
    static float x[N], y[N];
    double value[200], error = 0, square = 0;
    atomo_error err;
    draw(x, 0, 0);
    for (size_t i = 0; i < N; i++) {
        y[i] = x[i] + 0.25f * (float)(i % 3);
        error += (double)(y[i] - x[i]) * (double)(y[i] - x[i]);
        square += (double)x[i] * (double)x[i];
    }
    good(atomo_measure(x, y, N, 300, 1, value, countof(value), &err), &err);
    check(fabs(metric(value, "relative_error") - error / square) < 1e-9);
    check(fabs(metric(value, "bits_per_element") - 300.0 * 8 / N) < 1e-12);
    check(isnan(metric(value, "encode_ms")));
    refused(atomo_measure(x, y, N, 300, 1, value, 3, &err), ATOMO_USAGE, &err, "room for 3 numbers");
    y[3] = INFINITY;
    refused(atomo_measure(x, y, N, 300, 1, value, countof(value), &err), ATOMO_NUMERIC, &err, "estimate: element 3");
}

static int asked; /* how often a comparison has asked whether it should stop */

static int stop_at_once(void *data)
{
    asked++;
    return *(const int *)data;
}

TEST(a_comparison_is_json)
{
    static float x[2][N];
    static const size_t dim[] = {ROWS, COLS};
    static const char *const spec[] = {"qsgd:bits=2/4", "topk:ratio=0.1"};
    atomo_gradient g[2];
    atomo_error err;
    char *json;
    for (int i = 0; i < 2; i++) {
        draw(x[i], i, 0);
        g[i] = (atomo_gradient){.name = i ? "conv" : "fc", .rank = 2, .dim = dim, .x = x[i], .step = 1 - i};
    }
    int stop = 0;
    atomo_comparison c = {.spec = spec,
                          .specs = 2,
                          .repeats = 3,
                          .seed = 1,
                          .threads = 1,
                          .stopped = stop_at_once,
                          .data = &stop};
    good(atomo_compare(&c, g, 2, &json, &err), &err);
    check(strstr(json, "\"schema\": \"atomo-compare/1\"") && strstr(json, "\"compressor\": \"qsgd:bits=2\""));
    check(strstr(json, "\"tensor\": \"conv\"") < strstr(json, "\"tensor\": \"fc\"")); /* ordered by step */
    check(strstr(json, "\"step\": \"*\"")); /* both steps together */
    atomo_free(json);
    check(asked > 2 * 3 * 3); /* tensors, codecs, repeats */
    stop = 1;
    refused(atomo_compare(&c, g, 2, &json, &err), ATOMO_STOPPED, &err, "stopped");
    check(!json);
    stop = 0;
    x[1][5] = NAN;
    refused(atomo_compare(&c, g, 2, &json, &err), ATOMO_NUMERIC, &err, "conv: element 5");
    refused(atomo_compare(&c, g, 0, &json, &err), ATOMO_USAGE, &err, "no tensor");
    refused(atomo_compare_file(&c, "no-such-file.h5", &json, &err), ATOMO_IO, &err, "no-such-file.h5");
    c.repeats = 0;
    refused(atomo_compare(&c, g, 1, &json, &err), ATOMO_USAGE, &err, "repeats=0");
}

static void write_tensor(const char *path, const char *name, const size_t dim[2], const float *x)
{
    Error err;
    DumpWriter *w;
    Shape shape;
    check(shape_make(&shape, 2, dim));
    check_ok(dump_create(&w, path, &err), &err);
    check_ok(dump_finish(w, dump_write(w, name, &shape, x, &(AttrList){0}, &err), &err), &err);
}

TEST(a_file_is_read)
{
    static const float x[] = {1, -2.5f, 3e-40f, 4, 5, 6};
    static const size_t dim[] = {2, 3};
    const char *path = in_scratch("g.h5");
    float y[countof(x)];
    atomo_error err;
    atomo_dump *d;
    write_tensor(path, "step_000007/worker_2/fc.weight", dim, x);
    good(atomo_dump_open(&d, path, &err), &err);
    check(atomo_dump_count(d) == 1);
    const atomo_gradient g = atomo_dump_gradient(d, 0);
    check(!strcmp(g.name, "fc.weight") && g.rank == 2 && !memcmp(g.dim, dim, sizeof dim));
    check(g.step == 7 && g.worker == 2 && !g.x);
    good(atomo_dump_read(d, 0, y, &err), &err);
    check(!memcmp(x, y, sizeof x));
    refused(atomo_dump_read(d, 1, y, &err), ATOMO_USAGE, &err, "tensor 1: the file has 1");
    atomo_dump_close(d);
    refused(atomo_dump_open(&d, "no-such-file.h5", &err), ATOMO_IO, &err, "no-such-file.h5");
    check(!d);
    refused(atomo_dump_open(&d, NULL, &err), ATOMO_USAGE, &err, "no path");
    atomo_dump_close(NULL);
}

CHECK_ALL(scratch_open, scratch_close)
