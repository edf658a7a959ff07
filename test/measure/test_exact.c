/* test_exact.c -- what results call exact: a field without standard error, or with one of 0, must have the same value for
 * every seed and number of repeats. Every codec, with each value of the parameters that are choices, and every wrapper is
 * compared on four vectors. */
#include "measure/compare.h"
#include "rig/every_codec.h"

#include <math.h>

enum { VECTORS = 4, RUNS = 2, METRICS_MAX = 160 };

static const struct {
    const char *name;
    Shape shape;
} vectors[VECTORS] = {{"matrix", {2, {20, 32}, 640}},
                      {"long", {1, {1050}, 1050}},
                      {"short", {1, {30}, 30}},
                      {"two atoms", {1, {2}, 2}}};

static const struct {
    uint64_t seed;
    size_t repeats;
} runs[RUNS] = {{1, 2}, {2, 3}};

/* These fields are of the draws themselves: an extreme, the first or the most, or a statistic of a test. */
static const char *const of_draws[] = {
    "bytes_min",  "bytes_max", "wasserstein",   "bias_ratio",         "bias_z",  "gain_z",    "max_abs_error",
    "raw_fallbacks", "residual_norm", "peak_scratch_bytes", "bias_p", "gain_p", "gain_l1_p",
    "gain_freedom", "gain_l1_freedom"};

static bool is_of_draws(const char *name)
{
    for (size_t i = 0; i < countof(of_draws); i++)
        if (!strcmp(name, of_draws[i]))
            return true;
    return strlen(name) > 3 && !strcmp(name + strlen(name) - 3, "_se");
}

typedef struct {
    double value[METRICS_MAX], se[METRICS_MAX]; /* for each metric; NaN: none. se 0: called exact */
    bool failed;
} Result;

static Status load(void *data, const Vector *v, float *x, Error *err)
{
    const Rng rng = rng_open(7, 0, 0, 0, v->shape.n);
    (void)data, (void)err;
    for (size_t i = 0; i < v->shape.n; i++)
        x[i] = (float)(rng_normal(&rng, USE_TEST, i) * (1 + (double)(i % 7)));
    return OK;
}

/* For each metric: whether it is left out, and its standard error or NULL. */
static bool left_out[METRICS_MAX];
static const Metric *error_of[METRICS_MAX];

static int start(void **state)
{
    for (size_t m = 0; metrics[m].name; m++) {
        char name[64];
        snprintf(name, sizeof name, "%s_se", metrics[m].name);
        left_out[m] = metrics[m].form == FORM_TIME || is_of_draws(metrics[m].name);
        error_of[m] = metric_find(name);
    }
    return collect_specs(state);
}

static Status keep(void *data, const Record *r, Error *err)
{
    Result *to = data;
    (void)err;
    to->failed = r->error;
    for (size_t m = 0; metrics[m].name && !r->error; m++) {
        to->value[m] = left_out[m] ? NAN : metric_value(&metrics[m], &r->tally);
        to->se[m] = left_out[m] || !error_of[m] ? 0 : metric_value(error_of[m], &r->tally);
    }
    return OK;
}

static void run(const char *spec, const Codec *codec, size_t vector, size_t at, Result *to, Arena *a)
{
    Error err = {0};
    size_t failures;
    Vector v = {.name = "x", .shape = vectors[vector].shape};
    const VectorList list = {.item = &v, .count = 1, .elements = v.shape.n, .largest = v.shape.n};
    const Comparison c = {.codec = &codec,
                          .codecs = 1,
                          .vectors = &list,
                          .repeats = runs[at].repeats,
                          .seed = runs[at].seed,
                          .memory = 1 << 30,
                          .threads = 1,
                          .untimed = true,
                          .data = to,
                          .load = load,
                          .record = keep};
    check_ok(compare_run(&c, &failures, a, &err), &err);
}

/* True if no result that is called exact differs from another one. */
static bool is_exact(const Result *r, size_t m)
{
    const Result *first = NULL;
    bool right = true;
    for (size_t i = 0; i < RUNS; i++) {
        if (r[i].failed || isnan(r[i].value[m]) || r[i].se[m] != 0)
            continue;
        first = first ? first : &r[i];
        right = right && fabs(r[i].value[m] - first->value[m]) <= 1e-9 * fabs(first->value[m]);
    }
    for (size_t i = 0; first && i < RUNS; i++)
        right = right && !(r[i].se[m] > 1e-9 * fabs(first->value[m]));
    return right;
}

TEST(what_is_called_exact_is_the_same_for_every_seed)
{
    static Result r[RUNS];
    size_t wrong = 0;
    for (size_t k = 0; k < spec_count; k++)
        for (size_t v = 0; v < VECTORS; v++) {
            Arena *a = arena_open(0);
            Error err;
            const Codec *codec;
            check_ok(codec_open(&codec, specs[k], a, &err), &err);
            for (size_t i = 0; i < RUNS; i++)
                run(specs[k], codec, v, i, &r[i], a);
            for (size_t m = 0; metrics[m].name; m++)
                if (!left_out[m] && !is_exact(r, m)) {
                    print_error("%s on %s: %s:", specs[k], vectors[v].name, metrics[m].name);
                    for (size_t i = 0; i < RUNS; i++)
                        print_error(" %.9g +- %.3g", r[i].value[m], r[i].se[m]);
                    print_error("\n");
                    wrong++;
                }
            arena_close(a);
        }
    check(wrong == 0);
}

CHECK_ALL(start, drop_specs)
