/* tensor_files.c -- finds the files of a dump of several, and what their names say (tensor_files.h). */
#include "dump/tensor_files.h"

#include "base/file.h"
#include "base/json.h"
#include "dump/file_kind.h"
#include "dump/tensor_stream.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { INDEX_MOST = 100000000 };

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool files_several(const char *path, const DumpHints *hints)
{
    return hints->files.count > 1 || text_ends(path, ".index.json") || is_folder(path);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- finding the files ---- */

static Status add_file(Files *f, const char *folder, const char *name)
{
    const char *path = folder ? text_format(f->arena, "%s/%s", folder, name) : name;
    for (size_t i = 0; path && i < f->count; i++)
        if (!strcmp(f->part[i].path, path))
            return OK;
    f->part = items_more(f->part, f->count, &f->room, sizeof *f->part, f->arena);
    TRY(arena_check(path && f->part, f->arena, f->err));
    f->part[f->count++] = (Part){.path = path};
    return OK;
}

/* The files of an index {"weight_map": {TENSOR: FILE, ...}}, which must stand beside it. Sets f->index and f->named. */
static Status add_index(Files *f, const char *path)
{
    const Json *all;
    char *text;
    size_t size;
    if (file_load(&text, &size, path, INDEX_MOST, f->arena, f->err) != OK || json_read(&all, text, size, f->arena, f->err) != OK)
        return error_at(f->err, "%s", path);
    const Json *map = json_member(all, "weight_map");
    const char *name = base_name(path), *folder = name == path ? NULL : text_slice(f->arena, path, (size_t)(name - path) - 1);
    TRY(arena_check(folder || name == path, f->arena, f->err));
    const char *before = "";
    for (const Json *v = map && map->type == JSON_OBJECT ? map->first : NULL; v; before = v->text, v = v->next) {
        if (v->type != JSON_TEXT || !*v->text || strchr(v->text, '/'))
            return FAIL(f->err, ERR_CORRUPT, "%s: %.200s is in no file beside it", path, v->name);
        if (strcmp(v->text, before) != 0) /* tensors of one shard mostly follow each other */
            TRY(add_file(f, folder, v->text));
        f->named++;
    }
    for (size_t i = 0; i < f->count; i++)
        if (access(f->part[i].path, F_OK))
            return FAIL(f->err, ERR_IO, "%s: names %.200s, which is missing beside it", path, base_name(f->part[i].path));
    f->index = path;
    return f->count ? OK : FAIL(f->err, ERR_CORRUPT, "%s: no index of shards, which has files in its \"weight_map\"", path);
}

/* Folders of other programs, told by a file in them. */
static const struct {
    const char *file, *what, *convert;
} foreign[] = {
    {".metadata", "a distributed checkpoint of PyTorch (DCP)",
     "python3 -c 'from torch.distributed.checkpoint.format_utils import dcp_to_torch_save as s; s(\"FOLDER\", \"m.pt\")'; "
     "atomo-bench convert --help has the lines for m.pt"},
    {"_METADATA", "a checkpoint of orbax",
     "python3 -c 'import orbax.checkpoint as o, jax, numpy as n; t = o.PyTreeCheckpointer().restore(\"/FOLDER\"); n.savez(\"m.npz\", "
     "**{jax.tree_util.keystr(k): n.float32(v) for k, v in jax.tree_util.tree_flatten_with_path(t)[0]})'"},
};

static int by_version(const void *left, const void *right)
{
    const Part *a = left, *b = right;
    return strverscmp(a->path, b->path);
}

/* Adds the files of a folder, of which pickles, as of an optimizer, only where there is nothing else; and finds its indexes. */
static Status scan_folder(Files *f, DIR *folder, const char *path, const char **index)
{
    const char *pickle = NULL;
    for (const struct dirent *e; (e = readdir(folder));) {
        const char *at = text_format(f->arena, "%s/%s", path, e->d_name);
        TRY(arena_check(at, f->arena, f->err));
        for (size_t i = 0; i < countof(foreign); i++)
            if (!strcmp(foreign[i].file, e->d_name)) {
                FAIL(f->err, ERR_USAGE, "%s: %s; want HDF5, safetensors, .npz or .npy", path, foreign[i].what);
                return error_hint(f->err, "%s", foreign[i].convert);
            }
        const FileKind kind = *e->d_name == '.' ? FILE_UNKNOWN : file_kind_at(at);
        const bool names = *e->d_name != '.' && text_ends(e->d_name, "safetensors.index.json");
        if (names && *index)
            return FAIL(f->err, ERR_USAGE, "%s and %s: two indexes, want one of them", *index, at);
        if (names)
            *index = at;
        if (kind == FILE_PICKLE)
            pickle = at;
        else if (kind != FILE_UNKNOWN)
            TRY(add_file(f, NULL, at));
    }
    return pickle && !f->count ? add_file(f, NULL, pickle) : OK;
}

/* The files that a folder's index names, or without an index all. */
static Status add_folder(Files *f, const char *path)
{
    const char *index = NULL;
    DIR *folder = opendir(path);
    if (!folder)
        return FAIL(f->err, ERR_IO, "%s: cannot be opened: %s", path, strerror(errno));
    const Status status = scan_folder(f, folder, path, &index);
    closedir(folder);
    TRY(status);
    if (index) {
        f->count = 0;
        return add_index(f, index);
    }
    if (!f->count)
        return FAIL(f->err, ERR_IO, "%s: a directory without HDF5, safetensors, .npz or .npy files", path);
    qsort(f->part, f->count, sizeof *f->part, by_version);
    return OK;
}

/* ---- steps, workers and shards by the names of files ---- */

/* Finds a word and a number behind it, as in "grads_rank0.npz" or "step-000100.npz". */
static bool named_number(const char *name, const char *const *words, int64_t *number)
{
    for (; *words; words++)
        for (const char *at = strcasestr(name, *words); at; at = strcasestr(at + 1, *words)) {
            const char *digits = at + strlen(*words);
            digits += *digits && strchr("_-.=", *digits);
            if ((at == name || !isalpha((unsigned char)at[-1])) && isdigit((unsigned char)*digits)) {
                *number = strtoll(digits, NULL, 10);
                return true;
            }
        }
    return false;
}

/* The last number in a file's name without its ending. */
static int64_t last_number_of(const char *name, int64_t otherwise)
{
    const char *last = NULL, *dot = strrchr(name, '.');
    for (const char *at = name; *at && at != dot; at++)
        if (isdigit((unsigned char)*at) && (at == name || !isdigit((unsigned char)at[-1])))
            last = at;
    return last ? strtoll(last, NULL, 10) : otherwise;
}

/* Shards are called "NAME-00001-of-00003.ENDING". Sets *of to their number; 0: the name is no shard's. */
static int shard_of(const char *name, int *of)
{
    int i, end = 0;
    for (const char *at = strchr(name, '-'); at; at = strchr(at + 1, '-'))
        if (sscanf(at, "-%9d-of-%9d%n", &i, of, &end) == 2 && at[end] == '.')
            return i;
    return *of = 0;
}

static Status check_shards(const Files *f, int of)
{
    int other, from = 1; /* some count from 0 */
    for (size_t i = 0; i < f->count; i++)
        from = shard_of(base_name(f->part[i].path), &other) || !other ? from : 0;
    for (int want = from; want < from + of; want++) {
        bool found = false;
        for (size_t i = 0; i < f->count && !found; i++)
            found = shard_of(base_name(f->part[i].path), &other) == want && other == of;
        if (!found)
            return f->index ? FAIL(f->err, ERR_CORRUPT, "%s: names no shard %d of %d", f->index, want, of)
                            : FAIL(f->err, ERR_IO, "%s: shard %d of %d is missing beside it", f->part[0].path, want, of);
    }
    return OK;
}

/* Gives every file its groups of a step and of a worker. `as`: what the user says of steps and of workers. */
static Status name_groups(Files *f, const int as[2])
{
    static const char *const words[2][6] = {{"step", "iter", "iteration", "it"}, {"rank", "worker"}};
    bool all[2] = {true, true};
    for (int kind = 0; kind < 2; kind++) {
        for (size_t i = 0; i < f->count; i++)
            all[kind] &= named_number(base_name(f->part[i].path), words[kind], &f->part[i].number[kind]) || as[kind];
        all[kind] = all[kind] && (as[kind] || !as[!kind]);
        for (size_t i = 0; all[kind] && i < f->count; i++) {
            Part *p = &f->part[i];
            if (!named_number(base_name(p->path), words[kind], &p->number[kind]))
                p->number[kind] = last_number_of(base_name(p->path), (int64_t)i);
            p->group[kind] = text_format(f->arena, "%s_%0*lld", kind ? "worker" : "step", kind ? 1 : 6, (long long)p->number[kind]);
            TRY(arena_check(p->group[kind], f->arena, f->err));
        }
    }
    f->as = all[0] && all[1] ? "steps and workers" : all[0] ? "steps" : "workers";
    if (all[0] || all[1])
        return OK;
    FAIL(f->err, ERR_USAGE, "%s and %zu other file%s: their names have numbers of neither steps nor workers", f->part[0].path,
         f->count - 1, text_s(f->count - 1));
    return error_hint(f->err, "--steps-as files or --workers-as files; step_100.npz and rank0.npz say so themselves");
}

Status files_find(Files *f, const char *path, Error *err)
{
    const TextList *files = &f->hints.files;
    const bool several = files->count > 1;
    int of;
    f->err = err;
    for (size_t i = 0; several && i < files->count; i++)
        TRY(add_file(f, NULL, files->item[i]));
    if (!several)
        TRY((text_ends(path, ".index.json") ? add_index : add_folder)(f, path));
    f->as = "shards";
    shard_of(base_name(f->part[0].path), &of);
    if (of)
        return check_shards(f, of);
    return f->count > 1 && !f->index ? name_groups(f, (int[]){f->hints.steps_as, f->hints.workers_as}) : OK;
}
