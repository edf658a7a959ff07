/* library_dump.c -- the functions of atomo.h that read gradient files. */
#include "library/library_parts.h"

#include <stdlib.h>

struct atomo_dump {
    Arena *arena;
    Dump *dump;
};

atomo_status atomo_dump_open(atomo_dump **out, const char *path, atomo_error *err)
{
    Error own = {0}, *e = error_of(err, &own);
    *out = NULL;
    if (!path)
        return status_of(FAIL(e, ERR_USAGE, "no path: want that of a gradient file"));
    atomo_dump *d = calloc(1, sizeof *d);
    if (!d)
        return status_of(FAIL(e, ERR_MEMORY, "out of memory"));
    d->arena = arena_open(0);
    const Status status = dump_open(&d->dump, path, d->arena, e);
    if (status == OK)
        *out = d;
    else
        atomo_dump_close(d);
    return status_of(status);
}

void atomo_dump_close(atomo_dump *d)
{
    if (!d)
        return;
    dump_close(d->dump);
    arena_close(d->arena);
    free(d);
}

size_t atomo_dump_count(const atomo_dump *d)
{
    return dump_count(d->dump);
}

atomo_gradient atomo_dump_gradient(const atomo_dump *d, size_t index)
{
    const TensorInfo *t = dump_tensor(d->dump, index);
    return (atomo_gradient){
        .name = t->name, .rank = t->shape.rank, .dim = t->shape.dim, .step = t->step, .worker = t->worker};
}

atomo_status atomo_dump_read(atomo_dump *d, size_t index, float *x, atomo_error *err)
{
    Error own = {0}, *e = error_of(err, &own);
    if (index >= dump_count(d->dump))
        return status_of(FAIL(e, ERR_USAGE, "tensor %zu: the file has %zu", index, dump_count(d->dump)));
    return status_of(dump_read(d->dump, index, x, e));
}
