/* test_digits.c -- tests the synthetic images of digits. Their bytes must be the same on every machine. A
 * linear model must recognise most of them, but not all. */
#include "rig/check.h"
#include "base/checksum.h"
#include "data/digits.h"

enum { COUNT = 4000 };

typedef struct {
    Arena *a;
    uint8_t *pixels, *labels;
} Sheet;

static Sheet draw(uint64_t seed, DataSplit split, size_t count, int threads)
{
    Sheet s = {.a = arena_open(0)};
    s.pixels = NEW(s.a, uint8_t, count * DIGIT_PIXELS);
    s.labels = NEW(s.a, uint8_t, count);
    digits_draw(seed, split, count, threads, NULL, s.pixels, s.labels);
    return s;
}

static uint64_t hash(const Sheet *s, size_t count)
{
    return checksum((Bytes){s->pixels, count * DIGIT_PIXELS}, checksum((Bytes){s->labels, count}, 0));
}

static void digits_are_the_same_on_every_machine(void **state)
{
    (void)state;
    const struct {
        uint64_t seed, hash;
        DataSplit split;
    } pinned[] = {{1, 0x8d6d9ccc4a0b243e, SPLIT_TRAIN},
                  {1, 0x3e265bee9a9fa51a, SPLIT_TEST},
                  {2, 0x5c168ef86a7c8e2d, SPLIT_TRAIN}};
    for (size_t i = 0; i < countof(pinned); i++) {
        Sheet s = draw(pinned[i].seed, pinned[i].split, 1000, 1);
        const uint64_t found = hash(&s, 1000);
        if (found != pinned[i].hash)
            print_error("seed %d, split %d: 0x%016llx\n", (int)pinned[i].seed, (int)pinned[i].split,
                        (unsigned long long)found);
        check(found == pinned[i].hash);
        arena_close(s.a);
    }
}

static void digits_do_not_depend_on_threads_or_on_how_many_are_drawn(void **state)
{
    (void)state;
    Sheet one = draw(5, SPLIT_TRAIN, 1300, 1), three = draw(5, SPLIT_TRAIN, 1300, 3),
          few = draw(5, SPLIT_TRAIN, 7, 2);
    assert_memory_equal(one.pixels, three.pixels, 1300 * DIGIT_PIXELS);
    assert_memory_equal(one.labels, three.labels, 1300);
    assert_memory_equal(one.pixels, few.pixels, 7 * DIGIT_PIXELS);
    arena_close(one.a);
    arena_close(three.a);
    arena_close(few.a);
}

static void digits_have_the_mean_and_deviation_that_normalise_them(void **state)
{
    (void)state;
    Error err;
    Sheet s = draw(1, SPLIT_TRAIN, COUNT, 1);
    const DatasetInfo *info = dataset_find("digits", &err);
    double sum = 0, squares = 0;
    for (size_t i = 0; i < (size_t)COUNT * DIGIT_PIXELS; i++) {
        const double v = s.pixels[i] / 255.0;
        sum += v;
        squares += v * v;
    }
    const double n = (double)COUNT * DIGIT_PIXELS, mean = sum / n;
    /* The mean pixel value of one image has standard deviation 0.035. So the mean over all 4,000 images has the
     * standard error 0.00055, and 4 standard errors are 0.0022. */
    check_rel(mean, (double)info->mean[0], 0.02);
    check_rel(sqrt(squares / n - mean * mean), (double)info->deviation[0], 0.02);
    arena_close(s.a);
}

/* Among 4,000 images, the number of images of one digit has mean 400 and standard deviation 19. The probability
 * that any of the ten counts deviates by more than five standard deviations is below 1e-5. */
static void every_digit_comes_as_often(void **state)
{
    (void)state;
    Sheet s = draw(1, SPLIT_TRAIN, COUNT, 1);
    int found[10] = {0};
    for (size_t i = 0; i < COUNT; i++)
        found[s.labels[i]]++;
    for (int k = 0; k < 10; k++)
        check(abs(found[k] - COUNT / 10) < 95);
    arena_close(s.a);
}

static int largest(const float *w, const uint8_t *image)
{
    float z[10] = {0};
    int best = 0;
    for (int j = 0; j < DIGIT_PIXELS; j++)
        for (int k = 0; image[j] && k < 10; k++)
            z[k] += w[j * 10 + k] * image[j];
    for (int k = 1; k < 10; k++)
        best = z[k] > z[best] ? k : best;
    return best;
}

/* The linear model is an averaged perceptron. */
static void a_linear_model_reads_most_digits_and_not_all(void **state)
{
    (void)state;
    enum { TRAIN = 12000, TEST = 2000 };
    Sheet train = draw(1, SPLIT_TRAIN, TRAIN, 2), test = draw(1, SPLIT_TEST, TEST, 2);
    float *w = NEW_ZERO(train.a, float, DIGIT_PIXELS * 10),
          *mean = NEW_ZERO(train.a, float, DIGIT_PIXELS * 10);
    size_t right = 0;
    for (size_t i = 0; i < 2 * TRAIN; i++) {
        const uint8_t *image = train.pixels + i % TRAIN * DIGIT_PIXELS;
        const int said = largest(w, image), label = train.labels[i % TRAIN];
        for (size_t j = 0; said != label && j < DIGIT_PIXELS; j++) {
            w[j * 10 + (size_t)label] += image[j] / 255.0f;
            w[j * 10 + (size_t)said] -= image[j] / 255.0f;
        }
        for (size_t j = 0; i % 8 == 0 && j < DIGIT_PIXELS * 10; j++)
            mean[j] += w[j];
    }
    for (size_t i = 0; i < TEST; i++)
        right += largest(mean, test.pixels + i * DIGIT_PIXELS) == test.labels[i];
    print_message("averaged perceptron: %.1f %%\n", 100.0 * (double)right / TEST);
    check(right > TEST * 0.82 && right < TEST * 0.94);
    arena_close(train.a);
    arena_close(test.a);
}

static size_t asked;
static bool stop_at_the_fourth_question(void)
{
    return ++asked >= 4;
}

static void drawing_ends_when_it_is_stopped(void **state)
{
    (void)state;
    Arena *a = arena_open(0);
    Error err;
    Dataset d;
    asked = 0;
    assert_int_equal(
        dataset_load(&d, "digits", NULL, SPLIT_TRAIN, 1, 1, stop_at_the_fourth_question, a, &err),
        ERR_STOPPED);
    /* a question before each of 240 pieces, and one behind the last */
    check(asked == 241);
    uint8_t *pixels = NEW_ZERO(a, uint8_t, COUNT * DIGIT_PIXELS), *labels = NEW_ZERO(a, uint8_t, COUNT);
    size_t drawn = 0;
    asked = 0;
    digits_draw(1, SPLIT_TRAIN, COUNT, 1, stop_at_the_fourth_question, pixels, labels);
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < DIGIT_PIXELS; j++)
            if (pixels[i * DIGIT_PIXELS + j]) {
                drawn++;
                break;
            }
    check(drawn == 750);
    arena_close(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits_are_the_same_on_every_machine),
        cmocka_unit_test(digits_do_not_depend_on_threads_or_on_how_many_are_drawn),
        cmocka_unit_test(digits_have_the_mean_and_deviation_that_normalise_them),
        cmocka_unit_test(every_digit_comes_as_often),
        cmocka_unit_test(drawing_ends_when_it_is_stopped),
        cmocka_unit_test(a_linear_model_reads_most_digits_and_not_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}
