/* interval_level.c -- counts how often the 95 % intervals of `compare` contain the true value: a table of
 * docs/intervals.md.
 *
 *     interval_level DUMP STEP TENSOR EXPERIMENTS
 *
 * Experiments count from 1. Experiment e compares one layer in ten repeats with seed e. The interval of the field
 * NAME is NAME +- t NAME_se for Student's t with 9 degrees of freedom. If `gain_se` is the same in all experiments,
 * it is a closed form, and the interval of `gain` has 1.96 instead of t. The true value is the codec's closed form;
 * without one, the mean over all experiments. An interval also counts as right if the measured value differs from
 * the true value by at most 1e-5 times the true value. */
#include "compress/spec.h"
#include "measure/compare.h"
#include "rig/check.h"

enum { REPEATS = 10, EXPERIMENTS_MAX = 100000 };

static const char *const specs[] = {"qsgd", "svd:rank=1", "entry:ratio=0.01", "eden", "countsketch", "topk"};
enum { CODECS = countof(specs) };

/* `exact`: the field of the closed form; NULL: there is none */
static const struct {
    const char *name, *exact;
} fields[] = {{"bytes", NULL},
              {"bytes_expected", NULL},
              {"mse", "variance_expected"},
              {"variance", "variance_expected"},
              {"second_moment", "second_moment_expected"},
              {"relative_error", "relative_error_expected"},
              {"rel_l1", NULL},
              {"elem_error", NULL},
              {"elem_error_big", NULL},
              {"elem_error_small", NULL},
              {"elem_error_pos", NULL},
              {"elem_error_neg", NULL},
              {"wasserstein_mean", NULL},
              {"cosine", NULL},
              {"sign_agreement", NULL},
              {"density", NULL},
              {"gain", NULL},
              {"gain_l1", NULL}};
enum { FIELDS = countof(fields) };

typedef struct {
    double mean, se, exact; /* exact: NaN if the codec has no closed form */
} Interval;

typedef struct {
    Dump *dump;
    size_t experiment;
    Interval (*found)[CODECS][FIELDS]; /* one for each experiment */
} Experiments;

static Status load(void *data, const Vector *v, float *x, Error *err)
{
    return vector_load(((Experiments *)data)->dump, v, x, err);
}

static double value(const Record *r, const char *metric)
{
    return metric_value(metric_find(metric), &r->tally);
}

static Status keep(void *data, const Record *r, Error *err)
{
    const Experiments *e = data;
    char se[40];
    for (size_t i = 0; i < FIELDS; i++) {
        if (r->error)
            return FAIL(err, ERR_USAGE, "%s: %s", specs[r->codec], r->error);
        snprintf(se, sizeof se, "%s_se", fields[i].name);
        e->found[e->experiment][r->codec][i] = (Interval){value(r, fields[i].name), value(r, se),
                                                          fields[i].exact ? value(r, fields[i].exact) : NAN};
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

/* Prints the share of intervals that hold, in percent; a dash if at least half of the standard errors are
 * below 1e-5 of the true value. */
static void put_share(const Experiments *e, size_t count, size_t k, size_t i)
{
    const double truth = truth_of(e, count, k, i);
    size_t hits = 0, all = 0, same = 0, narrow = 0;
    for (size_t s = 0; s < count; s++)
        same += fabs(e->found[s][k][i].se - e->found[0][k][i].se) <= 1e-9 * e->found[0][k][i].se;
    const bool closed = same == count && !strcmp(fields[i].name, "gain");
    const double quantile = closed ? 1.959963984540054 : t_quantile(0.05, REPEATS - 1);
    for (size_t s = 0; s < count; s++) {
        const Interval *v = &e->found[s][k][i];
        if (isnan(v->mean) || isnan(v->se))
            continue;
        all++;
        hits += fabs(v->mean - truth) <= fmax(quantile * v->se, 1e-5 * fabs(truth));
        narrow += v->se <= 1e-5 * fabs(truth);
    }
    if (2 * narrow >= all)
        printf(" – |");
    else
        printf(" %.1f |", 100. * (double)hits / (double)all);
}

static void put_table(const Experiments *e, size_t count)
{
    printf("| |");
    for (size_t k = 0; k < CODECS; k++)
        printf(" `%s` |", specs[k]);
    printf("\n|---|");
    for (size_t k = 0; k < CODECS; k++)
        printf("---:|");
    for (size_t i = 0; i < FIELDS; i++) {
        printf("\n| `%s` |", fields[i].name);
        for (size_t k = 0; k < CODECS; k++)
            put_share(e, count, k, i);
    }
    printf("\n");
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
                    .name = specs,
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
    Arena *a = arena_open(0);
    Error err = {0};
    Experiments e = {.found = arena_zeroed(a, (size_t)count, sizeof *e.found)};
    const Status status = e.found ? experiments_run(&e, (size_t)count, argv, a, &err) : ERR_MEMORY;
    if (status == OK)
        put_table(&e, (size_t)count);
    else
        fprintf(stderr, "interval_level: %s\n", err.text);
    dump_close(e.dump);
    arena_close(a);
    return status != OK;
}
