/* frame_layout.h -- constants that the container's writer and reader share. */
#ifndef ATOMO_FRAME_LAYOUT_H
#define ATOMO_FRAME_LAYOUT_H

#include "base/checksum.h"
#include "measure/frame.h"
#include "dump/tensor_wire.h"

#include <errno.h>

enum {
    FRAME_MAGIC = 8,
    FRAME_HEAD = FRAME_MAGIC + 4, /* magic, version */
    BLOCK_HEAD = 1 + 8,           /* type, size */
    BLOCK_TAIL = 8,               /* checksum */
    DTYPE_FLOAT32 = 0,            /* what a decoder gives; the only one so far */
    FLAG_RAW = 1,
    FLAG_JOINED = 2,
};

/* As PNG's: not text, and altered by every transfer that takes it for text. */
extern const uint8_t frame_magic[FRAME_MAGIC];

#endif
