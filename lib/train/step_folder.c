/* step_folder.c -- names and lists the files of a folder of steps, and locks the folder; see step_folder.h. */
#include "train/step_folder.h"

#include "base/file.h"
#include "base/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- names ---- */

char *step_file(const char *dir, size_t step, Arena *a)
{
    return text_format(a, "%s/step_%08zu.h5", dir, step);
}

/* Parses a name of the form step_%08zu.h5 and sets `*step` to its number. Returns false if the name has
 * another form. */
static bool number_of(const char *name, size_t *step)
{
    char again[64];
    char *end;
    if (strncmp(name, "step_", 5))
        return false;
    *step = (size_t)strtoull(name + 5, &end, 10);
    snprintf(again, sizeof again, "step_%08zu.h5", *step);
    return !strcmp(name, again);
}

static int is_step(const struct dirent *e)
{
    size_t ignored;
    return number_of(e->d_name, &ignored);
}

static int by_number(const struct dirent **x, const struct dirent **y)
{
    size_t a = 0, b = 0;
    number_of((*x)->d_name, &a);
    number_of((*y)->d_name, &b);
    return (a > b) - (a < b);
}

static int is_shown(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

void step_folders(TextBuf *out, const char *dir, int depth)
{
    struct dirent **found = NULL;
    const int count = scandir(dir, &found, is_shown, alphasort);
    bool has = false;
    for (int i = 0; i < count; i++) {
        if (is_step(found[i]) && !has)
            text_addf(out, "%s%s", out->size ? ", " : "", dir);
        has = has || is_step(found[i]);
        const char *inner = depth ? text_format(out->arena, "%s/%s", dir, found[i]->d_name) : NULL;
        if (inner)
            step_folders(out, inner, depth - 1);
        free(found[i]);
    }
    free(found);
}

Status step_files(size_t **step, size_t *count, const char *dir, Arena *a, Error *err)
{
    struct dirent **found = NULL;
    const int files = scandir(dir, &found, is_step, by_number);
    if (files < 0 && errno == ENOMEM)
        return FAIL(err, ERR_MEMORY, "%s: out of memory for its list of files", dir);
    if (files < 0 && errno != ENOENT)
        return FAIL(err, ERR_IO, "%s: cannot be listed: %s", dir, strerror(errno));
    *count = files < 0 ? 0 : (size_t)files;
    *step = NEW(a, size_t, *count);
    for (size_t i = 0; i < *count; free(found[i++]))
        if (*step)
            number_of(found[i]->d_name, *step + i);
    free(found);
    return arena_check(*step, a, err);
}

bool step_of_path(const char *path, size_t *step)
{
    const char *slash = strrchr(path, '/');
    return number_of(slash ? slash + 1 : path, step);
}

Status step_file_check(const char *path, Error *err)
{
    struct stat now;
    if (stat(path, &now) || S_ISREG(now.st_mode))
        return OK;
    FAIL(err, ERR_CORRUPT, "%s: %s, want a checkpoint", path,
         S_ISDIR(now.st_mode) ? "a folder" : "no regular file");
    return error_hint(err, "remove it, or name another --train-dir");
}

/* ---- making the folder of steps ---- */

Status step_folder_make(const char *dir, Arena *a, Error *err)
{
    char *path = text_copy(a, dir);
    TRY(arena_check(path, a, err));
    for (char *at = path + 1;; at++) {
        const char was = *at;
        if (was && was != '/')
            continue;
        *at = 0;
        if (mkdir(path, 0777) && errno != EEXIST)
            return FAIL(err, ERR_IO, "%s: cannot make this folder: %s", path, strerror(errno));
        if (!(*at = was))
            return OK;
    }
}

/* ---- locking ---- */

static void wait_for(long milliseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000}, NULL);
}

/* Returns true if another process has the lock. A single refusal does not mean that a run has it:
 * `step_folder_is_locked` in another process takes the lock for a moment. So several tries are made. */
static bool is_locked(int fd)
{
    enum { TRIES = 20 };
    for (int i = 0; i < TRIES; i++) {
        if (!flock(fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
            return false;
        wait_for(20);
    }
    return true;
}

/* Removes unfinished files. Files are written as .step_*.tmp and then renamed (outfile.h). This process has
 * the lock, so no running process writes such a file. */
static void sweep(int fd)
{
    DIR *folder = fdopendir(dup(fd));
    for (const struct dirent *e; folder && (e = readdir(folder));)
        if (text_glob(".step_*.tmp", e->d_name))
            unlinkat(fd, e->d_name, 0);
    if (folder)
        closedir(folder);
}

Status step_folder_lock(int *lock, const char *dir, Arena *a, Error *err)
{
    *lock = -1;
    TRY(step_folder_make(dir, a, err));
    const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return FAIL(err, ERR_IO, "%s: cannot open this folder: %s", dir, strerror(errno));
    if (is_locked(fd)) {
        close(fd);
        return FAIL(err, ERR_IO, "%s: another run is at work there", dir);
    }
    sweep(fd);
    *lock = fd;
    return OK;
}

void step_folder_release(int lock)
{
    if (lock >= 0)
        close(lock);
}

bool step_folder_is_locked(const char *dir)
{
    const int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const bool had = !flock(fd, LOCK_SH | LOCK_NB);
    close(fd);
    return !had;
}
