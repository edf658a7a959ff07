/* test_checkpoint.c -- checkpoints of training. A resumed run must equal an uninterrupted run bit for bit, for
 * every codec with a state. A damaged checkpoint must be refused with an error that names its file, and the
 * newest undamaged one loaded. Saved gradients must be the workers' gradients. */
#include "rig/check.h"
#include "train/checkpoint.h"
#include "train/train_parts.h"
#include "train/train_settings.c"
#include "train/training_run.h"
#include "rig/scratch_dir.h"
#include "rig/tiny_data.h"
#include "compress/spec.h"

#include <math.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

static Arena *arena;
static Error err;
static Dataset train_data, test_data;
static char noted[4000];
static OptimizerKind kind; /* the optimizer of `setup_of` */
static LocalSteps local;   /* the local steps of `setup_of` */
static Grouping grouping = GROUP_TENSOR;
static const char *network = "cnn";
static int threads = 1;
static size_t batch = 24;

static TrainSetup setup_of(const char *spec)
{
    TrainSetup s = {
        .network = network,
        .train = &train_data,
        .test = &test_data,
        .workers = 3,
        .aggregate = 2,
        .batch = batch,
        .test_batch = 100,
        .optimizer =
            {.lr = 0.01, .momentum = 0.9, .decay = 0.9, .every = 3, .kind = kind, .beta2 = 0.9, .clip = 1},
        .local = local,
        .grouping = grouping,
        .seed = 5,
        .threads = threads};
    check_ok(codec_open(&s.codec, spec, arena, &err), &err);
    return s;
}

static int open_all(void **state)
{
    arena = arena_open(0);
    /* an epoch has four steps of 24 images and a last step of 4 */
    train_data = tiny_data(SPLIT_TRAIN, 100, arena);
    test_data = tiny_data(SPLIT_TEST, 100, arena);
    return scratch_open(state);
}

static int close_all(void **state)
{
    arena_close(arena);
    return scratch_close(state);
}

static Status ignore(void *data, const StepRecord *r, Error *e)
{
    (void)data;
    (void)r;
    (void)e;
    return OK;
}

static void note(void *data, const char *text)
{
    (void)data;
    strncat(noted, text, sizeof noted - strlen(noted) - 2);
    strcat(noted, "\n");
}

/* Trains up to step `steps`. Starts from the newest checkpoint in the folder if `resumes` is true, otherwise
 * from the beginning. */
static void run_to(const char *spec, size_t steps, bool resumes)
{
    const TrainSetup s = setup_of(spec);
    const Course c = {.steps = steps, .every = 3, .dir = scratch_dir, .record = ignore};
    Trainer *t;
    check_ok(trainer_open(&t, &s, &err), &err);
    *noted = 0;
    if (resumes)
        check_ok(checkpoint_resume(t, scratch_dir, note, NULL, &err), &err);
    check_ok(train_run(t, &c, &err), &err);
    trainer_close(t);
}

/* The last step is behind a checkpoint, from which the second run resumes. */
static void check_resumes(const char *spec, size_t steps)
{
    size_t size[2];
    char last[40];
    snprintf(last, sizeof last, "step_%08zu.h5", steps);
    scratch_files(true);
    run_to(spec, steps, false);
    uint8_t *whole = file_load(in_scratch(last), &size[0]);
    unlink(in_scratch(last));
    run_to(spec, steps, true);
    uint8_t *resumed = file_load(in_scratch(last), &size[1]);
    if (size[0] != size[1] || memcmp(whole, resumed, size[0]))
        print_error("%s: another checkpoint after resuming\n", spec);
    check(size[0] == size[1] && !memcmp(whole, resumed, size[0]) && !*noted);
    free(whole);
    free(resumed);
}

TEST(every_codec_goes_on_as_if_it_had_never_stopped)
{
    for (size_t i = 0; compressor_number(i); i++) {
        const Codec *codec;
        char spec[100];
        snprintf(spec, sizeof spec, "%s", compressor_number(i)->name);
        if (codec_open(&codec, spec, arena, &err) != OK)
            snprintf(spec, sizeof spec, "%s+qsgd", compressor_number(i)->name);
        if (codec_open(&codec, spec, arena, &err) != OK)
            snprintf(spec, sizeof spec, "%s+topk", compressor_number(i)->name);
        check_resumes(spec, 4);
    }
    check_resumes("ef+topk:ratio=0.01", 7);
    check_resumes("ef+powersgd", 7);
    check_resumes("ef+cas", 7);
    check_resumes("ef+joint", 4);
}

TEST(every_optimizer_goes_on_as_if_it_had_never_stopped)
{
    for (size_t i = 0; optimizer_names[i]; i++) {
        kind = (OptimizerKind)i;
        check_resumes("qsgd", 7);
    }
    kind = OPTIMIZER_SGD;
}

/* A checkpoint between two exchanges: the exchanges are after steps 5, or 4. */
TEST(local_steps_go_on_as_if_they_had_never_stopped)
{
    for (size_t i = 0; optimizer_names[i]; i++)
        for (size_t steps = 4; steps <= 5; steps++) {
            kind = (OptimizerKind)i;
            local = (LocalSteps){.steps = steps, .lr = 0.7, .momentum = 0.9};
            check_resumes("ef+topk:ratio=0.01", 7);
        }
    /* a mean is under way after step 6, the checkpoint; with GROUP_ALL both fragments have a state named `all` */
    for (size_t i = 0; i < 4; i++) {
        grouping = i % 2 ? GROUP_ALL : GROUP_TENSOR;
        local = (LocalSteps){.steps = 7, .fragments = 1 + i / 2, .late = 1, .mix = 0.5, .lr = 0.7, .momentum = 0.9};
        check_resumes("ef+topk:ratio=0.01", 7);
    }
    grouping = GROUP_TENSOR;
    kind = OPTIMIZER_SGD;
    local = (LocalSteps){0};
}

/* ---- stopping in the middle of a step or a test ---- */

static size_t stop_at, steps_seen, tests_seen;
static atomic_size_t calls;

static bool stops_for_good(void)
{
    return atomic_fetch_add(&calls, 1) + 1 >= stop_at;
}

static Status count_records(void *data, const StepRecord *r, Error *e)
{
    (void)data;
    (void)e;
    steps_seen++;
    tests_seen += isnan(r->test.accuracy) ? 0 : 1;
    return OK;
}

/* Runs 4 steps with tests after steps 2 and 4, stops at call number `at` of `stopped`, and resumes. Returns
 * false if the run ended before that call. */
static bool stop_and_resume(size_t at, const uint8_t *whole, size_t want)
{
    TrainSetup s = setup_of("ef+topk:ratio=0.01");
    Course c = {.steps = 4, .every = 2, .dir = scratch_dir, .record = count_records};
    Trainer *t;
    size_t size;
    scratch_files(true);
    calls = steps_seen = tests_seen = 0;
    *noted = 0;
    stop_at = at;
    s.stopped = c.stopped = stops_for_good;
    check_ok(trainer_open(&t, &s, &err), &err);
    const Status status = train_run(t, &c, &err);
    trainer_close(t);
    if (status == OK)
        return false;
    check(status == ERR_STOPPED);
    s.stopped = c.stopped = NULL;
    check_ok(trainer_open(&t, &s, &err), &err);
    check_ok(checkpoint_resume(t, scratch_dir, note, NULL, &err), &err);
    check(trainer_step_done(t) == steps_seen); /* every step that was done is in a checkpoint */
    check_ok(train_run(t, &c, &err), &err);
    trainer_close(t);
    check(steps_seen == 4 && tests_seen >= 1); /* the test that was stopped is missing from its record */
    uint8_t *again = file_load(in_scratch("step_00000004.h5"), &size);
    check(size == want && !memcmp(again, whole, want));
    free(again);
    return true;
}

/* Stops at `stops` calls that are evenly spread over the run. Returns the number of calls of a run that is not stopped. */
static size_t stop_and_resume_anywhere(size_t stops)
{
    TrainSetup s = setup_of("ef+topk:ratio=0.01");
    const Course c = {.steps = 4, .every = 2, .dir = scratch_dir, .record = ignore, .stopped = stops_for_good};
    Trainer *t;
    size_t size;
    scratch_files(true);
    calls = 0;
    stop_at = SIZE_MAX;
    s.stopped = stops_for_good;
    check_ok(trainer_open(&t, &s, &err), &err);
    check_ok(train_run(t, &c, &err), &err);
    trainer_close(t);
    const size_t all = calls;
    uint8_t *whole = file_load(in_scratch("step_00000004.h5"), &size);
    for (size_t i = 0; i < stops; i++)
        check(stop_and_resume(1 + (all - 1) * i / stops, whole, size));
    free(whole);
    return all;
}

/* resnet20 has running statistics, which a stopped step must leave as they were. Two threads stop at other pieces. */
TEST(a_run_stopped_anywhere_in_a_step_resumes_to_the_same_weights)
{
    check(stop_and_resume_anywhere(20) > 100); /* 4 steps of 3 workers, and 2 tests, have more layers than this */
    network = "resnet20";
    threads = 2;
    batch = 6;
    test_data.count = 20;
    check(stop_and_resume_anywhere(6) > 1000);
    network = "cnn";
    threads = 1;
    batch = 24;
    test_data.count = 100;
}

/* Another run's unfinished file of a step goes, and no other hidden file. */
TEST(what_a_killed_run_has_left_is_removed)
{
    scratch_files(true);
    file_save(in_scratch(".step_00000007.h5.123.tmp"), (const uint8_t *)"half", 4);
    file_save(in_scratch(".other.h5.123.tmp"), (const uint8_t *)"half", 4);
    int lock, second;
    Arena *a = arena_open(0);
    check_ok(step_folder_lock(&lock, in_scratch("."), a, &err), &err);
    check(access(in_scratch(".step_00000007.h5.123.tmp"), F_OK) && !access(in_scratch(".other.h5.123.tmp"), F_OK));
    file_save(in_scratch(".step_00000007.h5.123.tmp"), (const uint8_t *)"half", 4);
    check(step_folder_lock(&second, in_scratch("."), a, &err) == ERR_IO && !access(in_scratch(".step_00000007.h5.123.tmp"), F_OK));
    step_folder_release(lock);
    arena_close(a);
}

TEST(a_damaged_checkpoint_is_refused_by_name_and_the_one_before_used)
{
    size_t size, want;
    scratch_files(true);
    run_to("ef+qsgd", 9, false);
    uint8_t *whole = file_load(in_scratch("step_00000009.h5"), &want);
    uint8_t *data = file_load(in_scratch("step_00000009.h5"), &size);
    for (size_t cut = 0; cut < size; cut += size / 5) {
        file_save(in_scratch("step_00000009.h5"), data, cut);
        run_to("ef+qsgd", 9, true);
        check(strstr(noted, "step_00000009.h5") && strstr(noted, "before"));
        uint8_t *again = file_load(in_scratch("step_00000009.h5"), &size);
        check(size == want && !memcmp(again, whole, size));
        free(again);
    }
    for (size_t at = 60; at < size; at += size / 7) {
        data[at] ^= 0x10;
        file_save(in_scratch("step_00000009.h5"), data, size);
        data[at] ^= 0x10;
        run_to("ef+qsgd", 9, true);
        size_t now;
        uint8_t *again = file_load(in_scratch("step_00000009.h5"), &now);
        /* The damaged file of step 9 was refused, so step 9 has been computed again. (Damage to bytes that no
         * checksum covers can stay unnoticed.) */
        if (strstr(noted, "step_00000009.h5"))
            check(now == want && !memcmp(again, whole, now));
        free(again);
    }
    free(whole);
    free(data);
}

/* Changes one weight in the file. HDF5 does not detect this; the checkpoint's own checksum must. */
TEST(a_changed_weight_is_seen)
{
    size_t size, seen = 0;
    scratch_files(true);
    run_to("none", 3, false);
    uint8_t *data = file_load(in_scratch("step_00000003.h5"), &size);
    const TrainSetup s = setup_of("none");
    Trainer *t;
    check_ok(trainer_open(&t, &s, &err), &err);
    const size_t used = arena_used(t->arena);
    check_ok(checkpoint_load(t, in_scratch("step_00000003.h5"), &err), &err);
    float w = t->weights[0];
    for (size_t at = 0; at + 4 <= size && !seen; at++)
        if (!memcmp(data + at, &w, 4)) {
            data[at] ^= 1;
            seen = at;
        }
    check(seen);
    file_save(in_scratch("step_00000003.h5"), data, size);
    check(checkpoint_load(t, in_scratch("step_00000003.h5"), &err) == ERR_CORRUPT);
    check(strstr(err.text, "step_00000003.h5") && strstr(err.text, "checksum"));
    assert_int_equal(arena_used(t->arena), used); /* what a load takes, it gives back */
    trainer_close(t);
    free(data);
}

TEST(what_wrote_a_checkpoint_is_known_from_it)
{
    TrainSetup s = {0};
    const char *dataset;
    size_t images;
    scratch_files(true);
    run_to("ef+topk:ratio=0.01", 3, false);
    check_ok(checkpoint_setup(&s, &dataset, &images, in_scratch("step_00000003.h5"), arena, &err), &err);
    check(!strcmp(s.network, "cnn") && !strcmp(dataset, "tiny") && images == 100 && s.workers == 3 &&
          s.seed == 5);
    check(!strcmp(codec_text(s.codec, arena), codec_text(setup_of("ef+topk:ratio=0.01").codec, arena)));
}

TEST(saved_gradients_have_the_layout_of_dumps)
{
    TrainSetup s = setup_of("qsgd");
    Course c = {.steps = 5, .dump_every = 2, .record = ignore};
    Dump *d[2];
    scratch_files(true);
    for (int workers = 0; workers < 2; workers++) {
        const char *path = in_scratch(workers ? "workers.h5" : "mean.h5");
        Trainer *t;
        check_ok(trainer_open(&t, &s, &err), &err);
        check_ok(gradient_dump_open(&c.dump, path, t, workers, &err), &err);
        check_ok(train_run(t, &c, &err), &err);
        check_ok(gradient_dump_close(c.dump, &err), &err);
        trainer_close(t);
        check_ok(dump_open(&d[workers], path, arena, &err), &err);
    }
    const size_t tensors = 6; /* number of tensors of the network cnn */
    check(dump_count(d[0]) == 3 * tensors && dump_count(d[1]) == 9 * tensors);
    const TensorInfo *info = dump_tensor(d[1], 4 * tensors + 2);
    check(!strcmp(info->step_group, "step_000003") && info->step == 3 && info->worker == 1);
    for (size_t i = 0; i < tensors; i++) {
        const size_t n = dump_tensor(d[0], i)->shape.n;
        float *mean = NEW(arena, float, n), *x[3];
        check_ok(dump_read(d[0], i, mean, &err), &err);
        for (size_t w = 0; w < 3; w++) {
            x[w] = NEW(arena, float, n);
            check_ok(dump_read(d[1], w * tensors + i, x[w], &err), &err);
        }
        /* each of the three workers has eight images, so the mean gradient is the workers' unweighted mean */
        for (size_t j = 0; j < n; j++)
            check_near((double)mean[j], ((double)x[0][j] + (double)x[1][j] + (double)x[2][j]) / 3, 1e-7);
    }
    dump_close(d[0]);
    dump_close(d[1]);
}

CHECK_ALL(open_all, close_all)
