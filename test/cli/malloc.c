/* malloc.c -- a library preloaded into a program: a malloc of its own, as jemalloc is, whose memory no other free may free. */
#include <string.h>

extern void __libc_free(void *p), *__libc_realloc(void *p, size_t size);
static _Alignas(16) char room[1 << 28];
static _Atomic size_t taken;

void *malloc(size_t size)
{
    const size_t some = size / 16 * 16 + 16;
    return room + (taken += some) - some;
}

void *realloc(void *p, size_t size)
{
    const char *old = p;
    if (old < room || old >= room + sizeof room)
        return __libc_realloc(p, size);
    return memmove(malloc(size), old, size);
}

void free(void *p)
{
    const char *old = p;
    if (old < room || old >= room + sizeof room)
        __libc_free(p);
}
