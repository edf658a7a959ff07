/* host.c -- finds out the machine's CPU, system and limits, and the versions of libraries. */
#include "base/host.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

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

uint64_t host_memory(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : (uint64_t)2 << 30;
}

typedef struct {
    unsigned which; /* RLIMIT_... */
    char letter;    /* the letter that the shell command ulimit uses for this limit, as in "ulimit -v" */
    uint64_t unit;  /* bytes per unit in which ulimit gives this limit; 1: ulimit gives a plain count */
    uint64_t small; /* a limit below this number of ulimit's units is a likely reason for failures */
    int cause;      /* errno of a call that fails for it */
} Limit;

static const Limit limits[] = {{RLIMIT_AS, 'v', 1024, UINT64_MAX, ENOMEM},
                               {RLIMIT_DATA, 'd', 1024, UINT64_MAX, ENOMEM},
                               {RLIMIT_NOFILE, 'n', 1, 64, EMFILE},
                               {RLIMIT_NPROC, 'u', 1, 256, EAGAIN},
                               {RLIMIT_FSIZE, 'f', 1024, UINT64_MAX, EFBIG}};

static uint64_t limit_now(const Limit *l)
{
    struct rlimit is;
    return getrlimit(l->which, &is) || is.rlim_cur == RLIM_INFINITY ? UINT64_MAX : is.rlim_cur / l->unit;
}

/* Returns true if the error text names one of the programs and libraries below. Their own messages seldom say
 * which resource ran out. */
static bool is_foreign(const char *text)
{
    static const char *const names[] = {"HDF5 library", "libmatio", "gnuplot", "OpenBLAS"};
    for (size_t i = 0; i < countof(names); i++)
        if (strstr(text, names[i]))
            return true;
    return false;
}

/* Returns true if the error text names the system's error of the limit. For memory, its status does, too. */
static bool is_named(const Limit *l, const Error *err)
{
    return strstr(err->text, strerror(l->cause)) || (l->cause == ENOMEM && err->status == ERR_MEMORY);
}

void host_limit_hint(Error *err)
{
    char text[128] = "", more[sizeof err->hint];
    if (strstr(err->hint, "ulimit"))
        return;
    for (const Limit *l = limits; l < limits + countof(limits); l++) {
        const uint64_t now = limit_now(l);
        const size_t used = strlen(text);
        /* another hint says more than a guess, and more about memory, which many things take */
        const bool meant = *err->hint ? l->cause != ENOMEM && is_named(l, err)
                                      : is_named(l, err) || (is_foreign(err->text) && now < l->small);
        if (now != UINT64_MAX && meant)
            snprintf(text + used, sizeof text - used, " -%c %llu", l->letter, (unsigned long long)now);
    }
    memcpy(more, err->hint, sizeof more);
    if (*text)
        error_hint(err, "a limit is set, as by ulimit%s; a higher one may help%s%.*s", text,
                   *more ? "; " : "", (int)sizeof more - 1, more);
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
#ifdef ATOMO_FPZIP
extern const char *const fpzip_version_string;
#else
static const char *const fpzip_version_string = "none";
#endif

/* `fftwf_version` is a text such as "fftw-3.3.10-sse2-avx". */
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

/* Returns the number in a text such as "zfp version 1.0.0 (August 1, 2022)"; a text without a number is
 * returned as it is. */
static char *number_in(Arena *a, const char *version)
{
    const char *number = version + strcspn(version, "0123456789");
    return *number ? text_slice(a, number, strcspn(number, " ")) : text_copy(a, version);
}

char *library_zfp(Arena *a)
{
    return number_in(a, zfp_version_string);
}

char *library_fpzip(Arena *a)
{
    return number_in(a, fpzip_version_string);
}
