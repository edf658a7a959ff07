/* zip.h -- lists the members of a zip archive (PKWARE's APPNOTE, with zip64). The directory must be at the
 * archive's end and agree with each member's own header. Members must not overlap, and must be stored or
 * deflated. */
#ifndef ATOMO_ZIP_H
#define ATOMO_ZIP_H

#include "dump/extent.h"

typedef struct {
    const char *name; /* UTF-8 */
    Extent extent;
} ZipMember;

/* Lists the members of an open file of `size` bytes, in the order of the zip directory. The list is in the
 * arena. */
Status zip_list(int fd, uint64_t size, ZipMember **out, size_t *count, Arena *a, Error *err);

#endif
