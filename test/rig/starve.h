/* starve.h -- runs work again and again with a little more memory each time, until the memory suffices. */
#ifndef ATOMO_TEST_STARVE_H
#define ATOMO_TEST_STARVE_H

#include "rig/check.h"
#include "base/arena.h"

enum { STARVE_FIRST = 64 };

/* Returns the limit to try after a call that failed for want of memory: what it had taken and lacked, and at
 * least a `share`-th more than before. Fails unless `status` and `error` say that memory was short. */
static inline size_t starve_more(const char *what, size_t limit, const Arena *arena, Status status,
                                 const Error *error, size_t share)
{
    size_t lacked = 0;
    const char *why = strstr(error->text, "out of memory: ");
    if (why)
        sscanf(why, "out of memory: %zu bytes", &lacked);
    if (status != ERR_MEMORY || !lacked)
        print_error("%s with %zu bytes: %s\n", what, limit, error->text);
    check(status == ERR_MEMORY && lacked > 0);
    const size_t more = arena_peak(arena) + (lacked + STARVE_FIRST - 1) / STARVE_FIRST * STARVE_FIRST;
    const size_t least = limit + limit / share / STARVE_FIRST * STARVE_FIRST + STARVE_FIRST;
    return more > least ? more : least;
}

/* Calls `work` with an arena of more and more bytes until it succeeds; returns the number of calls that failed. */
static inline size_t starve(const char *what, Status (*work)(void *data, Arena *arena, Error *error),
                            void *data, size_t share)
{
    size_t failures = 0;
    for (size_t limit = STARVE_FIRST;; failures++) {
        Arena *arena = arena_open(limit);
        Error error = {0};
        const Status status = work(data, arena, &error);
        if (status != OK)
            limit = starve_more(what, limit, arena, status, &error, share);
        arena_close(arena);
        if (status == OK)
            return failures;
    }
}

#endif
