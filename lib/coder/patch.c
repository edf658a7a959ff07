/* patch.c -- codes floats of 16 bits against older ones (patch.h). */
#include "coder/patch.h"

#include "base/checksum.h"
#include "coder/symbols.h"

enum { CHUNK = PATCH_CHUNK, CONTEXTS = 256, ESCAPE = 255, QUARTERS = 4 };

/* Inverts the highest bit of a word that is not negative, else all bits; and back. */
static uint16_t ordered(uint16_t word)
{
    return word ^ (uint16_t)((0 - (word >> 15)) | 0x8000);
}

static uint16_t unordered(uint16_t order)
{
    return order ^ (uint16_t)(((order >> 15) - 1) | 0x8000);
}

/* A chunk of words, and its symbols sorted by exponents. Each quarter of the words has its own counters, and word after word is of
 * another quarter, since increments of one counter wait for each other. The last quarter has what is left of the words: a little
 * more, so that the places of the quarters are not in the same lines of a cache. */
typedef struct {
    PatchBase base;
    size_t quarter;                  /* words of the first quarters */
    uint8_t *context, *symbol;       /* (n) exponent of each old word; symbols, sorted */
    uint16_t *z;                     /* (n) of each word */
    uint16_t *wide;                  /* (n) z of each symbol that is an escape */
    size_t first[CONTEXTS + 1];      /* the number of symbols before those of an exponent */
    uint32_t at[QUARTERS][CONTEXTS]; /* the place of the next symbol of an exponent */
} Chunk;

static void set_contexts(const PatchBase *b, uint8_t *context)
{
    const PatchBase own = *b;
    for (size_t i = 0; i < own.n; i++)
        context[i] = (uint8_t)((load_u16(own.old + 2 * i) & 0x7fff) >> own.fraction);
}

/* Sets all that follows from the old words, which begin with number `from` of those of b. */
static Status chunk_open(Chunk *c, const PatchBase *b, size_t from, Arena *scratch, Error *err)
{
    const size_t n = b->n - from < CHUNK ? b->n - from : CHUNK;
    *c = (Chunk){{b->old + 2 * from, n, b->fraction, b->threads}, n / QUARTERS - n / 400, NEW(scratch, uint8_t, n), NEW(scratch, uint8_t, n),
                 NEW(scratch, uint16_t, n), NEW(scratch, uint16_t, n), {0}, {{0}}};
    TRY(arena_check(c->context && c->symbol && c->z && c->wide, scratch, err));
    set_contexts(&c->base, c->context);
    for (size_t i = 0; i < c->quarter; i++)
        for (size_t q = 0; q < QUARTERS; q++)
            c->at[q][c->context[i + q * c->quarter]]++;
    for (size_t i = QUARTERS * c->quarter; i < n; i++)
        c->at[QUARTERS - 1][c->context[i]]++;
    for (size_t k = 0; k < CONTEXTS; k++) {
        c->first[k + 1] = c->first[k];
        for (size_t q = 0; q < QUARTERS; q++) {
            const uint32_t count = c->at[q][k];
            c->at[q][k] = (uint32_t)c->first[k + 1];
            c->first[k + 1] += count;
        }
    }
    return OK;
}

/* The symbols of the words with exponent k. */
static Symbols symbols_of(const Chunk *c, size_t k)
{
    return (Symbols){.n = c->first[k + 1] - c->first[k], .width = 8, .threads = c->base.threads, .code = c->symbol + c->first[k], .quick = true};
}

/* Returns the place of the first escape from `at` on; n: there is none. */
static size_t next_escape(const Chunk *c, size_t at)
{
    const uint8_t *found = memchr(c->symbol + at, ESCAPE, c->base.n - at);
    return found ? (size_t)(found - c->symbol) : c->base.n;
}

static uint64_t check_of(const PatchBase *b, const uint8_t *new)
{
    return checksum((Bytes){new, 2 * b->n}, checksum((Bytes){b->old, 2 * b->n}, 0));
}

size_t patch_most(size_t n)
{
    return (n + CHUNK - 1) / CHUNK * (8 + CONTEXTS * (VARINT_MAX + symbols_most(1, 8))) + symbols_most(n, 8) + 2 * n;
}

/* ---- writing ---- */

static inline void put_symbol(Chunk *c, size_t q, size_t i)
{
    const uint32_t at = c->at[q][c->context[i]]++;
    const uint16_t z = c->z[i];
    if (!z)
        return;
    c->symbol[at] = (uint8_t)(z < ESCAPE ? z : ESCAPE);
    if (__builtin_expect(z >= ESCAPE, 0))
        c->wide[at] = z;
}

static void sort_symbols(Chunk *chunk, const uint8_t *new)
{
    Chunk c = *chunk;
    for (size_t i = 0; i < c.base.n; i++) {
        const uint16_t d = (uint16_t)(ordered(load_u16(new + 2 * i)) - ordered(load_u16(c.base.old + 2 * i)));
        c.z[i] = (uint16_t)(d << 1 ^ (0 - (d >> 15)));
    }
    memset(c.symbol, 0, c.base.n);
    for (size_t i = 0; i < c.quarter; i++)
        for (size_t q = 0; q < QUARTERS; q++)
            put_symbol(&c, q, i + q * c.quarter);
    for (size_t i = QUARTERS * c.quarter; i < c.base.n; i++)
        put_symbol(&c, QUARTERS - 1, i);
}

static Status put_symbols(const Symbols *s, Buf *out, Arena *scratch, Error *err)
{
    Buf own = {.cap = symbols_most(s->n, s->width)};
    own.data = NEW(scratch, uint8_t, own.cap);
    TRY(arena_check(own.data, scratch, err));
    TRY(symbols_put(s, &own, scratch, err));
    buf_varint(out, own.size);
    buf_copy(out, own.data, own.size);
    return OK;
}

static Status put_chunk(const PatchBase *b, size_t from, const uint8_t *new, Buf *out, Arena *scratch, Error *err)
{
    Chunk c;
    TRY(chunk_open(&c, b, from, scratch, err));
    sort_symbols(&c, new);
    buf_u64(out, check_of(&c.base, new));
    for (size_t k = 0; k < CONTEXTS; k++) {
        const ArenaMark mark = arena_mark(scratch);
        const Symbols s = symbols_of(&c, k);
        if (s.n)
            TRY(put_symbols(&s, out, scratch, err));
        arena_rewind(scratch, mark);
    }
    for (size_t i = next_escape(&c, 0); i < c.base.n; i = next_escape(&c, i + 1))
        buf_u16(out, c.wide[i]);
    return OK;
}

Status patch_put(const PatchBase *b, const uint8_t *new, Buf *out, Arena *scratch, Error *err)
{
    for (size_t at = 0; at < b->n; at += CHUNK) {
        const ArenaMark mark = arena_mark(scratch);
        TRY(put_chunk(b, at, new + 2 * at, out, scratch, err));
        arena_rewind(scratch, mark);
    }
    return OK;
}

/* ---- reading ---- */

static Status damaged(Error *err)
{
    return FAIL(err, ERR_CORRUPT, "the patch is damaged, or was made with another base");
}

/* Returns false if an escape is missing, or needs none. */
static bool take_escapes(Chunk *c, Reader *in)
{
    for (size_t i = next_escape(c, 0); i < c->base.n; i = next_escape(c, i + 1))
        if ((c->wide[i] = take_u16(in)) < ESCAPE)
            return false;
    return !in->bad;
}

static inline void take_symbol(Chunk *c, size_t q, size_t i)
{
    const uint32_t at = c->at[q][c->context[i]]++;
    c->z[i] = c->symbol[at];
    if (__builtin_expect(c->symbol[at] == ESCAPE, 0))
        c->z[i] = c->wide[at];
}

static void take_words(Chunk *chunk, uint8_t *new)
{
    Chunk c = *chunk;
    for (size_t i = 0; i < c.quarter; i++)
        for (size_t q = 0; q < QUARTERS; q++)
            take_symbol(&c, q, i + q * c.quarter);
    for (size_t i = QUARTERS * c.quarter; i < c.base.n; i++)
        take_symbol(&c, QUARTERS - 1, i);
    for (size_t i = 0; i < c.base.n; i++) {
        const uint16_t d = (uint16_t)(c.z[i] >> 1 ^ (0 - (c.z[i] & 1)));
        store_u16(new + 2 * i, unordered((uint16_t)(ordered(load_u16(c.base.old + 2 * i)) + d)));
    }
}

static Status get_chunk(const PatchBase *b, size_t from, Reader *in, uint8_t *new, Arena *scratch, Error *err)
{
    Chunk c;
    const char *why;
    TRY(chunk_open(&c, b, from, scratch, err));
    const uint64_t check = take_u64(in);
    for (size_t k = 0; k < CONTEXTS; k++) {
        const ArenaMark mark = arena_mark(scratch);
        const Symbols s = symbols_of(&c, k);
        const size_t size = s.n ? take_varint(in) : 0;
        const uint8_t *data = take_bytes(in, size);
        if (!data)
            return damaged(err);
        const Status status = s.n ? symbols_get(&s, (Bytes){data, size}, scratch, err, &why) : OK;
        if (status != OK)
            return status == ERR_CORRUPT ? damaged(err) : status;
        arena_rewind(scratch, mark);
    }
    if (!take_escapes(&c, in))
        return damaged(err);
    take_words(&c, new);
    return check == check_of(&c.base, new) ? OK : damaged(err);
}

Status patch_get(const PatchBase *b, Reader *in, uint8_t *new, Arena *scratch, Error *err)
{
    for (size_t at = 0; at < b->n; at += CHUNK) {
        const ArenaMark mark = arena_mark(scratch);
        TRY(get_chunk(b, at, in, new + 2 * at, scratch, err));
        arena_rewind(scratch, mark);
    }
    return OK;
}
