/* dynamic.c -- loads shared libraries by dlopen. */
#include "base/dynamic.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

uint64_t address_space_limit(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

Status library_refuse(const SharedLibrary *l, Error *err, const char *format, ...)
{
    char reason[sizeof err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    FAIL(err, address_space_limit() == UINT64_MAX ? ERR_IO : ERR_MEMORY, "%s cannot be loaded: %s", l->title,
         reason);
    return error_hint(err, "install %s, or lift the limit on address space (ulimit -v unlimited)",
                      l->package);
}

/* C has no cast from a data pointer to a function pointer, but POSIX gives both the same representation, so the
 * bytes are copied. */
static bool find_symbols(const SharedLibrary *l, void *handle)
{
    for (size_t i = 0; i < l->count; i++) {
        void *address = dlsym(handle, l->symbol[i].name);
        if (!address)
            return false;
        memcpy(l->symbol[i].pointer, &address, sizeof address);
    }
    return true;
}

Status library_load(const SharedLibrary *l, void **handle, Error *err)
{
    void *opened = dlopen(l->file, RTLD_NOW | RTLD_LOCAL);
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
