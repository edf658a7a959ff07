/* archive.h -- whole dumps into payload containers and back: the work of `encode` and `decode`.
 *
 * Each worker's tensors are sent by themselves, as repeat 0, in file order; a codec's state evolves from step
 * to step as it would in training. */
#ifndef ATOMO_ARCHIVE_H
#define ATOMO_ARCHIVE_H

#include "codec/harness.h"
#include "measure/frame.h"
#include "dump/groups.h"

typedef struct {
    const Codec *codec;
    uint64_t seed; /* decode has it from the container */
    int threads;
    /* Called after each vector with how many are done; false stops the work with ERR_STOPPED. NULL: nobody asks. */
    bool (*tick)(void *data, uint64_t done);
    void *tick_data;
} ArchiveJob;

typedef struct {
    size_t vectors, tensors;
    uint64_t raw_bytes;     /* 4 an element */
    uint64_t payload_bytes; /* what would travel */
} ArchiveSum;

/* Writes the groups' attributes and a record for every vector; the caller commits. */
Status archive_encode(Dump *d, const VectorList *list, const ArchiveJob *job, FrameWriter *w, ArchiveSum *sum,
                      Arena *a, Error *err);

/* Recreates paths, shapes and attributes; `job->codec` is the container's. The caller commits. */
Status archive_decode(FrameReader *r, const ArchiveJob *job, DumpWriter *w, ArchiveSum *sum, Arena *a,
                      Error *err);

#endif
