/* extent.c -- reads and unpacks a range of bytes of a file (extent.h). */
#include "dump/extent.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#define ZLIB_CONST
#include <zlib.h>

enum { INPUT = 1 << 16 };

/* Most bytes of one read: a process that ends waits for the read of another thread, up to a second for a gigabyte. */
enum { AT_ONCE = 1 << 26 };

struct ExtentStream {
    int fd;
    Extent extent;
    uint64_t fetched; /* number of stored bytes read from the file */
    uint64_t taken;   /* number of unpacked bytes returned to the caller */
    uint32_t sum;     /* CRC-32 of the unpacked bytes returned so far */
    bool ended;       /* true: the end of the deflated data has been reached */
    z_stream z;
    uint8_t input[INPUT]; /* deflated bytes */
};

Status file_take(int fd, uint64_t at, void *to, size_t size, Error *err)
{
    for (size_t got = 0; got < size;) {
        const size_t most = size - got < AT_ONCE ? size - got : AT_ONCE;
        const ssize_t part = pread(fd, (char *)to + got, most, (off_t)(at + got));
        if (part < 0 && errno != EINTR)
            return FAIL(err, ERR_IO, "cannot be read: %s", strerror(errno));
        if (part == 0)
            return FAIL(err, ERR_CORRUPT, "the file ends in the middle of it");
        got += part > 0 ? (size_t)part : 0;
    }
    return OK;
}

uint32_t crc32_add(uint32_t sum, const void *data, size_t size)
{
    return (uint32_t)crc32_z(sum, data, size);
}

Status extent_open(ExtentStream **out, int fd, const Extent *extent, Arena *a, Error *err)
{
    ExtentStream *s = NEW(a, ExtentStream, 1);
    TRY(arena_check(s, a, err));
    s->fd = fd;
    s->extent = *extent;
    s->fetched = s->taken = 0;
    s->sum = 0;
    s->ended = !extent->deflated;
    s->z = (z_stream){0};
    if (extent->deflated && inflateInit2(&s->z, -15) != Z_OK)
        return FAIL(err, ERR_MEMORY, "out of memory for unpacking");
    *out = s;
    return OK;
}

void extent_close(ExtentStream *s)
{
    if (s && s->extent.deflated)
        inflateEnd(&s->z);
}

static Status refill(ExtentStream *s, Error *err)
{
    const uint64_t left = s->extent.stored - s->fetched;
    const size_t size = left < INPUT ? (size_t)left : INPUT;
    TRY(file_take(s->fd, s->extent.at + s->fetched, s->input, size, err));
    s->fetched += size;
    s->z.next_in = s->input;
    s->z.avail_in = (uInt)size;
    return OK;
}

/* Unpacks up to `size` bytes to `to`, and sets *done to their number. *done < `size` only at the end of the
 * data. */
static Status inflate_some(ExtentStream *s, uint8_t *to, uInt size, size_t *done, Error *err)
{
    s->z.next_out = to;
    s->z.avail_out = size;
    while (s->z.avail_out && !s->ended) {
        if (!s->z.avail_in)
            TRY(refill(s, err));
        const bool last = s->fetched == s->extent.stored;
        const int code = inflate(&s->z, Z_NO_FLUSH);
        s->ended = code == Z_STREAM_END;
        if (code != Z_OK && code != Z_STREAM_END && (code != Z_BUF_ERROR || last))
            return FAIL(err, ERR_CORRUPT, "damaged packed data");
        if (last && !s->z.avail_in && !s->ended && s->z.avail_out)
            return FAIL(err, ERR_CORRUPT, "the packed data end too early");
    }
    *done = size - s->z.avail_out;
    return OK;
}

static Status inflate_all(ExtentStream *s, uint8_t *to, size_t size, Error *err)
{
    for (size_t got = 0; got < size;) {
        const size_t left = size - got;
        size_t part = 0;
        TRY(inflate_some(s, to + got, left < 1 << 30 ? (uInt)left : 1 << 30, &part, err));
        if (!part)
            return FAIL(err, ERR_CORRUPT, "the packed data have fewer bytes than the archive says");
        got += part;
    }
    return OK;
}

Status extent_take(ExtentStream *s, void *to, size_t size, Error *err)
{
    if (size > s->extent.size - s->taken)
        return FAIL(err, ERR_CORRUPT, "%llu bytes, fewer than its header needs",
                    (unsigned long long)s->extent.size);
    if (s->extent.deflated)
        TRY(inflate_all(s, to, size, err));
    else
        TRY(file_take(s->fd, s->extent.at + s->taken, to, size, err));
    s->taken += size;
    if (s->extent.summed)
        s->sum = crc32_add(s->sum, to, size);
    return OK;
}

Status extent_end(ExtentStream *s, Error *err)
{
    uint8_t more;
    size_t count = 0;
    if (s->taken != s->extent.size)
        return FAIL(err, ERR_CORRUPT, "%llu bytes, more than its header needs",
                    (unsigned long long)s->extent.size);
    if (s->extent.deflated)
        TRY(inflate_some(s, &more, 1, &count, err)); /* reads the end mark of the deflated data */
    if (count || s->z.avail_in || (s->extent.deflated && s->fetched != s->extent.stored))
        return FAIL(err, ERR_CORRUPT, "the packed data have more bytes than the archive says");
    if (s->extent.summed && s->sum != s->extent.sum)
        return FAIL(err, ERR_CORRUPT, "its checksum is %08x, want %08x: damaged data", (unsigned)s->sum,
                    (unsigned)s->extent.sum);
    return OK;
}
