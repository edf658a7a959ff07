/* test_own.c -- data sets of one's own in HDF5 files: what is read, how it is split and normalised, and what is
 * refused. */
#include "train/dataset.h"
#include "rig/hdf5_make.h"

static Error err;
static Arena *arena;

/* Writes n numbers of an array `path` in the type `type`. */
static void put(hid_t file, const char *path, hid_t type, int rank, const hsize_t *dim, const double *x)
{
    const hid_t space = H5Screate_simple(rank, dim, NULL);
    const hid_t dataset = H5Dcreate2(file, path, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    check(dataset >= 0 && H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x) >= 0);
    H5Dclose(dataset);
    H5Sclose(space);
}

enum { COUNT = 25, CHANNELS = 2, ROWS = 3, COLUMNS = 4, PIXELS = CHANNELS * ROWS * COLUMNS };

static double x[COUNT * PIXELS], y[COUNT];
static const hsize_t shape[] = {COUNT, CHANNELS, ROWS, COLUMNS}, labels[] = {COUNT, 1};

static void fill(void)
{
    for (size_t i = 0; i < COUNT * PIXELS; i++)
        x[i] = (double)(i * i % 251);
    for (size_t i = 0; i < COUNT; i++)
        y[i] = (double)(i % 3 ? i % 3 : 700); /* more classes than a byte has */
}

static void make(const char *path, hid_t type, hid_t label_type)
{
    const hid_t file = make_file(path, true);
    put(file, "x", type, 4, shape, x);
    put(file, "y", label_type, 2, labels, y);
    H5Fclose(file);
}

static Dataset load(const char *path, DataSplit split)
{
    Dataset d;
    check_ok(dataset_load(&d, path, NULL, split, 1, arena, &err), &err);
    return d;
}

/* Returns the place in the file of image i of a split: every tenth is a test image. */
static size_t place(DataSplit split, size_t i)
{
    size_t place_of[2][COUNT], count[2] = {0};
    for (size_t k = 0; k < COUNT; k++) {
        const DataSplit s = k % 10 == 9 ? SPLIT_TEST : SPLIT_TRAIN;
        place_of[s][count[s]++] = k;
    }
    return place_of[split][i];
}

/* Mean and deviation of a channel's values over the training images. */
static void moments(size_t channel, double *mean, double *deviation)
{
    double sum = 0, squares = 0;
    const size_t plane = ROWS * COLUMNS, count = COUNT - 2;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < plane; k++) {
                const double v = x[place(SPLIT_TRAIN, i) * PIXELS + channel * plane + k];
                if (pass)
                    squares += (v - sum / (double)(count * plane)) * (v - sum / (double)(count * plane));
                else
                    sum += v;
            }
    *mean = sum / (double)(count * plane);
    *deviation = sqrt(squares / (double)(count * plane));
}

static void check_split(const Dataset *d, DataSplit split)
{
    float batch[COUNT * PIXELS];
    uint32_t index[COUNT], label[COUNT];
    assert_int_equal(d->count, split == SPLIT_TEST ? 2 : COUNT - 2);
    for (size_t i = 0; i < d->count; i++)
        index[i] = (uint32_t)i;
    batch_fill(d, index, d->count, true, 1, 0, 1, batch, label);
    for (size_t i = 0; i < d->count; i++) {
        check((double)label[i] == y[place(split, i)]);
        for (size_t k = 0; k < PIXELS; k++) {
            double mean, deviation;
            moments(k / (ROWS * COLUMNS), &mean, &deviation);
            check_near((double)batch[i * PIXELS + k], (x[place(split, i) * PIXELS + k] - mean) / deviation,
                       1e-5);
        }
    }
}

static void check_file(const char *path)
{
    for (int split = 0; split < 2; split++) {
        const Dataset d = load(path, (DataSplit)split);
        check(d.info->channels == CHANNELS && d.info->rows == ROWS && d.info->columns == COLUMNS);
        assert_int_equal(d.info->classes, 701);
        assert_string_equal(d.info->name, path);
        check_split(&d, (DataSplit)split);
    }
}

TEST(bytes_and_floats_are_read_split_and_normalised)
{
    fill();
    make("bytes.h5", H5T_NATIVE_UINT8, H5T_STD_I64BE);
    check_file("bytes.h5");
    make("whole.hdf5", H5T_NATIVE_FLOAT, H5T_NATIVE_UINT16);
    check_file("whole.hdf5");
    for (size_t i = 0; i < COUNT * PIXELS; i++)
        x[i] = x[i] / 64 - 1;
    make("floats.h5", H5T_IEEE_F64LE, H5T_NATIVE_INT);
    check_file("floats.h5");
}

TEST(a_file_may_say_what_is_to_test)
{
    fill();
    const hid_t file = make_file("test.h5", true);
    const hsize_t vectors[] = {20, PIXELS}, tests[] = {3, PIXELS}, all = 20, few = 3;
    put(file, "x", H5T_NATIVE_FLOAT, 2, vectors, x);
    put(file, "y", H5T_NATIVE_INT, 1, &all, y);
    put(file, "x_test", H5T_NATIVE_FLOAT, 2, tests, x + 20 * PIXELS);
    put(file, "y_test", H5T_NATIVE_INT, 1, &few, y + 20);
    H5Fclose(file);
    const Dataset train = load("test.h5", SPLIT_TRAIN), test = load("test.h5", SPLIT_TEST);
    check(train.count == 20 && test.count == 3 && train.info->columns == PIXELS && train.info->rows == 1);
    const double mean = (double)train.info->mean[0], deviation = (double)train.info->deviation[0];
    check_near((double)train.values[PIXELS], (x[PIXELS] - mean) / deviation, 1e-5);
    check_near((double)test.values[1], (x[20 * PIXELS + 1] - mean) / deviation, 1e-5);
    check((double)test.labels[0] == y[20] && train.info->mean[0] == test.info->mean[0]);
}

static void check_refused(const char *says)
{
    Dataset d;
    const Status status = dataset_load(&d, "bad.h5", NULL, SPLIT_TRAIN, 1, arena, &err);
    if (status == OK || !strstr(err.text, says) || strncmp(err.text, "bad.h5", 6))
        print_error("status %d: %s\nwant %s\n", (int)status, err.text, says);
    check(status == ERR_CORRUPT && strstr(err.text, says) && !strncmp(err.text, "bad.h5", 6));
}

typedef struct {
    const char *says;
    int rank;
    hsize_t dim[5], count;
    double value, label;
    bool no_labels;
} Bad;

TEST(other_files_are_refused_with_the_reason)
{
    static const Bad bad[] = {
        {"x has 1 axes", 1, {20}, 20, 1, 1, false},
        {"x has 5 axes", 5, {20, 1, 1, 2, 2}, 20, 1, 1, false},
        {"y has 19 labels", 2, {20, 4}, 19, 1, 1, false},
        {"x has 9 images", 2, {9, 4}, 9, 1, 1, false},
        {"x has 0 images", 2, {0, 4}, 1, 1, 1, false},
        {"x: element 3 is not a finite float", 2, {20, 4}, 20, NAN, 1, false},
        {"x: element 3 is not a finite float", 2, {20, 4}, 20, 1e300, 1, false},
        {"y: label -1 of image 2", 2, {20, 4}, 20, 1, -1, false},
        {"y: label 0.5 of image 2", 2, {20, 4}, 20, 1, 0.5, false},
        {"y: label 1.04858e+06 of image 2", 2, {20, 4}, 20, 1, 1 << 20, false},
        {"y has one class only", 2, {20, 4}, 20, 1, 0, false},
        {"has no numbers called y", 2, {20, 4}, 20, 1, 1, true},
    };
    for (size_t i = 0; i < countof(bad); i++) {
        double images[100] = {0}, kinds[20] = {0};
        const hid_t file = make_file("bad.h5", true);
        images[3] = bad[i].value;
        kinds[2] = bad[i].label;
        put(file, "x", H5T_NATIVE_DOUBLE, bad[i].rank, bad[i].dim, images);
        if (!bad[i].no_labels)
            put(file, "y", H5T_NATIVE_DOUBLE, 1, &bad[i].count, kinds);
        H5Fclose(file);
        check_refused(bad[i].says);
    }
}

static int set_up(void **state)
{
    arena = arena_open(0);
    return scratch_open(state) || chdir(scratch_dir);
}

static int tear_down(void **state)
{
    arena_close(arena);
    return scratch_close(state);
}

CHECK_ALL(set_up, tear_down)
