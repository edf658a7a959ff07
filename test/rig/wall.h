/* wall.h -- memory between two protected pages. Tests put data at the end or at the start of this memory, so
 * that a read or write beyond the data crashes, even in vector instructions and without a sanitizer. */
#ifndef ATOMO_TEST_WALL_H
#define ATOMO_TEST_WALL_H

#include "rig/check.h"

#include <sys/mman.h>
#include <unistd.h>

typedef struct {
    uint8_t *start, *end;
} Walled;

static inline Walled walled(size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), room = (size + page - 1) / page * page;
    uint8_t *map = mmap(NULL, room + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(map != MAP_FAILED && !mprotect(map + page, room, PROT_READ | PROT_WRITE));
    return (Walled){map + page, map + page + room};
}

/* Copies `size` bytes to the end of the memory, in front of the protected page; returns the copy's address. */
static inline void *at_the_end(Walled w, const void *data, size_t size)
{
    return memcpy(w.end - size, data, size);
}

static inline void drop_walled(Walled w)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    munmap(w.start - page, (size_t)(w.end - w.start) + 2 * page);
}

#endif
