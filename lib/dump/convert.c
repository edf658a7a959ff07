/* convert.c -- writes the tensors of a dump to a new file (write.h). */
#include "dump/write.h"

#include "base/bytes.h"
#include "dump/array_file.h"
#include "dump/array_write.h"
#include "math/blockwise.h"

#include <string.h>

/* ---- HDF5 ---- */

typedef struct {
    const Dump *dump;
    DumpWriter *to;
} Hdf5Writer;

/* Fails if a tensor and a group have the same path, because HDF5 allows only one object at a path. */
static Status refuse_both(const Dump *d, Arena *a, Error *err)
{
    const size_t count = dump_count(d);
    const char **path = NEW(a, const char *, count);
    TRY(arena_check(path, a, err));
    for (size_t i = 0; i < count; i++)
        path[i] = dump_tensor(d, i)->path;
    sort_names(path, count);
    for (size_t i = 0; i < count; i++)
        for (const char *slash = path[i]; (slash = strchr(slash, '/')); slash++) {
            const char *group = text_slice(a, path[i], (size_t)(slash - path[i]));
            TRY(arena_check(group, a, err));
            if (!name_found(path, count, group))
                continue;
            FAIL(err, ERR_USAGE, "%.200s: %.200s: a tensor and a group at once, which HDF5 cannot hold", dump_file(d), group);
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
    TRY(arena_check(w, a, err));
    *w = (Hdf5Writer){.dump = d};
    TRY(refuse_both(d, a, err));
    TRY(dump_create(&w->to, path, err));
    dump_sign(w->to, CONVERT_SIGN);
    const Status status = write_groups(w, err);
    if (status != OK)
        dump_finish(w->to, status, err);
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

static const ArrayWriter hdf5_array_writer = {".h5", false, hdf5_open, hdf5_write, hdf5_finish, hdf5_holds};

/* ---- every format ---- */

static const ArrayWriter *const writers[] = {&hdf5_array_writer, &safetensors_array_writer,
                                             &npz_array_writer};

static const ArrayWriter *find_writer(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    for (size_t i = 0; dot && i < countof(writers); i++)
        if (!strcmp(dot, writers[i]->ending))
            return writers[i];
    return NULL;
}

Status convert_check(const char *path, Error *err)
{
    return find_writer(path)
               ? OK
               : FAIL(err, ERR_USAGE, "%s: want a name that ends in .h5, .safetensors or .npz", path);
}

static size_t count_left_out(const AttrList *attrs, const ArrayWriter *w)
{
    size_t count = 0;
    for (size_t i = 0; i < attrs->count; i++)
        count += !w->holds || !w->holds(&attrs->item[i]);
    return count;
}

static void note_nonfinite(ConvertSum *sum, const TensorInfo *t, const float *x)
{
    size_t bad;
    first_nonfinite(x, t->shape.n, &bad);
    if (bad && !sum->nonfinite++)
        sum->first = t->path;
}

static Status write_all(Dump *d, const ArrayWriter *w, void *to, const ConvertJob *job, ConvertSum *sum,
                        Error *err)
{
    Arena *scratch = arena_open(0);
    Status status = OK;
    for (size_t i = 0; status == OK && i < dump_count(d); i++) {
        const TensorInfo *t = dump_tensor(d, i);
        const ArenaMark mark = arena_mark(scratch);
        float *x = NEW(scratch, float, t->shape.n);
        status = x ? dump_read(d, i, x, err) : arena_fail(scratch, err);
        if (status == OK)
            note_nonfinite(sum, t, x);
        if (status == OK && w->raw)
            floats_order(x, t->shape.n);
        if (status == OK)
            status = w->write(to, i, x, err);
        arena_rewind(scratch, mark);
        sum->tensors++;
        sum->bytes += t->shape.n * sizeof *x;
        sum->left_out += count_left_out(&t->attrs, w);
        if (status == OK && !job->tick(job->tick_data, i + 1, t->path))
            status = FAIL(err, ERR_STOPPED, "convert: stopped; no file was written");
    }
    arena_close(scratch);
    return status;
}

Status convert_dump(Dump *d, const char *path, const ConvertJob *job, ConvertSum *sum, Arena *a, Error *err)
{
    const ArrayWriter *w = find_writer(path);
    void *to = NULL;
    *sum = (ConvertSum){0};
    TRY(convert_check(path, err));
    TRY(w->open(&to, d, path, a, err));
    TRY(w->finish(to, write_all(d, w, to, job, sum, err), err));
    for (size_t i = 0; i < dump_groups(d); i++) {
        const AttrList *attrs;
        dump_group(d, i, &attrs);
        sum->left_out += count_left_out(attrs, w);
    }
    return OK;
}
