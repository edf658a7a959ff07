/* arena.h -- memory that is released all at once.
 *
 * Two kinds live in the programs: one that is never rewound (set-up) and one that is rewound per call
 * (scratch). Blocks are 64-byte aligned and NOT zeroed; under AddressSanitizer memory that is not taken is poisoned.
 * An arena reserves address space in growing chunks, so a large take touches no page until it is used. */
#ifndef ATOMO_ARENA_H
#define ATOMO_ARENA_H

#include "base/base.h"

typedef struct Arena Arena;

/* Returns an arena, never NULL: without memory for the arena, its first take fails. `limit`: bytes; 0: none. */
Arena *arena_open(size_t limit);
void arena_close(Arena *a); /* NULL is fine */

/* Returns count * size bytes, or NULL with the size remembered for arena_fail. A count of 0 gives a valid pointer. */
void *arena_take(Arena *a, size_t count, size_t size);
void *arena_zeroed(Arena *a, size_t count, size_t size);
#define NEW(a, T, count)      ((T *)arena_take(a, count, sizeof(T)))
#define NEW_ZERO(a, T, count) ((T *)arena_zeroed(a, count, sizeof(T)))

/* Records ERR_MEMORY with the size of the take that failed last. Use:   if (!p) return arena_fail(a, err);  */
Status arena_fail(const Arena *a, Error *err);

/* A rewind releases everything taken after the mark. */
typedef struct {
    size_t chunk, used;
} ArenaMark;
ArenaMark arena_mark(const Arena *a);
void arena_rewind(Arena *a, ArenaMark mark);

/* Lends an empty arena memory (64-byte aligned) that it takes from first, and whose contents are lost; arena_unlend
 * takes the memory back from an arena that is empty again. So a large buffer serves as scratch while it holds
 * nothing. */
void arena_lend(Arena *a, void *data, size_t size);
void arena_unlend(Arena *a);

/* Frees the chunks without taken blocks, which a rewind keeps for later takes. */
void arena_trim(Arena *a);

size_t arena_used(const Arena *a); /* bytes taken now */
size_t arena_peak(const Arena *a); /* most bytes taken at once since opening or arena_reset_peak */
void arena_reset_peak(Arena *a);

#endif
