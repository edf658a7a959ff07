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
