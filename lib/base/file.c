/* file.c -- reads a whole file. */
#include "base/file.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool (*file_stopped)(void);

enum { MOMENT_MS = 50 };

static bool stopped(void)
{
    return file_stopped && file_stopped();
}

/* Waits until there are bytes to read, or all writers have ended. A signal does not end a read that waits: its handler may
 * have it restarted, or the signal may come just before it. */
static Status wait_for_bytes(int fd, Error *err)
{
    struct pollfd in = {.fd = fd, .events = POLLIN};
    for (int ready = 0; ready == 0 || (ready < 0 && errno == EINTR); ready = poll(&in, 1, MOMENT_MS))
        if (stopped())
            return FAIL(err, ERR_STOPPED, "stopped");
    return OK;
}

static bool is_pipe(const char *path)
{
    struct stat now;
    return !stat(path, &now) && S_ISFIFO(now.st_mode);
}

int file_open_pipe(const char *path, int flags)
{
    for (;;) {
        const int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK);
        if (fd >= 0) {
            fcntl(fd, F_SETFL, flags);
            return fd;
        }
        if (errno != ENXIO || !is_pipe(path)) /* ENXIO: no reader yet */
            return fd;
        if (stopped()) {
            errno = EINTR;
            return -1;
        }
        poll(NULL, 0, MOMENT_MS);
    }
}

static Status too_large(size_t most, Error *err)
{
    return FAIL(err, ERR_CORRUPT, "is larger than %zu MB", most >> 20);
}

/* A pipe may have no end, and a device such as /dev/zero has none. */
static size_t stream_most(const struct stat *now)
{
    enum { DEVICE_MOST = 1 << 20, PIPE_MOST = 1 << 30 };
    return S_ISFIFO(now->st_mode) || S_ISSOCK(now->st_mode) ? PIPE_MOST : DEVICE_MOST;
}

Status file_read(char **data, size_t *size, int fd, size_t most, Arena *a, Error *err)
{
    TextBuf all = {.arena = a};
    char piece[1 << 14];
    struct stat now = {0};
    const bool regular = !fstat(fd, &now) && S_ISREG(now.st_mode);
    if (!regular && most > stream_most(&now))
        most = stream_most(&now);
    if (regular) {
        if ((uint64_t)now.st_size > most)
            return too_large(most, err);
        /* allocate the file's size at once: a buffer that grows step by step takes three times the memory */
        text_reserve(&all, (size_t)now.st_size);
    }
    for (ssize_t got = 1; got != 0 && !all.failed;) {
        if (regular && stopped())
            return FAIL(err, ERR_STOPPED, "stopped");
        if (!regular)
            TRY(wait_for_bytes(fd, err));
        got = read(fd, piece, sizeof piece);
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
    const int fd = file_open_pipe(path, O_RDONLY);
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
