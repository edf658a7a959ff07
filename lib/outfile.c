/* outfile.c -- see outfile.h. */
#include "outfile.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The path behind symbolic links, which may lead where there is nothing yet. With too many of them it is a
 * link still, which cannot be opened. */
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
        const char *slash = strrchr(at, '/');
        const int directory = slash && *to != '/' ? (int)(slash - at) + 1 : 0;
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
    f->to = fopen(f->target, "we");
    return f->to ? OK : cannot(f, "write", err);
}

/* A new file beside the target, under a name nobody uses; none but its owner sees what is to be no freer. */
static Status open_temporary(OutFile *f, Arena *a, Error *err)
{
    const mode_t mode = f->replaces ? 0600 : 0666;
    const char *slash = strrchr(f->target, '/');
    const int directory = slash ? (int)(slash - f->target) + 1 : 0;
    const char *name = f->target + directory;
    int fd = -1;
    for (int attempt = 0; fd < 0 && attempt < 100; attempt++) {
        f->temporary =
            text_format(a, "%.*s.%.200s.%ld-%d.tmp", directory, f->target, name, (long)getpid(), attempt);
        if (!f->temporary)
            return arena_fail(a, err);
        fd = open(f->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd < 0)
        return cannot(f, "write", err);
    f->to = fdopen(fd, "w");
    if (f->to)
        return OK;
    cannot(f, "write", err);
    close(fd);
    unlink(f->temporary);
    return err->status;
}

Status outfile_open(OutFile *f, const char *path, Arena *a, Error *err)
{
    struct stat now;
    *f = (OutFile){.path = text_copy(a, path), .target = resolve(path, a)};
    if (!f->path || !f->target)
        return arena_fail(a, err);
    f->replaces = stat(f->target, &now) == 0;
    if (!f->replaces && errno == ELOOP)
        return cannot(f, "write", err);
    if (f->replaces && S_ISDIR(now.st_mode))
        return FAIL(err, ERR_IO, "%s: is a directory, want a file", path);
    if (f->replaces && !S_ISREG(now.st_mode))
        return open_in_place(f, err);
    f->mode = f->replaces ? now.st_mode & 07777 : 0;
    return open_temporary(f, a, err);
}

/* The directory entry is on the disk too; some file systems cannot, and that is no failure. */
static void sync_directory(const OutFile *f)
{
    char directory[PATH_MAX];
    const char *slash = strrchr(f->target, '/');
    const size_t length = slash ? (size_t)(slash - f->target) + 1 : 1;
    if (length >= sizeof directory)
        return;
    memcpy(directory, slash ? f->target : ".", length);
    directory[length] = 0;
    const int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}

void outfile_text(OutFile *f, const char *text)
{
    errno = 0;
    if (fputs(text, f->to) == EOF && !f->failed)
        f->failed = errno;
}

Status outfile_commit(OutFile *f, Error *err)
{
    Status status = OK;
    if (f->temporary && f->replaces)
        (void)fchmod(fileno(f->to), f->mode); /* a courtesy */
    errno = 0;
    if (fflush(f->to) || ferror(f->to) || (f->temporary && fsync(fileno(f->to)))) {
        const int why = f->failed ? f->failed : errno;
        status =
            FAIL(err, ERR_IO, "%s: cannot write: %s", f->path, why ? strerror(why) : "some of it was lost");
    }
    if (fclose(f->to) && status == OK)
        status = cannot(f, "write", err);
    f->to = NULL;
    if (status == OK && f->temporary && rename(f->temporary, f->target))
        status = cannot(f, "rename the finished file", err);
    if (status != OK && f->temporary)
        unlink(f->temporary);
    if (status == OK && f->temporary)
        sync_directory(f);
    return status;
}

void outfile_abandon(OutFile *f)
{
    if (!f->to)
        return;
    fclose(f->to);
    f->to = NULL;
    if (f->temporary)
        unlink(f->temporary);
}
