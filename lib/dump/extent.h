/* extent.h -- reads an extent from its first byte to its last. An extent is a range of bytes of a file,
 * stored unchanged or compressed by deflate (RFC 1951). Reads never go beyond the number of bytes that the
 * extent declares. */
#ifndef ATOMO_EXTENT_H
#define ATOMO_EXTENT_H

#include "base/arena.h"

typedef struct {
    uint64_t at;     /* file offset of the extent's first stored byte */
    uint64_t stored; /* number of bytes in the file */
    uint64_t size;   /* number of bytes when unpacked; equals `stored` if not deflated */
    bool deflated;
    bool summed; /* true: the unpacked bytes must have the CRC-32 `sum` */
    uint32_t sum;
} Extent;

typedef struct ExtentStream ExtentStream;

/* Begins to read at the extent's first byte. The stream's memory comes from the arena, except zlib's memory,
 * which extent_close frees. */
Status extent_open(ExtentStream **out, int fd, const Extent *extent, Arena *a, Error *err);
/* Reads the next `size` unpacked bytes; ERR_CORRUPT if the extent has fewer left. */
Status extent_take(ExtentStream *s, void *to, size_t size, Error *err);
/* Checks that all bytes were read, that no data follow them, and that the checksum is right. */
Status extent_end(ExtentStream *s, Error *err);
void extent_close(ExtentStream *s); /* NULL is fine */

/* Reads `size` bytes at a file offset; ERR_CORRUPT if the file ends sooner. */
Status file_take(int fd, uint64_t at, void *to, size_t size, Error *err);

/* Continues a CRC-32 (ISO 3309): `sum` is the CRC-32 of all bytes before `data`, 0 if there are none. Returns
 * the CRC-32 of these bytes followed by `data`. */
uint32_t crc32_add(uint32_t sum, const void *data, size_t size);

#endif
