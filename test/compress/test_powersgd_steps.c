/* test_powersgd_steps.c -- powersgd over steps with slowly changing gradients: a warm start (from the
 * directions Q of the step before) must have less error than a cold start (from random Q). */
#include "rig/check.h"
#include "measure/compare.h"
#include "rig/scratch_dir.h"
#include "compress/spec.h"

enum { STEPS = 12, ROWS = 72, COLS = 60, N = ROWS * COLS };

/* Fills x with six outer products of unequal norm plus noise of standard deviation 0.02. The vectors of the
 * products rotate a little from step to step. */
static void gradient(int step, float *x)
{
    const Rng rng = rng_open(4, 0, 0, 0, 0), noise = rng_open(4, 0, 0, step, 1);
    for (size_t i = 0; i < N; i++) {
        const size_t r = i / COLS, c = i % COLS;
        double v = 0.02 * rng_normal(&noise, USE_TEST, i);
        for (size_t k = 0; k < 6; k++) {
            const double turn = 0.03 * step * (double)(k + 1), far = cos(turn), near = sin(turn);
            const size_t u = k * ROWS + r, w = k * COLS + c;
            v += ldexp((far * rng_normal(&rng, USE_TEST, u) + near * rng_normal(&rng, USE_COIN, u)) *
                           (far * rng_normal(&rng, USE_DATA, w) + near * rng_normal(&rng, USE_ATOM, w)),
                       -(int)k);
        }
        x[i] = (float)v;
    }
}

static const char *write_dump(Arena *a)
{
    static char path[128];
    DumpWriter *w;
    Error err;
    Shape shape;
    float *x = NEW(a, float, N);
    snprintf(path, sizeof path, "%s/slow.h5", scratch_dir);
    check(shape_make(&shape, 2, (const size_t[]){ROWS, COLS}));
    check_ok(dump_create(&w, path, &err), &err);
    for (int step = 0; step < STEPS; step++) {
        char name[64];
        snprintf(name, sizeof name, "step_%06d/fc.weight", step + 1);
        gradient(step, x);
        check_ok(dump_write(w, name, &shape, x, NULL, &err), &err);
    }
    check_ok(dump_commit(w, &err), &err);
    return path;
}

enum { WARM, COLD, OWING, TWICE, SPECS };
static const char *const specs[SPECS] = {"powersgd", "powersgd:warm=off", "ef+powersgd", "powersgd:iters=2"};

typedef struct {
    Dump *dump;
    double error[SPECS][STEPS], bytes[SPECS][STEPS], owed[SPECS][STEPS];
} Found;

static Status load(void *data, const Vector *v, float *x, Error *err)
{
    return vector_load(((Found *)data)->dump, v, x, err);
}

static Status keep(void *data, const Record *r, Error *err)
{
    Found *f = data;
    (void)err;
    if (r->level == LEVEL_VECTOR) {
        const size_t step = (size_t)r->vector->step - 1;
        f->error[r->codec][step] = metric_value(metric_find("relative_error"), &r->tally);
        f->bytes[r->codec][step] = metric_value(metric_find("bytes"), &r->tally);
        f->owed[r->codec][step] = metric_value(metric_find("residual_norm"), &r->tally);
    }
    return OK;
}

static void compare(Found *f, const char *path, Arena *a)
{
    Error err;
    VectorList list;
    const Codec *codec[SPECS];
    size_t failures;
    check_ok(dump_open(&f->dump, path, a, &err), &err);
    check_ok(groups_make(&list, f->dump, &(GroupSpec){0}, a, &err), &err);
    for (size_t i = 0; i < SPECS; i++)
        check_ok(codec_open(&codec[i], specs[i], a, &err), &err);
    const Comparison c = {.codec = codec,
                          .name = specs,
                          .codecs = SPECS,
                          .vectors = &list,
                          .repeats = 8,
                          .seed = 1,
                          .memory = 1 << 30,
                          .threads = 1,
                          .data = f,
                          .load = load,
                          .record = keep};
    check_ok(compare_run(&c, &failures, a, &err), &err);
    check(failures == 0);
    dump_close(f->dump);
}

static void warm_starts_help_where_gradients_change_slowly(void **state)
{
    (void)state;
    static Found f;
    Arena *a = arena_open(0);
    compare(&f, write_dump(a), a);
    double warm = 0, cold = 0, twice = 0;
    for (int step = 0; step < STEPS; step++) {
        check(f.bytes[WARM][step] == 2 + 8.0 * (ROWS + COLS) && f.bytes[COLD][step] == f.bytes[WARM][step]);
        check(f.bytes[TWICE][step] == 2 * f.bytes[WARM][step]);
        check(step == 0 || f.error[WARM][step] < f.error[COLD][step]);
        warm += step < 2 ? 0 : f.error[WARM][step];
        cold += step < 2 ? 0 : f.error[COLD][step];
        twice += step < 2 ? 0 : f.error[TWICE][step];
    }
    /* the first step has no earlier Q, so a warm start is a cold start */
    check(f.error[WARM][0] == f.error[COLD][0]);
    check(warm < 0.8 * cold && twice <= warm && twice > 0.9 * warm);
    for (int step = 1; step < STEPS; step++)
        check(f.owed[OWING][step] > 0 && isnan(f.owed[WARM][step]));
    arena_close(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(warm_starts_help_where_gradients_change_slowly)};
    return cmocka_run_group_tests(tests, scratch_open, scratch_close) ? 1 : 0;
}
