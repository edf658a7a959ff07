/* report_folder.c -- lists the files of a folder, and reads each to find out what it is (report_page.h). */
#include "report/report_page.h"

#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- names ---- */

static int by_name(const struct dirent **x, const struct dirent **y)
{
    return strcmp((*x)->d_name, (*y)->d_name);
}

/* Lists the files of the folder except hidden ones and the file `without`, sorted by name. */
static Status list(Folder *f, const char *path, const char *without, Arena *a, Error *err)
{
    struct dirent **found;
    const int count = scandir(path, &found, NULL, by_name);
    if (count < 0)
        return FAIL(err, ERR_IO, "%s: cannot be listed: %s", path, strerror(errno));
    f->entry = NEW(a, Entry, (size_t)count);
    bool full = !f->entry;
    for (int i = 0; i < count; free(found[i++])) {
        const char *name = found[i]->d_name;
        if (full || *name == '.')
            continue;
        Entry *e = &f->entry[f->count];
        *e = (Entry){.name = text_copy(a, name), .path = text_format(a, "%s/%s", path, name)};
        full = !e->name || !e->path;
        f->count += !full && !(without && file_same(e->path, without));
    }
    free(found);
    return full ? arena_fail(a, err) : OK;
}

/* ---- reading one file ---- */

static Status put_damage(Entry *e, Arena *a, Error *err)
{
    /* cuts off the path at the start of the message: the page names the file already */
    const size_t path = strlen(e->path);
    const bool named = !strncmp(err->text, e->path, path) && !strncmp(err->text + path, ": ", 2);
    e->type = ENTRY_DAMAGED;
    e->why = text_copy(a, named ? err->text + path + 2 : err->text);
    return arena_check(e->why, a, err);
}

static Status look_at_result(Folder *f, size_t number, const FolderVisitor *visitor, Arena *a, Error *err)
{
    Entry *e = &f->entry[number];
    Stored s;
    const char *why;
    const Status status = stored_load(&s, e->path, a, err);
    if (status != OK)
        return status == ERR_MEMORY || status == ERR_STOPPED ? status : put_damage(e, a, err);
    e->kind = s.whole ? result_kind(&s, &why) : NULL;
    e->type = e->kind ? ENTRY_RESULT : ENTRY_OTHER;
    e->why = e->kind ? NULL : s.whole ? why : "it has no list of \"results\"";
    return e->kind ? visitor->result(visitor->data, e, number, &s, err) : OK;
}

static Status look_at_figure(Entry *e, const char *head, Arena *a, Error *err)
{
    char *data = NULL;
    size_t size = 0;
    const Status status = file_load(&data, &size, e->path, PICTURE_MOST, a, err);
    if (status == ERR_MEMORY || status == ERR_STOPPED)
        return status;
    const bool good = status == OK && memmem(data, size < 4096 ? size : 4096, head, strlen(head));
    e->type = good ? ENTRY_FIGURE : ENTRY_DAMAGED;
    e->why = good ? NULL : status == OK ? "is not what its name says" : text_copy(a, err->text);
    return good || e->why ? OK : arena_fail(a, err);
}

/* Returns what kind of file it is, if it can be neither a result nor a figure; else NULL. */
static const char *other_kind(const Entry *e, const struct stat *now)
{
    return S_ISDIR(now->st_mode)             ? "a directory"
           : !S_ISREG(now->st_mode)          ? "no regular file"
           : text_ends(e->name, ".plot.csv") ? "the data of a figure"
                                             : NULL;
}

static Status look_at(Folder *f, size_t number, const FolderVisitor *visitor, Arena *a, Error *err)
{
    static const struct {
        const char *ending, *media, *head;
    } pictures[] = {{".svg", "image/svg+xml", "<svg"}, {".png", "image/png", "\x89PNG"}};
    Entry *e = &f->entry[number];
    struct stat now;
    e->type = ENTRY_OTHER;
    e->why = stat(e->path, &now) ? "a link that leads nowhere" : other_kind(e, &now);
    if (e->why)
        return OK;
    if (text_ends(e->name, ".csv") || text_ends(e->name, ".json") || text_ends(e->name, ".part"))
        return look_at_result(f, number, visitor, a, err);
    for (size_t i = 0; i < countof(pictures); i++)
        if (text_ends(e->name, pictures[i].ending)) {
            e->media = pictures[i].media;
            return look_at_figure(e, pictures[i].head, a, err);
        }
    e->why = "no result, and no figure that a page can show";
    return OK;
}

Status folder_read(Folder *out, const char *path, const char *without, const FolderVisitor *visitor, Arena *a,
                   Error *err)
{
    *out = (Folder){0};
    TRY(list(out, path, without, a, err));
    for (size_t i = 0; i < out->count; i++) {
        Entry *e = &out->entry[i];
        Arena *room = arena_open(0);
        if (visitor->stopped && visitor->stopped()) {
            arena_close(room);
            return FAIL(err, ERR_STOPPED, "stopped");
        }
        const Status status = look_at(out, i, visitor, room, err);
        if (status == OK && e->why)
            e->why = text_copy(a, e->why);
        arena_close(room);
        TRY(status);
        out->results += e->type == ENTRY_RESULT;
        out->figures += e->type == ENTRY_FIGURE;
        out->damaged += e->type == ENTRY_DAMAGED;
    }
    return OK;
}
