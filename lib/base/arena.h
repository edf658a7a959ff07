/* arena.h -- memory that is released all at once.
 *
 * The programs have arenas for set-up, which are never rewound, and scratch arenas, which are rewound after
 * each call. Memory is 64-byte aligned and NOT zeroed. Under AddressSanitizer, memory that no caller has taken
 * is poisoned. An arena reserves address space in growing chunks and does not touch the pages of a large
 * allocation. */
#ifndef ATOMO_ARENA_H
#define ATOMO_ARENA_H

#include "base/base.h"

typedef struct Arena Arena;

/* Returns an arena, never NULL: if there is no memory for the arena, its first arena_take fails. `limit`: the
 * largest number of bytes that can be taken; 0: no limit. */
Arena *arena_open(size_t limit);
void arena_close(Arena *a); /* NULL is fine */

/* Returns memory for count * size bytes. Returns NULL when there is not enough memory; arena_fail then reports
 * the size. A count of 0 gives a valid pointer. arena_zeroed fills the memory with zeros. */
void *arena_take(Arena *a, size_t count, size_t size);
void *arena_zeroed(Arena *a, size_t count, size_t size);
#define NEW(a, T, count)      ((T *)arena_take(a, count, sizeof(T)))
#define NEW_ZERO(a, T, count) ((T *)arena_zeroed(a, count, sizeof(T)))

/* Sets `err` to ERR_MEMORY with the size of the last arena_take that failed; returns ERR_MEMORY. */
Status arena_fail(const Arena *a, Error *err);

/* Returns OK if `taken`, else the status of arena_fail. Call it after one or several arena_take:
 * TRY(arena_check(p && q, a, err)); */
static inline Status arena_check(bool taken, const Arena *a, Error *err)
{
    return taken ? OK : arena_fail(a, err);
}

/* Returns true if an arena_take has failed since the arena was opened. So a caller of a parser that returned
 * NULL can tell lack of memory from malformed text. */
bool arena_failed(const Arena *a);

/* A position in an arena: arena_rewind releases everything that was taken after this position was marked. */
typedef struct {
    size_t chunk, used;
} ArenaMark;
ArenaMark arena_mark(const Arena *a);
void arena_rewind(Arena *a, ArenaMark mark);

/* arena_lend gives an empty arena a 64-byte aligned buffer, from which the arena takes memory first. The
 * buffer's contents are lost. When the arena is empty again, the caller takes the buffer back with
 * arena_unlend. */
void arena_lend(Arena *a, void *data, size_t size);
void arena_unlend(Arena *a);

/* Frees the chunks from which no memory is taken. (arena_rewind keeps such chunks for later use.) */
void arena_trim(Arena *a);

size_t arena_used(const Arena *a); /* bytes taken now */
size_t arena_peak(const Arena *a); /* the most bytes taken at any time since arena_open or arena_reset_peak */
void arena_reset_peak(Arena *a);

#endif
