/* extent.h -- reads a run of bytes of a file in order, as it is stored or deflated (RFC 1951), never more than the
 * bytes that it declares. */
#ifndef ATOMO_EXTENT_H
#define ATOMO_EXTENT_H

#include "base/arena.h"

typedef struct {
    uint64_t at;     /* file offset of its first stored byte */
    uint64_t stored; /* bytes in the file */
    uint64_t size;   /* bytes when unpacked; equals `stored` if not deflated */
    bool deflated;
    bool summed; /* it has a CRC-32, `sum`, of the unpacked bytes */
    uint32_t sum;
} Extent;

typedef struct ExtentStream ExtentStream;

/* Begins at the extent's first byte. The stream is in the arena; extent_close frees the rest of it. */
Status extent_open(ExtentStream **out, int fd, const Extent *extent, Arena *a, Error *err);
/* Reads the next `size` bytes; ERR_CORRUPT when the extent does not have so many. */
Status extent_take(ExtentStream *s, void *to, size_t size, Error *err);
/* Checks that all bytes were read, that nothing follows them, and that the checksum is right. */
Status extent_end(ExtentStream *s, Error *err);
void extent_close(ExtentStream *s); /* NULL is fine */

/* Reads `size` bytes at a file offset; ERR_CORRUPT when the file ends before. */
Status file_take(int fd, uint64_t at, void *to, size_t size, Error *err);

/* Returns the CRC-32 (ISO 3309) of bytes that follow others with the CRC-32 `sum`, which is 0 at the start. */
uint32_t crc32_add(uint32_t sum, const void *data, size_t size);

#endif
