/* outfile.c -- files that appear whole or not at all. */
#include "base/outfile.h"
#include "base/file.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

size_t path_directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Follows symbolic links from `path` and returns the path that they lead to; no file need exist there. After
 * LINKS_MAX links, returns the next link itself. */
static char *resolve(const char *path, Arena *a)
{
    enum { LINKS_MAX = 40 };
    char to[PATH_MAX];
    char *at = text_copy(a, realpath(path, to) ? to : path);
    for (int i = 0; at && i < LINKS_MAX; i++) {
        const ssize_t size = readlink(at, to, sizeof to - 1);
        if (size < 0)
            break;
        to[size] = 0;
        const int directory = *to == '/' ? 0 : (int)path_directory(at);
        at = text_format(a, "%.*s%s", directory, at, to);
    }
    return at;
}

static Status cannot(const OutFile *f, const char *what, Error *err)
{
    return FAIL(err, ERR_IO, "%s: cannot %s: %s", f->path, what, strerror(errno));
}

static Status open_in_place(OutFile *f, Error *err)
{
    const int fd = file_open_pipe(f->target, O_WRONLY | O_TRUNC);
    if (fd < 0 && errno == EINTR)
        return FAIL(err, ERR_STOPPED, "%s: stopped before a reader came", f->path);
    f->to = fd < 0 ? NULL : fdopen(fd, "w");
    return f->to ? OK : cannot(f, "write", err);
}

bool outfile_is_stdout(const char *path)
{
    static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
    for (size_t i = 0; i < countof(names); i++)
        if (!strcmp(path, names[i]))
            return true;
    return false;
}

static Status open_stdout(OutFile *f, Arena *a, Error *err)
{
    *f = (OutFile){.path = text_copy(a, "standard output")};
    TRY(arena_check(f->path, a, err));
    fflush(stdout);
    const int fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    f->to = fd < 0 ? NULL : fdopen(fd, "w");
    if (!f->to && errno == EINVAL)
        errno = EBADF; /* stdout is closed, or open for reading only */
    return f->to ? OK : cannot(f, "write", err);
}

/* ---- the temporary files that exist ---- */

enum { NAMED_MOST = 16 }; /* further ones remain if the process ends at once */

static const char *_Atomic named[NAMED_MOST]; /* NULL: free; a signal handler reads them */

static void exchange_named(const char *was, const char *now)
{
    for (size_t i = 0; i < NAMED_MOST; i++) {
        const char *expected = was;
        if (atomic_compare_exchange_strong(&named[i], &expected, now))
            return;
    }
}

void outfile_abandon_all(void)
{
    for (size_t i = 0; i < NAMED_MOST; i++)
        if (named[i])
            unlink(named[i]);
}

static void remove_temporary(const OutFile *f)
{
    unlink(f->temporary);
    exchange_named(f->temporary, NULL);
}

/* Opens the temporary file, which a killed process of the same number may have left. If it will replace an existing file, only
 * the owner may read it until outfile_commit gives it the existing file's permissions. */
static Status open_temporary(OutFile *f, Arena *a, Error *err)
{
    const int up = (int)path_directory(f->target), flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    const mode_t mode = f->replaces ? 0600 : 0666;
    f->temporary = text_format(a, "%.*s.%.200s.%ld.tmp", up, f->target, f->target + up, (long)getpid());
    TRY(arena_check(f->temporary, a, err));
    int fd = open(f->temporary, flags, mode);
    if (fd < 0 && errno == EEXIST && !unlink(f->temporary))
        fd = open(f->temporary, flags, mode);
    f->to = fd < 0 ? NULL : fdopen(fd, "w");
    if (f->to) {
        exchange_named(NULL, f->temporary);
        return OK;
    }
    cannot(f, "write", err);
    if (fd >= 0) {
        close(fd);
        unlink(f->temporary);
    }
    return err->status;
}

static Status open_file(OutFile *f, const char *path, bool wants_name, Arena *a, Error *err)
{
    struct stat now;
    if (outfile_is_stdout(path))
        return open_stdout(f, a, err);
    *f = (OutFile){.path = text_copy(a, path), .target = resolve(path, a)};
    TRY(arena_check(f->path && f->target, a, err));
    f->replaces = stat(f->target, &now) == 0;
    if (!f->replaces && errno == ELOOP)
        return cannot(f, "write", err);
    if (f->replaces && S_ISDIR(now.st_mode))
        return FAIL(err, ERR_IO, "%s: is a directory, want a file", path);
    if (f->replaces && !S_ISREG(now.st_mode))
        return wants_name ? OK : open_in_place(f, err);
    f->mode = f->replaces ? now.st_mode & 07777 : 0;
    return open_temporary(f, a, err);
}

Status outfile_open(OutFile *f, const char *path, Arena *a, Error *err)
{
    return open_file(f, path, false, a, err);
}

Status outfile_open_named(OutFile *f, const char *path, Arena *a, Error *err)
{
    return open_file(f, path, true, a, err);
}

Status outfile_check(const char *path, Arena *a, Error *err)
{
    OutFile f;
    struct stat now;
    if (outfile_is_stdout(path))
        return OK;
    if (stat(path, &now) == 0 && !S_ISREG(now.st_mode) && !S_ISDIR(now.st_mode))
        return OK;
    TRY(outfile_open(&f, path, a, err));
    outfile_abandon(&f);
    return OK;
}

void outfile_sync_directory(const char *path)
{
    char directory[PATH_MAX];
    const size_t length = path_directory(path);
    if (length >= sizeof directory)
        return;
    memcpy(directory, path, length);
    directory[length] = 0;
    const int fd = open(length ? directory : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}

void outfile_bytes(OutFile *f, const void *data, size_t size)
{
    errno = 0;
    if (fwrite(data, 1, size, f->to) != size && !f->failed)
        f->failed = errno;
}

static bool sync_file(const OutFile *f)
{
    while (fsync(fileno(f->to)))
        if (errno != EINTR)
            return false;
    return true;
}

static Status flush(OutFile *f, Error *err)
{
    if (f->temporary && f->replaces)
        (void)fchmod(fileno(f->to), f->mode); /* if fchmod fails, the file keeps mode 0600 */
    errno = 0;
    if (!f->failed && !fflush(f->to) && !ferror(f->to) && (!f->temporary || sync_file(f)))
        return OK;
    const int why = f->failed ? f->failed : errno;
    return FAIL(err, ERR_IO, "%s: cannot write: %s", f->path, why ? strerror(why) : "some of it was lost");
}

Status outfile_commit(OutFile *f, Error *err)
{
    Status status = flush(f, err);
    if (fclose(f->to) && status == OK)
        status = cannot(f, "write", err);
    f->to = NULL;
    if (!f->temporary)
        return status;
    if (status == OK && rename(f->temporary, f->target))
        status = cannot(f, "rename the finished file", err);
    if (status != OK) {
        remove_temporary(f);
        return status;
    }
    exchange_named(f->temporary, NULL);
    outfile_sync_directory(f->target);
    return OK;
}

void outfile_abandon(OutFile *f)
{
    if (!f->to)
        return;
    fclose(f->to);
    f->to = NULL;
    if (f->temporary)
        remove_temporary(f);
}

Status outfile_save(const char *path, const void *data, size_t size, Arena *a, Error *err)
{
    OutFile out;
    TRY(outfile_open(&out, path, a, err));
    outfile_bytes(&out, data, size);
    return outfile_commit(&out, err);
}
