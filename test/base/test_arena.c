/* test_arena.c -- arenas: memory allocators that free all blocks at once, or all since a mark. */
#include "base/arena.h"
#include "rig/check.h"

#include <sys/resource.h>
#include <unistd.h>

TEST(blocks_are_aligned_and_apart)
{
    Arena *a = arena_open(0);
    uint8_t *last = NULL;
    size_t last_size = 0;
    for (size_t size = 0; size < 3000; size += 7) {
        uint8_t *p = NEW(a, uint8_t, size);
        check(p && (uintptr_t)p % 64 == 0);
        check(!last || p >= last + last_size || p + size <= last);
        memset(p, 0xff, size);
        last = p;
        last_size = size;
    }
    arena_close(a);
}

TEST(rewinding_gives_the_same_memory_again)
{
    Arena *a = arena_open(0);
    NEW(a, char, 100);
    const ArenaMark mark = arena_mark(a);
    const size_t used = arena_used(a);
    void *first = NEW(a, char, 1000);
    /* the block is larger than the first chunk of the arena, so the arena needs a second chunk */
    NEW(a, char, 10 << 20);
    check(arena_used(a) > used + (10 << 20));
    arena_rewind(a, mark);
    check(arena_used(a) == used);
    check(NEW(a, char, 1000) == first);
    arena_close(a);
}

TEST(the_peak_is_the_most_at_once)
{
    Arena *a = arena_open(0);
    const ArenaMark mark = arena_mark(a);
    NEW(a, char, 1 << 20);
    arena_rewind(a, mark);
    NEW(a, char, 1 << 10);
    check(arena_peak(a) >= 1 << 20 && arena_peak(a) < (1 << 20) + 4096);
    arena_reset_peak(a);
    check(arena_peak(a) == arena_used(a));
    arena_close(a);
}

TEST(a_limit_is_kept_and_named)
{
    Error err;
    Arena *a = arena_open(1 << 20);
    check(NEW(a, char, 1 << 19));
    check(!NEW(a, char, 1 << 20));
    assert_int_equal(arena_fail(a, &err), ERR_MEMORY);
    check(strstr(err.text, "1048576 bytes"));
    check(NEW(a, char, 1 << 18)); /* a smaller block still fits */
    arena_close(a);
}

TEST(sizes_that_overflow_are_refused)
{
    Error err;
    Arena *a = arena_open(0);
    check(!arena_take(a, SIZE_MAX / 2, 3));
    check(!arena_take(a, 1, SIZE_MAX - 3));
    check(!arena_zeroed(a, SIZE_MAX, SIZE_MAX));
    assert_int_equal(arena_fail(a, &err), ERR_MEMORY);
    check(NEW(a, char, 0));
    arena_close(a);
}

TEST(zeroed_memory_is_zero_after_use)
{
    Arena *a = arena_open(0);
    const ArenaMark mark = arena_mark(a);
    memset(NEW(a, char, 5000), 0xff, 5000);
    arena_rewind(a, mark);
    const char *zero = NEW_ZERO(a, char, 5000);
    for (size_t i = 0; i < 5000; i++)
        check(zero[i] == 0);
    arena_close(a);
}

/* While memory is lent to an arena, the arena allocates from the lent memory first. After arena_unlend the
 * arena allocates only from its own chunks. */
TEST(lent_memory_is_taken_first)
{
    enum { LENT = 4096 };
    uint8_t *lent = aligned_alloc(64, LENT);
    Arena *a = arena_open(0);
    memset(lent, 1, LENT);
    for (int i = 0; i < 3; i++) {
        const ArenaMark mark = arena_mark(a);
        arena_reset_peak(a);
        arena_lend(a, lent, LENT);
        uint8_t *first = NEW(a, uint8_t, 1000), *second = NEW(a, uint8_t, LENT), *third = NEW(a, uint8_t, 1);
        check(first == lent);
        check(second + LENT <= lent || second >= lent + LENT);
        check(third < lent || third >= lent + LENT);
        memset(first, 2, 1000);
        memset(second, 2, LENT);
        check(arena_used(a) >= 1000 + LENT + 1 && arena_peak(a) == arena_used(a));
        arena_rewind(a, mark);
        arena_unlend(a);
        first = NEW(a, uint8_t, 1000);
        check(first < lent || first >= lent + LENT);
        arena_rewind(a, mark);
        memset(lent, 1, LENT);
    }
    arena_close(a);
    free(lent);
}

TEST(trimming_keeps_what_is_taken)
{
    Arena *a = arena_open(0);
    uint8_t *kept = NEW(a, uint8_t, 1000);
    memset(kept, 7, 1000);
    for (int i = 0; i < 3; i++) {
        const ArenaMark mark = arena_mark(a);
        for (size_t size = 1 << 10; size < 1 << 23; size *= 4)
            memset(NEW(a, uint8_t, size), 8, size);
        arena_rewind(a, mark);
        arena_trim(a);
        arena_trim(a);
        check(kept[0] == 7 && !memcmp(kept, kept + 1, 999));
    }
    arena_close(a);
}

CHECK_ALL(NULL, NULL)
