/* idx.c -- reads the IDX files of MNIST and Fashion-MNIST: big-endian words, then bytes.
 *
 *     images = 0x00000803:32 count:32 rows:32 columns:32 pixel:8 x count x rows x columns
 *     labels = 0x00000801:32 count:32 label:8 x count */
#include "base/text.h"
#include "train/files.h"

enum { MAGIC_IMAGES = 0x803, MAGIC_LABELS = 0x801, IMAGES_HEADER = 16, LABELS_HEADER = 8 };

static uint32_t word_at(Bytes file, size_t at)
{
    const uint8_t *p = file.data + at;
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Finds the items (images or labels), which follow the header, and checks their number. `size` is the bytes
 * of an item. */
static Status take_items(Bytes file, uint32_t magic, size_t header, size_t size, Items *out, Error *err)
{
    if (file.size < header)
        return FAIL(err, ERR_CORRUPT, "%zu bytes: want a header of %zu", file.size, header);
    if (word_at(file, 0) != magic)
        return FAIL(err, ERR_CORRUPT, "begins with 0x%08x: want 0x%08x", word_at(file, 0), magic);
    const size_t count = word_at(file, 4);
    if (!count || count > IMAGES_MOST)
        return FAIL(err, ERR_CORRUPT, "count %zu: want 1 to %d", count, IMAGES_MOST);
    if (file.size - header != count * size)
        return FAIL(err, ERR_CORRUPT, "%zu bytes: want %zu for %zu items", file.size, header + count * size,
                    count);
    *out = (Items){count, file.data + header};
    return OK;
}

Status idx_images(Bytes file, size_t rows, size_t columns, Items *out, Error *err)
{
    if (file.size >= IMAGES_HEADER && word_at(file, 0) == MAGIC_IMAGES &&
        (word_at(file, 8) != rows || word_at(file, 12) != columns))
        return FAIL(err, ERR_CORRUPT, "images of %u x %u: want %zu x %zu", word_at(file, 8),
                    word_at(file, 12), rows, columns);
    return take_items(file, MAGIC_IMAGES, IMAGES_HEADER, rows * columns, out, err);
}

Status idx_labels(Bytes file, size_t classes, Items *out, Error *err)
{
    TRY(take_items(file, MAGIC_LABELS, LABELS_HEADER, 1, out, err));
    for (size_t i = 0; i < out->count; i++)
        if (out->first[i] >= classes)
            return FAIL(err, ERR_CORRUPT, "label %u of image %zu: want 0 to %zu", out->first[i], i,
                        classes - 1);
    return OK;
}

Status idx_load(Dataset *d, const char *dir, uint64_t seed, Arena *a, Error *err)
{
    (void)seed;
    static const char *const images_name[] = {"train-images-idx3-ubyte", "t10k-images-idx3-ubyte"};
    static const char *const labels_name[] = {"train-labels-idx1-ubyte", "t10k-labels-idx1-ubyte"};
    const char *images_path, *labels_path;
    Bytes file;
    Items images = {0}, labels = {0};
    TRY(data_file(d->info, dir, images_name[d->split], &file, &images_path, a, err));
    if (idx_images(file, d->info->rows, d->info->columns, &images, err) != OK)
        return data_damaged(d->info, images_path, err);
    TRY(data_file(d->info, dir, labels_name[d->split], &file, &labels_path, a, err));
    if (idx_labels(file, d->info->classes, &labels, err) != OK)
        return data_damaged(d->info, labels_path, err);
    if (images.count != labels.count) {
        FAIL(err, ERR_CORRUPT, "%zu label%s: want one for each of the %zu images in %s", labels.count,
             text_s(labels.count), images.count, images_path);
        return data_damaged(d->info, labels_path, err);
    }
    d->pixels = images.first;
    return labels_set(d, labels.first, images.count, a, err);
}
