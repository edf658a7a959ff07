/* host.c -- see host.h. */
#include "base/host.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

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

/* Declared here, so that each library's own header stays with the one file that works with it. */
extern int H5dont_atexit(void);
extern int H5get_libversion(unsigned *major, unsigned *minor, unsigned *release);
extern const char fftwf_version[];
extern const char *ZSTD_versionString(void);
extern const char *blosc_get_version_string(void);

char *library_hdf5(Arena *a)
{
    unsigned major = 0, minor = 0, release = 0;
    H5dont_atexit(); /* this call starts the library; tensor_hdf5_write.c says what its clean-up at exit does */
    H5get_libversion(&major, &minor, &release);
    return text_format(a, "%u.%u.%u", major, minor, release);
}

/* "fftw-3.3.10-sse2-avx" */
char *library_fftw(Arena *a)
{
    const char *version = fftwf_version + strcspn(fftwf_version, "0123456789");
    return text_slice(a, version, strcspn(version, "-"));
}

char *library_zstd(Arena *a)
{
    return text_copy(a, ZSTD_versionString());
}

char *library_blosc(Arena *a)
{
    return text_copy(a, blosc_get_version_string());
}
