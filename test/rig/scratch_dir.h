/* scratch_dir.h -- a temporary directory for each test, with functions that read and write files in it. */
#ifndef ATOMO_SCRATCH_DIR_H
#define ATOMO_SCRATCH_DIR_H

#include "rig/check.h"

#include <dirent.h>
#include <unistd.h>

static char scratch_dir[64];

static int scratch_open(void **state)
{
    snprintf(scratch_dir, sizeof scratch_dir, "/tmp/atomo-test-XXXXXX");
    return mkdtemp(scratch_dir) ? 0 : 1;
}

/* Returns the number of files in the directory. If `wipe`, also removes them all. */
static inline int scratch_files(bool wipe)
{
    int count = 0;
    DIR *dir = opendir(scratch_dir);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        char path[400];
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        snprintf(path, sizeof path, "%s/%s", scratch_dir, e->d_name);
        if (wipe)
            unlink(path);
        count++;
    }
    if (dir)
        closedir(dir);
    return count;
}

static int scratch_close(void **state)
{
    scratch_files(true);
    return rmdir(scratch_dir);
}

/* Returns the path of a file in the directory. The returned string is valid until the fourth call after this
 * one. */
static inline const char *in_scratch(const char *name)
{
    static char path[4][400];
    static int next;
    char *p = path[next++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", scratch_dir, name);
    return p;
}

static inline uint8_t *file_load(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    check(f != NULL);
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    uint8_t *data = malloc(*size + 1);
    check(fread(data, 1, *size, f) == *size);
    fclose(f);
    return data;
}

static inline void file_save(const char *path, const void *data, size_t size)
{
    /* The old file is removed first. Some file systems write an overwritten file to the disk at once, which is
     * slow. */
    unlink(path);
    FILE *f = fopen(path, "wb");
    check(f && fwrite(data, 1, size, f) == size && fclose(f) == 0);
}

#endif
