/* library_dump.c -- the functions of atomo.h that read gradient files. */
#include "library/library_parts.h"

#include "dump/tensor.h"

#include <stdlib.h>

struct atomo_dump {
    Arena *arena;
    Dump *dump;
};

typedef struct {
    atomo_dump **out;
    const char *path;
} Opening;

static Status open_dump(void *arg, Visit *v)
{
    const Opening *o = arg;
    Error *e = v->err;
    *o->out = NULL;
    if (!o->path)
        return FAIL(e, ERR_USAGE, "no path: want that of a gradient file");
    atomo_dump *d = calloc(1, sizeof *d);
    if (!d)
        return FAIL(e, ERR_MEMORY, "out of memory");
    d->arena = arena_open(0);
    const Status status = dump_open(&d->dump, o->path, d->arena, e);
    if (status == OK)
        *o->out = d;
    else
        atomo_dump_close(d);
    return status;
}

atomo_status atomo_dump_open(atomo_dump **out, const char *path, atomo_error *err)
{
    return library_call(open_dump, &(Opening){out, path}, err);
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

typedef struct {
    Dump *dump;
    size_t index;
    float *x;
} Reading;

static Status read_tensor(void *arg, Visit *v)
{
    const Reading *r = arg;
    if (r->index >= dump_count(r->dump))
        return FAIL(v->err, ERR_USAGE, "tensor %zu: the file has %zu", r->index, dump_count(r->dump));
    return dump_read(r->dump, r->index, r->x, v->err);
}

atomo_status atomo_dump_read(atomo_dump *d, size_t index, float *x, atomo_error *err)
{
    return library_call(read_tensor, &(Reading){d->dump, index, x}, err);
}
