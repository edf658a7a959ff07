/* file.c -- reads a whole file. */
#include "base/file.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static Status too_large(size_t most, Error *err)
{
    return FAIL(err, ERR_CORRUPT, "is larger than %zu MB", most >> 20);
}

Status file_read(char **data, size_t *size, int fd, size_t most, Arena *a, Error *err)
{
    TextBuf all = {.arena = a};
    char piece[1 << 14];
    struct stat now;
    if (!fstat(fd, &now) && S_ISREG(now.st_mode)) {
        if ((uint64_t)now.st_size > most)
            return too_large(most, err);
        /* allocate the file's size at once: a buffer that grows step by step takes three times the memory */
        text_reserve(&all, (size_t)now.st_size);
    }
    for (ssize_t got; (got = read(fd, piece, sizeof piece)) != 0;) {
        if (got < 0 && errno != EINTR)
            return FAIL(err, ERR_IO, "cannot read: %s", strerror(errno));
        text_add_bytes(&all, piece, got > 0 ? (size_t)got : 0);
        if (all.size > most)
            return too_large(most, err);
    }
    *data = text_done(&all);
    *size = all.size;
    return arena_check(*data, a, err);
}

Status file_load(char **data, size_t *size, const char *path, size_t most, Arena *a, Error *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return FAIL(err, ERR_IO, "cannot open: %s", strerror(errno));
    const Status status = file_read(data, size, fd, most, a, err);
    close(fd);
    return status;
}

bool file_same(const char *path, const char *other)
{
    struct stat one, two;
    return stat(path, &one) == 0 && stat(other, &two) == 0 && one.st_dev == two.st_dev &&
           one.st_ino == two.st_ino;
}
