/* patch.c -- codes floats of 16 bits against older ones (patch.h). */
#include "coder/patch.h"

#include "base/checksum.h"
#include "coder/symbols.h"

enum { CHUNK = PATCH_CHUNK, CONTEXTS = 256, ESCAPE = 255 };

/* Inverts the highest bit of a word that is not negative, else all bits; and back. */
static unsigned ordered(unsigned word)
{
    return word ^ (((0 - (word >> 15)) & 0xffff) | 0x8000);
}

static unsigned unordered(unsigned order)
{
    return order ^ ((((order >> 15) - 1) & 0xffff) | 0x8000);
}

static unsigned context(const PatchBase *b, unsigned word)
{
    return (word & 0x7fff) >> b->fraction;
}

/* Sets first[k] to the number of words with an exponent below k. */
static void sort_contexts(const PatchBase *b, size_t first[CONTEXTS + 1])
{
    enum { WAYS = 4 }; /* since increments of one counter wait for each other */
    uint32_t count[WAYS][CONTEXTS] = {{0}};
    for (size_t i = 0; i < b->n; i++)
        count[i % WAYS][context(b, load_u16(b->old + 2 * i))]++;
    first[0] = 0;
    for (size_t k = 0; k < CONTEXTS; k++)
        first[k + 1] = first[k] + count[0][k] + count[1][k] + count[2][k] + count[3][k];
}

static uint64_t check_of(const PatchBase *b, const uint8_t *new)
{
    return checksum((Bytes){new, 2 * b->n}, checksum((Bytes){b->old, 2 * b->n}, 0));
}

/* The part of the words that is chunk number c. */
static PatchBase chunk_of(const PatchBase *b, size_t c)
{
    PatchBase chunk = *b;
    chunk.old += 2 * c * CHUNK;
    chunk.n = b->n - c * CHUNK < CHUNK ? b->n - c * CHUNK : CHUNK;
    return chunk;
}

static size_t chunks(size_t n)
{
    return (n + CHUNK - 1) / CHUNK;
}

size_t patch_most(size_t n)
{
    return chunks(n) * (8 + CONTEXTS * (VARINT_MAX + symbols_most(1, 8))) + symbols_most(n, 8) + 2 * n;
}

/* ---- writing ---- */

/* Sorts the symbols by their contexts, and returns the number of escapes. */
static size_t sort_symbols(const PatchBase *b, const uint8_t *new, const size_t *first, uint8_t *symbol, uint16_t *escape)
{
    size_t at[CONTEXTS], escapes = 0;
    memcpy(at, first, sizeof at);
    for (size_t i = 0; i < b->n; i++) {
        const unsigned old = load_u16(b->old + 2 * i), d = ordered(load_u16(new + 2 * i)) - ordered(old);
        const unsigned z = (d << 1 ^ (0 - (d >> 15 & 1))) & 0xffff;
        symbol[at[context(b, old)]++] = (uint8_t)(z < ESCAPE ? z : ESCAPE);
        escape[escapes] = (uint16_t)z;
        escapes += z >= ESCAPE;
    }
    return escapes;
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

static Status put_chunk(const PatchBase *b, const uint8_t *new, Buf *out, Arena *scratch, Error *err)
{
    size_t first[CONTEXTS + 1];
    uint8_t *symbol = NEW(scratch, uint8_t, b->n);
    uint16_t *escape = NEW(scratch, uint16_t, b->n + 1);
    TRY(arena_check(symbol && escape, scratch, err));
    sort_contexts(b, first);
    const size_t escapes = sort_symbols(b, new, first, symbol, escape);
    buf_u64(out, check_of(b, new));
    for (size_t k = 0; k < CONTEXTS; k++) {
        const ArenaMark mark = arena_mark(scratch);
        const Symbols s = {.n = first[k + 1] - first[k], .width = 8, .threads = b->threads, .code = symbol + first[k]};
        if (s.n)
            TRY(put_symbols(&s, out, scratch, err));
        arena_rewind(scratch, mark);
    }
    for (size_t i = 0; i < escapes; i++)
        buf_u16(out, escape[i]);
    return OK;
}

Status patch_put(const PatchBase *b, const uint8_t *new, Buf *out, Arena *scratch, Error *err)
{
    for (size_t c = 0; c < chunks(b->n); c++) {
        const ArenaMark mark = arena_mark(scratch);
        const PatchBase chunk = chunk_of(b, c);
        TRY(put_chunk(&chunk, new + 2 * c * CHUNK, out, scratch, err));
        arena_rewind(scratch, mark);
    }
    return OK;
}

/* ---- reading ---- */

static Status damaged(Error *err)
{
    return FAIL(err, ERR_CORRUPT, "the patch is damaged, or was made with another base");
}

/* Fills in the new words from symbols that are sorted by context. Returns false if an escape is missing, or needs none. */
static bool take_words(const PatchBase *b, const size_t *first, const uint8_t *symbol, Reader *in, uint8_t *new)
{
    size_t at[CONTEXTS];
    memcpy(at, first, sizeof at);
    for (size_t i = 0; i < b->n; i++) {
        const unsigned old = load_u16(b->old + 2 * i);
        unsigned z = symbol[at[context(b, old)]++];
        if (z == ESCAPE && (z = take_u16(in)) < ESCAPE)
            return false;
        store_u16(new + 2 * i, (uint16_t)unordered((ordered(old) + (z >> 1 ^ (0 - (z & 1)))) & 0xffff));
    }
    return !in->bad;
}

static Status get_chunk(const PatchBase *b, Reader *in, uint8_t *new, Arena *scratch, Error *err)
{
    size_t first[CONTEXTS + 1];
    const char *why;
    uint8_t *symbol = NEW(scratch, uint8_t, b->n);
    TRY(arena_check(symbol, scratch, err));
    sort_contexts(b, first);
    const uint64_t check = take_u64(in);
    for (size_t k = 0; k < CONTEXTS; k++) {
        const ArenaMark mark = arena_mark(scratch);
        const Symbols s = {.n = first[k + 1] - first[k], .width = 8, .threads = b->threads, .code = symbol + first[k]};
        const size_t size = s.n ? take_varint(in) : 0;
        const uint8_t *data = take_bytes(in, size);
        if (!data)
            return damaged(err);
        const Status status = s.n ? symbols_get(&s, (Bytes){data, size}, scratch, err, &why) : OK;
        if (status != OK)
            return status == ERR_CORRUPT ? damaged(err) : status;
        arena_rewind(scratch, mark);
    }
    return take_words(b, first, symbol, in, new) && check == check_of(b, new) ? OK : damaged(err);
}

Status patch_get(const PatchBase *b, Reader *in, uint8_t *new, Arena *scratch, Error *err)
{
    for (size_t c = 0; c < chunks(b->n); c++) {
        const ArenaMark mark = arena_mark(scratch);
        const PatchBase chunk = chunk_of(b, c);
        TRY(get_chunk(&chunk, in, new + 2 * c * CHUNK, scratch, err));
        arena_rewind(scratch, mark);
    }
    return OK;
}
