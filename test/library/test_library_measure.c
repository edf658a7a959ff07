/* test_library_measure.c -- tests the measurements of the public interface atomo.h. The metrics of two vectors
 * must equal sums over their elements. Comparisons must return JSON with records in the order of steps. Wrong
 * calls must be refused. */
#include "rig/library_rig.h"

#include <math.h>

static double metric(const double *value, const char *name)
{
    for (size_t i = 0; atomo_metric(i); i++)
        if (!strcmp(atomo_metric(i), name))
            return value[i];
    check(false);
    return NAN;
}

static void a_pair_is_measured(void **state)
{
    static float x[N], y[N];
    double value[200], error = 0, square = 0;
    atomo_error err;
    (void)state;
    draw(x, 0, 0);
    for (size_t i = 0; i < N; i++) {
        y[i] = x[i] + 0.25f * (float)(i % 3);
        error += (double)(y[i] - x[i]) * (double)(y[i] - x[i]);
        square += (double)x[i] * (double)x[i];
    }
    good(atomo_measure(x, y, N, 300, 1, value, &err), &err);
    check(fabs(metric(value, "relative_error") - error / square) < 1e-9);
    check(fabs(metric(value, "bits_per_element") - 300.0 * 8 / N) < 1e-12);
    check(isnan(metric(value, "encode_ms")));
    y[3] = INFINITY;
    refused(atomo_measure(x, y, N, 300, 1, value, &err), ATOMO_NUMERIC, &err, "estimate: element 3");
}

static int stop_at_once(void *data)
{
    return *(const int *)data;
}

static void a_comparison_is_json(void **state)
{
    static float x[2][N];
    static const size_t dim[] = {ROWS, COLS};
    static const char *const spec[] = {"qsgd:bits=2/4", "topk:ratio=0.1"};
    atomo_gradient g[2];
    atomo_error err;
    char *json;
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_pair_is_measured),
                                       cmocka_unit_test(a_comparison_is_json)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
