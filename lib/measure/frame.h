/* frame.h -- the payload container: what encode writes and decode reads, FILE.atomo (docs/FORMAT.md has the layout).
 *
 * A record is one compressed vector: its random address, the tensors it is made of, the payload of every
 * round. A checksum closes each block and an end block the file, so a file that was cut or altered anywhere
 * is refused, with the offset. Nothing is allocated on the word of a length that the file's size does not
 * bear out. */
#ifndef ATOMO_FRAME_H
#define ATOMO_FRAME_H

#include "base/bytes.h"
#include "dump/tensor.h"

#include <stdio.h>

enum { FRAME_VERSION = 1, FRAME_ROUNDS = 16 };

typedef struct {
    const char *path; /* in the dump */
    Shape shape;
    AttrList attrs;
} FrameMember;

typedef struct {
    uint64_t seed, repeat; /* the random address: rng_open(seed, repeat, worker, step, tensor) */
    int64_t worker, step;
    uint64_t tensor;  /* rng_hash(name) */
    const char *name; /* of the vector: a tensor's, or a group's */
    bool raw;         /* sent with `none`, whatever the container's codec */
    bool joined; /* the members end to end are a vector; else there is one, compressed in its own shape */
    FrameMember *member;
    size_t members;
    Bytes round[FRAME_ROUNDS];
    int rounds;
} FrameRecord;

/* What the codec sees: the lone member's shape, or a vector of all their elements. */
Shape frame_shape(const FrameRecord *r);

/* Most elements that a vector may have whose payload has so many bytes. */
uint64_t frame_elements_limit(uint64_t payload);

/* ---- writing ---- */

typedef struct FrameWriter FrameWriter;

/* To a temporary file beside `path`; `records` is how many frame_put will come. Lives in the arena. */
Status frame_create(FrameWriter **out, const char *path, const char *spec, uint64_t records, Arena *a,
                    Error *err);
Status frame_put_attrs(FrameWriter *w, const char *group, const AttrList *attrs,
                       Error *err); /* "": the root */
Status frame_put(FrameWriter *w, const FrameRecord *r, Error *err);
uint64_t frame_bytes(const FrameWriter *w);      /* of the finished file, once all is put */
Status frame_commit(FrameWriter *w, Error *err); /* closes it, whatever happens */
void frame_abandon(FrameWriter *w);              /* NULL is fine */

/* ---- reading ---- */

typedef struct FrameReader FrameReader;

Status frame_open(FrameReader **out, const char *path, Arena *a, Error *err);
/* The same from an open file that can seek; `name` stands in messages. frame_close closes it. */
Status frame_open_file(FrameReader **out, FILE *from, const char *name, Arena *a, Error *err);
void frame_close(FrameReader *r); /* NULL is fine */

const char *frame_name(const FrameReader *r); /* of the file */
const char *frame_spec(const FrameReader *r);
uint64_t frame_records(const FrameReader *r);
uint64_t frame_size(const FrameReader *r);   /* of the file */
uint64_t frame_offset(const FrameReader *r); /* where the block that was read last begins, for messages */

typedef enum { FRAME_ATTRS, FRAME_RECORD, FRAME_END } FrameType;

typedef struct {
    FrameType type;
    const char *group; /* FRAME_ATTRS */
    AttrList attrs;
    FrameRecord record; /* FRAME_RECORD */
} FrameItem;

/* The next block, in the arena `a`, which the caller rewinds when done with it. */
Status frame_next(FrameReader *r, FrameItem *item, Arena *a, Error *err);

#endif
