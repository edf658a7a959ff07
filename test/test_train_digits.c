/* test_train_digits.c -- LeNet learns to read digits through codecs that keep one element in a hundred, four bits an
 * element or three singular vectors. */
#include "check.h"
#include "data/digits.h"
#include "nn/train_run.h"

enum { TRAIN = 1600, TEST = 400, STEPS = 60 };

static Arena *arena;
static Dataset train_data, test_data;

static Dataset draw(Part part, size_t count)
{
    Error err;
    uint8_t *pixels = NEW(arena, uint8_t, count * DIGIT_PIXELS), *labels = NEW(arena, uint8_t, count);
    digits_draw(1, part, count, 1, pixels, labels);
    return (Dataset){dataset_find("digits", &err), part, count, pixels, labels};
}

static int open_all(void **state)
{
    (void)state;
    arena = arena_open(0);
    train_data = draw(PART_TRAIN, TRAIN);
    test_data = draw(PART_TEST, TEST);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    arena_close(arena);
    return 0;
}

/* Test accuracy after 60 steps of two workers; the last step's bytes. */
static double accuracy_with(const char *spec, double *bytes)
{
    Error err;
    Trainer *t;
    StepRecord r;
    Tested tested;
    TrainSetup s = {.network = "lenet",
                    .train = &train_data,
                    .test = &test_data,
                    .workers = 2,
                    .aggregate = 2,
                    .batch = 64,
                    .test_batch = 200,
                    .sgd = {.lr = 0.02, .momentum = 0.9},
                    .seed = 1,
                    .threads = 1};
    check_ok(codec_open(&s.codec, spec, arena, &err), &err);
    check_ok(trainer_open(&t, &s, &err), &err);
    for (size_t i = 0; i < STEPS; i++)
        check_ok(trainer_step(t, &r, &err), &err);
    check_ok(trainer_test(t, &test_data, &tested, &err), &err);
    trainer_close(t);
    *bytes = r.bytes_up;
    return tested.accuracy;
}

/* Each bound is well under what this seed gives, and far above the 0.1 of a guess. */
static void lenet_learns_digits_through_a_compressor_for_far_fewer_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        double accuracy, smaller; /* at least; payloads by this factor */
    } cases[] = {{"none", 0.8, 1},
                 {"qsgd:bits=4", 0.8, 10},
                 {"svd:rank=3", 0.8, 40},
                 {"ef+topk:ratio=0.01", 0.55, 70}};
    double plain = 0, bytes;
    for (size_t i = 0; i < countof(cases); i++) {
        const double accuracy = accuracy_with(cases[i].spec, &bytes);
        plain = i ? plain : bytes;
        print_message("%s: accuracy %g, %.0f bytes\n", cases[i].spec, accuracy, bytes);
        check(accuracy >= cases[i].accuracy);
        check(bytes * cases[i].smaller <= plain);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lenet_learns_digits_through_a_compressor_for_far_fewer_bytes),
    };
    return cmocka_run_group_tests(tests, open_all, close_all) ? 1 : 0;
}
