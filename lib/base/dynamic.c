/* dynamic.c -- loads shared libraries by dlopen. */
#include "base/dynamic.h"

#include <dlfcn.h>
#include <string.h>

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

Status library_load(const SharedLibrary *l, void **handle, Error *err)
{
    /* lazy: most functions of a large library are never called, and need not be looked up */
    void *opened = dlopen(l->file, RTLD_LAZY | (l->global ? RTLD_GLOBAL : RTLD_LOCAL));
    if (opened && find_symbols(l, opened)) {
        *handle = opened;
        return OK;
    }
    const char *reason = dlerror();
    FAIL(err, ERR_IO, "%s cannot be loaded: %s", l->title, reason ? reason : "unknown");
    if (opened)
        dlclose(opened);
    return error_hint(err, "install %s", l->package);
}
