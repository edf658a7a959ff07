/* symbols_sparse_get.c -- codes most of which are one (symbols_sparse.c): gaps become places, and others go there. */
#include "coder/symbols_parts.h"

/* Codes that came as symbols themselves, and what none may be. */
typedef struct {
    uint32_t *code;
    size_t n;
    int width;
    uint32_t most, never;
} Words;

typedef struct {
    const Symbols *s;
    unsigned bits; /* of the longest gap */
    uint32_t common;
    Words gap, other;
    uint32_t *at;   /* (others) their places in their blocks, where the gaps were */
    size_t *before; /* (blocks + 1) others before each block */
    bool *bad;      /* (blocks) */
} Job;

/* ---- gaps and others ---- */

static bool take_words(const void *data, size_t block, const void *code)
{
    const Words *w = data;
    const size_t n = block_size(w->n, block);
    uint32_t *to = w->code + block * BLOCK;
    bool good = true;
    for (size_t i = 0; i < n; i++) {
        to[i] = w->width > BYTE_WIDTH ? ((const uint32_t *)code)[i] : ((const uint8_t *)code)[i];
        good &= to[i] <= w->most && to[i] != w->never;
    }
    return good;
}

static Status get_words(const Symbols *s, Words *w, Bytes in, Arena *scratch, Error *err, const char **why)
{
    const Symbols words = {.coder = s->coder,
                           .n = w->n,
                           .width = w->width,
                           .threads = s->threads,
                           .data = w,
                           .take = take_words};
    w->code = NEW(scratch, uint32_t, w->n);
    return w->code ? symbols_get(&words, in, scratch, err, why) : arena_fail(scratch, err);
}

/* Places of the others, one for each gap that does not go on; false where codes end before, gaps do not, or the longest
 * takes other bits than are said. */
static bool find_places(Job *job)
{
    const size_t n = job->s->n, blocks = blocks_of(n);
    size_t from = 0, next = 0, block = 0, others = 0, longest = 0;
    job->at = job->gap.code;
    job->before[0] = 0;
    for (size_t i = 0; i < job->gap.n; i++) {
        const uint32_t gap = job->gap.code[i];
        next += gap;
        if (next >= n)
            return false;
        if (gap == LONG_GAP)
            continue;
        while (block < next / BLOCK)
            job->before[++block] = others;
        job->at[others++] = (uint32_t)(next % BLOCK);
        longest = next - from > longest ? next - from : longest;
        from = ++next;
    }
    while (block < blocks)
        job->before[++block] = others;
    job->other.n = others;
    return from == next && others <= sparse_others(n) && gap_bits(longest) == job->bits;
}

/* ---- codes ---- */

static void take_block(void *data, size_t block)
{
    const Job *job = data;
    const Symbols *s = job->s;
    const size_t n = block_size(s->n, block);
    uint32_t code[BLOCK];
    uint8_t *const byte = (uint8_t *)code;
    if (symbols_wide(s)) {
        for (size_t i = 0; i < n; i++)
            code[i] = job->common;
        for (size_t i = job->before[block]; i < job->before[block + 1]; i++)
            code[job->at[i]] = job->other.code[i];
    } else {
        memset(byte, (int)job->common, n);
        for (size_t i = job->before[block]; i < job->before[block + 1]; i++)
            byte[job->at[i]] = (uint8_t)job->other.code[i];
    }
    job->bad[block] = !s->take(s->data, block, code);
}

/* The numbers in front; false for those that no writer writes. */
static bool get_head(Job *job, Reader *r, Bytes *gaps)
{
    const Symbols *s = job->s;
    const unsigned bits = GAP_BITS_LEAST + take_u8(r) / 16u;
    const uint64_t common = take_varint(r), count = take_varint(r), size = take_varint(r);
    *gaps = (Bytes){take_bytes(r, size), size};
    if (r->bad || bits > GAP_BITS_MOST || common >> s->width || count == 0 || count > sparse_gaps(s->n))
        return false;
    const uint32_t most = bits == GAP_BITS_MOST ? LONG_GAP : (UINT32_C(1) << bits) - 1;
    job->bits = bits;
    job->common = (uint32_t)common;
    job->gap = (Words){.n = count, .width = (int)bits + 1, .most = most, .never = UINT32_MAX};
    job->other = (Words){.width = s->width, .most = UINT32_MAX, .never = job->common};
    return true;
}

Status symbols_get_sparse(const Symbols *s, Bytes in, Arena *scratch, Error *err, const char **why)
{
    const size_t blocks = blocks_of(s->n);
    Job job = {.s = s};
    Reader r = reader_open(in);
    Bytes gaps;
    *why = "a damaged head of sparse symbols";
    if (!get_head(&job, &r, &gaps))
        return ERR_CORRUPT;
    job.before = NEW(scratch, size_t, blocks + 1);
    job.bad = NEW(scratch, bool, blocks);
    if (!job.before || !job.bad)
        return arena_fail(scratch, err);
    TRY(get_words(s, &job.gap, gaps, scratch, err, why));
    *why = "gaps between symbols that do not add up";
    if (!find_places(&job))
        return ERR_CORRUPT;
    TRY(get_words(s, &job.other, (Bytes){r.at, reader_left(&r)}, scratch, err, why));
    parallel_for(s->threads, blocks, take_block, &job);
    *why = "levels that no encoder writes";
    for (size_t b = 0; b < blocks; b++)
        if (job.bad[b])
            return ERR_CORRUPT;
    return OK;
}
