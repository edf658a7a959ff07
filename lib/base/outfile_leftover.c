/* outfile_leftover.c -- implements outfile_leftover.h. */
#include "base/outfile_leftover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

size_t path_directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

enum { STEM = 256 };

/* Writes the part of the name before PID. */
static int write_stem(const char *target, char out[STEM])
{
    return snprintf(out, STEM, ".%.200s.", target + path_directory(target));
}

void leftover_name(const char *target, int attempt, char out[PATH_MAX])
{
    char stem[STEM];
    write_stem(target, stem);
    snprintf(out, PATH_MAX, "%.*s%s%ld-%d.tmp", (int)path_directory(target), target, stem, (long)getpid(),
             attempt);
}

/* Reads "PID-ATTEMPT.tmp". Returns 0 for any other text. */
static pid_t read_pid(const char *text)
{
    int pid = 0, attempt = 0;
    char again[64];
    if (sscanf(text, "%9d-%9d", &pid, &attempt) != 2)
        return 0;
    snprintf(again, sizeof again, "%d-%d.tmp", pid, attempt);
    return strcmp(again, text) ? 0 : pid;
}

static int open_to_lock(int folder, const char *name)
{
    const int flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    const int fd = openat(folder, name, O_RDWR | flags); /* NFS locks only files that are open for writing */
    return fd < 0 && errno == EACCES ? openat(folder, name, O_RDONLY | flags) : fd;
}

/* Removes the file, unless a process has locked it. */
static void remove_unlocked(int folder, const char *name)
{
    struct stat opened, named;
    const int fd = open_to_lock(folder, name);
    if (fd < 0)
        return;
    /* The name may lead to another file since the opening, so it is looked at under the lock. */
    if (!flock(fd, LOCK_EX | LOCK_NB) && !fstat(fd, &opened) &&
        !fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) && S_ISREG(opened.st_mode) &&
        opened.st_uid == geteuid() && opened.st_dev == named.st_dev && opened.st_ino == named.st_ino)
        unlinkat(folder, name, 0);
    close(fd);
}

/* In containers, processes often have the same PID, so a file with the PID of this process may be another's. */
static bool has_writer(pid_t pid, const char *path, bool (*is_open)(const char *path))
{
    return pid == getpid() ? is_open(path) : !kill(pid, 0) || errno != ESRCH;
}

void leftover_sweep(const char *target, bool (*is_open)(const char *path))
{
    char directory[PATH_MAX], stem[STEM], path[PATH_MAX];
    const int length = write_stem(target, stem), up = (int)path_directory(target);
    snprintf(directory, sizeof directory, "%.*s", up, target);
    DIR *folder = opendir(up ? directory : ".");
    for (const struct dirent *e; folder && (e = readdir(folder));) {
        const pid_t pid = strncmp(e->d_name, stem, (size_t)length) ? 0 : read_pid(e->d_name + length);
        snprintf(path, sizeof path, "%.*s%s", up, target, e->d_name);
        if (pid > 0 && !has_writer(pid, path, is_open))
            remove_unlocked(dirfd(folder), e->d_name);
    }
    if (folder)
        closedir(folder);
}
