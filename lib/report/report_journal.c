/* report_journal.c -- writes the journal of a run, and reads the journal of an interrupted run
 * (report_journal.h). */
#include "report/report_journal.h"

#include "base/file.h"
#include "base/outfile.h"
#include "measure/timing.h"
#include "report/report_stored.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const double SYNC_PERIOD = 1; /* seconds */

static Status cannot(const Journal *j, const char *what, Error *err)
{
    return FAIL(err, ERR_IO, "%s: cannot %s: %s", j->path, what, strerror(errno));
}

/* ---- writing ---- */

static Status write_all(const Journal *j, const char *data, size_t size, Error *err)
{
    while (size) {
        const ssize_t written = write(j->fd, data, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return cannot(j, "write", err);
        data += written;
        size -= (size_t)written;
    }
    return OK;
}

/* A file system that cannot sync (EINVAL) is no failure. */
Status journal_sync(Journal *j, Error *err)
{
    if (!j->path || j->fd < 0)
        return OK;
    j->synced = clock_now();
    while (fdatasync(j->fd))
        if (errno != EINTR)
            return errno == EINVAL || errno == ENOTSUP ? OK : cannot(j, "write", err);
    return OK;
}

Status journal_add(Journal *j, const char *line, Arena *a, Error *err)
{
    if (!j->path)
        return OK;
    const ArenaMark mark = arena_mark(a);
    const char *whole = text_format(a, "%s\n", line);
    Status status = whole ? write_all(j, whole, strlen(whole), err) : arena_fail(a, err);
    arena_rewind(a, mark);
    j->added += status == OK;
    if (status == OK && clock_now() - j->synced >= SYNC_PERIOD)
        status = journal_sync(j, err);
    return status;
}

static Status begin(Journal *j, const char *first, Arena *a, Error *err)
{
    if (ftruncate(j->fd, 0) || lseek(j->fd, 0, SEEK_SET) < 0)
        return cannot(j, "write", err);
    TRY(journal_add(j, first, a, err));
    j->added = 0; /* the first line is no record */
    TRY(journal_sync(j, err));
    outfile_sync_directory(j->path);
    return OK;
}

/* ---- resuming ---- */

static bool same_value(const Json *v, const Json *w)
{
    if (!v || !w || v->type != w->type)
        return v == w;
    const bool numbers = v->type == JSON_NUMBER && v->number == w->number && v->whole == w->whole;
    const bool texts = v->type == JSON_TEXT && !strcmp(v->text, w->text);
    return numbers || texts || v->type == JSON_NULL || (v->type == JSON_BOOL && v->on == w->on);
}

/* Returns "with NAME VALUE", or "without NAME". */
static const char *shown_setting(char out[200], const char *name, const Json *v)
{
    const bool off =
        !v || v->type == JSON_NULL || (v->type == JSON_BOOL && !v->on) || (v->type == JSON_TEXT && !*v->text);
    const bool text = !off && (v->type == JSON_NUMBER || v->type == JSON_TEXT);
    snprintf(out, 200, "%s %s%s%.100s", off ? "without" : "with", name, text ? " " : "", text ? v->text : "");
    return out;
}

/* Returns the first setting of `is` that `was` does not have; NULL: none. Compares only the settings that this version
 * writes. */
static const Json *first_difference(const Json *was, const Json *is)
{
    const Json *setting = is->first;
    while (setting && same_value(json_member(was, setting->name), setting))
        setting = setting->next;
    return setting;
}

/* The first setting names the kind and version of the journal. Names that begin with -- are options; those that begin
 * with "measured " follow from --metrics and --sort. */
static Status compare_settings(const Journal *j, const Json *was, const Json *is, Error *err)
{
    char then[200], now[200];
    const Json *setting = first_difference(was, is);
    if (!setting)
        return OK;
    const Json *old = json_member(was, setting->name);
    if (setting == is->first) {
        const bool named = old && old->type == JSON_TEXT;
        FAIL(err, ERR_USAGE,
             "%s: is a journal%s%s of another version or command, which cannot be resumed, want %s", j->path,
             named ? " " : "", named ? old->text : "", setting->text);
        return error_hint(err, "remove %s to begin afresh", j->path);
    }
    shown_setting(then, setting->name, old);
    FAIL(err, ERR_USAGE, "%s: was begun %s, but this command runs %s", j->path, then,
         shown_setting(now, setting->name, setting));
    if (!strncmp(setting->name, "measured ", 9))
        return error_hint(
            err, "run the command with the --metrics and --sort of that run, or remove %s to begin afresh",
            j->path);
    const bool option = !strncmp(setting->name, "--", 2);
    return option ? error_hint(err, "run the command %s, or remove %s to begin afresh", then, j->path)
                  : error_hint(err, "remove %s to begin afresh", j->path);
}

/* Truncates the file after its last complete line, and sets `old` to all lines but the first. */
static Status take_lines(Journal *j, char *data, size_t size, const char *settings, Arena *a, Error *err)
{
    size_t lines = 0, number = 0;
    while (size && data[size - 1] != '\n')
        size--;
    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n';
    j->old = NEW(a, const Json *, lines + 1);
    TRY(arena_check(j->old, a, err));
    for (char *line = data, *end; line < data + size; line = end + 1) {
        const Json *v, *is;
        end = memchr(line, '\n', (size_t)(data + size - line));
        if (json_read(&v, line, (size_t)(end - line), a, err) != OK) {
            error_at(err, "%s: line %zu", j->path, number + 1);
            return error_hint(err, "remove %s to begin afresh", j->path);
        }
        if (number++) {
            j->old[j->old_count++] = v;
            continue;
        }
        TRY(json_read(&is, settings, strlen(settings), a, err));
        TRY(compare_settings(j, v, is, err));
    }
    if (ftruncate(j->fd, (off_t)size) || lseek(j->fd, 0, SEEK_END) < 0)
        return cannot(j, "write", err);
    return number ? OK : begin(j, settings, a, err);
}

/* ---- opening ---- */

/* A journal that was cut short in its first line has only some bytes of `head`. */
static bool is_journal(const char *data, size_t size)
{
    static const char head[] = "{\"journal\": \"atomo-";
    return !memcmp(data, head, size < sizeof head - 1 ? size : sizeof head - 1);
}

/* After a loss of power, bytes that had not reached the disk may read as 0. Returns the number of bytes before
 * the first 0. If the first byte is 0, returns 0 for a file of zeros, and `size` for any other file. */
static size_t size_without_zeros(const char *data, size_t size)
{
    const char *zero = size ? memchr(data, 0, size) : NULL;
    if (zero != data)
        return zero ? (size_t)(zero - data) : size;
    for (size_t i = 0; i < size; i++)
        if (data[i])
            return size;
    return 0;
}

static Status refuse(const Journal *j, const char *what, Error *err)
{
    FAIL(err, ERR_IO, "%s: %s, want a journal of this program or no file", j->path, what);
    return error_hint(err, "move it away, or write to another -o FILE");
}

/* Opens and locks the file that `path` leads to at this moment; j->fd is -1 if another run removed it meanwhile. */
static Status try_open(Journal *j, Error *err)
{
    struct stat opened, there;
    j->found = access(j->path, F_OK) == 0;
    j->fd = open(j->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (j->fd < 0 && errno == ELOOP)
        return refuse(j, "is a symbolic link", err);
    if (j->fd < 0)
        return cannot(j, "write", err);
    if (fstat(j->fd, &opened) || !S_ISREG(opened.st_mode))
        return refuse(j, "is no regular file", err);
    /* other errors mean a file system without locks */
    if (flock(j->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        return FAIL(err, ERR_IO, "%s: another run is at work on it", j->path);
    if (!stat(j->path, &there) && there.st_dev == opened.st_dev && there.st_ino == opened.st_ino)
        return OK;
    close(j->fd);
    j->fd = -1;
    return OK;
}

static Status open_locked(Journal *j, Error *err)
{
    enum { ATTEMPTS = 100 };
    for (int i = 0; i < ATTEMPTS; i++) {
        TRY(try_open(j, err));
        if (j->fd >= 0)
            return OK;
    }
    return FAIL(err, ERR_IO, "%s: other runs replace it again and again", j->path);
}

static size_t count_records(const char *data, size_t size)
{
    size_t lines = 0;
    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n';
    return lines ? lines - 1 : 0;
}

/* Refuses to overwrite records. Says what --resume would refuse: a run with other settings. */
static Status keep_records(const Journal *j, size_t records, const char *data, const char *settings, Arena *a,
                           Error *err)
{
    char then[200];
    const Json *was, *is;
    TRY(json_read(&is, settings, strlen(settings), a, err));
    const bool read = json_read(&was, data, strcspn(data, "\n"), a, err) == OK;
    const Json *setting = read ? first_difference(was, is) : NULL;
    if (!setting) {
        FAIL(err, ERR_USAGE, "%s: has %zu record%s of a run that did not end, want --resume or no journal",
             j->path, records, text_s(records));
        return error_hint(err, "--resume continues that run; to begin afresh, remove %s", j->path);
    }
    FAIL(err, ERR_USAGE, "%s: has %zu record%s of another run that did not end, begun %s", j->path, records,
         text_s(records), shown_setting(then, setting->name, json_member(was, setting->name)));
    return error_hint(err,
                      "its own command with --resume continues it; to give it up, remove %s; to keep it, "
                      "write to another -o FILE",
                      j->path);
}

/* Returns true if the path leads through /dev or /proc, as /dev/stdout and links to it do: what is there has no folder of
 * its own in which a journal could stand. */
static bool is_device_path(const char *path, int links)
{
    char folder[PATH_MAX], place[PATH_MAX], to[PATH_MAX];
    const size_t up = path_directory(path);
    snprintf(folder, sizeof folder, "%.*s", (int)up, path);
    if (!realpath(up ? folder : ".", place))
        return false;
    if (!strcmp(place, "/dev") || !strcmp(place, "/dev/pts") || !strncmp(place, "/proc/", 6)) /* /dev/shm has files */
        return true;
    const ssize_t size = readlink(path, to, sizeof to - 1);
    if (size < 0 || links == 0)
        return false;
    to[size] = 0;
    char *next = *to == '/' ? strdup(to) : NULL;
    if (!next && asprintf(&next, "%s/%s", place, to) < 0)
        return false;
    const bool device = next && is_device_path(next, links - 1);
    free(next);
    return device;
}

static bool keeps_journal(const char *output)
{
    struct stat now;
    return output && !is_device_path(output, 40) && (stat(output, &now) || S_ISREG(now.st_mode));
}

Status journal_open(Journal *j, const char *output, bool resume, const Fact *settings, size_t count, Arena *a,
                    Error *err)
{
    *j = (Journal){.fd = -1, .synced = clock_now()};
    if (!keeps_journal(output))
        return OK;
    Column *columns = NEW_ZERO(a, Column, count);
    Value *values = NEW_ZERO(a, Value, count);
    j->path = text_format(a, "%s.journal", output);
    TRY(arena_check(columns && values && j->path, a, err));
    for (size_t i = 0; i < count; i++) {
        columns[i].name = settings[i].name;
        values[i] = settings[i].value;
    }
    const char *first = report_json_row(columns, count, values, a);
    TRY(arena_check(first, a, err));
    char *data = NULL;
    size_t size = 0;
    TRY(open_locked(j, err));
    j->opened = !j->found; /* a new file is removed where a stop ends this function */
    if (file_read(&data, &size, j->fd, SIZE_MAX, a, err) != OK)
        return error_at(err, "%s", j->path);
    size = size_without_zeros(data, size);
    if (!is_journal(data, size))
        return refuse(j, "is no journal", err);
    const size_t records = count_records(data, size);
    if (records && !resume)
        return keep_records(j, records, data, first, a, err);
    j->opened = !records; /* if `begin` fails, journal_close removes the file */
    const Status status = records ? take_lines(j, data, size, first, a, err) : begin(j, first, a, err);
    j->opened |= status == OK;
    return status;
}

bool journal_has_records(const Journal *j)
{
    return j->path && j->added + j->old_count > 0;
}

void journal_close(Journal *j)
{
    Error ignored;
    if (j->opened && !journal_has_records(j)) {
        journal_remove(j);
        return;
    }
    if (j->path && j->fd >= 0) {
        /* a failure is ignored: the records only serve --resume */
        (void)journal_sync(j, &ignored);
        close(j->fd);
    }
    *j = (Journal){.fd = -1};
}

void journal_remove(Journal *j)
{
    if (j->path && j->fd >= 0) {
        unlink(j->path);
        close(j->fd);
    }
    *j = (Journal){.fd = -1};
}

/* ---- turning journal records back into rows ---- */

static Status shape_value(const Json *array, Value *v, Arena *a, Error *err)
{
    size_t dim[RANK_MAX];
    int rank = 0;
    Shape *shape = NEW(a, Shape, 1);
    TRY(arena_check(shape, a, err));
    for (const Json *d = array->first; d; d = d->next) {
        if (rank == RANK_MAX || d->type != JSON_NUMBER || !d->is_whole || d->whole < 0)
            return FAIL(err, ERR_CORRUPT, "%s is no shape", array->name);
        dim[rank++] = (size_t)d->whole;
    }
    if (!shape_make(shape, rank, dim))
        return FAIL(err, ERR_CORRUPT, "%s is no shape", array->name);
    *v = value_shape(shape);
    return OK;
}

Status journal_row(const Json *record, const Column *columns, size_t count, Value *row, Arena *a, Error *err)
{
    for (size_t i = 0; i < count; i++) {
        const Json *v = json_member(record, columns[i].name);
        row[i] = stored_json(v);
        if (v && v->type == JSON_ARRAY)
            TRY(shape_value(v, &row[i], a, err));
    }
    return OK;
}
