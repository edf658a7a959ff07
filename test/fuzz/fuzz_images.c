/* fuzz_images.c -- fuzzes the parsers of IDX, CIFAR and gzip files, and the check of MATLAB files. A parser
 * must refuse the input with a reason, or return as many images and labels as the file claims to have. Each
 * label must be valid.
 *
 * Input: the number of the parser (one byte), then the file. */
#include "data/files.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static Status labels_below(const uint8_t *labels, size_t count, size_t classes)
{
    for (size_t i = 0; i < count; i++)
        if (labels[i] >= classes)
            abort();
    return OK;
}

static Status parse_idx(Bytes file, bool images, Error *err)
{
    Items items = {0};
    TRY(images ? idx_images(file, 2, 3, &items, err) : idx_labels(file, 10, &items, err));
    if (!items.count || items.first + items.count * (images ? 6 : 1) != file.data + file.size)
        abort();
    return images ? OK : labels_below(items.first, items.count, 10);
}

static Status parse_cifar(Bytes file, size_t classes, Arena *a, Error *err)
{
    size_t count = 0;
    TRY(cifar_count(file, classes, &count, err));
    uint8_t *pixels = NEW(a, uint8_t, file.size), *labels = NEW(a, uint8_t, count);
    TRY(cifar_take(file, classes, pixels, labels, err));
    return labels_below(labels, count, classes);
}

static Status parse(unsigned which, Bytes file, Arena *a, Error *err)
{
    Bytes unpacked;
    switch (which % 6) {
    case 0:
    case 1:
        return parse_idx(file, which % 6, err);
    case 2:
        return parse_cifar(file, 10, a, err);
    case 3:
        return parse_cifar(file, 100, a, err);
    case 4:
        return gzip_unpack(file, &unpacked, a, err);
    default:
        return mat_check(file, err);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    Arena *a = arena_open((size_t)1 << 26);
    Error err = {0};
    /* The file is copied to a block of exactly its size, so that ASan detects reads past its end. */
    uint8_t *exact = malloc(size - 1 + !(size - 1));
    memcpy(exact, data + 1, size - 1);
    if (parse(*data, (Bytes){exact, size - 1}, a, &err) != OK && !*err.text)
        abort();
    free(exact);
    arena_close(a);
    return 0;
}
