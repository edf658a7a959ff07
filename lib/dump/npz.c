/* npz.c -- lists a .npz file: a zip archive of .npy members, as np.savez and np.savez_compressed write it. The
 * member "conv1.weight.npy" is the array "conv1.weight". */
#include "dump/array_file.h"
#include "dump/zip.h"
#include "base/text.h"

#include <string.h>

static Status read_header(const ArrayFile *f, Array *a, bool *floats, Error *err)
{
    const ArenaMark mark = arena_mark(f->arena);
    ExtentStream *s = NULL;
    Status status = extent_open(&s, f->fd, &a->extent, f->arena, err);
    if (status == OK)
        status = npy_header(s, a, floats, f->arena, err);
    extent_close(s);
    arena_rewind(f->arena, mark);
    return status;
}

static Status take_member(ArrayFile *f, const ZipMember *m, Error *err)
{
    bool floats = false;
    if (text_ends(m->name, "/"))
        return OK;
    if (!text_ends(m->name, ".npy")) {
        f->skipped++;
        return OK;
    }
    Array a = {.extent = m->extent, .path = text_slice(f->arena, m->name, strlen(m->name) - strlen(".npy"))};
    if (!a.path)
        return arena_fail(f->arena, err);
    if (read_header(f, &a, &floats, err) != OK)
        return error_at(err, "%.200s", m->name);
    if (floats)
        return array_add(f, &a, err);
    f->skipped++;
    return OK;
}

Status npz_list(ArrayFile *f, Error *err)
{
    ZipMember *member = NULL;
    size_t count = 0;
    TRY(zip_list(f->fd, f->size, &member, &count, f->arena, err));
    for (size_t i = 0; i < count; i++)
        if (!strcmp(member[i].name, "data.pkl") || text_ends(member[i].name, "/data.pkl"))
            return refuse_pickle(f->file, err);
    for (size_t i = 0; i < count; i++)
        TRY(take_member(f, &member[i], err));
    return OK;
}
