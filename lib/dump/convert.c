/* convert.c -- writes the tensors of a dump to a new file (convert.h). */
#include "dump/convert.h"

#include "base/bytes.h"
#include "dump/array_write.h"
#include "math/finite.h"

#include <string.h>

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
        count += !w->holds(&attrs->item[i]);
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
