/* test_costs_only.c -- a comparison that measures costs only has the sizes, errors and variances of a full one, and leaves out
 * what advise and cost do not show. */
#include "compress/spec.h"
#include "measure/compare.h"
#include "rig/check.h"

enum { STEPS = 2, VECTORS = 2, PLACES = STEPS * (VECTORS + 1) + 1 };

/* of each kind: a closed form or none, biased or not, a state, several rounds, shared draws, merged as sums or not */
static const char *const specs[] = {"none",      "bf16",
                                    "qsgd",      "eden",
                                    "svd",       "ef+topk",
                                    "intsgd",    "terngrad:share=on",
                                    "ef+thc",    "ef+powersgd",
                                    "randk",     "ef+scaledsign",
                                    "natural",   "svd:method=randomized",
                                    "diana+qsgd"};

typedef struct {
    Vector vector[STEPS * VECTORS];
    VectorList list;
    Tally kept[countof(specs)][PLACES];
    Arena *a;
    Error err;
} Run;

static Status load_worker(void *data, const Vector *v, size_t worker, float *x, Error *err)
{
    const Rng rng = rng_open(5, 0, (int64_t)worker, v->step, rng_hash(v->name));
    const RngKey key = rng_key(&rng, USE_TEST, 0);
    (void)data, (void)err;
    for (size_t i = 0; i < v->shape.n; i++)
        x[i] = 1e-4f * ((float)(rng_word(&key, (uint32_t)i) >> 16) - 0x7fff) * (i % 7 ? 1 : 4);
    return OK;
}

static Status load(void *data, const Vector *v, float *x, Error *err)
{
    return load_worker(data, v, 0, x, err);
}

static Status record(void *data, const Record *r, Error *err)
{
    Run *run = data;
    Tally *t = &run->kept[r->codec][r->place];
    (void)err;
    check(!r->error && r->vectors);
    *t = r->tally;
    t->error = arena_take(run->a, t->decoded, sizeof *t->error);
    memcpy(t->error, r->tally.error, t->decoded * sizeof *t->error);
    return OK;
}

static Run *run_all(bool costs_only, size_t workers)
{
    Arena *a = arena_open(0);
    Run *run = NEW_ZERO(a, Run, 1);
    const Codec *codec[countof(specs)];
    size_t failures;
    run->a = a;
    run->list = (VectorList){.item = run->vector, .count = STEPS * VECTORS, .largest = 1600};
    for (size_t i = 0; i < STEPS * VECTORS; i++) {
        const size_t side[2] = {i % VECTORS ? 25 : 40, i % VECTORS ? 20 : 40};
        Vector *v = &run->vector[i];
        *v = (Vector){.name = i % VECTORS ? "b" : "a",
                      .step = 1 + (int64_t)i / VECTORS,
                      .step_address = 1 + (int64_t)i / VECTORS,
                      .step_group = "step"};
        check(shape_make(&v->shape, 2, side));
        run->list.elements += v->shape.n;
    }
    run->list.tensors = run->list.count;
    for (size_t k = 0; k < countof(specs); k++)
        check_ok(codec_open(&codec[k], specs[k], a, &run->err), &run->err);
    const Comparison c = {.codec = codec,
                          .codecs = countof(specs),
                          .vectors = &run->list,
                          .repeats = 3,
                          .seed = 3,
                          .threads = 1,
                          .workers = workers,
                          .costs_only = costs_only,
                          .data = run,
                          .load = load,
                          .load_worker = load_worker,
                          .record = record};
    check_ok(compare_run(&c, &failures, a, &run->err), &run->err);
    check(failures == 0);
    return run;
}

static void drop(Run *run)
{
    arena_close(run->a);
}

static double figure(const Tally *t, const char *name)
{
    return metric_value(metric_find(name), t);
}

static bool equal(double x, double y)
{
    return x == y || (isnan(x) && isnan(y));
}

/* Checks what `cost` and `advise` read in either. */
static void check_sizes(const Tally *all, const Tally *some)
{
    check(all->n == some->n && all->bytes == some->bytes && all->early == some->early);
    check(all->raw == some->raw && equal(all->sizes, some->sizes) && all->cells == some->cells);
    check(equal(all->merged, some->merged) && equal(all->merged_spread, some->merged_spread));
    check(some->encode > 0 && isnan(some->wasserstein));
}

static void check_errors(const Tally *all, const Tally *some)
{
    check(equal(all->expected, some->expected) && all->unbiased == some->unbiased);
    check(all->gradient[G_SQUARES] == some->gradient[G_SQUARES]);
    if (all->unbiased && !isnan(all->expected))
        return; /* the closed form stands for the measured error */
    for (const char *const *name =
             (const char *const[]){"relative_error", "relative_error_se", "variance", NULL};
         *name; name++)
        check(equal(figure(all, *name), figure(some, *name)));
}

TEST(sizes_and_errors_are_those_of_a_full_comparison)
{
    Run *all = run_all(false, 0), *some = run_all(true, 0);
    for (size_t k = 0; k < countof(specs); k++)
        for (size_t place = 0; place < PLACES; place++) {
            check_sizes(&all->kept[k][place], &some->kept[k][place]);
            check_errors(&all->kept[k][place], &some->kept[k][place]);
        }
    drop(all);
    drop(some);
}

/* With one draw of a random codec without a closed form nothing tells its variance from its bias. */
TEST(one_draw_beside_a_closed_form_has_no_standard_error)
{
    Run *some = run_all(true, 0);
    const Tally *qsgd = &some->kept[2][0], *eden = &some->kept[3][0];
    check(qsgd->decoded == 1 && isnan(figure(qsgd, "relative_error_se")));
    check(eden->decoded == 3 && figure(eden, "relative_error_se") > 0);
    drop(some);
}

TEST(merged_sizes_are_those_of_a_full_merge)
{
    Run *all = run_all(false, 5), *some = run_all(true, 5);
    size_t shared = 0;
    for (size_t k = 0; k < countof(specs); k++) {
        const Codec *codec;
        check_ok(codec_open(&codec, specs[k], some->a, &some->err), &some->err);
        for (size_t place = 0; place < PLACES; place++)
            check_sizes(&all->kept[k][place], &some->kept[k][place]);
        if (codec_traits(codec) & PART_SHARED) {
            check_errors(&all->kept[k][0], &some->kept[k][0]);
            shared++;
        } else {
            check(isnan(figure(&some->kept[k][0], "relative_error")));
        }
        check(isnan(some->kept[k][0].each) == codec_adds(codec));
    }
    check(shared > 0);
    drop(all);
    drop(some);
}

CHECK_ALL(NULL, NULL)
