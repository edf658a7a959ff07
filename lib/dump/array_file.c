/* array_file.c -- the list of the arrays in a file of arrays, and their names (array_file.h). */
#include "dump/array_file.h"

#include "dump/tensor_stream.h"

#include <stdlib.h>

static const size_t item_bytes[] = {[ARRAY_F16] = 2, [ARRAY_BF16] = 2, [ARRAY_F32] = 4, [ARRAY_F64] = 8};

size_t array_item(ArrayType type)
{
    return item_bytes[type];
}

/* ---- names ---- */

static int compare_names(const void *left, const void *right)
{
    const char *const *a = left, *const *b = right;
    return strcmp(*a, *b);
}

const char *sort_names(const char **name, size_t count)
{
    if (count)
        qsort(name, count, sizeof *name, compare_names);
    for (size_t i = 1; i < count; i++)
        if (!strcmp(name[i - 1], name[i]))
            return name[i];
    return NULL;
}

const char **arrays_sorted(const ArrayFile *f)
{
    const char **path = NEW(f->arena, const char *, f->count);
    for (size_t i = 0; path && i < f->count; i++)
        path[i] = f->array[i].path;
    if (path)
        sort_names(path, f->count);
    return path;
}

/* ---- adding an array to the list ---- */

static size_t depth(const char *path)
{
    size_t slashes = 0;
    while ((path = strchr(path, '/'))) {
        slashes++;
        path++;
    }
    return slashes;
}

static Status check_array(const Array *a, Error *err)
{
    const uint64_t bytes = a->shape.n * item_bytes[a->type];
    if (strlen(a->path) > PATH_LIMIT || !path_valid(a->path))
        return FAIL(err, ERR_CORRUPT, "\"%.200s\": a name that cannot be a path", a->path);
    if (depth(a->path) > DEPTH_LIMIT)
        return FAIL(err, ERR_CORRUPT, "%.200s: groups stand more than %d deep", a->path, DEPTH_LIMIT);
    if (a->extent.size < a->head || a->extent.size - a->head != bytes)
        return FAIL(err, ERR_CORRUPT, "%.200s: its shape needs %llu bytes, and the file has %llu for it",
                    a->path, (unsigned long long)bytes, (unsigned long long)(a->extent.size - a->head));
    return OK;
}

Status array_add(ArrayFile *f, const Array *array, Error *err)
{
    TRY(check_array(array, err));
    if (f->count + f->skipped >= OBJECTS_MAX / 2)
        return FAIL(err, ERR_CORRUPT, "more than %d arrays in one file", OBJECTS_MAX / 2);
    f->array = items_more(f->array, f->count, &f->room, sizeof *array, f->arena);
    TRY(arena_check(f->array, f->arena, err));
    f->array[f->count++] = *array;
    return OK;
}
