/* test_batches.c -- the order of images in an epoch, and the content of a batch. */
#include "rig/check.h"
#include "train/dataset.h"

enum { SIDE = 32, PIXELS = 3 * SIDE * SIDE };

/* Returns a pixel of the test image: row + 1 in channel 0, column + 1 in channel 1, and 255 in channel 2. */
static uint8_t pixel_of(int channel, int row, int column)
{
    return (uint8_t)(channel == 0 ? row + 1 : channel == 1 ? column + 1 : 255);
}

typedef struct {
    Arena *a;
    DatasetInfo info;
    Dataset data;
    float *x;
} Fixture;

static void open_fixture(Fixture *f, size_t count, Crop crop)
{
    f->a = arena_open(0);
    f->info = (DatasetInfo){.name = "ramp",
                            .channels = 3,
                            .rows = SIDE,
                            .columns = SIDE,
                            .classes = 10,
                            .crop = crop,
                            .mean = {0.5f, 0.25f, 0},
                            .deviation = {0.25f, 0.5f, 1}};
    uint8_t *pixels = NEW(f->a, uint8_t, count * PIXELS);
    uint32_t *labels = NEW(f->a, uint32_t, count);
    for (size_t i = 0; i < count * PIXELS; i++)
        pixels[i] = pixel_of((int)(i / SIDE / SIDE % 3), (int)(i / SIDE % SIDE), (int)(i % SIDE));
    for (size_t i = 0; i < count; i++)
        labels[i] = (uint32_t)(i % 10);
    f->data =
        (Dataset){.info = &f->info, .split = SPLIT_TRAIN, .count = count, .pixels = pixels, .labels = labels};
    f->x = NEW(f->a, float, count *PIXELS);
}

/* Returns a pixel of the batch as a byte, as it was before normalisation. */
static int byte_at(const Fixture *f, size_t image, int channel, int row, int column)
{
    const float x = f->x[image * PIXELS + (size_t)((channel * SIDE + row) * SIDE + column)];
    return (int)lrintf((x * f->info.deviation[channel] + f->info.mean[channel]) * 255);
}

TEST(every_image_comes_once_an_epoch)
{
    enum { COUNT = 1000 };
    Fixture f;
    uint32_t order[COUNT], other[COUNT];
    open_fixture(&f, COUNT, CROP_NONE);
    size_t kept = 0, same = 0;
    for (uint64_t epoch = 0; epoch < 20; epoch++) {
        uint8_t seen[COUNT] = {0};
        dataset_shuffle(&f.data, 7, epoch, order);
        dataset_shuffle(&f.data, 7, epoch + 1, other);
        for (uint32_t i = 0; i < COUNT; i++) {
            check(order[i] < COUNT && !seen[order[i]]++);
            kept += order[i] == i;
            same += order[i] == other[i];
        }
    }
    /* each count is Poisson distributed with mean 20, and above 44 with probability 1e-6 */
    check(kept < 45 && same < 45);
    dataset_shuffle(&f.data, 7, 3, order);
    dataset_shuffle(&f.data, 7, 3, other);
    assert_memory_equal(order, other, sizeof order);
    dataset_shuffle(&f.data, 8, 3, other);
    check(memcmp(order, other, sizeof order));
    arena_close(f.a);
}

static int expected(int channel, int row, int column, Crop crop)
{
    const bool outside = row < 0 || row >= SIDE || column < 0 || column >= SIDE;
    if (outside && crop == CROP_ZERO)
        return 0;
    row = row < 0 ? -row : row >= SIDE ? 62 - row : row;
    column = column < 0 ? -column : column >= SIDE ? 62 - column : column;
    return pixel_of(channel, row, column);
}

/* Finds the crop of the test image that an image of the batch shows: one of 81 shifts by up to 4 pixels,
 * flipped or not. Returns the number of the shift and sets *flipped; -1: no crop. */
static int crop_shown(const Fixture *f, size_t image, int *flipped)
{
    for (int k = 0; k < 162; k++) {
        const int down = k / 2 / 9 - 4, right = k / 2 % 9 - 4;
        bool fits = true;
        for (int i = 0; fits && i < 3 * SIDE * SIDE; i++) {
            const int c = i / SIDE / SIDE, row = i / SIDE % SIDE, column = i % SIDE;
            fits = byte_at(f, image, c, row, k % 2 ? SIDE - 1 - column : column) ==
                   expected(c, row + down, column + right, f->info.crop);
        }
        if (fits) {
            *flipped = k % 2;
            return k / 2;
        }
    }
    return -1;
}

/* All 81 shifts must be equally likely. Chi-square with 80 degrees of freedom exceeds 144 with probability
 * 1e-5. */
TEST(crops_and_flips_are_uniform)
{
    enum { COUNT = 1620 };
    for (Crop crop = CROP_ZERO; crop <= CROP_REFLECT; crop++) {
        Fixture f;
        uint32_t index[COUNT];
        uint32_t labels[COUNT];
        double found[81] = {0}, flips = 0, chi = 0;
        open_fixture(&f, COUNT, crop);
        dataset_shuffle(&f.data, 1, 0, index);
        batch_fill(&f.data, index, COUNT, true, 1, 0, 2, f.x, labels);
        for (size_t i = 0; i < COUNT; i++) {
            int flipped = 0;
            const int place = crop_shown(&f, i, &flipped);
            check(place >= 0 && labels[i] == index[i] % 10);
            found[place]++;
            flips += flipped;
        }
        for (int k = 0; k < 81; k++)
            chi += (found[k] - 20) * (found[k] - 20) / 20;
        check(chi < 144 && chi > 35);
        /* COUNT / 2 images are flipped on average, with standard deviation 20 */
        check_near(flips, COUNT / 2, 90);
        arena_close(f.a);
    }
}

TEST(what_an_image_becomes_depends_on_epoch_and_index_alone)
{
    enum { COUNT = 50 };
    Fixture f;
    uint32_t index[COUNT];
    uint32_t labels[COUNT];
    open_fixture(&f, COUNT, CROP_REFLECT);
    for (uint32_t i = 0; i < COUNT; i++)
        index[i] = i;
    float *again = NEW(f.a, float, (size_t)COUNT *PIXELS);
    batch_fill(&f.data, index, COUNT, true, 3, 2, 3, f.x, labels);
    for (size_t i = 0; i < COUNT; i++)
        batch_fill(&f.data, index + i, 1, true, 3, 2, 1, again + i * PIXELS, labels + i);
    assert_memory_equal(f.x, again, (size_t)COUNT * PIXELS * sizeof(float));
    batch_fill(&f.data, index, COUNT, true, 3, 3, 1, again, labels);
    check(memcmp(f.x, again, (size_t)COUNT * PIXELS * sizeof(float)));
    arena_close(f.a);
}

TEST(test_images_are_normalised_and_no_more)
{
    Fixture f;
    const uint32_t index[] = {2, 0};
    uint32_t labels[2];
    open_fixture(&f, 3, CROP_REFLECT);
    f.data.split = SPLIT_TEST;
    batch_fill(&f.data, index, 2, true, 3, 2, 1, f.x, labels);
    for (int i = 0; i < 3 * SIDE * SIDE; i++)
        check(byte_at(&f, 1, i / SIDE / SIDE, i / SIDE % SIDE, i % SIDE) ==
              pixel_of(i / SIDE / SIDE, i / SIDE % SIDE, i % SIDE));
    check_near(f.x[0], (1 / 255.0 - 0.5) / 0.25, 1e-6);
    check(labels[0] == 2 && labels[1] == 0);
    arena_close(f.a);
}

CHECK_ALL(NULL, NULL)
