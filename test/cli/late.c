/* late.c -- a library preloaded into a program: SIGTERM comes when a finished file has just been given its name. */
#include <dlfcn.h>
#include <signal.h>

int linkat(int from, const char *old, int to, const char *new, int flags)
{
    int (*real)(int, const char *, int, const char *, int) =
        (int (*)(int, const char *, int, const char *, int))dlsym(RTLD_NEXT, "linkat");
    const int code = real(from, old, to, new, flags);
    if (!code)
        raise(SIGTERM);
    return code;
}
