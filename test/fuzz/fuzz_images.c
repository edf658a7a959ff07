/* fuzz_images.c -- fuzzes the parsers of IDX, CIFAR and gzip files. A parser must refuse the input with a reason, or
 * return as many images and labels as the file claims to have. Each label must be valid.
 *
 * Input: the number of the parser (one byte), then the file. If the number has bit 3 set, the file without its last
 * three bytes is packed with gzip, and parsed after it has been unpacked. These three bytes change one byte of the
 * packed file, which must then be refused or unpack to the same file. */
#include "train/datasets.c"

#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST
#include <zlib.h>

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
    uint8_t *pixels = NEW(a, uint8_t, file.size);
    uint32_t *labels = NEW(a, uint32_t, count);
    TRY(cifar_take(file, classes, pixels, labels, err));
    for (size_t i = 0; i < count; i++)
        if (labels[i] >= classes)
            abort();
    return OK;
}

static Status parse(unsigned which, Bytes file, Arena *a, Error *err)
{
    Bytes unpacked;
    switch (which % 5) {
    case 0:
    case 1:
        return parse_idx(file, which % 5, err);
    case 2:
        return parse_cifar(file, 10, a, err);
    case 3:
        return parse_cifar(file, 100, a, err);
    default:
        return gzip_unpack(file, &unpacked, a, err);
    }
}

static Bytes gzip_pack(Bytes file, Arena *a)
{
    z_stream z = {.next_in = file.data, .avail_in = (uInt)file.size};
    if (deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        abort();
    const size_t room = deflateBound(&z, (uLong)file.size);
    uint8_t *packed = NEW(a, uint8_t, room);
    if (!packed)
        abort();
    z.next_out = packed;
    z.avail_out = (uInt)room;
    if (deflate(&z, Z_FINISH) != Z_STREAM_END)
        abort();
    deflateEnd(&z);
    return (Bytes){packed, z.total_out};
}

static Status parse_packed(unsigned which, Bytes file, const uint8_t *edit, Arena *a, Error *err)
{
    const Bytes packed = gzip_pack(file, a);
    Bytes again;
    uint8_t *damaged = malloc(packed.size);
    if (!damaged)
        abort();
    memcpy(damaged, packed.data, packed.size);
    damaged[(size_t)(edit[0] << 8 | edit[1]) % packed.size] ^= edit[2];
    Status status = gzip_unpack((Bytes){damaged, packed.size}, &again, a, err);
    if (status == OK && (again.size != file.size || memcmp(again.data, file.data, file.size) != 0))
        abort();
    if (status != OK && !edit[2])
        abort();
    if (status == OK)
        status = parse(which, again, a, err);
    free(damaged);
    return status;
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
    const Bytes file = {exact, size - 1};
    const bool packs = *data & 8 && file.size > 3;
    const Status status =
        packs ? parse_packed(*data & 7, (Bytes){exact, file.size - 3}, exact + file.size - 3, a, &err)
              : parse(*data, file, a, &err);
    if (status != OK && !*err.text)
        abort();
    free(exact);
    arena_close(a);
    return 0;
}
