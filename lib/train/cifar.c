/* cifar.c -- reads CIFAR's binary files, which are records without a header. datasets/svhn.py writes SVHN's images in
 * the format of CIFAR-10.
 *
 *     CIFAR-10:  label:8 pixel:8 x 3 x 32 x 32
 *     CIFAR-100: coarse:8 label:8 pixel:8 x 3 x 32 x 32    coarse: superclass, 0 .. 19, not used */
#include "train/files.h"
#include "base/text.h"

enum { PIXELS = 3 * 32 * 32, COARSE = 20, PUBLISHED = 10000, FILES = 5 };

static size_t label_bytes(size_t classes)
{
    return classes == 100 ? 2 : 1;
}

Status cifar_count(Bytes file, size_t classes, size_t *count, Error *err)
{
    const size_t record = label_bytes(classes) + PIXELS;
    if (!file.size || file.size % record)
        return FAIL(err, ERR_CORRUPT, "%zu bytes: want whole records of %zu", file.size, record);
    if (file.size / record > IMAGES_MOST / FILES)
        return FAIL(err, ERR_CORRUPT, "%zu record%s: want at most %d", file.size / record,
                    text_s(file.size / record), IMAGES_MOST / FILES);
    *count = file.size / record;
    return OK;
}

Status cifar_take(Bytes file, size_t classes, uint8_t *pixels, uint8_t *labels, Error *err)
{
    const size_t ahead = label_bytes(classes), record = ahead + PIXELS;
    for (size_t i = 0; i < file.size / record; i++) {
        const uint8_t *r = file.data + i * record;
        if (r[ahead - 1] >= classes)
            return FAIL(err, ERR_CORRUPT, "label %u of record %zu: want 0 to %zu", r[ahead - 1], i,
                        classes - 1);
        if (ahead == 2 && r[0] >= COARSE)
            return FAIL(err, ERR_CORRUPT, "coarse label %u of record %zu: want 0 to %d", r[0], i, COARSE - 1);
        labels[i] = r[ahead - 1];
        memcpy(pixels + i * PIXELS, r + ahead, PIXELS);
    }
    return OK;
}

typedef struct {
    Bytes bytes;
    const char *path;
    size_t count;
} Opened;

static Status open_file(const DatasetInfo *info, const char *dir, const char *name, Opened *out, Arena *a,
                        Error *err)
{
    TRY(data_file(info, dir, name, &out->bytes, &out->path, a, err));
    if (cifar_count(out->bytes, info->classes, &out->count, err) != OK)
        return data_damaged(info, out->path, err);
    return OK;
}

/* Opens CIFAR-10's training files, five of 10,000 records each. If the first file has another number of
 * records, the files are a user's own subset, which ends before the first missing file. */
static Status open_batches(const DatasetInfo *info, const char *dir, Opened *file, size_t *files, Arena *a,
                           Error *err)
{
    static const char *const names[FILES] = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                             "data_batch_4.bin", "data_batch_5.bin"};
    for (*files = 0; *files < FILES; ++*files) {
        const char *name = names[*files];
        if (*files && file[0].count != PUBLISHED && !data_file_there(dir, name, a) &&
            !data_file_there(dir, text_format(a, "%s.gz", name), a))
            break;
        TRY(open_file(info, dir, name, &file[*files], a, err));
    }
    return OK;
}

static Status open_files(const Dataset *d, const char *dir, Opened *file, size_t *files, Arena *a, Error *err)
{
    const bool fine = d->info->classes == 100;
    if (d->split == SPLIT_TRAIN && !fine)
        return open_batches(d->info, dir, file, files, a, err);
    const char *name = !fine ? "test_batch.bin" : d->split == SPLIT_TRAIN ? "train.bin" : "test.bin";
    *files = 1;
    return open_file(d->info, dir, name, file, a, err);
}

static Status take_files(Dataset *d, const Opened *file, size_t files, Arena *a, Error *err)
{
    size_t count = 0, at = 0;
    for (size_t i = 0; i < files; i++)
        count += file[i].count;
    uint8_t *pixels = NEW(a, uint8_t, count * PIXELS), *labels = NEW(a, uint8_t, count);
    TRY(arena_check(pixels && labels, a, err));
    for (size_t i = 0; i < files; at += file[i++].count)
        if (cifar_take(file[i].bytes, d->info->classes, pixels + at * PIXELS, labels + at, err) != OK)
            return data_damaged(d->info, file[i].path, err);
    d->pixels = pixels;
    return labels_set(d, labels, count, a, err);
}

Status cifar_load(Dataset *d, const char *dir, uint64_t seed, Arena *a, Error *err)
{
    (void)seed;
    Opened file[FILES];
    size_t files;
    TRY(open_files(d, dir, file, &files, a, err));
    return take_files(d, file, files, a, err);
}

Status svhn_load(Dataset *d, const char *dir, uint64_t seed, Arena *a, Error *err)
{
    (void)seed;
    const bool train = d->split == SPLIT_TRAIN;
    const char *name = train ? "train.bin" : "test.bin", *mat = train ? "train_32x32.mat" : "test_32x32.mat";
    Opened file;
    if (!data_file_there(dir, name, a) && data_file_there(dir, mat, a)) {
        FAIL(err, ERR_IO, "%s/%s: a MATLAB file, want %s, which is made of it once", dir, mat, name);
        return error_hint(err, "sh datasets/fetch.sh svhn %s", dir);
    }
    TRY(open_file(d->info, dir, name, &file, a, err));
    return take_files(d, &file, 1, a, err);
}
