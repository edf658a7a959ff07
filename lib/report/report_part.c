/* report_part.c -- keeps the finished records of a run, and reads those of an interrupted run (report_part.h). */
#include "report/report_part.h"

#include "base/file.h"
#include "base/outfile.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static Status cannot_write(const Part *p, Error *err)
{
    return FAIL(err, ERR_IO, "%s: cannot write: %s", p->path, strerror(errno));
}

/* ---- writing ---- */

static Status write_all(const Part *p, const char *data, size_t size, Error *err)
{
    while (size) {
        const ssize_t written = write(p->fd, data, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return cannot_write(p, err);
        data += written;
        size -= (size_t)written;
    }
    return OK;
}

Status part_add(Part *p, const char *line, Arena *a, Error *err)
{
    if (!p->path)
        return OK;
    const ArenaMark mark = arena_mark(a);
    const size_t size = strlen(line);
    char *whole = text_slice(a, line, size + 1);
    TRY(arena_check(whole, a, err));
    whole[size] = '\n'; /* in place of the line's NUL */
    const Status status = write_all(p, whole, size + 1, err);
    arena_rewind(a, mark);
    p->added += status == OK;
    return status;
}

/* A file system that cannot sync (EINVAL) is no failure. */
Status part_sync(Part *p, Error *err)
{
    while (p->path && fdatasync(p->fd))
        if (errno != EINTR)
            return errno == EINVAL || errno == ENOTSUP ? OK : cannot_write(p, err);
    return OK;
}

/* Cuts off what is behind the records that were there. */
static Status cut(const Part *p, Error *err)
{
    const size_t end = p->count ? p->end[p->count - 1] : p->head;
    return ftruncate(p->fd, (off_t)end) || lseek(p->fd, 0, SEEK_END) < 0 ? cannot_write(p, err) : OK;
}

Status part_keep(Part *p, size_t count, Error *err)
{
    if (count >= p->count)
        return OK;
    assert(!p->added);
    p->count = count;
    return cut(p, err);
}

static Status begin(Part *p, const char *head, Arena *a, Error *err)
{
    p->head = p->count = 0;
    TRY(cut(p, err));
    p->head = strlen(head) + 1;
    TRY(part_add(p, head, a, err));
    p->added = 0; /* the first line is no record */
    TRY(part_sync(p, err));
    outfile_sync_directory(p->path);
    return OK;
}

/* ---- reading ---- */

bool part_line(const Json **out, const char *data, size_t size, size_t *at, Arena *a, Error *err)
{
    const char *line = data + *at, *end = *at < size ? memchr(line, '\n', size - *at) : NULL;
    err->status = OK;
    if (!end)
        return false;
    if (json_read(out, line, (size_t)(end - line), a, err) != OK) {
        err->status = err->status == ERR_CORRUPT ? OK : err->status;
        return false;
    }
    *at = (size_t)(end - data) + 1;
    return (*out)->type == JSON_OBJECT;
}

static Status read_records(Part *p, const char *data, size_t size, Arena *a, Error *err)
{
    size_t lines = 0, at = p->head;
    for (size_t i = at; i < size; i++)
        lines += data[i] == '\n';
    p->record = NEW(a, const Json *, lines + 1);
    p->end = NEW(a, size_t, lines + 1);
    TRY(arena_check(p->record && p->end, a, err));
    while (part_line(&p->record[p->count], data, size, &at, a, err))
        p->end[p->count++] = at;
    return err->status == OK ? OK : error_at(err, "%s", p->path);
}

/* A file whose first line is incomplete has only some bytes of `head`. */
static bool is_part(const char *data, size_t size)
{
    static const char head[] = "{\"part\": \"atomo-";
    return !memcmp(data, head, size < sizeof head - 1 ? size : sizeof head - 1);
}

enum { SHOWN = 100 }; /* bytes of a value */

static const char *shown(const Json *v)
{
    if (v && v->type == JSON_BOOL)
        return v->on ? "yes" : "no";
    return v && v->text && *v->text ? v->text : "none";
}

/* Where two values begin to differ, at the start of a word; 0 for values that are shown whole. */
static size_t apart(const char *v, const char *w)
{
    size_t word = 0;
    for (size_t at = 0; v[at] && v[at] == w[at]; at++)
        word = v[at] == ' ' ? at + 1 : word;
    return strlen(v) <= SHOWN && strlen(w) <= SHOWN ? 0 : word;
}

char *part_difference(const Json *there, const Json *here, Arena *a)
{
    TextBuf out = {.arena = a};
    for (const Json *v = here->first; v; v = v->next) {
        const char *was = shown(json_member(there, v->name)), *is = shown(v);
        const size_t from = apart(was, is);
        const char *cut = from ? "..." : "";
        if (strcmp(was, is) != 0)
            text_addf(&out, "%s%s (%s%.*s there, %s%.*s here)", out.size ? ", " : "", v->name, cut, SHOWN, was + from, cut,
                      SHOWN, is + from);
    }
    return text_done(&out);
}

/* Refuses the records of a run with other settings, and those of any run without --resume. */
static Status check_records(const Part *p, const PartSpec *spec, const Json *was, const char *head, Arena *a, Error *err)
{
    const Json *is;
    TRY(json_read(&is, head, strlen(head), a, err));
    const char *other = part_difference(was, is, a);
    TRY(arena_check(other, a, err));
    if (*other) {
        FAIL(err, ERR_USAGE, "%s: has records of another run: %s", p->path, other);
        return error_hint(err, "give the options of that run, or begin afresh: %s --force", spec->command);
    }
    if (spec->resume)
        return OK;
    FAIL(err, ERR_USAGE, "%s: has %zu record%s of a run that did not end%s%s%s", p->path, p->count, text_s(p->count),
         spec->lasting ? "; to continue it: " : "", spec->lasting ? spec->command : "", spec->lasting ? " --resume" : "");
    return error_hint(err, "to begin afresh: %s --force", spec->command);
}

/* ---- opening ---- */

static Status refuse(const Part *p, const char *what, Error *err)
{
    FAIL(err, ERR_IO, "%s: %s, want a file of records or none", p->path, what);
    return error_hint(err, "move it away, or write to another -o FILE");
}

/* The file may be removed by a run that ends, between opening and locking it. */
static Status open_locked(Part *p, Error *err)
{
    struct stat now = {0};
    while (now.st_nlink == 0) {
        if (p->fd >= 0)
            close(p->fd);
        p->fd = open(p->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
        if (p->fd < 0 && errno == ELOOP)
            return refuse(p, "is a symbolic link", err);
        if (p->fd < 0)
            return cannot_write(p, err);
        /* other errors mean a file system without locks */
        if (flock(p->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
            return FAIL(err, ERR_IO, "%s: another run is at work on it", p->path);
        if (fstat(p->fd, &now) || !S_ISREG(now.st_mode))
            return refuse(p, "is no regular file", err);
    }
    return OK;
}

static bool is_kept(const char *output)
{
    char folder[PATH_MAX], place[PATH_MAX];
    struct stat now;
    if (!output)
        return false;
    const int up = (int)path_directory(output);
    snprintf(folder, sizeof folder, "%.*s", up ? up : 1, up ? output : ".");
    if (realpath(folder, place) && (!strcmp(place, "/dev") || !strncmp(place, "/proc/", 6))) /* /dev/shm has files */
        return false;
    return stat(output, &now) || S_ISREG(now.st_mode);
}

char *part_head(const Fact *setting, size_t count, Arena *a)
{
    Column *column = NEW_ZERO(a, Column, count);
    Value *value = NEW(a, Value, count);
    for (size_t i = 0; column && value && i < count; i++) {
        column[i].name = setting[i].name;
        value[i] = setting[i].value;
    }
    return column && value ? report_json_row(column, count, value, a) : NULL;
}

Status part_open(Part *p, const PartSpec *spec, Arena *a, Error *err)
{
    char *data;
    size_t size;
    const Json *was = NULL;
    *p = (Part){.fd = -1};
    if (!is_kept(spec->output))
        return OK;
    p->path = text_format(a, "%s.part", spec->output);
    const char *head = part_head(spec->setting, spec->settings, a);
    TRY(arena_check(p->path && head, a, err));
    TRY(open_locked(p, err));
    if (file_read(&data, &size, p->fd, SIZE_MAX, a, err) != OK)
        return error_at(err, "%s", p->path);
    if (spec->force)
        return begin(p, head, a, err);
    if (!is_part(data, size))
        return refuse(p, "is something else", err);
    if (part_line(&was, data, size, &p->head, a, err))
        TRY(read_records(p, data, size, a, err));
    TRY(err->status);
    if (!p->count)
        return begin(p, head, a, err);
    TRY(check_records(p, spec, was, head, a, err));
    return cut(p, err);
}

bool part_ended(const char *output, const char *input)
{
    struct stat is, of = {0};
    if (!is_kept(output) || stat(output, &is) || !is.st_size || (input && stat(input, &of)))
        return false;
    const int older = is.st_mtim.tv_sec == of.st_mtim.tv_sec ? is.st_mtim.tv_nsec < of.st_mtim.tv_nsec
                                                             : is.st_mtim.tv_sec < of.st_mtim.tv_sec;
    char part[PATH_MAX];
    snprintf(part, sizeof part, "%s.part", output);
    return !older && access(part, F_OK) != 0;
}

/* ---- closing ---- */

bool part_has_records(const Part *p)
{
    return p->path && p->count + p->added > 0;
}

void part_close(Part *p)
{
    /* a file that this run did not take up stays as it is: it may be another run's */
    if (p->path && p->fd >= 0 && !p->count && !p->added && p->head)
        unlink(p->path);
    if (p->fd >= 0)
        close(p->fd);
    *p = (Part){.fd = -1};
}

void part_remove(Part *p)
{
    p->count = p->added = 0;
    p->head = 1;
    part_close(p);
}
