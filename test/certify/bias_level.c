/* bias_level.c -- measures how often the tests of bias raise a false alarm, and how they judge two biased
 * codecs. It prints a part of docs/certificate.md. The exit status is 1 in two cases: the rate of false alarms
 * is not within a factor of 2 of the stated level, or a biased codec is too often called unbiased although its
 * bias was large enough to be found.
 *
 * False alarms are counted for six unbiased codecs on three layers of a real gradient. Each comparison has ten
 * repeats and its own seed. */
#include "compress/spec.h"
#include "measure/compare.h"
#include "report/report_bias.h"
#include "rig/check.h"

enum { CODECS_MAX = 8, REPEATS = 10, SEEDS = 400 };

static const char *const test_names[BIAS_TESTS] = {"bias_p", "gain_p", "gain_l1_p"};
static const char *const layers[] = {"conv1.weight", "conv2.weight", "fc2.weight"};

typedef struct {
    Arena *a;
    Dump *dump;
    VectorList list;
    Comparison c;
    const Codec *codec[CODECS_MAX];
    BiasRow row[CODECS_MAX];
    Error err;
} World;

static Status load(void *data, const Vector *v, float *x, Error *err)
{
    return vector_load(((World *)data)->dump, v, x, err);
}

static double value(const Record *r, const char *metric)
{
    return metric_value(metric_find(metric), &r->tally);
}

/* Stores the metrics that the verdict on bias needs. The last record of a codec, about all vectors, overwrites
 * the earlier records. */
static Status keep(void *data, const Record *r, Error *err)
{
    World *w = data;
    BiasRow *row = &w->row[r->codec];
    (void)err;
    *row = (BiasRow){.se = {value(r, "gain_se"), value(r, "gain_l1_se")},
                     .mse = value(r, "mse"),
                     .variance = value(r, "variance")};
    for (size_t i = 0; i < BIAS_TESTS; i++)
        row->p[i] = value(r, test_names[i]);
    return OK;
}

static void open_layer(World *w, const char *tensor, const char *const *spec, size_t specs)
{
    const GroupSpec groups = {.selection = {.tensors = {&tensor, 1}, .step = "*1000"}};
    *w = (World){.a = arena_open(0)};
    check_ok(dump_open(&w->dump, "datasets/lenet-mnist.h5", w->a, &w->err), &w->err);
    check_ok(groups_make(&w->list, w->dump, &groups, w->a, &w->err), &w->err);
    for (size_t k = 0; k < specs; k++)
        check_ok(codec_open(&w->codec[k], spec[k], w->a, &w->err), &w->err);
    w->c = (Comparison){.codec = w->codec,
                        .name = spec,
                        .codecs = specs,
                        .vectors = &w->list,
                        .repeats = REPEATS,
                        .threads = 1,
                        .untimed = true,
                        .data = w,
                        .load = load,
                        .record = keep};
}

static void run(World *w, uint64_t seed)
{
    size_t failures;
    const ArenaMark mark = arena_mark(w->a);
    w->c.seed = seed;
    check_ok(compare_run(&w->c, &failures, w->a, &w->err), &w->err);
    check(failures == 0);
    check_ok(bias_judge(w->row, w->c.codecs, w->c.repeats, w->a, &w->err), &w->err);
    arena_rewind(w->a, mark);
}

static void close_layer(World *w)
{
    dump_close(w->dump);
    arena_close(w->a);
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
        World w;
        open_layer(&w, layers[l], spec, countof(spec));
        for (uint64_t s = 0; s < SEEDS; s++) {
            bool alarm = false;
            run(&w, s);
            for (size_t k = 0; k < countof(spec); k++) {
                count_alarms(&each[k], &w.row[k]);
                count_alarms(&all, &w.row[k]);
                alarm = alarm || w.row[k].holm < BIAS_LEVEL;
            }
            tables++;
            families += alarm;
        }
        close_layer(&w);
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
        World w;
        size_t named = 0, unseen = 0, larger = 0, missed = 0;
        open_layer(&w, biased[k].layer, &biased[k].spec, 1);
        w.c.repeats = LONG_RUN;
        w.c.record = keep_gain;
        run(&w, BIASED_SEEDS);
        const double bias = bias_of;
        w.c.repeats = REPEATS;
        for (uint64_t s = 0; s < BIASED_SEEDS; s++) {
            run(&w, s);
            const BiasRow *row = &w.row[0];
            if (row->holm < BIAS_LEVEL)
                named++;
            else if (!(row->detectable < BIAS_UNSEEN))
                unseen++;
            else if (row->detectable > bias)
                larger++;
            else
                missed++;
        }
        const double share = 100.0 / BIASED_SEEDS;
        printf("| `%s` | %s | %.0f | %.1f | %.1f | %.1f | %.1f |\n", biased[k].spec, biased[k].layer,
               100 * bias, share * (double)named, share * (double)unseen, share * (double)larger,
               share * (double)missed);
        right = right && missed <= BIASED_SEEDS / 10;
        close_layer(&w);
    }
    return right;
}

int main(void)
{
    const bool level = false_alarms_are_as_stated(), named = biased_codecs_are_not_called_unbiased();
    return level && named ? 0 : 1;
}
