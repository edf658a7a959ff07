/* interval_level.c -- counts how often the 95 % intervals of `compare` contain the true value: a table of docs/generated/interval-counts.md.
 *
 *     interval_level DUMP STEP TENSOR EXPERIMENTS
 *
 * Experiments count from 1. Experiment e compares one tensor in ten repeats with seed e. Every field NAME with a field NAME_se
 * has the interval NAME +- t NAME_se for Student's t with 9 degrees of freedom; those of `gain` and `gain_l1` have the degrees
 * of freedom of gain_freedom and gain_l1_freedom, or the normal distribution where these are null. The true value is
 * the codec's closed form; without one, the mean over all experiments. An interval also counts as right if the measured value
 * differs from the true value by at most 1e-5 times the true value.
 *
 * The exit status is 1 if a share is below LEAST. */
#include "compress/spec.h"
#include "measure/compare.h"
#include "rig/check.h"

enum { REPEATS = 10, EXPERIMENTS_MAX = 100000, FIELDS_MAX = 80 };
#define LEAST 88.0

static const char *const specs[] = {"qsgd",        "qsgd:bits=1", "svd:rank=1", "entry:ratio=0.01", "eden",        "rotated:bits=1",
                                    "countsketch", "randk",       "powersgd",   "ef+qsgd:bits=1",   "zstd+terngrad"};
enum { CODECS = countof(specs) };

typedef struct {
    const Metric *mean, *se, *exact, *freedom; /* exact, freedom: NULL: there is none */
} IntervalField;

static IntervalField fields[FIELDS_MAX];
static size_t field_count;

static const Metric *beside(const Metric *m, const char *ending)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s", m->name, ending);
    return metric_find(name);
}

static void find_fields(void)
{
    for (const Metric *m = metrics; m->name; m++) {
        const Metric *se = beside(m, "_se");
        if (!se || m->form == FORM_TIME)
            continue;
        check(field_count < FIELDS_MAX);
        const bool spread = !strcmp(m->name, "mse") || !strcmp(m->name, "variance");
        fields[field_count++] =
            (IntervalField){m, se, spread ? metric_find("variance_expected") : beside(m, "_expected"), beside(m, "_freedom")};
    }
}

typedef struct {
    double mean, se, exact, freedom; /* NaN: none */
} Interval;

typedef struct {
    Dump *dump;
    size_t experiment;
    Interval (*found)[CODECS][FIELDS_MAX]; /* one for each experiment */
} Experiments;

static Status load(void *data, const Vector *v, float *x, Error *err)
{
    return vector_load(((Experiments *)data)->dump, v, x, err);
}

static double value(const Metric *m, const Record *r)
{
    return m ? metric_value(m, &r->tally) : NAN;
}

/* The closed form of `variance` is that of an unbiased codec, and one given random draws is no true value. */
static Status keep(void *data, const Record *r, Error *err)
{
    const Experiments *e = data;
    if (r->error)
        return FAIL(err, ERR_USAGE, "%s: %s", specs[r->codec], r->error);
    for (size_t i = 0; i < field_count; i++) {
        const IntervalField *f = &fields[i];
        const Metric *unsure = f->exact ? beside(f->exact, "_se") : NULL;
        const bool exact = f->exact && unsure && value(unsure, r) == 0 && (r->tally.unbiased || strcmp(f->mean->name, "variance") != 0);
        e->found[e->experiment][r->codec][i] = (Interval){value(f->mean, r), value(f->se, r), exact ? value(f->exact, r) : NAN,
                                                          f->freedom ? value(f->freedom, r) : REPEATS - 1};
    }
    return OK;
}

/* ---- shares ---- */

static double truth_of(const Experiments *e, size_t count, size_t k, size_t i)
{
    Moments m = {0};
    for (size_t s = 0; s < count; s++)
        if (!isnan(e->found[s][k][i].mean))
            moments_add(&m, e->found[s][k][i].mean);
    const double exact = e->found[0][k][i].exact;
    return isnan(exact) && m.n ? m.mean : exact;
}

/* Returns the share of intervals that hold, in percent; NaN if half of the experiments or more show none, or one below 1e-5 of
 * the true value. */
static double share_of(const Experiments *e, size_t count, size_t k, size_t i)
{
    const double truth = truth_of(e, count, k, i);
    size_t hits = 0, shown = 0, narrow = 0;
    for (size_t s = 0; s < count; s++) {
        const Interval *v = &e->found[s][k][i];
        if (isnan(v->mean) || isnan(v->se))
            continue;
        const double quantile = isnan(v->freedom) ? 1.959963984540054 : t_quantile(0.05, v->freedom);
        shown++;
        hits += fabs(v->mean - truth) <= fmax(quantile * v->se, 1e-5 * fabs(truth));
        narrow += v->se <= 1e-5 * fabs(truth);
    }
    return 2 * (shown - narrow) <= count ? NAN : 100. * (double)hits / (double)shown;
}

static bool put_table(const Experiments *e, size_t count)
{
    bool right = true;
    printf("| |");
    for (size_t k = 0; k < CODECS; k++)
        printf(" `%s` |", specs[k]);
    printf("\n|---|");
    for (size_t k = 0; k < CODECS; k++)
        printf("---:|");
    for (size_t i = 0; i < field_count; i++) {
        printf("\n| `%s` |", fields[i].mean->name);
        for (size_t k = 0; k < CODECS; k++) {
            const double share = share_of(e, count, k, i);
            if (isnan(share))
                printf(" – |");
            else
                printf(" %.1f |", share);
            right = right && !(share < LEAST);
        }
    }
    printf("\n");
    return right;
}

static Status experiments_run(Experiments *e, size_t count, char **argv, Arena *a, Error *err)
{
    const char *tensor = argv[3];
    const GroupSpec groups = {.selection = {.tensors = {&tensor, 1}, .step = argv[2]}};
    const Codec *codec[CODECS];
    VectorList list;
    TRY(dump_open(&e->dump, argv[1], a, err));
    TRY(groups_make(&list, e->dump, &groups, a, err));
    for (size_t k = 0; k < CODECS; k++)
        TRY(codec_open(&codec[k], specs[k], a, err));
    if (list.count != 1)
        return FAIL(err, ERR_USAGE, "%zu tensors are called %s at step %s; 1 is measured", list.count, tensor,
                    argv[2]);
    Comparison c = {.codec = codec,
                    .codecs = CODECS,
                    .vectors = &list,
                    .repeats = REPEATS,
                    .memory = UINT64_C(1) << 30,
                    .threads = 1,
                    .untimed = true,
                    .data = e,
                    .load = load,
                    .record = keep};
    for (e->experiment = 0; e->experiment < count; e->experiment++) {
        const ArenaMark mark = arena_mark(a);
        size_t failures;
        c.seed = e->experiment + 1;
        TRY(compare_run(&c, &failures, a, err));
        arena_rewind(a, mark);
    }
    return OK;
}

int main(int argc, char **argv)
{
    const long count = argc == 5 ? strtol(argv[4], NULL, 10) : 0;
    if (count < 1 || count > EXPERIMENTS_MAX) {
        fprintf(stderr, "usage: interval_level DUMP STEP TENSOR EXPERIMENTS (1 to %d)\n", EXPERIMENTS_MAX);
        return 2;
    }
    find_fields();
    Arena *a = arena_open(0);
    Error err = {0};
    Experiments e = {.found = arena_zeroed(a, (size_t)count, sizeof *e.found)};
    const Status status = e.found ? experiments_run(&e, (size_t)count, argv, a, &err) : ERR_MEMORY;
    const bool right = status == OK && put_table(&e, (size_t)count);
    if (status != OK)
        fprintf(stderr, "interval_level: %s\n", err.text);
    dump_close(e.dump);
    arena_close(a);
    return !right;
}
