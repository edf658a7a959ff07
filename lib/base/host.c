/* host.c -- finds out the machine's CPU, system and memory, and the versions of libraries. */
#include "base/host.h"
#include "base/text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

double clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

char *host_value(const char *path, const char *key, const char *separator, Arena *a)
{
    char line[512], *found = NULL;
    const size_t length = strlen(key);
    FILE *f = fopen(path, "re");
    while (f && !found && fgets(line, sizeof line, f)) {
        if (strncmp(line, key, length) != 0)
            continue;
        const char *value = line + length + strspn(line + length, " \t");
        if (strncmp(value, separator, strlen(separator)) != 0)
            continue;
        value += strlen(separator);
        value += strspn(value, " \t\"");
        found = text_slice(a, value, strcspn(value, "\"\n"));
    }
    if (f)
        fclose(f);
    return found;
}

/* Returns host_memory() from the files in `root`/proc and `root`/sys. */
static uint64_t host_memory_under(const char *root)
{
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    uint64_t least = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : (uint64_t)2 << 30;
    char path[PATH_MAX];
    Arena *a = arena_open(0);
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    char *group = host_value(path, "0:", ":", a); /* "/outer/inner" */
    for (char *slash = group; slash; *slash = 0) { /* from the group to the outermost one */
        snprintf(path, sizeof path, "%s/sys/fs/cgroup%s/memory.max", root, group);
        const char *limit = host_value(path, "", "", a);
        const uint64_t bytes = limit ? strtoull(limit, NULL, 10) : 0; /* 0 for "max" */
        least = bytes && bytes < least ? bytes : least;
        slash = strrchr(group, '/');
        if (!slash)
            break;
    }
    arena_close(a);
    return least;
}

uint64_t host_memory(void)
{
    return host_memory_under("");
}

char *host_cpu(Arena *a)
{
    return host_value("/proc/cpuinfo", "model name", ":", a);
}

char *host_os(Arena *a)
{
    struct utsname u;
    char *name = host_value("/etc/os-release", "PRETTY_NAME", "=", a);
    if (uname(&u) != 0)
        return name;
    return text_format(a, "%s%s%s %s %s", name ? name : "", name ? ", " : "", u.sysname, u.release,
                       u.machine);
}

/* ---- libraries ---- */

/* Variables and functions in which libraries give their versions. They are declared here because only one other
 * file may include the header of each library. */
extern const char fftwf_version[];
extern const char *ZSTD_versionString(void);
extern const char *blosc_get_version_string(void);
#ifdef ATOMO_ZFP
extern const char *const zfp_version_string;
#else
static const char *const zfp_version_string = "none";
#endif

const char *const library_names[] = {"fftw", "zstd", "blosc", "zfp", NULL};

char *library_version(size_t i, Arena *a)
{
    const char *const said[] = {fftwf_version, ZSTD_versionString(), blosc_get_version_string(), zfp_version_string};
    const char *number = said[i] + strcspn(said[i], "0123456789");
    return *number ? text_slice(a, number, strcspn(number, "- ")) : text_copy(a, said[i]);
}
