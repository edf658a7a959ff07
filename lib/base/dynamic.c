/* dynamic.c -- loads shared libraries by dlopen. */
#include "base/dynamic.h"

#include "base/confine.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

uint64_t address_space_limit(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

static Status hint_for(const SharedLibrary *l, const char *reason, Error *err)
{
    if (strstr(reason, "Too many open files"))
        return error_hint(err, "raise the limit on open files (ulimit -n)");
    if (strstr(reason, "No such file"))
        return error_hint(err, "install %s", l->package);
    if (address_space_limit() != UINT64_MAX)
        return error_hint(err, "lift the limit on address space (ulimit -v unlimited), or install %s again",
                          l->package);
    return error_hint(err, "install %s again: the file is damaged or of another version", l->package);
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
    void *probe = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
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

/* ---- loading in a child process ---- */

enum { PATIENCE = 60 }; /* seconds */

static _Noreturn void child_run(const SharedLibrary *l, Error *outcome)
{
    void *handle;
    confine_keep(NULL, 0);
    confine_crash();
    alarm(PATIENCE);
    (void)library_load(l, &handle, outcome);
    _exit(0);
}

/* If the caller ignores SIGCHLD, waitpid reports no state, and `state` stays 0 as after a good end. */
static Status child_wait(const SharedLibrary *l, pid_t child, const Error *outcome, Error *err)
{
    int state = 0;
    while (waitpid(child, &state, 0) < 0 && errno == EINTR)
        ;
    if (WIFSIGNALED(state) && WTERMSIG(state) == SIGALRM)
        return library_refuse(l, err, "%s is not loaded after %d seconds", l->file, PATIENCE);
    if (WIFSIGNALED(state))
        return library_refuse(l, err, "%s crashes when it is loaded (signal %d)", l->file, WTERMSIG(state));
    if (WEXITSTATUS(state) && WEXITSTATUS(state) != CONFINE_NO_FILES)
        return library_refuse(l, err, "%s ends the process that loads it (exit %d)", l->file,
                              WEXITSTATUS(state));
    if (outcome->status != OK)
        *err = *outcome;
    return outcome->status;
}

Status library_try(const SharedLibrary *l, Error *err)
{
    Error *outcome = mmap(NULL, sizeof *outcome, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (outcome == MAP_FAILED)
        return OK;
    const pid_t child = fork();
    if (child == 0)
        child_run(l, outcome);
    const Status status = child > 0 ? child_wait(l, child, outcome, err) : OK;
    munmap(outcome, sizeof *outcome);
    return status;
}
