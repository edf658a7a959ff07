/* archive.h -- encodes a whole dump to an .atomo file (a container of payloads), and decodes it: the
 * commands `encode` and `decode`.
 *
 * Vectors are encoded in the order of the dump, with the random numbers of repeat 0. A codec's state
 * continues from step to step, as in training with one worker. */
#ifndef ATOMO_ARCHIVE_H
#define ATOMO_ARCHIVE_H

#include "compress/harness.h"
#include "app/frame.h"
#include "dump/groups.h"

typedef struct {
    const Codec *codec;
    uint64_t seed; /* used by encode only; decode reads the seed from the container */
    int threads;
    uint64_t memory;     /* most bytes for decoding; 0: no limit */
    uint64_t output_max; /* most bytes of tensors that decoding writes; 0: no limit */
    Tick tick; /* called after each vector, with its name; may be NULL */
    void *tick_data;
} ArchiveJob;

typedef struct {
    size_t vectors, tensors;
    uint64_t raw_bytes;     /* bytes of the vectors as float32 */
    uint64_t payload_bytes; /* bytes of the payloads of all rounds */
} ArchiveSum;

/* Writes to the file the attributes of the groups that contain tensors of `list`, and a record for every
 * vector. The caller then commits the file. */
Status archive_encode(Dump *d, const VectorList *list, const ArchiveJob *job, FrameWriter *w, ArchiveSum *sum,
                      Arena *a, Error *err);

/* Decodes a container to a dump with the same paths, shapes and attributes. `job->codec` must be the codec
 * that the container names. The caller then commits the dump. */
Status archive_decode(FrameReader *r, const ArchiveJob *job, DumpWriter *w, ArchiveSum *sum, Arena *a,
                      Error *err);

#endif
