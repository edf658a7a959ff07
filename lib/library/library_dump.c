/* library_dump.c -- the functions of atomo.h that read gradient files. */
#include "library/library_parts.h"

#include <stdlib.h>

struct atomo_dump {
    Arena *arena;
    Dump *dump;
};

static Status open_dump(atomo_dump **out, const char *path, Error *e)
{
    *out = NULL;
    if (!path)
        return FAIL(e, ERR_USAGE, "no path: want that of a gradient file");
    atomo_dump *d = calloc(1, sizeof *d);
    if (!d)
        return FAIL(e, ERR_MEMORY, "out of memory");
    d->arena = arena_open(0);
    const Status status = dump_open(&d->dump, path, d->arena, e);
    if (status == OK)
        *out = d;
    else
        atomo_dump_close(d);
    return status;
}

atomo_status atomo_dump_open(atomo_dump **out, const char *path, atomo_error *err)
{
    Visit v;
    library_enter(&v, err);
    return library_leave(&v, open_dump(out, path, v.err));
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
    if (index >= dump_count(d->dump))
        return (atomo_gradient){0};
    const TensorInfo *t = dump_tensor(d->dump, index);
    return (atomo_gradient){
        .name = t->name, .rank = t->shape.rank, .dim = t->shape.dim, .step = t->step, .worker = t->worker};
}

atomo_status atomo_dump_read(atomo_dump *d, size_t index, float *x, atomo_error *err)
{
    Visit v;
    library_enter(&v, err);
    return library_leave(&v, index < dump_count(d->dump)
                                 ? dump_read(d->dump, index, x, v.err)
                                 : FAIL(v.err, ERR_USAGE, "tensor %zu: the file has %zu", index,
                                        dump_count(d->dump)));
}
