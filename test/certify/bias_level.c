/* bias_level.c -- measures how often the tests of bias raise a false alarm, how often they find the bias of which a table
 * says that it would show, and how they judge two biased codecs. It prints a part of docs/generated/certificate.md. The exit status is
 * 1 if a number is not as stated.
 *
 * Twelve unbiased codecs are compared on three vectors of a real gradient, in 5, 10 and 30 repeats; each table has its own
 * seed. Two of the codecs keep an atom in one draw of three or fewer. */
#include "report/report_compare.h"
#include "rig/lenet_layer.h"

enum { TABLES = 2000, LONGEST = 30 };

static const size_t repeats_of[] = {5, 10, LONGEST};
static const char *const test_names[BIAS_TESTS] = {"bias_p", "gain_p", "gain_l1_p"};
static const char *const layers[] = {"conv1.weight", "fc2.weight", "conv2.bias"};
static const char *const specs[] = {"qsgd",   "qsgd:bits=2",      "terngrad", "natural", "svd:rank=1", "svd:rank=0.3",
                                    "entry",  "randk:shared=off", "randk",    "dct",     "eden",       "countsketch"};
enum { CODECS = countof(specs) };
_Static_assert((int)CODECS <= (int)LAYER_CODECS, "one layer has room for all codecs");

static double value(const Tally *t, const char *metric)
{
    return metric_value(metric_find(metric), t);
}

static BiasRow row_of(const Tally *t)
{
    BiasRow row = {.se = {value(t, "gain_se"), value(t, "gain_l1_se")},
                   .freedom = {value(t, "gain_freedom"), value(t, "gain_l1_freedom")},
                   .mse = value(t, "mse"),
                   .variance = value(t, "variance")};
    for (size_t i = 0; i < BIAS_TESTS; i++)
        row.p[i] = value(t, test_names[i]);
    return row;
}

/* ---- planted bias ---- */

/* The sums of a codec over its repeats on the last vector. */
typedef struct {
    Tally tally;
    double error[LONGEST][E_SUMS], grown[LONGEST];
} KeptRecord;

static void copy_sums(KeptRecord *to, const Tally *t)
{
    to->tally = *t;
    memcpy(to->error, t->error, t->decoded * sizeof *to->error);
    memcpy(to->grown, t->grown, t->decoded * sizeof *to->grown);
    to->tally.error = to->error;
    to->tally.grown = to->grown;
}

/* Sets `to` to the sums over the estimates f h + b g. */
static void plant(KeptRecord *to, const KeptRecord *from, double f, double b)
{
    Tally *t = &to->tally;
    copy_sums(to, &from->tally);
    const double g2 = t->gradient[G_SQUARES], d = f + b - 1; /* f h + b g - g = f (h - g) + d g */
    const bool atoms = t->weighted_squares == 0;             /* the variances of atoms are not measured */
    for (size_t r = 0; r < t->decoded; r++) {
        double *e = to->error[r];
        e[E_SQUARES] = f * f * e[E_SQUARES] + 2 * f * d * (e[E_DOT] - g2) + d * d * g2;
        e[E_NORM] = f * f * e[E_NORM] + 2 * f * b * e[E_DOT] + b * b * g2;
        e[E_DOT] = f * e[E_DOT] + b * g2;
        e[E_SIGNED] = f * e[E_SIGNED] + b * t->gradient[G_MAGNITUDES];
        to->grown[r] *= f * f;
    }
    t->spread[S_BIAS] = f * f * t->spread[S_BIAS] + 2 * f * d * t->spread[S_BIAS_DOT] + d * d * g2;
    t->spread[S_BIAS_DOT] = f * t->spread[S_BIAS_DOT] + d * g2;
    t->spread[S_M2] *= f * f;
    t->spread[S_M2_WEIGHTED] *= atoms ? 1 : f * f;
    t->squares *= atoms ? 1 : f * f * f * f;
    t->weighted_squares *= f * f * f * f;
}

/* ---- tables ---- */

typedef struct {
    size_t tests, below_5, below_1;
} Alarms;

typedef struct {
    size_t tables;        /* whose verdict says how much would show */
    size_t factor, shift; /* of those, in which a planted one is found */
    size_t held;          /* of those, in which the gain is 1 in each draw, so that any factor or shift shows */
} Power;

typedef struct {
    KeptRecord kept[CODECS];
    BiasRow row[CODECS];
    size_t tables, families;
    Alarms alarm[CODECS][BIAS_TESTS];
    Power power[CODECS];
} World;

static Status keep(void *layer, const Record *r, Error *err)
{
    World *w = ((Layer *)layer)->data;
    (void)err;
    copy_sums(&w->kept[r->codec], &r->tally);
    w->row[r->codec] = row_of(&r->tally);
    return OK;
}

static void judge(Layer *l, BiasRow *row, size_t rows)
{
    const ArenaMark mark = arena_mark(l->a);
    check_ok(bias_judge(row, rows, l->c.repeats, l->a, &l->err), &l->err);
    arena_rewind(l->a, mark);
}

static bool finds(Layer *l, const World *w, size_t k, double factor, double shift)
{
    static KeptRecord planted;
    BiasRow row[CODECS];
    memcpy(row, w->row, sizeof row);
    plant(&planted, &w->kept[k], factor, shift);
    row[k] = row_of(&planted.tally);
    judge(l, row, CODECS);
    return row[k].holm < BIAS_LEVEL;
}

static void count_table(Layer *l, World *w)
{
    bool alarm = false;
    judge(l, w->row, CODECS);
    for (size_t k = 0; k < CODECS; k++) {
        const double b = w->row[k].detectable;
        for (size_t i = 0; i < BIAS_TESTS; i++) {
            w->alarm[k][i].tests += isnan(w->row[k].p[i]) ? 0 : 1;
            w->alarm[k][i].below_5 += w->row[k].p[i] < 0.05;
            w->alarm[k][i].below_1 += w->row[k].p[i] < 0.01;
        }
        alarm = alarm || w->row[k].holm < BIAS_LEVEL;
        if (b < BIAS_UNSEEN) {
            w->power[k].tables++;
            w->power[k].held += isnan(w->row[k].p[1]) ? 1 : 0;
            w->power[k].factor += finds(l, w, k, 1 + b, 0);
            w->power[k].shift += finds(l, w, k, 1, b);
        }
    }
    w->tables++;
    w->families += alarm;
}

static void put_share(size_t count, size_t all)
{
    if (all)
        printf(" %.1f |", 100 * (double)count / (double)all);
    else
        printf(" – |");
}

static void put_tables(const World *w, size_t repeats)
{
    printf("\n%zu repeats: %zu of %zu tables had a row called biased (%.2f %%; stated: at most %g %%).\n\n", repeats, w->families,
           w->tables, 100 * (double)w->families / (double)w->tables, 100 * BIAS_LEVEL);
    printf("| codec | bias_p < 0.05, %% | < 0.01 | gain_p < 0.05 | < 0.01 | gain_l1_p < 0.05 | < 0.01 | tables that say what would "
           "show | found as a factor, %% | as a shift, %% |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
    for (size_t k = 0; k < CODECS; k++) {
        printf("| `%s` |", specs[k]);
        for (size_t i = 0; i < BIAS_TESTS; i++) {
            put_share(w->alarm[k][i].below_5, w->alarm[k][i].tests);
            put_share(w->alarm[k][i].below_1, w->alarm[k][i].tests);
        }
        printf(" %zu |", w->power[k].tables);
        put_share(w->power[k].factor, w->power[k].tables);
        put_share(w->power[k].shift, w->power[k].tables);
        printf("\n");
    }
}

/* Stated are 0.9 for a factor and 0.9 or more for a shift; 0.05 allows for chance. Shares of fewer than 200 tables say little. */
static bool finds_what_would_show(const World *w)
{
    bool right = true;
    for (size_t k = 0; k < CODECS; k++) {
        const Power *p = &w->power[k];
        const double tables = (double)p->tables, factor = (double)p->factor, shift = (double)p->shift;
        const bool found = factor >= 0.85 * tables && shift >= 0.85 * tables && (factor <= 0.95 * tables || p->held == p->tables);
        right = right && (p->tables < 200 || found);
    }
    return right;
}

static bool tables_are_as_stated(size_t repeats, size_t tables)
{
    static World w;
    memset(&w, 0, sizeof w);
    for (size_t l = 0; l < countof(layers); l++) {
        Layer layer;
        layer_open(&layer, layers[l], repeats, specs, CODECS, keep, &w);
        for (uint64_t s = 0; s < tables / countof(layers); s++) {
            layer_run(&layer, s);
            count_table(&layer, &w);
        }
        layer_close(&layer);
    }
    put_tables(&w, repeats);
    return (double)w.families <= 1.5 * BIAS_LEVEL * (double)w.tables && finds_what_would_show(&w);
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
enum { BIASED_SEEDS = 200, BIASED_REPEATS = 10, LONG_RUN = 2000 };

typedef struct {
    BiasRow row;
    double bias; /* along the gradient g: the mean of <estimate, g> / |g|^2, minus 1 */
} Biased;

static Status keep_biased(void *layer, const Record *r, Error *err)
{
    Biased *b = ((Layer *)layer)->data;
    (void)err;
    b->bias = value(&r->tally, "gain") - 1;
    b->row = row_of(&r->tally);
    return OK;
}

static bool biased_codecs_are_not_called_unbiased(void)
{
    bool right = true;
    printf(
        "\n| biased codec | layer | bias along g, %% | named biased, %% | cannot be seen, %% | none seen, a larger bias would "
        "show, %% | none seen, this bias would show, %% |\n|---|---|---:|---:|---:|---:|---:|\n");
    for (size_t k = 0; k < countof(biased); k++) {
        Layer layer;
        Biased b;
        size_t named = 0, unseen = 0, larger = 0, missed = 0;
        layer_open(&layer, biased[k].layer, LONG_RUN, &biased[k].spec, 1, keep_biased, &b);
        layer_run(&layer, BIASED_SEEDS);
        const double bias = b.bias;
        layer.c.repeats = BIASED_REPEATS;
        for (uint64_t s = 0; s < BIASED_SEEDS; s++) {
            layer_run(&layer, s);
            judge(&layer, &b.row, 1);
            if (b.row.holm < BIAS_LEVEL)
                named++;
            else if (!(b.row.detectable < BIAS_UNSEEN))
                unseen++;
            else if (b.row.detectable > bias)
                larger++;
            else
                missed++;
        }
        const double share = 100.0 / BIASED_SEEDS;
        printf("| `%s` | %s | %.0f | %.1f | %.1f | %.1f | %.1f |\n", biased[k].spec, biased[k].layer, 100 * bias,
               share * (double)named, share * (double)unseen, share * (double)larger, share * (double)missed);
        right = right && missed <= BIASED_SEEDS / 10;
        layer_close(&layer);
    }
    return right;
}

/* Arguments: the number of tables for each number of repeats, and the only number of repeats. */
int main(int argc, char **argv)
{
    const size_t tables = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : TABLES + 1, /* a multiple of the layers */
        only = argc > 2 ? (size_t)strtoul(argv[2], NULL, 10) : 0;
    bool right = true;
    for (size_t i = 0; i < countof(repeats_of); i++)
        right = (only && only != repeats_of[i]) || (tables_are_as_stated(repeats_of[i], tables) && right);
    return biased_codecs_are_not_called_unbiased() && right ? 0 : 1;
}
