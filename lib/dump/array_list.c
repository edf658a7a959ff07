/* array_list.c -- lists the arrays in a file of arrays (.npy, .npz, safetensors), with the parser for its
 * format. */
#include "dump/array_file.h"

#include <string.h>

static Status refuse_twins(const ArrayFile *f, Error *err)
{
    const char **path = arrays_sorted(f);
    if (!path)
        return arena_fail(f->arena, err);
    for (size_t i = 1; i < f->count; i++)
        if (!strcmp(path[i - 1], path[i]))
            return FAIL(err, ERR_CORRUPT, "%.200s: two arrays of this name", path[i]);
    return OK;
}

Status arrays_list(ArrayFile *f, FileKind kind, Error *err)
{
    static Status (*const list[])(ArrayFile *, Error *) = {
        [FILE_SAFETENSORS] = safetensors_list, [FILE_NPY] = npy_list, [FILE_ZIP] = npz_list};
    TRY(list[kind](f, err));
    return refuse_twins(f, err);
}
