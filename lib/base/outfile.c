/* outfile.c -- files that appear whole or not at all. */
#include "base/outfile.h"
#include "base/file.h"
#include "base/outfile_leftover.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

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

bool outfile_same(const char *path, const char *other, Arena *a)
{
    if (access(path, F_OK) == 0 || access(other, F_OK) == 0)
        return file_same(path, other);
    char *one = resolve(path, a), *two = resolve(other, a);
    if (!one || !two)
        return false;
    const size_t up_one = path_directory(one), up_two = path_directory(two);
    if (strcmp(one + up_one, two + up_two) != 0)
        return false;
    one[up_one] = two[up_two] = 0;
    return file_same(up_one ? one : ".", up_two ? two : ".");
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

enum { ATTEMPTS = 100 };

void (*outfile_naming)(void);

/* ---- the temporary files that have a name ---- */

enum { NAMED_MOST = 16 }; /* further ones remain if the process ends at once */

static struct {
    pthread_mutex_t lock;
    const char *name[NAMED_MOST]; /* NULL: free */
} named = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Replaces the entry `was` by `now`, under the lock. */
static void replace_named(const char *was, const char *now)
{
    for (size_t i = 0; i < NAMED_MOST; i++)
        if (named.name[i] == was) {
            named.name[i] = now;
            break;
        }
}

static void exchange_named(const char *was, const char *now)
{
    pthread_mutex_lock(&named.lock);
    replace_named(was, now);
    pthread_mutex_unlock(&named.lock);
}

static bool is_named(const char *path)
{
    bool found = false;
    pthread_mutex_lock(&named.lock);
    for (size_t i = 0; i < NAMED_MOST; i++)
        found |= named.name[i] && !strcmp(named.name[i], path);
    pthread_mutex_unlock(&named.lock);
    return found;
}

/* Empties an abandoned file. ext4 writes the bytes of a file that was emptied when it was opened to the disk when it is
 * closed, even if it has no name any more: seconds for a large one. A failure only costs this time. */
static void empty_file(const char *path)
{
    struct stat now;
    const int fd = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return;
    const bool ours = !fstat(fd, &now) && S_ISREG(now.st_mode) && now.st_nlink == 1;
    const int failed = ours ? ftruncate(fd, 0) : 0;
    (void)failed;
    close(fd);
}

void outfile_empty(const OutFile *f)
{
    if (f->temporary && !f->nameless)
        empty_file(f->temporary);
}

static void remove_temporary(const OutFile *f)
{
    if (!f->temporary || f->nameless)
        return;
    exchange_named(f->temporary, NULL);
    unlink(f->temporary);
}

void outfile_abandon_all(void)
{
    pthread_mutex_lock(&named.lock);
    for (size_t i = 0; i < NAMED_MOST; i++)
        if (named.name[i]) {
            empty_file(named.name[i]);
            unlink(named.name[i]);
        }
}

static int open_named(OutFile *f, mode_t mode, char name[PATH_MAX])
{
    int fd = -1;
    for (int attempt = 0; fd < 0 && attempt < ATTEMPTS; attempt++) {
        leftover_name(f->target, attempt, name);
        fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    return fd;
}

/* Opens a temporary file without a name, and writes its path /proc/self/fd/N to `name`. Returns -1 when the
 * file system has no files without a name. */
static int open_nameless(OutFile *f, mode_t mode, char name[PATH_MAX])
{
    snprintf(name, PATH_MAX, "%.*s", (int)path_directory(f->target), f->target);
    const int fd = open(*name ? name : ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
    if (fd < 0)
        return fd;
    snprintf(name, PATH_MAX, "/proc/self/fd/%d", fd);
    f->nameless = !access(name, F_OK);
    if (f->nameless)
        return fd;
    close(fd);
    return -1;
}

/* Opens a temporary file in the target's directory. If the temporary file will replace an existing file, only
 * the owner may read it until outfile_commit gives it the existing file's permissions. A file that the caller
 * opens by its name is not locked: HDF5 locks it itself. */
static Status open_temporary(OutFile *f, bool wants_name, Arena *a, Error *err)
{
    const mode_t mode = f->replaces ? 0600 : 0666;
    char name[PATH_MAX];
    int fd = wants_name ? -1 : open_nameless(f, mode, name);
    leftover_sweep(f->target, is_named);
    if (fd < 0)
        fd = open_named(f, mode, name);
    if (fd < 0)
        return cannot(f, "write", err);
    if (!wants_name)
        (void)flock(fd, LOCK_EX | LOCK_NB); /* tells leftover_sweep that the file has a writer */
    f->temporary = text_copy(a, name);
    f->to = f->temporary ? fdopen(fd, "w") : NULL;
    if (f->to && !f->nameless)
        exchange_named(NULL, f->temporary);
    if (f->to)
        return OK;
    if (f->temporary)
        cannot(f, "write", err);
    else
        arena_fail(a, err);
    close(fd);
    if (!f->nameless)
        unlink(name);
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
    return open_temporary(f, wants_name, a, err);
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
    if (file_put(data, size, f->to) != size && !f->failed)
        f->failed = errno;
}

void outfile_sync(OutFile *f)
{
    enum { AHEAD = 4 }; /* pieces that the disk may write meanwhile */
    const unsigned whole = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    struct stat now;
    if (f->failed)
        return;
    if (fflush(f->to))
        f->failed = errno;
    if (!f->temporary || f->failed || fstat(fileno(f->to), &now))
        return;
    for (off_t at = 0; now.st_size - at > FILE_PIECE; at += FILE_PIECE) {
        const int fd = fileno(f->to);
        (void)sync_file_range(fd, at, AHEAD * FILE_PIECE, SYNC_FILE_RANGE_WRITE);
        if (!sync_file_range(fd, at, FILE_PIECE, whole))
            continue;
        if (errno == EIO || errno == ENOSPC || errno == EDQUOT)
            f->failed = errno; /* fsync does not report it again */
        return;                /* without this call, fsync does it all */
    }
}

static bool sync_file(OutFile *f)
{
    outfile_sync(f);
    errno = f->failed;
    if (f->failed)
        return false;
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
    if (!fflush(f->to) && !ferror(f->to) && (!f->temporary || sync_file(f)))
        return OK;
    const int why = f->failed ? f->failed : errno;
    return FAIL(err, ERR_IO, "%s: cannot write: %s", f->path, why ? strerror(why) : "some of it was lost");
}

/* Gives the file without a name, open as `fd`, the target's name if no file has it, else a temporary name. Writes
 * this name to `name`. Returns false with errno set. */
static bool give_name(const OutFile *f, int fd, char name[PATH_MAX])
{
    char from[32];
    snprintf(from, sizeof from, "/proc/self/fd/%d", fd);
    snprintf(name, PATH_MAX, "%s", f->target);
    if (!f->replaces && !linkat(AT_FDCWD, from, AT_FDCWD, name, AT_SYMLINK_FOLLOW))
        return true;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        leftover_name(f->target, attempt, name);
        if (!linkat(AT_FDCWD, from, AT_FDCWD, name, AT_SYMLINK_FOLLOW))
            return true;
        if (errno != EEXIST)
            break;
    }
    return false;
}

/* Renames the file to the target. outfile_abandon_all waits meanwhile, so that no temporary name is left. On
 * failure removes the file. */
static Status publish(const OutFile *f, int fd, Error *err)
{
    char given[PATH_MAX];
    Status status = OK;
    if (outfile_naming)
        outfile_naming();
    pthread_mutex_lock(&named.lock);
    const char *name = f->nameless ? given : f->temporary;
    if (f->nameless && !give_name(f, fd, given))
        status = cannot(f, "name the finished file", err);
    else if (strcmp(name, f->target) && rename(name, f->target)) {
        status = cannot(f, "rename the finished file", err);
        unlink(name);
    }
    if (!f->nameless)
        replace_named(f->temporary, NULL);
    pthread_mutex_unlock(&named.lock);
    return status;
}

/* Keeps a descriptor of the file while it is closed: the file's lock, and a file without a name, last as long. */
static Status commit_temporary(OutFile *f, Error *err)
{
    /* a file that the caller opened by its name has no lock of this program yet; the caller has closed it */
    (void)flock(fileno(f->to), LOCK_EX | LOCK_NB);
    Status status = flush(f, err);
    const int fd = status == OK ? fcntl(fileno(f->to), F_DUPFD_CLOEXEC, 3) : -1;
    if (status == OK && fd < 0)
        status = cannot(f, "write", err);
    if (status != OK) {
        outfile_abandon(f);
        return status;
    }
    const bool closed = fclose(f->to) == 0;
    f->to = NULL;
    status = closed ? publish(f, fd, err) : cannot(f, "write", err);
    if (!closed)
        remove_temporary(f);
    else if (status == OK)
        outfile_sync_directory(f->target);
    close(fd);
    return status;
}

Status outfile_commit(OutFile *f, Error *err)
{
    if (f->temporary)
        return commit_temporary(f, err);
    Status status = flush(f, err);
    if (fclose(f->to) && status == OK)
        status = cannot(f, "write", err);
    f->to = NULL;
    return status;
}

void outfile_abandon(OutFile *f)
{
    if (!f->to)
        return;
    fclose(f->to);
    f->to = NULL;
    remove_temporary(f);
}

Status outfile_save(const char *path, const void *data, size_t size, Arena *a, Error *err)
{
    OutFile out;
    TRY(outfile_open(&out, path, a, err));
    outfile_bytes(&out, data, size);
    return outfile_commit(&out, err);
}
