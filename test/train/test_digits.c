/* test_digits.c -- tests the synthetic images of digits. Their bytes must be the same on every machine. A
 * linear model must recognise most of them, but not all. */
#include "rig/check.h"
#include "rig/draw_all.h"
#include "base/checksum.h"
#include "train/datasets.c"

enum { COUNT = 4000 };

typedef struct {
    Arena *a;
    const uint8_t *pixels;
    uint8_t *labels;
} Sheet;

static Dataset load(const char *name, DataSplit split, uint64_t seed, Arena *a)
{
    Error err;
    Dataset d;
    check_ok(dataset_load(&d, name, NULL, split, seed, a, &err), &err);
    return d;
}

static Sheet draw(uint64_t seed, DataSplit split, size_t count, int threads)
{
    Sheet s = {.a = arena_open(0)};
    Dataset d = load("digits", split, seed, s.a);
    d.count = count;
    draw_all(&d, threads);
    s.pixels = d.pixels;
    s.labels = NEW(s.a, uint8_t, count);
    for (size_t i = 0; i < count; i++)
        s.labels[i] = (uint8_t)d.labels[i];
    return s;
}

static uint64_t hash(const Sheet *s, size_t count)
{
    return checksum((Bytes){s->pixels, count * DIGIT_PIXELS}, checksum((Bytes){s->labels, count}, 0));
}

TEST(digits_are_the_same_on_every_machine)
{
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

TEST(digits_do_not_depend_on_threads_or_on_how_many_are_drawn)
{
    Sheet one = draw(5, SPLIT_TRAIN, 1300, 1), three = draw(5, SPLIT_TRAIN, 1300, 3),
          few = draw(5, SPLIT_TRAIN, 7, 2);
    assert_memory_equal(one.pixels, three.pixels, 1300 * DIGIT_PIXELS);
    assert_memory_equal(one.labels, three.labels, 1300);
    assert_memory_equal(one.pixels, few.pixels, 7 * DIGIT_PIXELS);
    arena_close(one.a);
    arena_close(three.a);
    arena_close(few.a);
}

TEST(digits_have_the_mean_and_deviation_that_normalise_them)
{
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

/* A pixel of a colour image lies between its channel's ground, which the margin shows, and a lighter level, in proportion
 * to the grey pixel. */
TEST(colour_digits_are_the_grey_ones_in_two_levels_for_each_channel)
{
    enum { N = 600, PLANE = COLOUR_SIDE * COLOUR_SIDE };
    Sheet s = draw(3, SPLIT_TEST, N, 1);
    Dataset alone = load("colour-digits", SPLIT_TEST, 3, s.a), team = load("colour-digits", SPLIT_TEST, 3, s.a);
    draw_all(&alone, 1);
    draw_all(&team, 3);
    const uint8_t *one = alone.pixels;
    assert_memory_equal(one, team.pixels, N * COLOUR_PIXELS);
    size_t grounds[2] = {0};
    for (size_t i = 0; i < 3 * N; i++) {
        const uint8_t *plane = one + i * PLANE, *grey = s.pixels + i / 3 * DIGIT_PIXELS;
        const double ground = plane[0];
        size_t brightest = 0;
        for (size_t j = 0; j < DIGIT_PIXELS; j++)
            brightest = grey[j] > grey[brightest] ? j : brightest;
        check(grey[brightest] > 100);
        const double slope =
            (plane[(brightest / 28 + 2) * 32 + brightest % 28 + 2] - ground) / grey[brightest];
        check(ground < 96 && ground + 255 * slope < 256.5 && ground + 255 * slope > 157);
        grounds[ground < 48]++;
        for (size_t row = 0; row < 32; row++)
            for (size_t column = 0; column < 32; column++) {
                const bool inside = row - 2 < 28 && column - 2 < 28;
                const double want = ground + (inside ? slope * grey[(row - 2) * 28 + column - 2] : 0);
                /* each pixel is rounded down, and so is the one that gave the slope */
                check(fabs(plane[row * 32 + column] - want) < 1.5);
            }
    }
    /* 900 of 1,800 grounds are expected below 48, with standard deviation 21 */
    check(grounds[0] > 790 && grounds[1] > 790);
    arena_close(s.a);
}

/* Among 4,000 images, the number of images of one digit has mean 400 and standard deviation 19. The probability
 * that any of the ten counts deviates by more than five standard deviations is below 1e-5. */
TEST(every_digit_comes_as_often)
{
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
TEST(a_linear_model_reads_most_digits_and_not_all)
{
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
    check((double)right > TEST * 0.82 && (double)right < TEST * 0.94);
    arena_close(train.a);
    arena_close(test.a);
}

/* Batches of images that are not drawn yet equal batches of drawn ones, also if threads want one image at the same time,
 * and of the last images alone, as those held out for validation. */
TEST(batches_draw_the_images_that_they_need)
{
    enum { N = 400, LAST = 50 };
    static const char *const names[] = {"digits", "colour-digits"};
    Arena *a = arena_open(0);
    for (size_t k = 0; k < countof(names); k++) {
        Dataset fresh = load(names[k], SPLIT_TEST, 4, a), ready = load(names[k], SPLIT_TEST, 4, a);
        const size_t pixels = ready.info->channels * ready.info->rows * ready.info->columns;
        float *x[2] = {NEW(a, float, N *pixels), NEW(a, float, N *pixels)};
        uint32_t *labels[2] = {NEW(a, uint32_t, N), NEW(a, uint32_t, N)}, index[N];
        draw_all(&ready, 2);
        for (uint32_t round = 0; round < 3; round++) {
            for (uint32_t i = 0; i < N; i++)
                index[i] = round == 0 ? i / 40 : (i * 7 + round) % LAST;
            if (round == 2) {
                fresh.pixels += (fresh.count - LAST) * pixels;
                ready.pixels += (ready.count - LAST) * pixels;
            }
            batch_fill(&fresh, index, N, true, 1, 1, 4, x[0], labels[0]);
            batch_fill(&ready, index, N, true, 1, 1, 1, x[1], labels[1]);
            assert_memory_equal(x[0], x[1], N * pixels * sizeof(float));
        }
    }
    arena_close(a);
}

CHECK_ALL(NULL, NULL)
