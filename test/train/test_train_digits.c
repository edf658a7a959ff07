/* test_train_digits.c -- LeNet must learn synthetic digits with a codec as well as without. The codecs send
 * ternary values or 4 singular vectors. test/python/test_digits.py does the same with qsgd, ef+topk and sign. */
#include "rig/check.h"
#include "train/dataset.h"
#include "train/train.h"
#include "math/linalg.h"
#include "compress/spec.h"

#include <math.h>

enum { TRAIN = 60000, TEST = 1000, TESTS = 2 };

static Arena *arena;
static Dataset train_data, test_data;

static Dataset draw(DataSplit split, size_t count)
{
    Error err;
    Dataset d;
    check_ok(dataset_load(&d, "digits", NULL, split, 1, arena, &err), &err);
    d.count = count;
    return d;
}

static int open_all(void **state)
{
    arena = arena_open(0);
    train_data = draw(SPLIT_TRAIN, TRAIN);
    test_data = draw(SPLIT_TEST, TEST);
    return 0;
}

static int close_all(void **state)
{
    arena_close(arena);
    return 0;
}

/* A run with the codec `spec`; the learning rate halves every `halving` steps. The last `tests` of TESTS tests are made. */
typedef struct {
    const char *spec;
    size_t steps, halving, tests;
    double smaller; /* the payloads must be smaller than the floats by at least this factor */
} Case;

typedef struct {
    /* last: test accuracy after the last step; worst: lowest test accuracy in the last fifth of the run */
    double last, worst;
    double bytes; /* bytes sent by one worker in the last step */
} Outcome;

static void run_steps(Trainer *t, size_t to, Outcome *o)
{
    Error err;
    StepRecord r;
    MeanScore tested;
    while (trainer_step_done(t) < to)
        check_ok(trainer_step(t, &r, &err), &err);
    check_ok(trainer_test(t, &test_data, &tested, &err), &err);
    print_message("  step %zu: %g\n", to, tested.accuracy);
    o->last = tested.accuracy;
    o->worst = fmin(o->worst, tested.accuracy);
    o->bytes = r.bytes_up;
}

static Outcome run(const Case *c)
{
    Error err;
    Trainer *t;
    Outcome o = {.worst = 1};
    TrainSetup s = {.network = "lenet",
                    .train = &train_data,
                    .test = &test_data,
                    .workers = 2,
                    .aggregate = 2,
                    .batch = 32,
                    .test_batch = 200,
                    .optimizer = {.lr = 0.02, .momentum = 0.9, .decay = 0.5, .every = c->halving},
                    .seed = 1,
                    .threads = 1};
    check_ok(codec_open(&s.codec, c->spec, arena, &err), &err);
    check_ok(trainer_open(&t, &s, &err), &err);
    for (size_t i = TESTS - c->tests; i < TESTS; i++)
        run_steps(t, c->steps - (TESTS - 1 - i) * c->steps / 10, &o);
    trainer_close(t);
    print_message("%s: after %zu steps %g, at worst %g before; %.0f bytes\n", c->spec, c->steps, o.last,
                  o.worst, o.bytes);
    return o;
}

/* An epoch is 938 steps of two batches of 32 images. Without compression, the test accuracy reaches 91 % in about a
 * ninth of an epoch. With a codec, it must come within one percentage point of the accuracy without compression, and
 * stay there. A run with a codec has up to a sixth more steps. */
TEST(lenet_learns_digits_as_well_through_a_compressor_for_far_fewer_bytes)
{
    static const Case cases[] = {{"none", 105, 45, 1, 1}, {"svd:rank=4", 120, 45, TESTS, 30}};
    Outcome plain = {0};
    for (size_t i = 0; i < countof(cases); i++) {
        const Outcome o = run(&cases[i]);
        plain = i ? plain : o;
        check(o.last >= 0.91 || i);
        check(o.worst >= plain.last - 0.01 || !i);
        check(6 * cases[i].steps <= 7 * cases[0].steps);
        check(o.bytes * cases[i].smaller <= plain.bytes);
    }
}

int main(void)
{
    linalg_choose_kernels(); /* as the programs do */
    return check_run(open_all, close_all) ? 1 : 0;
}
