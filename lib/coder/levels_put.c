/* levels_put.c -- computes the sizes of the blocks' streams and encodes quantisation levels. Looks code words up in
 * tables, and joins two or four code words into one write. */
#include "coder/elias.h"
#include "coder/levels.h"

/* The sparse stream and the dense stream are longest when every level is the highest, s. In the sparse stream
 * each non-zero level has an entry (gap, sign and level). Leaving out an entry saves more bits than the next
 * entry's longer gap adds. */
size_t levels_most(size_t n, size_t run, uint32_t s, LevelsForm form)
{
    const Levels l = {.n = n, .run = run, .s = s};
    const size_t longest = run < BLOCK ? run : BLOCK, runs = n / run + 1 + blocks_of(n);
    uint64_t bits = (uint64_t)n * (omega_bits(s + 1) + 1);
    if (form == LEVELS_SPARSE)
        bits = (uint64_t)n * (2 + (s > 1 ? omega_bits(s) : 0)) + (uint64_t)runs * omega_bits(longest + 1);
    return levels_table_bytes(&l) + (size_t)(bits / 8) + blocks_of(n);
}

/* Returns how many bits longer the omega code of 2^k is than the omega code of 2^k - 1; for k = 0, the 1 bit
 * of the omega code of 1. */
static unsigned omega_step(unsigned k)
{
    return k ? omega_bits(UINT64_C(1) << k) - omega_bits((UINT64_C(1) << k) - 1) : 1;
}

LevelsSize levels_measure(const Levels *l, size_t block)
{
    Census c;
    memset(&c, 0, sizeof c);
    uint64_t sparse = 0, dense = block_size(l->n, block), seen = 0;
    const size_t start = block * BLOCK, end = start + block_size(l->n, block);
    for (size_t i = start, to; i < end; i = to) {
        to = levels_run_end(l, i, end);
        if (levels_wide(l))
            kernels()->census32((const uint32_t *)l->code + i, to - i, l->bits, &c);
        else
            kernels()->census8((const uint8_t *)l->code + i, to - i, l->bits, &c);
        sparse += omega_bits(1 + c.level[0] - seen);
        seen = c.level[0];
    }
    for (unsigned k = 0; k < countof(c.gap); k++) {
        sparse += omega_step(k) * (c.gap[k] + (l->s > 1 ? c.level[k] : 0));
        dense += k ? omega_step(k) * c.next[k] : 0;
    }
    return (LevelsSize){{sparse + seen, dense + seen}};
}

static size_t stream_bytes(const LevelsSize *size, LevelsForm form)
{
    return (size_t)((size->bits[form] + 7) / 8);
}

size_t levels_bytes(const Levels *l, const LevelsSize *size, LevelsForm form)
{
    size_t bytes = levels_table_bytes(l);
    for (size_t b = 0; b < blocks_of(l->n); b++)
        bytes += stream_bytes(&size[b], form);
    return bytes;
}

/* ---- writing: tables of code words; an entry of a table is code word << 6 | its length ---- */

enum { WORD_BITS = 10, GAP_WORDS = 256, PAIR_BITS = 5, PAIR_GAPS = 64, PAIRS_FROM = 1 << 14 };

/* Tables of code words, which save time if n is large and codes have few bits. `ready`: `code` is filled.
 * `paired`: `pair` is filled. `gap` is filled in the sparse form. */
typedef struct {
    bool ready, paired;
    uint64_t code[2 << WORD_BITS], gap[GAP_WORDS];
    /* code words that join a gap with the sign and the level that follow it */
    uint32_t pair[PAIR_GAPS << PAIR_BITS];
} StreamWords;

enum { LENGTH_BITS = 6, LENGTH_MASK = 63 };

static uint64_t packed(CodeWord word)
{
    return word.bits << LENGTH_BITS | word.length;
}

static inline uint64_t joined(uint64_t a, uint64_t b)
{
    const unsigned length = b & LENGTH_MASK;
    return ((a >> LENGTH_BITS) << length | b >> LENGTH_BITS) << LENGTH_BITS | ((a & LENGTH_MASK) + length);
}

static inline void put_word(BitWriter *w, uint64_t word)
{
    bits_put(w, word >> LENGTH_BITS, word & LENGTH_MASK);
}

/* Writes two code words, with one call of bits_put if both together are short enough. */
static inline void put_two(BitWriter *w, uint64_t a, uint64_t b)
{
    if (__builtin_expect((a & LENGTH_MASK) + (b & LENGTH_MASK) <= BITS_MAX - LENGTH_BITS, 1)) {
        put_word(w, joined(a, b));
    } else {
        put_word(w, a);
        put_word(w, b);
    }
}

/* Returns the code word that follows a gap in the sparse stream: the sign and, unless s = 1, the level. */
static uint64_t sparse_word(const Levels *l, uint32_t code)
{
    const uint32_t level = code & ((1u << l->bits) - 1), sign = code >> l->bits;
    const uint64_t first = (uint64_t)sign << LENGTH_BITS | 1;
    return l->s == 1 || level == 0 ? first : joined(first, packed(omega_word(level)));
}

static uint64_t dense_word(const Levels *l, uint32_t code)
{
    const uint32_t level = code & ((1u << l->bits) - 1), sign = code >> l->bits;
    const uint64_t first = packed(omega_word(level + 1));
    return level ? joined(first, (uint64_t)sign << LENGTH_BITS | 1) : first;
}

static void pair_words(const Levels *l, StreamWords *words)
{
    for (uint32_t gap = 1; gap < PAIR_GAPS; gap++)
        for (uint32_t code = 0; code < 2u << l->bits; code++)
            words->pair[gap << PAIR_BITS | code] = (uint32_t)joined(words->gap[gap], words->code[code]);
}

static void stream_words(const Levels *l, LevelsForm form, StreamWords *words)
{
    words->ready = l->bits <= WORD_BITS && l->n >= l->s;
    words->paired = form == LEVELS_SPARSE && l->bits < PAIR_BITS && l->n >= PAIRS_FROM;
    for (uint32_t code = 0; words->ready && code < 2u << l->bits; code++)
        words->code[code] = form == LEVELS_DENSE ? dense_word(l, code) : sparse_word(l, code);
    for (uint32_t gap = 1; form == LEVELS_SPARSE && gap < GAP_WORDS; gap++)
        words->gap[gap] = packed(omega_word(gap));
    if (words->paired)
        pair_words(l, words);
}

#define INLINE static inline __attribute__((always_inline))

INLINE uint32_t code_at(const Levels *l, size_t i, bool wide)
{
    return wide ? ((const uint32_t *)l->code)[i] : ((const uint8_t *)l->code)[i];
}

/* ---- sparse ---- */

static inline uint64_t entry_word(const Levels *l, const StreamWords *words, size_t gap, uint32_t code)
{
    const uint64_t first = gap < GAP_WORDS ? words->gap[gap] : packed(omega_word((uint32_t)gap));
    return joined(first, words->ready ? words->code[code] : sparse_word(l, code));
}

static void put_wide_run(const Levels *l, const StreamWords *words, const uint32_t *code, size_t n,
                         BitWriter *w)
{
    uint16_t at[BLOCK + ROOM_BEHIND];
    const size_t count = kernels()->places32(code, n, at);
    put_word(w, packed(omega_word((uint32_t)count + 1)));
    /* the indices at[i] count from the run's first element, so SIZE_MAX (-1) stands for the element before
     * the run */
    size_t before = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        put_word(w, entry_word(l, words, at[i] - before, code[at[i]]));
        before = at[i];
    }
}

static inline uint64_t entry_at(const Levels *l, const StreamWords *words, const uint32_t *entry)
{
    const size_t gap = (entry[0] >> ENTRY_SHIFT) - (entry[-1] >> ENTRY_SHIFT);
    const uint32_t code = entry[0] & ((1u << ENTRY_SHIFT) - 1);
    if (words->paired && __builtin_expect(gap < PAIR_GAPS, 1))
        return words->pair[gap << PAIR_BITS | code];
    return entry_word(l, words, gap, code);
}

static BitWriter put_some(const Levels *l, const StreamWords *words, const uint32_t *entry, size_t count,
                          BitWriter w)
{
    size_t i = 0;
    for (; i + 2 <= count; i += 2)
        put_two(&w, entry_at(l, words, entry + i), entry_at(l, words, entry + i + 1));
    if (i < count)
        put_word(&w, entry_at(l, words, entry + i));
    return w;
}

/* Writes the sparse stream of a run of elements. An entry is a gap, a sign and a level. The vector kernel
 * stops at an entry that is too long for its tables. The loop then writes up to FEW entries without the
 * kernel, and calls the kernel again. */
static void put_run(const Levels *l, const StreamWords *words, const uint8_t *code, size_t n, BitWriter *w)
{
    enum { FEW = 64 };
    uint32_t room[1 + BLOCK + ROOM_BEHIND], *const entry = room + 1;
    const size_t count = kernels()->entries8(code, n, entry);
    put_word(w, packed(omega_word((uint32_t)count + 1)));
    room[0] = 0; /* indices in a run count from 1, so index 0 is the element before the run */
    for (size_t i = 0, some; i < count; i += some) {
        i += kernels()->put_entries(entry + i, count - i, l->bits, w);
        some = count - i < FEW ? count - i : FEW;
        *w = put_some(l, words, entry + i, some, *w);
    }
}

static void sparse_put(const Levels *l, const StreamWords *words, size_t block, BitWriter *w)
{
    const size_t start = block * BLOCK, end = start + block_size(l->n, block);
    for (size_t i = start, to; i < end; i = to) {
        to = levels_run_end(l, i, end);
        if (levels_wide(l))
            put_wide_run(l, words, (const uint32_t *)l->code + i, to - i, w);
        else
            put_run(l, words, (const uint8_t *)l->code + i, to - i, w);
    }
}

/* ---- dense ---- */

INLINE uint64_t level_word(const Levels *l, const StreamWords *words, size_t i, bool wide)
{
    return words->ready ? words->code[code_at(l, i, wide)] : dense_word(l, code_at(l, i, wide));
}

INLINE void put_levels(const Levels *l, const StreamWords *words, size_t i, size_t end, BitWriter *w,
                       bool wide)
{
    for (; i + 4 <= end; i += 4) {
        const uint64_t a = level_word(l, words, i, wide), b = level_word(l, words, i + 1, wide),
                       c = level_word(l, words, i + 2, wide), d = level_word(l, words, i + 3, wide);
        const uint64_t total = (a & LENGTH_MASK) + (b & LENGTH_MASK) + (c & LENGTH_MASK) + (d & LENGTH_MASK);
        if (__builtin_expect(total <= BITS_MAX - LENGTH_BITS, 1)) {
            put_word(w, joined(joined(a, b), joined(c, d)));
        } else {
            put_two(w, a, b);
            put_two(w, c, d);
        }
    }
    for (; i < end; i++)
        put_word(w, level_word(l, words, i, wide));
}

static void dense_put(const Levels *l, const StreamWords *words, size_t block, BitWriter *w)
{
    BitWriter local = *w;
    const size_t start = block * BLOCK, end = start + block_size(l->n, block);
    if (levels_wide(l))
        put_levels(l, words, start, end, &local, true);
    else
        put_levels(l, words, start, end, &local, false);
    *w = local;
}

/* ---- all blocks ---- */

typedef struct {
    const Levels *l;
    LevelsForm form;
    const LevelsStream *stream;
    const StreamWords *words;
    uint8_t *out;
} PutJob;

static void put_block(void *data, size_t block)
{
    const PutJob *job = data;
    BitWriter w = bits_writer(job->out + job->stream[block].at, job->stream[block].size);
    if (job->form == LEVELS_SPARSE)
        sparse_put(job->l, job->words, block, &w);
    else
        dense_put(job->l, job->words, block, &w);
    bits_close(&w);
    assert(!w.full && w.at == w.end);
}

void levels_put(const Levels *l, const LevelsSize *size, LevelsForm form, int threads, LevelsStream *stream,
                uint8_t *out)
{
    size_t at = levels_table_bytes(l);
    for (size_t b = 0; b < blocks_of(l->n); b++) {
        stream[b] = (LevelsStream){.at = at, .size = stream_bytes(&size[b], form)};
        at += stream[b].size;
        if (levels_table_bytes(l))
            store_u32(out + 4 * b, (uint32_t)stream[b].size);
    }
    StreamWords words;
    stream_words(l, form, &words);
    PutJob job = {l, form, stream, &words, out};
    parallel_for(threads, blocks_of(l->n), put_block, &job);
}
