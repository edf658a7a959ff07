/* frame.h -- the payload container FILE.atomo, which `encode` writes and `decode` reads (layout:
 * docs/FORMAT.md).
 *
 * A record is one compressed vector. It has the numbers that select the vector's random numbers, the names
 * and shapes of its tensors, and the payload of every round. Each block ends with a checksum, and the file
 * ends with an end block. So a truncated or altered file is refused; the error has the offset of the bad
 * block. Length fields may be wrong, so allocations are limited by the file's size. */
#ifndef ATOMO_FRAME_H
#define ATOMO_FRAME_H

#include "base/bytes.h"
#include "dump/tensor.h"

#include <stdio.h>

enum { FRAME_VERSION = 1, FRAME_ROUNDS = 16 };

typedef struct {
    const char *path; /* path of the tensor in the dump */
    Shape shape;
    AttrList attrs;
} FrameMember;

typedef struct {
    /* arguments of `rng_open` that select the random numbers: `seed`, `repeat`, `worker`, `step`, `tensor` */
    uint64_t seed, repeat;
    int64_t worker, step;
    uint64_t tensor;  /* rng_hash(name) */
    const char *name; /* the vector's name: a tensor's or a group's */
    bool raw;         /* true: the vector is sent with the codec `none` */
    /* true: the vector is all members (tensors), one after another; false: the vector is the only member,
     * with its shape */
    bool joined;
    FrameMember *member;
    size_t members;
    Bytes round[FRAME_ROUNDS];
    int rounds;
} FrameRecord;

/* Returns the shape of the vector that the codec compresses: the only member's shape, or one axis with all
 * members' elements. */
static inline Shape frame_shape(const FrameRecord *r)
{
    size_t n = 0;
    if (!r->joined)
        return r->member[0].shape;
    for (size_t i = 0; i < r->members; i++)
        n += r->member[i].shape.n;
    return shape_vector(n);
}

/* Returns the largest number of elements that a vector may have if its payload has `payload` bytes: a sparse payload can be
 * far smaller than its vector, but there must be a limit. */
static inline uint64_t frame_elements_limit(uint64_t payload)
{
    const uint64_t most = (uint64_t)1 << 40;
    return ((uint64_t)1 << 26) + ((payload < most ? payload : most) << 16);
}

/* ---- writing ---- */

typedef struct FrameWriter FrameWriter;

/* Opens a writer, in the arena. Until `frame_commit` the data of a regular file are in a temporary file beside it;
 * standard output and pipes are written at once. `records` is the number of calls of `frame_put` that will follow. */
Status frame_create(FrameWriter **out, const char *path, const char *spec, uint64_t records, Arena *a,
                    Error *err);
/* Writes the attributes of a group; "" is the root. */
Status frame_put_attrs(FrameWriter *w, const char *group, const AttrList *attrs, Error *err);
Status frame_put(FrameWriter *w, const FrameRecord *r, Error *err);
/* Closes the file even on an error. Sets `*bytes` to its size. */
Status frame_commit(FrameWriter *w, uint64_t *bytes, Error *err);
void frame_abandon(FrameWriter *w); /* NULL is allowed */

/* ---- reading ---- */

/* Read by its users, written by frame.c alone. */
typedef struct {
    FILE *from;
    const char *name; /* of the file */
    const char *spec;
    uint64_t size;    /* bytes in the file */
    uint64_t at;      /* offset of the next block */
    uint64_t block;   /* offset of the last block read, for messages */
    uint64_t records; /* number of records that the header states */
    uint64_t delivered;
    bool ended;
} FrameReader;

Status frame_open(FrameReader **out, const char *path, Arena *a, Error *err);
/* Opens a reader of an open file that can seek. Takes over `from`, and closes it even on an error. `name` is
 * for messages. */
Status frame_open_file(FrameReader **out, FILE *from, const char *name, Arena *a, Error *err);
void frame_close(FrameReader *r); /* NULL is allowed */

typedef enum { FRAME_ATTRS, FRAME_RECORD, FRAME_END } FrameType;

typedef struct {
    FrameType type;
    const char *group; /* `group` and `attrs` are set for FRAME_ATTRS */
    AttrList attrs;
    FrameRecord record; /* set for FRAME_RECORD */
} FrameItem;

/* Reads the next block, into the arena. A message of ERR_CORRUPT has the reason and the file offset. */
Status frame_next(FrameReader *r, FrameItem *item, Arena *a, Error *err);

#endif
