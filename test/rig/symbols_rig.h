/* symbols_rig.h -- helpers of tests that write arrays of integer codes with the entropy coders of symbols.h,
 * and read them back. */
#ifndef ATOMO_TEST_SYMBOLS_RIG_H
#define ATOMO_TEST_SYMBOLS_RIG_H

#include "rig/wall.h"

#include "base/rng.h"
#include "coder/symbols.h"

enum { N = 3 * BLOCK + 1234 };

static Arena *arena;
static Rng rng;
/* memory between two protected pages; bytes to be read are put at its end, so that reads past them crash */
static Walled room;

static inline int open_all(void **state)
{
    arena = arena_open(0);
    room = walled(symbols_most(N, SYMBOLS_WIDTH) + 1);
    rng = rng_open(5, 0, 0, 0, rng_hash("coders"));
    return 0;
}

static inline int close_all(void **state)
{
    arena_close(arena);
    drop_walled(room);
    return 0;
}

/* Codes: one of `byte` and `word` is set. */
typedef struct {
    uint8_t *byte;
    uint32_t *word;
    size_t n;
} Carrier;

/* Returns the argument of symbols_put for the codes of c. */
static inline Symbols symbols_of(int width, const Carrier *c)
{
    return (Symbols){.n = c->n, .width = width, .threads = 1, .code = c->word ? (void *)c->word : c->byte};
}

static uint32_t read_back[40 * BLOCK]; /* the codes that get_copy reads */

/* Decodes a copy of `in` that ends at a protected page, so that a read past its end crashes, to `read_back`. */
static inline Status get_copy(const Symbols *s, Bytes in, const char **why)
{
    Error err;
    Symbols to = *s;
    check(s->n <= countof(read_back));
    to.code = read_back;
    const ArenaMark mark = arena_mark(arena);
    const Status status =
        symbols_get(&to, (Bytes){at_the_end(room, in.data, in.size), in.size}, arena, &err, why);
    arena_rewind(arena, mark);
    check(status == OK || (status == ERR_CORRUPT && *why));
    return status;
}

static inline bool comes_back(const Symbols *s, const Carrier *c, Bytes in)
{
    const char *why = NULL;
    return get_copy(s, in, &why) == OK && !memcmp(s->code, read_back, c->n * (c->word ? sizeof *c->word : 1));
}

/* Encodes the codes and decodes them again. Checks that truncated and extended bytes are refused, and that one
 * thread and three write the same bytes. Returns the bytes. */
static inline Buf both_ways(int width, Carrier *c)
{
    Error err;
    Symbols s = symbols_of(width, c);
    Buf out = {.cap = symbols_most(c->n, width)}, again = out;
    out.data = NEW(arena, uint8_t, out.cap + 1);
    again.data = NEW(arena, uint8_t, out.cap);
    const ArenaMark mark = arena_mark(arena);
    check_ok(symbols_put(&s, &out, arena, &err), &err);
    s.threads = 3;
    check_ok(symbols_put(&s, &again, arena, &err), &err);
    arena_rewind(arena, mark);
    check(out.size == again.size && !memcmp(out.data, again.data, out.size));
    check(comes_back(&s, c, buf_bytes(&out)));
    out.data[out.size] = 0;
    check(!comes_back(&s, c, (Bytes){out.data, out.size + 1}));
    for (size_t size = out.size; size-- > 0; size -= size / 7)
        check(!comes_back(&s, c, (Bytes){out.data, size}));
    return out;
}

enum { KIND_PLANES, KIND_ONE, KIND_OWN, KIND_CLASSES };

static inline unsigned kind_of(Buf b)
{
    return b.data[0] & 3;
}

#endif
