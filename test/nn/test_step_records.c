/* test_step_records.c -- tests what is recorded about a training step. The bytes and the modelled time of its
 * exchange must follow the formulas of the topologies. Processor times are compared with the test's own clock.
 * The loss and the accuracy on the test set must not depend on the number of images per forward pass. */
#include "rig/check.h"
#include "nn/training_run.h"
#include "rig/tiny_data.h"
#include "compress/spec.h"
#include "measure/timing.h"

#include <time.h>

static Arena *arena;
static Error err;
static Dataset train_data, test_data;

static int open_all(void **state)
{
    (void)state;
    arena = arena_open(0);
    train_data = tiny_data(SPLIT_TRAIN, 480, arena);
    test_data = tiny_data(SPLIT_TEST, 250, arena);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    arena_close(arena);
    return 0;
}

static TrainSetup setup_of(const char *spec, size_t workers, size_t aggregate)
{
    TrainSetup s = {.network = "softmax",
                    .train = &train_data,
                    .test = &test_data,
                    .workers = workers,
                    .aggregate = aggregate,
                    .batch = 48,
                    .test_batch = 100,
                    .optimizer = {.lr = 0.05},
                    .seed = 1,
                    .threads = 1};
    check_ok(codec_open(&s.codec, spec, arena, &err), &err);
    return s;
}

/* Returns the loss and the accuracy of the initial weights on the test set, with `images` images per forward
 * pass. */
static MeanScore tested_by(size_t images)
{
    TrainSetup s = setup_of("none", 2, 2);
    Trainer *t;
    MeanScore score;
    s.test_batch = images;
    check_ok(trainer_open(&t, &s, &err), &err);
    check_ok(trainer_test(t, &test_data, &score, &err), &err);
    trainer_close(t);
    return score;
}

static void a_test_is_the_mean_over_its_images(void **state)
{
    (void)state;
    const MeanScore one = tested_by(1);
    static const size_t images[] = {7, 100, 249, 250, 1000};
    check(one.loss > 0 && one.accuracy > 0 && one.accuracy < 1);
    for (size_t i = 0; i < countof(images); i++) {
        const MeanScore many = tested_by(images[i]);
        check_rel(many.loss, one.loss, 1e-6);
        check_near(many.accuracy, one.accuracy, 1e-12);
    }
}

/* ---- bytes, and seconds on a link ---- */

static StepRecord step_of(const char *spec, size_t workers, size_t aggregate, Topology topology)
{
    static const Link link = {"x", 1e-3, 1e6};
    TrainSetup s = setup_of(spec, workers, aggregate);
    Trainer *t;
    StepRecord r;
    s.topology = topology;
    s.link = &link;
    check_ok(trainer_open(&t, &s, &err), &err);
    check_ok(trainer_step(t, &r, &err), &err);
    trainer_close(t);
    return r;
}

/* The model has a 4 x 64 matrix and 4 biases, which are 1040 bytes of floats. With the codec `sign`, a worker
 * sends one byte per tensor and one bit per element. The merged votes of 4 workers take 3 bits per element,
 * and per tensor one byte and at most 2 bytes for the number of workers. */
static void bytes_and_link_times_are_those_of_the_workers_that_send(void **state)
{
    (void)state;
    StepRecord r = step_of("none", 6, 4, TOPOLOGY_PS);
    check(r.bytes_up == 1040 && r.bytes_down == 1040);
    check_rel(r.comm, 2e-3 + 4 * 2080e-6, 1e-12);
    r = step_of("none", 6, 4, TOPOLOGY_ALLGATHER);
    check(r.bytes_up == 1040 && r.bytes_down == 3 * 1040);
    check_rel(r.comm, 3 * (1e-3 + 1040e-6), 1e-12);
    r = step_of("none", 6, 4, TOPOLOGY_RING);
    check(r.bytes_up == 1040 && r.bytes_down == 1040);
    check_rel(r.comm, 6 * 1e-3 + 2 * 3 / 4. * 1040e-6, 1e-12);
    r = step_of("sign", 6, 4, TOPOLOGY_TREE);
    check(r.bytes_up == 1 + 32 + 1 + 1);
    check(r.bytes_down > 3 * 260 / 8. && r.bytes_down < 3 * 260 / 8. + 8);
    check_rel(r.comm, 4 * (1e-3 + r.bytes_down * 1e-6), 1e-12);
}

/* ---- seconds of processors ---- */

static struct {
    double sum, most;
} slept;

/* Sleeps 20 ms, adds the measured time to `slept`, and sends the floats. */
static Status sleepy_encode(const Call *c, const float *x, Buf *out)
{
    const double start = clock_now();
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    const double own = clock_now() - start;
    slept.sum += own;
    slept.most = fmax(slept.most, own);
    buf_u8(out, PAYLOAD_METHOD);
    for (size_t i = 0; i < c->shape->n; i++)
        buf_f32(out, x[i]);
    return OK;
}

static Status sleepy_decode(const Call *c, Bytes in, float *x)
{
    memcpy(x, in.data + 1, 4 * c->shape->n);
    return OK;
}

static size_t sleepy_bound(const Call *c)
{
    return 4 * c->shape->n + 1;
}

/* Workers encode at the same time, so encoding takes as long as the slowest worker: it sleeps 20 ms, and all
 * four together at least 80 ms. The test's clock and the recorded time differ by microseconds only. */
static void encoding_takes_as_long_as_its_slowest_worker(void **state)
{
    (void)state;
    const Compressor sleepy = {
        .name = "sleepy", .bound = sleepy_bound, .encode = sleepy_encode, .decode = sleepy_decode};
    const Codec codec = {.ops = &sleepy};
    TrainSetup s = setup_of("none", 4, 4);
    Trainer *t;
    StepRecord r;
    s.codec = &codec;
    s.grouping = GROUP_ALL;
    check_ok(trainer_open(&t, &s, &err), &err);
    slept.sum = slept.most = 0;
    check_ok(trainer_step(t, &r, &err), &err);
    trainer_close(t);
    check(slept.sum >= 0.08 && r.encode >= slept.most && r.encode < slept.sum);
}

/* 24 workers compute one after the other here, so the slowest of them should take about 1/24 of the step. If
 * the machine stalls, one worker can take longer than all others together. The test fails only if this happens
 * in each of 40 steps. */
static void computing_takes_as_long_as_its_slowest_worker(void **state)
{
    (void)state;
    TrainSetup s = setup_of("none", 24, 24);
    Trainer *t;
    StepRecord r;
    double least = 1;
    s.network = "cnn";
    check_ok(trainer_open(&t, &s, &err), &err);
    for (int i = 0; i < 40 && least >= 0.3; i++) {
        const double start = clock_now();
        check_ok(trainer_step(t, &r, &err), &err);
        const double step = clock_now() - start;
        check(r.compute > 0);
        least = fmin(least, r.compute / step);
    }
    trainer_close(t);
    check(least < 0.3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_test_is_the_mean_over_its_images),
        cmocka_unit_test(bytes_and_link_times_are_those_of_the_workers_that_send),
        cmocka_unit_test(encoding_takes_as_long_as_its_slowest_worker),
        cmocka_unit_test(computing_takes_as_long_as_its_slowest_worker),
    };
    return cmocka_run_group_tests(tests, open_all, close_all) ? 1 : 0;
}
