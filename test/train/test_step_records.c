/* test_step_records.c -- tests what is recorded about a training step. The bytes and the modelled time of its
 * exchange must follow the formulas of the topologies. Processor times are compared with the test's own clock.
 * The loss and the accuracy on the test set must not depend on the number of images per forward pass. */
#include "rig/check.h"
#include "train/training_run.h"
#include "rig/tiny_data.h"
#include "compress/spec.h"
#include "measure/timing.h"

#include <time.h>

static Arena *arena;
static Error err;
static Dataset train_data, test_data;

static int open_all(void **state)
{
    arena = arena_open(0);
    train_data = tiny_data(SPLIT_TRAIN, 480, arena);
    test_data = tiny_data(SPLIT_TEST, 250, arena);
    return 0;
}

static int close_all(void **state)
{
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

TEST(a_test_is_the_mean_over_its_images)
{
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

static const Link link_of_runs = {"x", 1e-3, 1e6}, near_link = {"y", 1e-4, 1e8};

static StepRecord step_between(const char *spec, size_t workers, size_t aggregate, Topology topology, size_t node, const char *within)
{
    TrainSetup s = setup_of(spec, workers, aggregate);
    Trainer *t;
    StepRecord r;
    s.topology = topology;
    s.link = &link_of_runs;
    s.near = &near_link;
    s.node = node;
    if (within)
        check_ok(codec_open(&s.within, within, arena, &err), &err);
    check_ok(trainer_open(&t, &s, &err), &err);
    check_ok(trainer_step(t, &r, &err), &err);
    trainer_close(t);
    return r;
}

static StepRecord step_of(const char *spec, size_t workers, size_t aggregate, Topology topology)
{
    return step_between(spec, workers, aggregate, topology, 0, NULL);
}

/* The model has a 4 x 64 matrix and 4 biases, which are 1040 bytes of floats. With the codec `sign`, a worker
 * sends one byte per tensor and one bit per element. The merged votes of 4 workers take 3 bits per element,
 * and per tensor one byte and at most 2 bytes for the number of workers. */
TEST(bytes_and_link_times_are_those_of_the_workers_that_send)
{
    StepRecord r = step_of("none", 6, 4, TOPOLOGY_PS);
    check(r.bytes_up == 1040 && r.bytes_down == 1040);
    check_rel(r.comm, 2e-3 + 4 * 2080e-6, 1e-12);
    r = step_of("none", 6, 4, TOPOLOGY_ALLGATHER);
    check(r.bytes_up == 3 * 1040 && r.bytes_down == 3 * 1040);
    check_rel(r.comm, 3 * (1e-3 + 1040e-6), 1e-12);
    r = step_of("none", 6, 4, TOPOLOGY_RING);
    check(r.bytes_up == 2 * 3 / 4. * 1040 && r.bytes_down == r.bytes_up);
    check_rel(r.comm, 6 * 1e-3 + 2 * 3 / 4. * 1040e-6, 1e-12);
    r = step_of("sign", 6, 4, TOPOLOGY_TREE);
    const double merged = r.bytes_up / (3 / 4.) - (1 + 32 + 1 + 1);
    check(merged > 3 * 260 / 8. && merged < 3 * 260 / 8. + 8);
    check_rel(r.comm, 4 * (1e-3 + merged * 1e-6), 1e-9);
}

/* Whether payloads add, as those of `none`, or are quantised again: with two shots a worker sends 2 (P - 1)/P S, and so it does
 * on a ring. With a server S is what it sends. Only the heads of shards are beside it. The network's time is of these bytes. */
TEST(bytes_sent_follow_one_formula_for_all_codecs)
{
    static const char *const specs[] = {"none", "fp16", "qsgd:code=fixed", "minmax", "topk:ratio=0.25", "svd"};
    enum { P = 4, HEADS = 2 * 2 * P * 24 };
    for (size_t i = 0; i < countof(specs); i++) {
        const double s = step_of(specs[i], P, P, TOPOLOGY_PS).bytes_up;
        check(step_of(specs[i], P, P, TOPOLOGY_ALLGATHER).bytes_up == (P - 1) * s);
        for (Topology topology = TOPOLOGY_RING; topology <= TOPOLOGY_TWOSHOT; topology += TOPOLOGY_TWOSHOT - TOPOLOGY_RING) {
            const StepRecord r = step_of(specs[i], P, P, topology);
            check_near(r.bytes_up, 2 * (P - 1.) / P * s, i ? HEADS : 0);
            check(r.bytes_down == r.bytes_up);
            check_rel(r.comm, 2 * (P - 1) * 1e-3 + r.bytes_up * 1e-6, i == 1 ? 1e-2 : 1e-12);
        }
    }
}

/* In nodes of K, 2 (K - 1)/K of the payload within nodes, and 2 (N - 1)/N of 1/K of that between the N nodes. */
TEST(bytes_sent_by_nodes_follow_the_formula)
{
    enum { P = 6, HEADS = 2 * 2 * P * 24 };
    const double s = step_of("qsgd:code=fixed", P, P, TOPOLOGY_PS).bytes_up, near = 4 * 260;
    for (int k = 2; k <= 3; k++) {
        const double in = 2 * (k - 1.) / k * near, out = 2 * (P / k - 1.) / P * s;
        const StepRecord r = step_between("qsgd:code=fixed", P, P, TOPOLOGY_HIER, (size_t)k, "none");
        check_near(r.bytes_up, in + out, HEADS);
        check_near(r.comm, 2 * (k - 1) * 1e-4 + in / 1e8 + 2 * (P / k - 1) * 1e-3 + out / 1e6, HEADS / 1e6);
    }
}

/* ---- seconds of processors, by a clock that only this test moves ---- */

static int64_t now, first;
static int encodings;

int clock_gettime(clockid_t clock, struct timespec *t)
{
    (void)clock;
    *t = (struct timespec){.tv_sec = now / 1000000000, .tv_nsec = now % 1000000000};
    return 0;
}

/* Takes 10 ms on the first worker, 20 on the next, and so on, and sends the floats. */
static Status sleepy_encode(const Call *c, const float *x, Buf *out)
{
    now += 10000000 * ++encodings;
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

/* Workers encode at the same time, so encoding takes as long as the slowest worker. */
TEST(encoding_takes_as_long_as_its_slowest_worker)
{
    const Compressor sleepy = {
        .name = "sleepy", .bound = sleepy_bound, .encode = sleepy_encode, .decode = sleepy_decode};
    const Codec codec = {.ops = &sleepy};
    TrainSetup s = setup_of("none", 4, 4);
    Trainer *t;
    StepRecord r;
    s.codec = &codec;
    s.grouping = GROUP_ALL;
    check_ok(trainer_open(&t, &s, &err), &err);
    check_ok(trainer_step(t, &r, &err), &err);
    trainer_close(t);
    check_rel(r.encode, 0.04, 1e-9);
}

/* Each question whether to stop takes a millisecond; a worker asks as often as any other. */
static bool slow_answer(void)
{
    now += 1000000;
    return false;
}

/* Workers compute one after the other here, and at the same time in what is reported. */
TEST(computing_takes_as_long_as_its_slowest_worker)
{
    enum { WORKERS = 24 };
    TrainSetup s = setup_of("none", WORKERS, WORKERS);
    Trainer *t;
    StepRecord r;
    s.network = "cnn";
    s.stopped = slow_answer;
    check_ok(trainer_open(&t, &s, &err), &err);
    first = now;
    check_ok(trainer_step(t, &r, &err), &err);
    trainer_close(t);
    check(now > first);
    check_rel(r.compute, 1e-9 * (double)(now - first) / WORKERS, 1e-9);
}

CHECK_ALL(open_all, close_all)
