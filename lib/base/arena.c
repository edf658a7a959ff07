/* arena.c -- an arena is a list of chunks of memory. Each new chunk is as large as all earlier chunks
 * together, but at most 1 GiB. A larger single allocation gets a chunk of its size. Chunk 0 is the buffer
 * that arena_lend lends, or empty. The arena owns the other chunks. */
#include "base/arena.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ASAN 1
#endif
#endif
#ifdef ASAN
#include <sanitizer/asan_interface.h>
enum { RED_ZONE = 64 };
#else
#define ASAN_POISON_MEMORY_REGION(p, n)   ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
enum { RED_ZONE = 0 };
#endif

enum { ALIGN = 64, CHUNKS = 1 + 1024, FIRST_CHUNK = 1 << 16, LAST_CHUNK = 1 << 30, HUGE_PAGE = 1 << 21 };

typedef struct {
    uint8_t *data;
    size_t size, used;
} Chunk;

struct Arena {
    Chunk chunk[CHUNKS];
    size_t current; /* index of the chunk that the next allocation tries first; later chunks are empty */
    size_t taken, peak, limit, failed;
};

/* arena_open returns this arena if there is no memory for a new one. Every allocation from it fails. */
static const Arena no_arena = {.failed = sizeof(Arena)};

Arena *arena_open(size_t limit)
{
    Arena *a = calloc(1, sizeof *a);
    if (!a)
        /* the cast removes const, but no function writes to this constant arena */
        return (Arena *)(uintptr_t)&no_arena;
    a->limit = limit;
    return a;
}

/* Frees the chunks with indices >= `first`. */
static void drop(Arena *a, size_t first)
{
    for (size_t i = first; i < CHUNKS; i++) {
        if (a->chunk[i].data)
            ASAN_UNPOISON_MEMORY_REGION(a->chunk[i].data, a->chunk[i].size);
        free(a->chunk[i].data);
        a->chunk[i] = (Chunk){0};
    }
}

void arena_close(Arena *a)
{
    if (!a || a == &no_arena)
        return;
    drop(a, 1);
    free(a);
}

static size_t alignment(size_t size)
{
    return size >= 2 * (size_t)HUGE_PAGE ? HUGE_PAGE : ALIGN;
}

/* Rounds `size` up to a multiple of alignment(size), since C11's aligned_alloc requires a multiple. */
static size_t whole_pages(size_t size)
{
    const size_t rest = alignment(size) - 1;
    return size > SIZE_MAX - rest ? SIZE_MAX & ~rest : (size + rest) & ~rest;
}

static size_t chunk_size(const Arena *a, size_t i, size_t need)
{
    size_t below = i == 1 ? FIRST_CHUNK : 0;
    for (size_t j = 1; j < i && below < LAST_CHUNK; j++)
        below += a->chunk[j].size;
    below = below < LAST_CHUNK ? below : LAST_CHUNK;
    return whole_pages(need > below ? need : below);
}

/* Makes chunk i > 0 hold at least `need` bytes. Chunk i and all later chunks must be empty. If chunk i is too
 * small, chunk i and the later chunks are freed, and a new chunk i is allocated. Returns false if there is no
 * memory. */
static bool grow(Arena *a, size_t i, size_t need)
{
    Chunk *c = &a->chunk[i];
    if (c->data && c->size >= need)
        return true;
    drop(a, i);
    size_t size = chunk_size(a, i, need);
    const size_t least = whole_pages(need > ALIGN ? need : ALIGN);
    while (!(c->data = aligned_alloc(alignment(size), size)) && size > least)
        /* not enough memory: tries again with half the size */
        size = size / 2 > least ? whole_pages(size / 2) : least;
    if (!c->data)
        return false;
    /* ask for huge pages (2 MiB instead of 4 kiB), so that the first use causes fewer page faults */
    if (alignment(size) == HUGE_PAGE)
        madvise(c->data, size, MADV_HUGEPAGE);
    c->size = size;
    ASAN_POISON_MEMORY_REGION(c->data, c->size);
    return true;
}

static void *out_of_memory(Arena *a, size_t bytes)
{
    if (a != &no_arena)
        a->failed = bytes ? bytes : ALIGN; /* an empty array has a place, for which there may be no chunk */
    return NULL;
}

void *arena_take(Arena *a, size_t count, size_t size)
{
    size_t bytes, need;
    if (__builtin_mul_overflow(count, size, &bytes) ||
        __builtin_add_overflow(bytes, (size_t)(ALIGN - 1 + RED_ZONE), &need))
        return out_of_memory(a, SIZE_MAX);
    need &= ~(size_t)(ALIGN - 1);
    if (a == &no_arena || (a->limit && need > a->limit - a->taken))
        return out_of_memory(a, bytes);
    Chunk *c = &a->chunk[a->current];
    if (!c->data || need > c->size - c->used) {
        size_t next = c->used || a->current == 0 ? a->current + 1 : a->current;
        if (next == CHUNKS || !grow(a, next, need))
            return out_of_memory(a, bytes);
        a->current = next;
        c = &a->chunk[next];
    }
    void *p = c->data + c->used;
    c->used += need;
    a->taken += need;
    if (a->taken > a->peak)
        a->peak = a->taken;
    ASAN_UNPOISON_MEMORY_REGION(p, bytes);
    return p;
}

void *arena_zeroed(Arena *a, size_t count, size_t size)
{
    void *p = arena_take(a, count, size);
    return p ? memset(p, 0, count * size) : NULL;
}

Status arena_fail(const Arena *a, Error *err)
{
    if (a->failed == SIZE_MAX)
        return FAIL(err, ERR_MEMORY,
                    "out of memory: a size beyond this machine's address space was asked for");
    return FAIL(err, ERR_MEMORY, "out of memory: %zu bytes were asked for", a->failed);
}

bool arena_failed(const Arena *a)
{
    return a->failed != 0;
}

ArenaMark arena_mark(const Arena *a)
{
    return (ArenaMark){a->current, a->chunk[a->current].used};
}

void arena_rewind(Arena *a, ArenaMark mark)
{
    if (a == &no_arena)
        return;
    assert(mark.chunk <= a->current);
    for (size_t i = a->current + 1; i-- > mark.chunk;) {
        Chunk *c = &a->chunk[i];
        size_t keep = i == mark.chunk ? mark.used : 0;
        assert(keep <= c->used);
        a->taken -= c->used - keep;
        if (c->data)
            ASAN_POISON_MEMORY_REGION(c->data + keep, c->used - keep);
        c->used = keep;
    }
    a->current = mark.chunk;
}

void arena_lend(Arena *a, void *data, size_t size)
{
    if (a == &no_arena)
        return;
    assert(a->taken == 0 && a->current == 0);
    a->chunk[0] = (Chunk){.data = data, .size = size};
    ASAN_POISON_MEMORY_REGION(data, size);
}

void arena_unlend(Arena *a)
{
    if (a == &no_arena)
        return;
    assert(a->taken == 0 && a->current == 0);
    ASAN_UNPOISON_MEMORY_REGION(a->chunk[0].data, a->chunk[0].size);
    a->chunk[0] = (Chunk){0};
}

void arena_trim(Arena *a)
{
    if (a != &no_arena)
        drop(a, a->current + 1);
}

size_t arena_used(const Arena *a)
{
    return a->taken;
}

size_t arena_peak(const Arena *a)
{
    return a->peak;
}

void arena_reset_peak(Arena *a)
{
    if (a != &no_arena)
        a->peak = a->taken;
}
