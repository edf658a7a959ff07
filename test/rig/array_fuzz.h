/* array_fuzz.h -- lists and reads the arrays of a file, for the fuzz targets of the array formats (.npy, .npz,
 * safetensors). */
#ifndef ATOMO_ARRAY_FUZZ_H
#define ATOMO_ARRAY_FUZZ_H

#include "dump/array_file.h"
#include "dump/array_file.h"
#include "dump/tensor_wire.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Aborts if an array that the file lists has an invalid path, rank or extent in the file. */
static inline void check_listed(const ArrayFile *f, const Array *a)
{
    static const size_t item[] = {[ARRAY_F16] = 2, [ARRAY_BF16] = 2, [ARRAY_F32] = 4, [ARRAY_F64] = 8};
    const Extent *e = &a->extent;
    if (!path_valid(a->path) || a->shape.rank > RANK_MAX || e->at > f->size || e->stored > f->size - e->at ||
        e->size - a->head != a->shape.n * item[a->type] || (!e->deflated && e->size != e->stored))
        abort();
}

static inline void read_listed(const ArrayFile *f)
{
    enum { READ_MOST = 1 << 18 };
    for (size_t i = 0; i < f->count; i++) {
        Error err = {0};
        const size_t n = f->array[i].shape.n;
        check_listed(f, &f->array[i]);
        /* in a block of the exact size, ASan detects writes past the end */
        float *x = n <= READ_MOST ? malloc(n * sizeof *x + 1) : NULL;
        if (x && array_read(f, i, x, &err) != OK && !*err.text)
            abort();
        free(x);
    }
    Attr *room = calloc(f->notes + 1, sizeof *room);
    if (notes_of(f, "", room).count > f->notes)
        abort();
    free(room);
}

static inline void fuzz_arrays(const uint8_t *data, size_t size, FileKind kind)
{
    Error err = {0};
    Arena *a = arena_open((size_t)1 << 27);
    ArrayFile f = {.fd = memfd_create("fuzz", MFD_CLOEXEC), .file = "fuzz.npy", .size = size, .arena = a};
    if (f.fd < 0 || write(f.fd, data, size) != (ssize_t)size)
        abort();
    FileKind found;
    if (file_kind(f.fd, size, &found, &err) != OK)
        abort();
    if (found == kind) {
        if (arrays_list(&f, kind, &err) == OK)
            read_listed(&f);
        else if (!*err.text)
            abort();
    }
    close(f.fd);
    arena_close(a);
}

#endif
