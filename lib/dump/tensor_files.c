/* tensor_files.c -- opens several files and joins their lists of tensors (tensor_files.h). Each file is read by a dump of its own, with
 * its own reader process, of which OPEN_MOST run at a time. */
#include "dump/tensor_files.h"

#include "base/file.h"
#include "base/json.h"
#include "dump/file_kind.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OPEN_MOST = 32, INDEX_MOST = 100000000 };

typedef struct {
    const char *path;
    Dump *dump;   /* NULL: closed now */
    Arena *arena; /* of a dump that was opened again; NULL: the listing's */
    uint64_t used;
    const char *group[2]; /* of a step and of a worker, from the file's name; NULL: none */
    int64_t number[2];
} Part;

struct Files {
    Part *part;
    size_t count, room, open;
    uint64_t clock;
    DumpHints hints;
    const char *as;
    Arena *arena;
    Error *err;
};

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool files_several(const char *path, const DumpHints *hints)
{
    return hints->files.count > 1 || text_ends(path, ".index.json") || is_folder(path);
}

const char *files_path(const Files *f, size_t part)
{
    return f->part[part].path;
}

size_t files_count(const Files *f, const char **as)
{
    *as = f->as;
    return f->count;
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

/* The files of an index {"weight_map": {TENSOR: FILE, ...}}, which must stand beside it. */
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
    }
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

static Status add_folder(Files *f, const char *path)
{
    DIR *folder = opendir(path);
    const char *index = NULL;
    Status status = folder ? OK : FAIL(f->err, ERR_IO, "%s: cannot be opened: %s", path, strerror(errno));
    for (const struct dirent *e; status == OK && (e = readdir(folder));) {
        const char *at = text_format(f->arena, "%s/%s", path, e->d_name);
        for (size_t i = 0; i < countof(foreign); i++)
            if (!strcmp(foreign[i].file, e->d_name)) {
                FAIL(f->err, ERR_USAGE, "%s: %s; want HDF5, safetensors, .npz or .npy", path, foreign[i].what);
                status = error_hint(f->err, "%s", foreign[i].convert);
            }
        if (!at)
            status = arena_fail(f->arena, f->err);
        else if (*e->d_name != '.' && text_ends(e->d_name, ".index.json"))
            index = at;
        else if (*e->d_name != '.' && file_kind_at(at) != FILE_UNKNOWN)
            status = add_file(f, NULL, at);
    }
    if (folder)
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
        if (sscanf(at, "-%5d-of-%5d%n", &i, of, &end) == 2 && at[end] == '.')
            return i;
    return *of = 0;
}

static Status check_shards(const Files *f)
{
    int of, other;
    const char *first = f->part[0].path;
    shard_of(base_name(first), &of);
    for (int want = 1; want <= of; want++) {
        bool found = false;
        for (size_t i = 0; i < f->count && !found; i++)
            found = shard_of(base_name(f->part[i].path), &other) == want && other == of;
        if (!found)
            return FAIL(f->err, ERR_IO, "%s: shard %d of %d is missing beside it", first, want, of);
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

/* ---- opening and joining ---- */

static Status part_open(Files *f, Part *p)
{
    p->used = ++f->clock;
    if (p->dump)
        return OK;
    Part *oldest = NULL;
    for (size_t i = 0; f->open >= OPEN_MOST && i < f->count; i++)
        if (f->part[i].dump && (!oldest || f->part[i].used < oldest->used))
            oldest = &f->part[i];
    if (oldest) {
        dump_close(oldest->dump);
        arena_close(oldest->arena);
        oldest->dump = NULL;
        oldest->arena = NULL;
        f->open--;
    }
    TRY(dump_open_as(&p->dump, p->path, &f->hints, p->arena ? p->arena : f->arena, f->err));
    f->open++;
    return OK;
}

static Status join_group(Listing *l, const char *path, const AttrList *attrs, Error *err)
{
    l->group = items_more(l->group, l->groups, &l->group_room, sizeof *l->group, l->arena);
    TRY(arena_check(l->group, l->arena, err));
    l->group[l->groups++] = (ListedGroup){path, *attrs};
    return OK;
}

/* Adds the groups of a file: those of the first file, and what the names of files make of the root of each. */
static Status join_groups(Files *f, const Part *p, Listing *l)
{
    const AttrList none = {0}, *attrs;
    for (size_t i = 0; p == f->part && i < dump_groups(p->dump); i++) {
        const char *path = dump_group(p->dump, i, &attrs);
        if (!*path || (!p->group[0] && !p->group[1]))
            TRY(join_group(l, path, attrs, f->err));
    }
    const char *both = p->group[0] && p->group[1] ? text_format(l->arena, "%s/%s", p->group[0], p->group[1]) : NULL;
    const char *paths[] = {p->group[0] ? p->group[0] : p->group[1], both};
    for (size_t k = 0; k < countof(paths) && paths[k]; k++) {
        bool known = false;
        for (size_t g = 0; g < l->groups && !known; g++)
            known = !strcmp(l->group[g].path, paths[k]);
        if (!known)
            TRY(join_group(l, paths[k], k || !both ? dump_attrs(p->dump) : &none, f->err));
    }
    return OK;
}

static Status join_tensor(const Files *f, size_t part, size_t place, Listing *l)
{
    const Part *p = &f->part[part];
    Listed t = {.info = *dump_tensor(p->dump, place), .number = l->tensors, .at = NOWHERE, .part = part, .place = place};
    TensorInfo *info = &t.info;
    if (p->group[0] && !info->step_group) {
        info->step_group = p->group[0];
        info->step = p->number[0];
    }
    if (p->group[1] && !info->worker_group) {
        info->worker_group = p->group[1];
        info->worker = p->number[1];
    }
    if (p->group[0] || p->group[1])
        info->path = text_format(l->arena, "%s%s%s%s%s", info->step_group ? info->step_group : "", info->step_group ? "/" : "",
                                 info->worker_group ? info->worker_group : "", info->worker_group ? "/" : "", info->name);
    l->tensor = items_more(l->tensor, l->tensors, &l->tensor_room, sizeof t, l->arena);
    TRY(arena_check(l->tensor && info->path, l->arena, f->err));
    l->tensor[l->tensors++] = t;
    return OK;
}

static int by_path(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static Status check_twins(const Files *f, const Listing *l)
{
    const char **path = NEW(l->arena, const char *, l->tensors);
    TRY(arena_check(path, l->arena, f->err));
    for (size_t i = 0; i < l->tensors; i++)
        path[i] = l->tensor[i].info.path;
    qsort(path, l->tensors, sizeof *path, by_path);
    for (size_t i = 1; i < l->tensors; i++)
        if (!strcmp(path[i - 1], path[i]))
            return FAIL(f->err, ERR_CORRUPT, "%s and others: two tensors of the name %.200s", f->part[0].path, path[i]);
    return OK;
}

static Status join(Files *f, Listing *l)
{
    for (size_t k = 0; k < f->count; k++) {
        Part *p = &f->part[k];
        TRY(part_open(f, p));
        const LeftOut *out = dump_left_out(p->dump);
        l->skipped += dump_skipped(p->dump);
        if (!l->left_out.count)
            l->left_out = (LeftOut){.type = out->type, .path = out->path};
        l->left_out.count += out->count;
        l->left_out.elements += out->elements;
        TRY(join_groups(f, p, l));
        for (size_t i = 0; i < dump_count(p->dump); i++)
            TRY(join_tensor(f, k, i, l));
    }
    TRY(check_twins(f, l));
    return listing_join(l, f->err);
}

Status files_open(Files **out, const char *path, Listing *l, Error *err)
{
    const TextList *files = &l->hints.files;
    Files *f = *out = NEW_ZERO(l->arena, Files, 1);
    TRY(arena_check(f, l->arena, err));
    f->arena = l->arena;
    f->err = err;
    f->hints = l->hints;
    f->hints.files = (TextList){0};
    for (size_t i = 0; i < files->count && files->count > 1; i++)
        TRY(add_file(f, NULL, files->item[i]));
    if (files->count <= 1)
        TRY((text_ends(path, ".index.json") ? add_index : add_folder)(f, path));
    int of;
    f->as = "shards";
    const bool index = files->count <= 1 && text_ends(path, ".index.json");
    if (shard_of(base_name(f->part[0].path), &of))
        TRY(check_shards(f));
    else if (f->count > 1 && !index)
        TRY(name_groups(f, (int[]){l->hints.steps_as, l->hints.workers_as}));
    const Status status = join(f, l);
    f->err = NULL;
    return status;
}

void files_close(Files *f)
{
    for (size_t i = 0; f && i < f->count; i++) {
        dump_close(f->part[i].dump);
        arena_close(f->part[i].arena);
    }
}

Status files_read(Files *f, size_t part, size_t place, float *x, Error *err)
{
    Part *p = &f->part[part];
    f->err = err;
    if (!p->dump && !p->arena)
        p->arena = arena_open(0); /* the first listing stays, as tensors point into it */
    TRY(part_open(f, p));
    if (place >= dump_count(p->dump))
        return FAIL(err, ERR_IO, "%s: was changed while it was read", p->path);
    return dump_read(p->dump, place, x, err);
}
