/* host.c -- the machine and the library versions; see host.h. */
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

/* Declared here so that this file includes no header of these libraries: each header is included by one file only. */
extern const char H5_lib_vers_info_g[];
extern const char fftwf_version[];
extern const char *ZSTD_versionString(void);
extern const char *blosc_get_version_string(void);

/* Takes the version from the library's text "HDF5 library version 1.10.8". A call of the library would start it, and
 * it can crash when memory is short. */
char *library_hdf5(Arena *a)
{
    const char *version = H5_lib_vers_info_g + strcspn(H5_lib_vers_info_g, "0123456789.");
    version = strrchr(version, ' ') ? strrchr(version, ' ') + 1 : version;
    return text_copy(a, version);
}

/* Takes the version from a text such as "fftw-3.3.10-sse2-avx". */
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
