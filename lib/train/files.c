/* files.c -- reads the files of published data sets, and unpacks gzip files (files.h). A gzip file states its
 * unpacked length at its end. Deflate compresses by a factor of at most 1032, so a file that states more is
 * refused before memory is allocated. */
#include "train/files.h"
#include "base/file.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#define ZLIB_CONST
#include <zlib.h>

static Status fetch_hint(const DatasetInfo *info, Error *err)
{
    return error_hint(err, "datasets/fetch.sh %s downloads the files of %s", info->name, info->name);
}

Status data_damaged(const DatasetInfo *info, const char *path, Error *err)
{
    error_at(err, "%s", path);
    return fetch_hint(info, err);
}

/* `fd` was opened with O_NONBLOCK: opening a named pipe would otherwise wait for a writer. */
static Status read_open_file(int fd, Bytes *out, Arena *a, Error *err)
{
    struct stat st;
    if (fstat(fd, &st))
        return FAIL(err, ERR_IO, "%s", strerror(errno));
    if (!S_ISREG(st.st_mode))
        return FAIL(err, ERR_IO, "not a regular file");
    char *data;
    size_t size;
    TRY(file_read(&data, &size, fd, SIZE_MAX, a, err));
    *out = (Bytes){(const uint8_t *)data, size};
    return OK;
}

Status gzip_unpack(Bytes packed, Bytes *out, Arena *a, Error *err)
{
    enum { LEAST = 18, PACKED_MOST = 1032 };
    if (packed.size < LEAST || packed.data[0] != 0x1f || packed.data[1] != 0x8b)
        return FAIL(err, ERR_CORRUPT, "not a gzip file");
    const size_t size = load_u32(packed.data + packed.size - 4);
    if (size / PACKED_MOST > packed.size || packed.size > UINT32_MAX)
        return FAIL(err, ERR_CORRUPT, "damaged gzip data: %zu bytes cannot unpack to %zu", packed.size, size);
    /* One byte more than the stated length, to detect longer content. */
    uint8_t *data = NEW(a, uint8_t, size + 1);
    TRY(arena_check(data, a, err));
    z_stream z = {
        .next_in = packed.data, .avail_in = (uInt)packed.size, .next_out = data, .avail_out = (uInt)size + 1};
    if (size == UINT32_MAX || inflateInit2(&z, 15 + 16) != Z_OK)
        return FAIL(err, ERR_CORRUPT, "damaged gzip data: an impossible length of %zu bytes", size);
    const int ended = inflate(&z, Z_FINISH);
    inflateEnd(&z);
    if (ended != Z_STREAM_END || z.total_out != size)
        return FAIL(err, ERR_CORRUPT, "damaged gzip data after %lu unpacked bytes", z.total_out);
    if (z.avail_in)
        return FAIL(err, ERR_CORRUPT, "%u bytes behind the gzip data", z.avail_in);
    *out = (Bytes){data, size};
    return OK;
}

bool data_file_there(const char *dir, const char *name, Arena *a)
{
    const char *path = text_format(a, "%s/%s", dir, name);
    return path && !access(path, F_OK);
}

Status data_file(const DatasetInfo *info, const char *dir, const char *name, Bytes *out, const char **path,
                 Arena *a, Error *err)
{
    const bool packed = !data_file_there(dir, name, a);
    *path = text_format(a, "%s/%s%s", dir, name, packed ? ".gz" : "");
    TRY(arena_check(*path, a, err));
    const int fd = open(*path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        const bool absent = errno == ENOENT && packed;
        FAIL(err, ERR_IO, "%s/%s: %s", dir, name, absent ? "not there, nor packed as .gz" : strerror(errno));
        return fetch_hint(info, err);
    }
    Status status = read_open_file(fd, out, a, err);
    close(fd);
    if (status == OK && packed)
        status = gzip_unpack(*out, out, a, err);
    return status == OK ? OK : data_damaged(info, *path, err);
}

Status labels_set(Dataset *d, const uint8_t *labels, size_t count, Arena *a, Error *err)
{
    uint32_t *own = NEW(a, uint32_t, count);
    TRY(arena_check(own, a, err));
    for (size_t i = 0; i < count; i++)
        own[i] = labels[i];
    d->count = count;
    d->labels = own;
    return OK;
}
