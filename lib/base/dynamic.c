/* dynamic.c -- loads shared libraries by dlopen. */
#include "base/dynamic.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

static uint64_t limit_of(unsigned which)
{
    struct rlimit limit;
    return getrlimit(which, &limit) || limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

/* The limit on data, too, counts memory that a process maps for itself. */
uint64_t address_space_limit(void)
{
    const uint64_t space = limit_of(RLIMIT_AS), data = limit_of(RLIMIT_DATA);
    return space < data ? space : data;
}

/* True if the failure may be for want of memory. A limit on address space makes libraries fail for reasons of any text. */
static bool lacks_memory(const char *reason)
{
    static const char *const names[] = {"out of memory", "Cannot allocate memory",
                                        "memory allocation failed"};
    for (size_t i = 0; i < countof(names); i++)
        if (strstr(reason, names[i]))
            return true;
    return address_space_limit() != UINT64_MAX;
}

static Status hint_for(const SharedLibrary *l, const char *reason, Error *err)
{
    if (strstr(reason, "Too many open files"))
        return error_hint(err, "raise the limit on open files (ulimit -n)");
    if (strstr(reason, "No such file"))
        return error_hint(err, "install %s", l->package);
    if (address_space_limit() != UINT64_MAX)
        return error_hint(err, "lift the limit on %s unlimited), or install %s again",
                          limit_of(RLIMIT_DATA) < limit_of(RLIMIT_AS) ? "data (ulimit -d"
                                                                      : "address space (ulimit -v",
                          l->package);
    if (lacks_memory(reason))
        return error_hint(err, "free some memory, and run the command again");
    return error_hint(err, "install %s again: the file is damaged or of another version", l->package);
}

Status library_refuse(const SharedLibrary *l, Error *err, const char *format, ...)
{
    char reason[sizeof err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    FAIL(err, lacks_memory(reason) ? ERR_MEMORY : ERR_IO, "%s cannot be loaded: %s", l->title, reason);
    return hint_for(l, reason, err);
}

/* C has no cast from a data pointer to a function pointer, but POSIX gives both the same representation, so the
 * bytes are copied. */
static bool find_symbols(const SharedLibrary *l, void *handle)
{
    for (size_t i = 0; i < l->count; i++) {
        void *address = dlsym(l->global ? RTLD_DEFAULT : handle, l->symbol[i].name);
        if (!address)
            return false;
        memcpy(l->symbol[i].pointer, &address, sizeof address);
    }
    return true;
}

bool address_space_left(size_t bytes)
{
    if (address_space_limit() == UINT64_MAX)
        return true;
    void *probe =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (probe == MAP_FAILED)
        return false;
    munmap(probe, bytes);
    return true;
}

Status library_load(const SharedLibrary *l, void **handle, Error *err)
{
    if (l->room && !address_space_left(l->room))
        return library_refuse(l, err,
                              "it may need %zu MB of address space, more than the limit of %llu MB leaves",
                              l->room / 1000000, (unsigned long long)address_space_limit() / 1000000);
    /* lazy: most functions of a large library are never called, and need not be looked up */
    void *opened = dlopen(l->file, RTLD_LAZY | (l->global ? RTLD_GLOBAL : RTLD_LOCAL));
    if (opened && find_symbols(l, opened)) {
        *handle = opened;
        return OK;
    }
    const char *reason = dlerror();
    const Status status = library_refuse(l, err, "%s", reason ? reason : "unknown");
    if (opened)
        dlclose(opened);
    return status;
}
