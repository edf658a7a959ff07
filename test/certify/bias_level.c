/* bias_level.c -- measures how often the tests of bias raise a false alarm, and how they judge two biased
 * codecs. It prints a part of docs/certificate.md. The exit status is 1 in two cases: the rate of false alarms
 * is not within a factor of 2 of the stated level, or a biased codec is too often called unbiased although its
 * bias was large enough to be found.
 *
 * False alarms are counted for six unbiased codecs on three layers of a real gradient. Each comparison has ten
 * repeats and its own seed. */
#include "report/report_bias.h"
#include "rig/lenet_layer.h"

enum { REPEATS = 10, SEEDS = 400 };

static const char *const test_names[BIAS_TESTS] = {"bias_p", "gain_p", "gain_l1_p"};
static const char *const layers[] = {"conv1.weight", "conv2.weight", "fc2.weight"};

static double value(const Record *r, const char *metric)
{
    return metric_value(metric_find(metric), &r->tally);
}

/* Stores the metrics that the verdict on bias needs. The last record of a codec, about all vectors, overwrites
 * the earlier records. */
static Status keep(void *data, const Record *r, Error *err)
{
    BiasRow *rows = ((Layer *)data)->data, *row = &rows[r->codec];
    (void)err;
    *row = (BiasRow){.se = {value(r, "gain_se"), value(r, "gain_l1_se")},
                     .mse = value(r, "mse"),
                     .variance = value(r, "variance")};
    for (size_t i = 0; i < BIAS_TESTS; i++)
        row->p[i] = value(r, test_names[i]);
    return OK;
}

static void run(Layer *l, uint64_t seed)
{
    const ArenaMark mark = arena_mark(l->a);
    layer_run(l, seed);
    check_ok(bias_judge(l->data, l->c.codecs, l->c.repeats, l->a, &l->err), &l->err);
    arena_rewind(l->a, mark);
}

/* ---- false alarms ---- */

typedef struct {
    size_t tests, below_5, below_1;
} Alarms;

static void count_alarms(Alarms *a, const BiasRow *row)
{
    for (size_t i = 0; i < BIAS_TESTS; i++) {
        a->tests += isnan(row->p[i]) ? 0 : 1;
        a->below_5 += row->p[i] < 0.05;
        a->below_1 += row->p[i] < 0.01;
    }
}

static void put_alarms(const char *name, const Alarms *a)
{
    const double tests = (double)a->tests;
    printf("| %s | %zu | %.2f | %.2f |\n", name, a->tests, 100 * (double)a->below_5 / tests,
           100 * (double)a->below_1 / tests);
}

static bool within_factor_2(size_t found, double meant)
{
    return (double)found <= 2 * meant && (double)found >= meant / 2;
}

static bool false_alarms_are_as_stated(void)
{
    static const char *const spec[] = {"qsgd", "svd:rank=1",  "entry:ratio=0.01",
                                       "eden", "countsketch", "terngrad"};
    Alarms each[countof(spec)] = {0}, all = {0};
    size_t tables = 0, families = 0;
    for (size_t l = 0; l < countof(layers); l++) {
        Layer layer;
        BiasRow row[countof(spec)];
        layer_open(&layer, layers[l], REPEATS, spec, countof(spec), keep, row);
        for (uint64_t s = 0; s < SEEDS; s++) {
            bool alarm = false;
            run(&layer, s);
            for (size_t k = 0; k < countof(spec); k++) {
                count_alarms(&each[k], &row[k]);
                count_alarms(&all, &row[k]);
                alarm = alarm || row[k].holm < BIAS_LEVEL;
            }
            tables++;
            families += alarm;
        }
        layer_close(&layer);
    }
    printf("| codec | tests | p < 0.05, %% | p < 0.01, %% |\n|---|---:|---:|---:|\n");
    for (size_t k = 0; k < countof(spec); k++)
        put_alarms(spec[k], &each[k]);
    put_alarms("all", &all);
    printf("\nOf %zu tables, %zu had a row called biased (%.2f %%; stated: at most %.2g %%).\n", tables,
           families, 100 * (double)families / (double)tables, 100 * BIAS_LEVEL);
    return all.tests >= 10000 && within_factor_2(all.below_5, 0.05 * (double)all.tests) &&
           within_factor_2(all.below_1, 0.01 * (double)all.tests) &&
           (double)families <= 2 * BIAS_LEVEL * (double)tables;
}

/* ---- biased codecs ---- */

static const struct {
    const char *spec, *layer;
} biased[] = {
    {"entry:budget=2,empty=resample", "conv1.weight"},
    {"entry:budget=2,empty=resample", "fc2.weight"},
    {"svd:rank=1,probs=clip,empty=resample", "conv1.weight"},
    {"svd:rank=1,probs=clip,empty=resample", "conv2.weight"},
};
enum { BIASED_SEEDS = 200, LONG_RUN = 2000 };

/* The bias along the gradient g: the mean of <estimate, g> / |g|^2, minus 1. */
static double bias_of;
static Status keep_gain(void *data, const Record *r, Error *err)
{
    bias_of = value(r, "gain") - 1;
    return keep(data, r, err);
}

static bool biased_codecs_are_not_called_unbiased(void)
{
    bool right = true;
    printf(
        "\n| biased codec | layer | bias along g, %% | named biased, %% | cannot be seen, %% | none seen, a larger bias would "
        "show, %% | none seen, this bias would show, %% |\n|---|---|---:|---:|---:|---:|---:|\n");
    for (size_t k = 0; k < countof(biased); k++) {
        Layer layer;
        BiasRow row;
        size_t named = 0, unseen = 0, larger = 0, missed = 0;
        layer_open(&layer, biased[k].layer, LONG_RUN, &biased[k].spec, 1, keep_gain, &row);
        run(&layer, BIASED_SEEDS);
        const double bias = bias_of;
        layer.c.repeats = REPEATS;
        for (uint64_t s = 0; s < BIASED_SEEDS; s++) {
            run(&layer, s);
            if (row.holm < BIAS_LEVEL)
                named++;
            else if (!(row.detectable < BIAS_UNSEEN))
                unseen++;
            else if (row.detectable > bias)
                larger++;
            else
                missed++;
        }
        const double share = 100.0 / BIASED_SEEDS;
        printf("| `%s` | %s | %.0f | %.1f | %.1f | %.1f | %.1f |\n", biased[k].spec, biased[k].layer,
               100 * bias, share * (double)named, share * (double)unseen, share * (double)larger,
               share * (double)missed);
        right = right && missed <= BIASED_SEEDS / 10;
        layer_close(&layer);
    }
    return right;
}

int main(void)
{
    const bool level = false_alarms_are_as_stated(), named = biased_codecs_are_not_called_unbiased();
    return level && named ? 0 : 1;
}
