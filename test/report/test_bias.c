/* test_bias.c -- standard errors and tests of bias, on layers of a real gradient: how often confidence
 * intervals contain the true value, how often the tests raise a false alarm, and whether they find the bias of
 * two biased codecs. Seeds are fixed, so the counts are the same in every run. */
#include "measure/metrics.h"
#include "math/stats.h"
#include "report/report_compare.h"
#include "rig/lenet_layer.h"

enum { SEEDS = 200, REPEATS = 10 };

typedef struct {
    Layer layer;
    /* value[metric][codec] is the metric over all selected vectors in the last run */
    double (*value)[LAYER_CODECS];
} World;

static Status keep(void *data, const Record *r, Error *err)
{
    const World *w = ((Layer *)data)->data;
    (void)err;
    for (size_t m = 0; metrics[m].name; m++)
        /* later records overwrite earlier ones; the last record is over all vectors */
        w->value[m][r->codec] = metric_value(&metrics[m], &r->tally);
    return OK;
}

static size_t metric_total(void)
{
    size_t count = 0;
    while (metrics[count].name)
        count++;
    return count;
}

static void zero_values(World *w)
{
    w->value = arena_zeroed(w->layer.a, metric_total(), sizeof *w->value);
}

static double value(const World *w, size_t codec, const char *metric)
{
    return w->value[metric_find(metric) - metrics][codec];
}

/* ---- many seeds ---- */

/* `topk` draws nothing and is biased; the others are unbiased. */
static const char *const seeded[] = {"topk", "qsgd",        "svd:rank=1", "entry:ratio=0.01",
                                     "eden", "countsketch", "terngrad"};
enum { UNBIASED_FROM = 1, SEEDED = countof(seeded) };

static World world;
static double (*drawn[SEEDS])[LAYER_CODECS]; /* `value` for each seed */

static int draw_seeds(void **state)
{
    layer_open(&world.layer, "conv1.weight", REPEATS, seeded, SEEDED, keep, &world);
    for (size_t s = 0; s < SEEDS; s++) {
        zero_values(&world);
        drawn[s] = world.value;
        layer_run(&world.layer, s);
    }
    return 0;
}

static int close_seeds(void **state)
{
    layer_close(&world.layer);
    return 0;
}

/* ---- intervals ---- */

static const char *const measured[] = {"relative_error", "bits_per_element", "cosine", "gain", "gain_l1"};

/* Returns the expectation of the metric measured[m] if it is known, else the mean of the metric's values v over
 * all seeds. */
static double truth_of(const World *w, size_t codec, size_t m, const double *v)
{
    Moments mean = {0};
    const double exact = m == 0 ? value(w, codec, "relative_error_expected") : m >= 3 ? 1 : NAN;
    for (int s = 0; s < SEEDS; s++)
        moments_add(&mean, v[s]);
    return isnan(exact) ? mean.mean : exact;
}

/* The 95 % intervals of Student's t must contain the true value for 90 to 99 % of 200 seeds. For an exact
 * interval the number of such seeds is binomial. It is below 90 % with probability 0.006 and above 99 % with
 * probability 0.0004. A cosine with few atoms has a mean that is not normal, so its interval may hold more often. */
TEST(intervals_hold_the_value_19_times_in_20)
{
    static double v[countof(measured)][SEEDED][SEEDS], se[countof(measured)][SEEDED][SEEDS],
        half[countof(measured)][SEEDED][SEEDS];
    for (size_t s = 0; s < SEEDS; s++) {
        world.value = drawn[s];
        for (size_t m = 0; m < countof(measured); m++)
            for (size_t k = 0; k < SEEDED; k++) {
                char name[40];
                snprintf(name, sizeof name, "%s_se", measured[m]);
                v[m][k][s] = value(&world, k, measured[m]);
                se[m][k][s] = value(&world, k, name);
                snprintf(name, sizeof name, "%s_freedom", measured[m]);
                const double freedom = metric_find(name) ? value(&world, k, name) : REPEATS - 1;
                half[m][k][s] = se[m][k][s] * (isnan(freedom) ? 1.959964 : t_quantile(0.05, freedom));
            }
    }
    for (size_t m = 0; m < countof(measured); m++)
        for (size_t k = 0; k < SEEDED; k++) {
            const bool fixed = !strcmp(seeded[k], "topk"), wide = !strcmp(measured[m], "cosine");
            const double truth = truth_of(&world, k, m, v[m][k]);
            int held = 0, varied = 0;
            for (size_t s = 0; s < SEEDS; s++) {
                held += fabs(v[m][k][s] - truth) <= half[m][k][s];
                varied += se[m][k][s] > 1e-6 * fabs(truth);
                check(!fixed || se[m][k][s] == 0);
            }
            /* skips a metric that is the same in every draw, such as the gain and the size of eden */
            if (varied < SEEDS)
                continue;
            check(held >= 180 && held <= (wide ? 200 : 198));
        }
}

/* ---- false alarms of the tests of bias ---- */

/* Six unbiased codecs, three tests and 200 seeds make up to 3600 tests. At the levels 0.05 and 0.01, between
 * half and twice the expected number of tests may call a codec biased. */
TEST(unbiased_codecs_are_seldom_called_biased)
{
    static const char *const test[] = {"bias_p", "gain_p", "gain_l1_p"};
    int tests = 0, below_5 = 0, below_1 = 0, families = 0;
    for (size_t s = 0; s < SEEDS; s++) {
        BiasRow row[SEEDED - UNBIASED_FROM];
        world.value = drawn[s];
        for (size_t k = 0; k < countof(row); k++) {
            const size_t codec = UNBIASED_FROM + k;
            row[k] = (BiasRow){.se = {value(&world, codec, "gain_se"), value(&world, codec, "gain_l1_se")},
                               .freedom = {value(&world, codec, "gain_freedom"), value(&world, codec, "gain_l1_freedom")}};
            for (size_t i = 0; i < countof(test); i++) {
                const double p = row[k].p[i] = value(&world, codec, test[i]);
                tests += !isnan(p);
                below_5 += p < 0.05;
                below_1 += p < 0.01;
            }
        }
        check_ok(bias_judge(row, countof(row), REPEATS, world.layer.a, &world.layer.err), &world.layer.err);
        bool alarm = false;
        for (size_t k = 0; k < countof(row); k++)
            alarm = alarm || row[k].holm < BIAS_LEVEL;
        families += alarm;
    }
    print_message("%d tests: %d under 0.05, %d under 0.01; %d of %d tables\n", tests, below_5, below_1,
                  families, SEEDS);
    check(tests >= 2000);
    check(below_5 <= 2 * 0.05 * tests && below_5 >= 0.05 * tests / 2);
    check(below_1 <= 2 * 0.01 * tests && below_1 >= 0.01 * tests / 2);
    check(families <= 2 * BIAS_LEVEL * SEEDS);
}

/* ---- tests of codecs that are biased ---- */

static BiasRow judged(World *w, size_t repeats)
{
    BiasRow row = {.p = {value(w, 0, "bias_p"), value(w, 0, "gain_p"), value(w, 0, "gain_l1_p")},
                   .se = {value(w, 0, "gain_se"), value(w, 0, "gain_l1_se")},
                   .freedom = {value(w, 0, "gain_freedom"), value(w, 0, "gain_l1_freedom")}};
    check_ok(bias_judge(&row, 1, repeats, w->layer.a, &w->layer.err), &w->layer.err);
    return row;
}

/* The codec draws again if no entry is kept (empty=resample), so every entry is kept too often, by the factor 1
 * / (1 - e^-2) = 1.157. */
TEST(a_bias_of_16_percent_is_found_or_said_to_be_too_small)
{
    static const char *const spec[] = {"entry:budget=2,empty=resample"};
    World w;
    layer_open(&w.layer, "conv1.weight", 1000, spec, 1, keep, &w);
    zero_values(&w);
    layer_run(&w.layer, 1);
    check(judged(&w, 1000).holm < 1e-6);
    w.layer.c.repeats = REPEATS;
    layer_run(&w.layer, 1);
    const BiasRow few = judged(&w, REPEATS);
    check(few.holm < BIAS_LEVEL || few.detectable > 0.157);
    layer_close(&w.layer);
}

/* A planted fault: a qsgd codec with one level. It rounds up with the probability with which it should round
 * down. */
TEST(rounding_the_wrong_way_is_found_in_ten_draws)
{
    enum { N = 512 };
    Arena *a = arena_open(0);
    Error err;
    Tally t;
    float x[N], y[N], half[N], root[N];
    double norm = 0;
    const Rng values = rng_open(1, 0, 0, 0, 1);
    for (size_t i = 0; i < N; i++) {
        x[i] = (float)rng_normal(&values, USE_TEST, i);
        norm = hypot(norm, (double)x[i]);
    }
    MeasuredVector s = {.x = x, .n = N, .half = half, .root = root, .threads = 1, .scratch = a, .err = &err};
    check_ok(tally_open(&t, LEVEL_VECTOR, REPEATS, true, a, &err), &err);
    check_ok(tally_gradient(&t, &s), &err);
    for (size_t r = 0; r < REPEATS; r++) {
        const Rng coins = rng_open(1, r, 0, 0, 2);
        for (size_t i = 0; i < N; i++)
            y[i] =
                rng_unit(&coins, USE_TEST, i) > fabs((double)x[i]) / norm ? copysignf((float)norm, x[i]) : 0;
        check_ok(tally_repeat(&t, &s, r, y), &err);
    }
    t.expected = NAN;
    check_ok(tally_spread(&t, &s), &err);
    static const char *const tests[] = {"bias_p", "gain_p", "gain_l1_p"};
    for (size_t i = 0; i < countof(tests); i++)
        check(metric_value(metric_find(tests[i]), &t) < 1e-9);
    arena_close(a);
}

/* ---- the text of the verdict ---- */

static void check_words_of(size_t repeats, BiasRow row, const char *want)
{
    Arena *a = arena_open(0);
    const Value v = bias_words(&row, repeats, a);
    assert_string_equal(v.type == VALUE_TEXT ? v.text : "no verdict", want);
    arena_close(a);
}

static void check_words(BiasRow row, const char *want)
{
    check_words_of(REPEATS, row, want);
}

TEST(verdicts_say_what_would_have_shown)
{
    check_words((BiasRow){.holm = 2.4e-5, .detectable = 0.1}, "biased (p = 2e-05)");
    check_words((BiasRow){.holm = 0, .detectable = 0.1}, "biased (p < 1e-300)");
    check_words((BiasRow){.holm = 0.3, .detectable = 0.1234}, "none seen (about 10 % would show)");
    check_words((BiasRow){.holm = 0.3, .detectable = 0.52}, "cannot be seen with so few repeats");
    check_words((BiasRow){.holm = NAN, .detectable = NAN, .mse = 2}, "all of the error");
    check_words((BiasRow){.holm = NAN, .detectable = NAN}, "none");
    check_words((BiasRow){.holm = NAN, .detectable = NAN, .mse = 2, .expected = 9},
                "cannot be seen with so few repeats");
    check_words((BiasRow){.holm = NAN, .detectable = NAN, .mse = 2, .variance = NAN}, "no verdict");
}

/* Student's t for one degree of freedom allows any standard error, but two values may have nearly none by chance, and
 * so nearly no bias seemed to escape. */
TEST(few_repeats_give_no_verdict)
{
    for (size_t repeats = 1; repeats <= BIAS_REPEATS; repeats++) {
        BiasRow row = {.p = {0.5, 0.5, 1e-9}, .se = {0.1, 0.1}, .freedom = {NAN, NAN}, .mse = 2, .variance = 2};
        Arena *a = arena_open(0);
        Error err;
        check_ok(bias_judge(&row, 1, repeats, a, &err), &err);
        check_words_of(repeats, row, repeats < BIAS_REPEATS ? "needs 5 repeats" : "biased (p = 3e-09)");
        check(isnan(row.holm) == (repeats < BIAS_REPEATS) && isnan(row.detectable) == isnan(row.holm));
        arena_close(a);
    }
    const BiasRow failed = {.holm = NAN, .detectable = NAN, .mse = NAN, .variance = NAN};
    check_words_of(2, failed, "no verdict");
    check_words_of(1, (BiasRow){.holm = NAN, .detectable = NAN, .mse = 2}, "all of the error");
    check_words_of(1, (BiasRow){.holm = NAN, .detectable = NAN}, "none");
}

/* `detectable` is the least bias that the test would find with power 0.9. A test finds a bias if its p-value is
 * at most BIAS_LEVEL divided by the number of tests in all rows, here 5. A measured standard error widens what would show;
 * that along the signs is known where its freedom is R or more. */
TEST(what_would_show_counts_all_tests_of_the_table)
{
    enum { R = 8 };
    BiasRow row[3] = {{.p = {0.5, 0.4, 0.3}, .se = {0.02, 0.02}, .freedom = {R - 1, R - 1}},
                      {.p = {0.6, 0.2, NAN}, .se = {0.03, NAN}, .freedom = {R - 1, NAN}},
                      {.p = {NAN, NAN, NAN}, .se = {0.1, 0.1}}};
    Arena *a = arena_open(0);
    Error err;
    check_ok(bias_judge(row, countof(row), R, a, &err), &err);
    for (int k = 0; k < 2; k++) {
        const double b = row[k].detectable, miss = t_quantile(0.2, R - 1) * (1 + 1 / sqrt(2 * (R - 1)));
        const double t = b / (1 + b) / row[k].se[0] - miss;
        check_rel(5 * t_tails(t, R - 1), BIAS_LEVEL, 1e-6);
    }
    check(isnan(row[2].holm) && isnan(row[2].detectable));
    BiasRow known = {.p = {NAN, NAN, 0.3}, .se = {NAN, 0.05}, .freedom = {NAN, R}}, estimated = known;
    estimated.freedom[1] = R - 1e-9;
    check_ok(bias_judge(&known, 1, R, a, &err), &err);
    check_ok(bias_judge(&estimated, 1, R, a, &err), &err);
    check(estimated.detectable > 1.2 * known.detectable);
    arena_close(a);
}

CHECK_ALL(draw_seeds, close_seeds)
