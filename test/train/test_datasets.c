/* test_datasets.c -- reading files of data sets in the published formats (IDX, CIFAR), and error messages for
 * damaged files. */
#include "rig/check.h"
#include "train/dataset.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { IMAGES = 5, IMAGES_SIZE = 16 + IMAGES * 784, LABELS_SIZE = 8 + IMAGES, RECORD = 3073 };

static char dir[] = "/tmp/atomo-datasets-XXXXXX";
static Error err;

static const char *path_of(const char *name)
{
    static char path[400];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

static void put(const char *name, const void *data, size_t size)
{
    FILE *f = fopen(path_of(name), "wb");
    check(f && fwrite(data, 1, size, f) == size);
    fclose(f);
}

static void put_packed(const char *name, const void *data, unsigned size)
{
    gzFile f = gzopen(path_of(name), "wb");
    check(f && gzwrite(f, data, size) == (int)size && gzclose(f) == Z_OK);
}

static void make_images(uint8_t out[IMAGES_SIZE])
{
    memcpy(out, (uint8_t[]){0, 0, 8, 3, 0, 0, 0, IMAGES, 0, 0, 0, 28, 0, 0, 0, 28}, 16);
    for (int i = 16; i < IMAGES_SIZE; i++)
        out[i] = (uint8_t)(i * 7);
}

static void make_labels(uint8_t out[LABELS_SIZE])
{
    memcpy(out, (uint8_t[]){0, 0, 8, 1, 0, 0, 0, IMAGES, 4, 0, 9, 1, 3}, LABELS_SIZE);
}

static void remove_all(void)
{
    static const char *const names[] = {"t10k-images-idx3-ubyte",
                                        "t10k-labels-idx1-ubyte",
                                        "t10k-images-idx3-ubyte.gz",
                                        "t10k-labels-idx1-ubyte.gz",
                                        "data_batch_1.bin",
                                        "data_batch_2.bin",
                                        "test_batch.bin",
                                        "test.bin",
                                        "test_32x32.mat"};
    for (size_t i = 0; i < countof(names); i++)
        if (unlink(path_of(names[i])))
            rmdir(path_of(names[i]));
}

static void put_good(void)
{
    uint8_t images[IMAGES_SIZE], labels[LABELS_SIZE];
    remove_all();
    make_images(images);
    make_labels(labels);
    put("t10k-images-idx3-ubyte", images, sizeof images);
    put("t10k-labels-idx1-ubyte", labels, sizeof labels);
}

static Status load(const char *name, DataSplit split, Dataset *d, Arena *a)
{
    err = (Error){0};
    return dataset_load(d, name, dir, split, 1, a, &err);
}

/* Checks that loading fails with `status`, that the message contains `file` and `what`, and that the hint
 * contains the download command. */
static void refused(const char *name, DataSplit split, Status status, const char *file, const char *what)
{
    Dataset d = {0};
    Arena *a = arena_open(0);
    char command[100];
    snprintf(command, sizeof command, "datasets/fetch.sh %s", name);
    const Status found = load(name, split, &d, a);
    if (found != status || !strstr(err.text, file) || !strstr(err.text, what) || !strstr(err.hint, command))
        print_error("status %d: %s (%s)\n", (int)found, err.text, err.hint);
    check(found == status && strstr(err.text, file) && strstr(err.text, what) && strstr(err.hint, command));
    check(!d.pixels && !d.info);
    arena_close(a);
}

TEST(idx_files_are_read_plain_and_packed)
{
    uint8_t images[IMAGES_SIZE], labels[LABELS_SIZE];
    make_images(images);
    make_labels(labels);
    for (int packed = 0; packed < 2; packed++) {
        Dataset d;
        Arena *a = arena_open(0);
        put_good();
        if (packed) {
            remove_all();
            put_packed("t10k-images-idx3-ubyte.gz", images, sizeof images);
            put_packed("t10k-labels-idx1-ubyte.gz", labels, sizeof labels);
        }
        check_ok(load("fashion-mnist", SPLIT_TEST, &d, a), &err);
        check(d.count == IMAGES && d.split == SPLIT_TEST && !strcmp(d.info->name, "fashion-mnist"));
        assert_memory_equal(d.pixels, images + 16, IMAGES_SIZE - 16);
        for (size_t i = 0; i < IMAGES; i++)
            assert_int_equal(d.labels[i], labels[8 + i]);
        arena_close(a);
    }
}

TEST(damaged_idx_files_are_refused)
{
    uint8_t images[IMAGES_SIZE + 1], labels[LABELS_SIZE + 1];
    const struct {
        int at, value;
        const char *what;
    } wrong[] = {{2, 9, "begins with"}, {3, 1, "begins with"}, {4, 0xff, "count"},
                 {7, 0, "count"},       {7, 6, "bytes: want"}, {11, 27, "images of 27 x 28"}};
    put_good();
    for (size_t i = 0; i < countof(wrong); i++) {
        make_images(images);
        images[wrong[i].at] = (uint8_t)wrong[i].value;
        put("t10k-images-idx3-ubyte", images, IMAGES_SIZE);
        refused("mnist", SPLIT_TEST, ERR_CORRUPT, "t10k-images-idx3-ubyte", wrong[i].what);
    }
    make_images(images);
    images[IMAGES_SIZE] = 0;
    const size_t lengths[] = {0, 15, 16, IMAGES_SIZE - 1, IMAGES_SIZE + 1};
    for (size_t i = 0; i < countof(lengths); i++) {
        put("t10k-images-idx3-ubyte", images, lengths[i]);
        refused("mnist", SPLIT_TEST, ERR_CORRUPT, "t10k-images-idx3-ubyte", "bytes: want");
    }
    put_good();
    make_labels(labels);
    labels[10] = 10;
    put("t10k-labels-idx1-ubyte", labels, LABELS_SIZE);
    refused("mnist", SPLIT_TEST, ERR_CORRUPT, "t10k-labels-idx1-ubyte", "label 10 of image 2");
    make_labels(labels);
    labels[7] = IMAGES - 1;
    put("t10k-labels-idx1-ubyte", labels, LABELS_SIZE - 1);
    refused("mnist", SPLIT_TEST, ERR_CORRUPT, "t10k-labels-idx1-ubyte",
            "4 labels: want one for each of the 5");
}

TEST(cifar_files_hold_any_whole_number_of_records)
{
    static uint8_t file[3 * RECORD + 3];
    Dataset d;
    Arena *a = arena_open(0);
    remove_all();
    for (int i = 0; i < 3 * RECORD; i++)
        file[i] = (uint8_t)(i % RECORD ? i * 5 : i / RECORD + 7);
    put("data_batch_1.bin", file, 2 * RECORD);
    put("data_batch_2.bin", file + 2 * RECORD, RECORD);
    check_ok(load("cifar10", SPLIT_TRAIN, &d, a), &err);
    check(d.count == 3 && d.labels[0] == 7 && d.labels[1] == 8 && d.labels[2] == 9);
    assert_memory_equal(d.pixels + 2 * 3072, file + 2 * RECORD + 1, 3072);
    const size_t lengths[] = {0, RECORD - 1, RECORD + 1};
    for (size_t i = 0; i < countof(lengths); i++) {
        put("data_batch_2.bin", file, lengths[i]);
        refused("cifar10", SPLIT_TRAIN, ERR_CORRUPT, "data_batch_2.bin", "want whole records of 3073");
    }
    file[RECORD] = 10;
    put("data_batch_2.bin", file, 2 * RECORD);
    refused("cifar10", SPLIT_TRAIN, ERR_CORRUPT, "data_batch_2.bin", "label 10 of record 1");
    file[0] = 20, file[1] = 99;
    put("test.bin", file, RECORD + 1);
    refused("cifar100", SPLIT_TEST, ERR_CORRUPT, "test.bin", "coarse");
    file[0] = 19;
    put("test.bin", file, RECORD + 1);
    check_ok(load("cifar100", SPLIT_TEST, &d, a), &err);
    check(d.count == 1 && d.labels[0] == 99);
    arena_close(a);
}

TEST(svhn_is_read_as_svhn_py_writes_it)
{
    static uint8_t file[2 * RECORD];
    Dataset d;
    Arena *a = arena_open(0);
    remove_all();
    refused("svhn", SPLIT_TEST, ERR_IO, "test.bin", "not there");
    put("test_32x32.mat", file, 1);
    refused("svhn", SPLIT_TEST, ERR_IO, "test_32x32.mat", "want test.bin");
    check(strstr(err.hint, "sh datasets/fetch.sh svhn /tmp/"));
    for (int i = 0; i < 2 * RECORD; i++)
        file[i] = (uint8_t)(i % RECORD ? i * 5 : 3 + i / RECORD);
    put("test.bin", file, sizeof file);
    check_ok(load("svhn", SPLIT_TEST, &d, a), &err);
    check(d.count == 2 && d.labels[0] == 3 && d.labels[1] == 4 && d.info->crop == CROP_ZERO);
    assert_memory_equal(d.pixels + 3072, file + RECORD + 1, 3072);
    arena_close(a);
}

/* If the first file has the published number of images, all five files are required. */
TEST(a_missing_one_of_the_published_batches_is_an_error)
{
    uint8_t *file = calloc(10000, RECORD);
    remove_all();
    put("data_batch_1.bin", file, (size_t)10000 * RECORD);
    refused("cifar10", SPLIT_TRAIN, ERR_IO, "data_batch_2.bin", "not there");
    free(file);
}

static void real_file(const char *name, const char *from, DataSplit split, size_t count)
{
    Dataset d;
    Arena *a = arena_open(0);
    if (access(from, R_OK)) {
        print_message("%s is not there: not read\n", from);
    } else {
        check_ok(dataset_load(&d, name, from, split, 1, a, &err), &err);
        check(d.count == count);
    }
    arena_close(a);
}

TEST(real_files_are_read)
{
    real_file("mnist", "../shared/data/mnist", SPLIT_TRAIN, 60000);
    real_file("mnist", "../shared/data/mnist", SPLIT_TEST, 10000);
    real_file("cifar10", "../shared/data/cifar10-subset", SPLIT_TRAIN, 2000);
    real_file("cifar10", "../shared/data/cifar10-subset", SPLIT_TEST, 1000);
}

int main(void)
{
    if (!mkdtemp(dir))
        return 1;
    const int failed = check_run(NULL, NULL);
    remove_all();
    rmdir(dir);
    return failed ? 1 : 0;
}
