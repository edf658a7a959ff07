/* array_write_hdf5.c -- writes HDF5 dumps, as an ArrayWriter. */
#include "dump/array_write.h"

typedef struct {
    const Dump *dump;
    DumpWriter *to;
} Hdf5Writer;

/* Fails if an array and a group have the same path, because HDF5 allows only one object at a path. */
static Status refuse_both(const Dump *d, Error *err)
{
    for (size_t i = 0; i < dump_count(d); i++)
        if (dump_step_attrs(d, dump_tensor(d, i)->path)) {
            FAIL(err, ERR_USAGE, "%.200s: %.200s: a tensor and a group at once, which HDF5 cannot hold",
                 dump_file(d), dump_tensor(d, i)->path);
            return error_hint(err, "convert to .npz or .safetensors, or rename the tensor in the input");
        }
    return OK;
}

static Status write_groups(const Hdf5Writer *w, Error *err)
{
    for (size_t i = 0; i < dump_groups(w->dump); i++) {
        const AttrList *attrs;
        const char *path = dump_group(w->dump, i, &attrs);
        TRY(dump_write_attrs(w->to, path, attrs, err));
    }
    return OK;
}

static Status hdf5_open(void **out, const Dump *d, const char *path, Arena *a, Error *err)
{
    Hdf5Writer *w = NEW(a, Hdf5Writer, 1);
    if (!w)
        return arena_fail(a, err);
    *w = (Hdf5Writer){.dump = d};
    TRY(refuse_both(d, err));
    TRY(dump_create(&w->to, path, err));
    dump_sign(w->to, CONVERT_SIGN);
    const Status status = write_groups(w, err);
    if (status != OK)
        dump_abandon(w->to);
    *out = w;
    return status;
}

static Status hdf5_write(void *to, size_t i, const float *x, Error *err)
{
    const Hdf5Writer *w = to;
    const TensorInfo *t = dump_tensor(w->dump, i);
    return dump_write(w->to, t->path, &t->shape, x, &t->attrs, err);
}

static Status hdf5_finish(void *to, Status written, Error *err)
{
    return dump_finish(((const Hdf5Writer *)to)->to, written, err);
}

static bool hdf5_holds(const Attr *attr)
{
    (void)attr;
    return true;
}

const ArrayWriter hdf5_array_writer = {".h5", false, hdf5_open, hdf5_write, hdf5_finish, hdf5_holds};
