/* fuzz_frame.c -- fuzzes the container's reader and the decoding of the container's records on files with valid
 * checksums, since a fuzzer would never guess a 64-bit checksum.
 *
 * Input: a container. The checksums of the container's blocks are corrected before it is read, unless the
 * lowest bit of the last byte is set. */
#include "math/blockwise.h"
#include "base/checksum.h"
#include "compress/spec.h"
#include "app/frame.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void seal(uint8_t *data, size_t size)
{
    size_t at = 12;
    while (size - at > 17 && load_u64(data + at + 1) <= size - at - 17) {
        const size_t length = 9 + (size_t)load_u64(data + at + 1);
        store_u64(data + at + length, checksum((Bytes){data + at, length}, at));
        at += length + 8;
        if (at >= size)
            return;
    }
}

static void decode(const Codec *codec, const FrameRecord *rec, Arena *a, Error *err)
{
    const Shape shape = frame_shape(rec);
    if (shape.n > 1 << 16 || rec->rounds != codec_rounds(codec))
        return;
    Call c = {.self = codec,
              .shape = &shape,
              .rng = rng_open(rec->seed, rec->repeat, rec->worker, rec->step, rec->tensor),
              .workers = 1,
              .threads = 1,
              .scratch = a,
              .err = err};
    Message m = {.rounds = rec->rounds};
    for (int i = 0; i < m.rounds; i++)
        m.round[i] = rec->round[i];
    c.rng_shared = c.rng;
    float *x = NEW(a, float, shape.n);
    if (x && codec_receive(&c, &m, x) == OK && first_nonfinite(x, shape.n, NULL) != shape.n)
        abort();
}

static Status read_all(FrameReader *r, Arena *a, Error *err)
{
    const Codec *codec = NULL;
    Error ignored;
    FrameItem item = {.type = FRAME_ATTRS};
    if (codec_open(&codec, r->spec, a, &ignored) != OK || codec_traits(codec) & DECODES_STATE)
        codec = NULL;
    while (item.type != FRAME_END) {
        TRY(frame_next(r, &item, a, err));
        if (item.type == FRAME_RECORD && codec)
            decode(codec, &item.record, a, &ignored);
    }
    return OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 13)
        return 0;
    uint8_t *copy = malloc(size);
    memcpy(copy, data, size);
    if (!(data[size - 1] & 1))
        seal(copy, size);
    Arena *a = arena_open((size_t)1 << 24);
    Error err = {0};
    FrameReader *r;
    FILE *from = fmemopen(copy, size, "rb");
    Status status = frame_open_file(&r, from, "fuzz", a, &err);
    if (status == OK) {
        status = read_all(r, a, &err);
        frame_close(r);
    }
    if (status != OK && !*err.text)
        abort();
    arena_close(a);
    free(copy);
    return 0;
}
