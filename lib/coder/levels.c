/* levels.c -- codes quantisation levels as Elias omega codes (levels.h). To write, looks code words up in tables, and joins
 * two or four code words into one write. */
#include "coder/levels.h"
#include "coder/elias.h"

static bool levels_wide(const Levels *l)
{
    return l->bits > CODE_BYTE_BITS;
}

/* Returns the end of the run that contains element i: the index after the run's last element, but at most
 * `end`. */
static size_t run_end(const Levels *l, size_t i, size_t end)
{
    const size_t left = l->run - i % l->run;
    return left < end - i ? i + left : end;
}

/* Returns the bytes of the table of the streams' lengths. */
static size_t table_bytes(size_t n)
{
    return n > BLOCK ? 4 * blocks_of(n) : 0;
}

/* Where a block's stream is in the bytes that are written or read. */
typedef struct {
    size_t at, size;
    bool bad;
} LevelsStream;

/* ---- sizes ---- */

/* The sparse stream and the dense stream are longest when every level is the highest, s. In the sparse stream
 * each non-zero level has an entry (gap, sign and level). Leaving out an entry saves more bits than the next
 * entry's longer gap adds. */
static size_t form_most(size_t n, size_t run, uint32_t s, LevelsForm form)
{
    const size_t longest = run < BLOCK ? run : BLOCK, runs = n / run + 1 + blocks_of(n);
    uint64_t bits = (uint64_t)n * (omega_bits(s + 1) + 1);
    if (form == LEVELS_SPARSE)
        bits = (uint64_t)n * (2 + (s > 1 ? omega_bits(s) : 0)) + (uint64_t)runs * omega_bits(longest + 1);
    return table_bytes(n) + (size_t)(bits / 8) + blocks_of(n);
}

size_t levels_most(size_t n, size_t run, uint32_t s, LevelsForm form)
{
    if (form != LEVELS_SHORTER)
        return form_most(n, run, s, form);
    const size_t sparse = form_most(n, run, s, LEVELS_SPARSE), dense = form_most(n, run, s, LEVELS_DENSE);
    return 1 + (sparse < dense ? sparse : dense);
}

/* Returns how many bits longer the omega code of 2^k is than the omega code of 2^k - 1; for k = 0, the 1 bit
 * of the omega code of 1. */
static unsigned omega_step(unsigned k)
{
    return k ? omega_bits(UINT64_C(1) << k) - omega_bits((UINT64_C(1) << k) - 1) : 1;
}

/* The exact size in bits of one block's stream, in each form (sparse and dense). */
typedef struct {
    uint64_t bits[LEVELS_SHORTER];
} LevelsSize;

static LevelsSize measure(const Levels *l, size_t block)
{
    Census c;
    memset(&c, 0, sizeof c);
    uint64_t sparse = 0, dense = block_size(l->n, block), seen = 0;
    const size_t start = block * BLOCK, end = start + block_size(l->n, block);
    for (size_t i = start, to; i < end; i = to) {
        to = run_end(l, i, end);
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

/* Returns the total bytes of all blocks' streams in this form, with the table of their lengths. */
static size_t all_bytes(const Levels *l, const LevelsSize *size, LevelsForm form)
{
    size_t bytes = table_bytes(l->n);
    for (size_t b = 0; b < blocks_of(l->n); b++)
        bytes += stream_bytes(&size[b], form);
    return bytes;
}

/* ---- writing: tables of code words; an entry of a table is code word << 6 | its length ---- */

enum { WORD_BITS = 10, GAP_WORDS = 256 };

/* Tables of code words, which save time if n is large and codes have few bits. `ready`: `code` is filled.
 * `gap` is filled in the sparse form. */
typedef struct {
    bool ready;
    uint64_t code[2 << WORD_BITS], gap[GAP_WORDS];
} StreamWords;

static uint64_t packed(CodeWord word)
{
    return word_make(word.bits, word.length);
}

/* Writes two code words, with one call of bits_put if both together are short enough. */
static inline void put_two(BitWriter *w, uint64_t a, uint64_t b)
{
    if (__builtin_expect((a & WORD_LENGTH) + (b & WORD_LENGTH) <= BITS_MAX - WORD_SHIFT, 1)) {
        word_put(w, words_join(a, b));
    } else {
        word_put(w, a);
        word_put(w, b);
    }
}

/* Returns the code word that follows a gap in the sparse stream: the sign and, unless s = 1, the level. */
static uint64_t sparse_word(const Levels *l, uint32_t code)
{
    const uint32_t level = code & ((1u << l->bits) - 1), sign = code >> l->bits;
    const uint64_t first = word_make(sign, 1);
    return l->s == 1 || level == 0 ? first : words_join(first, packed(omega_word(level)));
}

static uint64_t dense_word(const Levels *l, uint32_t code)
{
    const uint32_t level = code & ((1u << l->bits) - 1), sign = code >> l->bits;
    const uint64_t first = packed(omega_word(level + 1));
    return level ? words_join(first, word_make(sign, 1)) : first;
}

static void stream_words(const Levels *l, LevelsForm form, StreamWords *words)
{
    words->ready = l->bits <= WORD_BITS && l->n >= l->s;
    for (uint32_t code = 0; words->ready && code < 2u << l->bits; code++)
        words->code[code] = form == LEVELS_DENSE ? dense_word(l, code) : sparse_word(l, code);
    for (uint32_t gap = 1; form == LEVELS_SPARSE && gap < GAP_WORDS; gap++)
        words->gap[gap] = packed(omega_word(gap));
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
    return words_join(first, words->ready ? words->code[code] : sparse_word(l, code));
}

static void put_wide_run(const Levels *l, const StreamWords *words, const uint32_t *code, size_t n,
                         BitWriter *w)
{
    uint16_t at[BLOCK + ROOM_BEHIND];
    const size_t count = kernels()->places32(code, n, at);
    word_put(w, packed(omega_word((uint32_t)count + 1)));
    /* the indices at[i] count from the run's first element, so SIZE_MAX (-1) stands for the element before
     * the run */
    size_t before = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        word_put(w, entry_word(l, words, at[i] - before, code[at[i]]));
        before = at[i];
    }
}

static inline uint64_t entry_at(const Levels *l, const StreamWords *words, const uint32_t *entry)
{
    const size_t gap = (entry[0] >> ENTRY_SHIFT) - (entry[-1] >> ENTRY_SHIFT);
    const uint32_t code = entry[0] & ((1u << ENTRY_SHIFT) - 1);
    return entry_word(l, words, gap, code);
}

static BitWriter put_some(const Levels *l, const StreamWords *words, const uint32_t *entry, size_t count,
                          BitWriter w)
{
    size_t i = 0;
    for (; i + 2 <= count; i += 2)
        put_two(&w, entry_at(l, words, entry + i), entry_at(l, words, entry + i + 1));
    if (i < count)
        word_put(&w, entry_at(l, words, entry + i));
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
    word_put(w, packed(omega_word((uint32_t)count + 1)));
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
        to = run_end(l, i, end);
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
        const uint64_t total = (a & WORD_LENGTH) + (b & WORD_LENGTH) + (c & WORD_LENGTH) + (d & WORD_LENGTH);
        if (__builtin_expect(total <= BITS_MAX - WORD_SHIFT, 1)) {
            word_put(w, words_join(words_join(a, b), words_join(c, d)));
        } else {
            put_two(w, a, b);
            put_two(w, c, d);
        }
    }
    for (; i < end; i++)
        word_put(w, level_word(l, words, i, wide));
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
    LevelsSize *size;
    LevelsStream *stream;
    StreamWords words;
    uint8_t *out;
} PutJob;

static void measure_block(void *data, size_t block)
{
    const PutJob *job = data;
    job->size[block] = measure(job->l, block);
}

static void put_block(void *data, size_t block)
{
    const PutJob *job = data;
    BitWriter w = bits_writer(job->out + job->stream[block].at, job->stream[block].size);
    if (job->form == LEVELS_SPARSE)
        sparse_put(job->l, &job->words, block, &w);
    else
        dense_put(job->l, &job->words, block, &w);
    bits_close(&w);
    assert(!w.full && w.at == w.end);
}

/* Writes the table of the streams' lengths, and finds where the streams begin. */
static void put_lengths(PutJob *job)
{
    size_t at = table_bytes(job->l->n);
    for (size_t b = 0; b < blocks_of(job->l->n); b++) {
        job->stream[b] = (LevelsStream){.at = at, .size = stream_bytes(&job->size[b], job->form)};
        at += job->stream[b].size;
        if (table_bytes(job->l->n))
            store_u32(job->out + 4 * b, (uint32_t)job->stream[b].size);
    }
}

/* The choice of the form depends on the sizes of all blocks, so all blocks are measured before any block is written. */
Status levels_put(const Levels *l, LevelsForm form, int threads, Arena *scratch, Error *err, Buf *out)
{
    const size_t blocks = blocks_of(l->n);
    PutJob job = {.l = l, .form = form, .size = NEW(scratch, LevelsSize, blocks), .stream = NEW(scratch, LevelsStream, blocks)};
    TRY(arena_check(job.size && job.stream, scratch, err));
    parallel_for(threads, blocks, measure_block, &job);
    if (form == LEVELS_SHORTER) {
        job.form = all_bytes(l, job.size, LEVELS_SPARSE) <= all_bytes(l, job.size, LEVELS_DENSE) ? LEVELS_SPARSE : LEVELS_DENSE;
        buf_u8(out, (uint8_t)job.form);
    }
    job.out = buf_room(out, all_bytes(l, job.size, job.form));
    put_lengths(&job);
    stream_words(l, job.form, &job.words);
    parallel_for(threads, blocks, put_block, &job);
    return OK;
}

/* ---- reading. The streams of four blocks are read in turn, with one table look-up for each entry (gap, sign and
 * level). An entry is read bit by bit if it has more bits than a table index, if it is in the last bytes of a stream, or if
 * the array is too short for a table. ---- */

enum { LANES_MAX = 4, LOOK_BITS = 12, LOOK_FROM = 2048 };

/* The state of reading one block's stream. */
typedef struct {
    BitReader r;
    void *code;      /* the block's codes, the first element's code first */
    size_t start, n; /* start: index of the block's first element in the array; n: length of the block */
    /* indices in the block: `next` is the next element to read; `run_end` is the first element after the
     * current run */
    size_t next, run_end;
    size_t left; /* entries (gap, sign and level) of the current run that are still to be read */
} Lane;

enum { ENTRY_LENGTH = 15, GAP_SHIFT = 4, GAP_MASK = 1023, CODE_SHIFT = 14 };

/* ---- the look-up table of the decoder ---- */

static void table_add(uint32_t *table, CodeWord word, uint32_t gap, uint32_t code)
{
    const unsigned left = LOOK_BITS - word.length;
    for (uint32_t i = 0; i < 1u << left; i++)
        table[(word.bits << left) + i] = word.length | gap << GAP_SHIFT | code << CODE_SHIFT;
}

static CodeWord with(CodeWord a, CodeWord b)
{
    return (CodeWord){a.bits << b.length | b.bits, a.length + b.length};
}

static void sparse_table(const Levels *l, uint32_t *table)
{
    for (uint32_t gap = 1; omega_bits(gap) < LOOK_BITS; gap++)
        for (uint32_t level = 1; level <= l->s; level++) {
            const CodeWord last = l->s == 1 ? (CodeWord){0, 0} : omega_word(level), first = omega_word(gap);
            if (first.length + 1 + last.length > LOOK_BITS)
                break;
            for (uint32_t sign = 0; sign < 2; sign++)
                table_add(table, with(with(first, (CodeWord){sign, 1}), last), gap, level | sign << l->bits);
        }
}

static void dense_table(const Levels *l, uint32_t *table)
{
    table_add(table, omega_word(1), 1, 0);
    for (uint32_t level = 1; level <= l->s && omega_bits(level + 1) < LOOK_BITS; level++)
        for (uint32_t sign = 0; sign < 2; sign++)
            table_add(table, with(omega_word(level + 1), (CodeWord){sign, 1}), 1, level | sign << l->bits);
}

/* Fills the look-up table of the decoder. The index of an entry is the next LOOK_BITS bits of a stream. The
 * entry describes the first triple (gap, sign, level) in these bits: from the low end, length:4 | gap:10 |
 * code:18. The entry is 0 if the triple is longer than LOOK_BITS bits or not valid. */
static void stream_table(const Levels *l, LevelsForm form, uint32_t *table)
{
    memset(table, 0, sizeof *table << LOOK_BITS);
    if (form == LEVELS_SPARSE)
        sparse_table(l, table);
    else
        dense_table(l, table);
}

/* ---- decoding one entry ---- */

static Lane lane_open(const Levels *l, size_t block, Bytes stream)
{
    const size_t start = block * BLOCK, n = block_size(l->n, block);
    const size_t size = levels_wide(l) ? 4 : 1;
    char *code = (char *)l->code + size * start;
    memset(code, 0, size * n);
    return (Lane){.r = bits_reader(stream), .code = code, .start = start, .n = n};
}

INLINE void set_code(Lane *lane, size_t i, uint32_t code, bool wide)
{
    if (wide)
        ((uint32_t *)lane->code)[i] = code;
    else
        ((uint8_t *)lane->code)[i] = (uint8_t)code;
}

/* Writes `code` to the element `lane->next + gap - 1`. Returns false if this element is beyond the current run
 * (a bucket of `l->run` elements). A `Lane` is the state of reading one block's stream. */
INLINE bool place(Lane *lane, uint64_t gap, uint32_t code, bool wide)
{
    if (__builtin_expect(gap > lane->run_end - lane->next, 0))
        return false;
    lane->next += (size_t)gap;
    lane->left--;
    set_code(lane, lane->next - 1, code, wide);
    return true;
}

static bool sparse_slow(const Levels *l, Lane *lane)
{
    const uint64_t gap = omega_get(&lane->r);
    const uint32_t sign = (uint32_t)bits_get(&lane->r, 1);
    const uint64_t level = l->s == 1 ? 1 : omega_get(&lane->r);
    if (lane->r.bad || level > l->s)
        return false;
    return place(lane, gap, (uint32_t)level | sign << l->bits, levels_wide(l));
}

static bool dense_slow(const Levels *l, Lane *lane)
{
    const uint64_t more = omega_get(&lane->r);
    const uint32_t sign = more > 1 ? (uint32_t)bits_get(&lane->r, 1) : 0;
    if (lane->r.bad || more > (uint64_t)l->s + 1)
        return false;
    return place(lane, 1, (uint32_t)(more - 1) | sign << l->bits, levels_wide(l));
}

/* Reads one entry (gap, sign and level) with a look-up in `table`, or bit by bit if the entry is not in the
 * table. Callers make sure that at least 8 bytes of the stream are left. Returns false if the entry is not
 * valid. */
INLINE bool look(const Levels *l, const uint32_t *table, Lane *lane, bool wide, LevelsForm form)
{
    const uint64_t bits = __builtin_bswap64(load_u64(lane->r.data + (lane->r.at >> 3))) << (lane->r.at & 7);
    const uint32_t e = table[bits >> (64 - LOOK_BITS)];
    if (__builtin_expect(e == 0, 0))
        return form == LEVELS_SPARSE ? sparse_slow(l, lane) : dense_slow(l, lane);
    lane->r.at += e & ENTRY_LENGTH;
    return place(lane, form == LEVELS_SPARSE ? e >> GAP_SHIFT & GAP_MASK : 1, e >> CODE_SHIFT, wide);
}

/* Returns how many entries (gap, sign and level) can be read before fewer than 8 bytes of the stream are left;
 * no entry is longer than 64 bits. */
INLINE size_t safe_entries(const Lane *lane)
{
    const size_t at = (size_t)(lane->r.at >> 3) + 8;
    const size_t safe = at < lane->r.size ? (lane->r.size - at) / 8 : 0;
    return safe < lane->left ? safe : lane->left;
}

/* look_four reads the next `count` entries of each of four streams, look_one the next entries of one stream.
 * Each function works on copies of the streams' states (lanes), which the compiler keeps in registers. */
INLINE bool look_four(const Levels *l, const uint32_t *table, Lane *lane, size_t count, bool wide,
                      LevelsForm form)
{
    Lane a = lane[0], b = lane[1], c = lane[2], d = lane[3];
    bool good = true;
    for (; count && good; count--) {
        good = look(l, table, &a, wide, form);
        good &= look(l, table, &b, wide, form);
        good &= look(l, table, &c, wide, form);
        good &= look(l, table, &d, wide, form);
    }
    lane[0] = a, lane[1] = b, lane[2] = c, lane[3] = d;
    return good;
}

INLINE bool look_one(const Levels *l, const uint32_t *table, Lane *lane, bool wide, LevelsForm form)
{
    Lane a = *lane;
    bool good = true;
    for (size_t count = table ? safe_entries(&a) : 0; count && good; count--)
        good = look(l, table, &a, wide, form);
    *lane = a;
    return good;
}

/* ---- runs ---- */

/* If the current run has no entries left, begins the next run that has entries. In the sparse form, runs of
 * zeros have no entries. In the dense form, the whole block is one run with an entry for each element.
 * Returns false if a run claims more entries than it has elements. */
static bool begin_runs(const Levels *l, Lane *lane, LevelsForm form)
{
    while (lane->left == 0 && lane->run_end < lane->n) {
        const size_t start = lane->run_end;
        lane->next = start;
        lane->run_end = form == LEVELS_DENSE
                            ? lane->n
                            : run_end(l, lane->start + start, lane->start + lane->n) - lane->start;
        const uint64_t more = form == LEVELS_DENSE ? lane->n + 1 : omega_get(&lane->r);
        if (lane->r.bad || more - 1 > lane->run_end - start)
            return false;
        lane->left = (size_t)(more - 1);
    }
    return true;
}

INLINE bool finish_lane(const Levels *l, const uint32_t *table, Lane *lane, bool wide, LevelsForm form)
{
    for (; lane->left;) {
        if (!look_one(l, table, lane, wide, form))
            return false;
        while (lane->left && (!table || safe_entries(lane) == 0))
            if (!(form == LEVELS_SPARSE ? sparse_slow(l, lane) : dense_slow(l, lane)))
                return false;
        if (lane->left == 0 && !begin_runs(l, lane, form))
            return false;
    }
    return bits_finish(&lane->r);
}

INLINE bool get_lanes(const Levels *l, const uint32_t *table, Lane *lane, size_t lanes, bool wide,
                      LevelsForm form)
{
    for (;;) {
        size_t count = SIZE_MAX;
        for (size_t i = 0; i < lanes; i++) {
            if (!begin_runs(l, &lane[i], form))
                return false;
            const size_t safe = safe_entries(&lane[i]);
            count = safe < count ? safe : count;
        }
        if (lanes < LANES_MAX || !table || count == 0)
            break;
        if (!look_four(l, table, lane, count, wide, form))
            return false;
    }
    for (size_t i = 0; i < lanes; i++)
        if (!finish_lane(l, table, &lane[i], wide, form))
            return false;
    return true;
}

/* ---- reading: four blocks at a time, so that the table look-ups of their streams overlap in time ---- */

typedef struct {
    const Levels *l;
    LevelsForm form;
    LevelsStream *stream;
    const uint32_t *table;
    Bytes in;
} GetJob;

static void get_blocks(void *data, size_t piece)
{
    const GetJob *job = data;
    const Levels *l = job->l;
    const size_t first = piece * LANES_MAX, left = blocks_of(l->n) - first;
    const size_t lanes = left < LANES_MAX ? left : LANES_MAX;
    Lane lane[LANES_MAX];
    for (size_t i = 0; i < lanes; i++) {
        const LevelsStream *s = &job->stream[first + i];
        lane[i] = lane_open(l, first + i, (Bytes){job->in.data + s->at, s->size});
    }
    const uint32_t *table = job->table;
    if (job->form == LEVELS_SPARSE)
        job->stream[first].bad = levels_wide(l) ? !get_lanes(l, table, lane, lanes, true, LEVELS_SPARSE)
                                                : !get_lanes(l, table, lane, lanes, false, LEVELS_SPARSE);
    else
        job->stream[first].bad = levels_wide(l) ? !get_lanes(l, table, lane, lanes, true, LEVELS_DENSE)
                                                : !get_lanes(l, table, lane, lanes, false, LEVELS_DENSE);
}

static bool find_streams(const Levels *l, LevelsStream *stream, Bytes in)
{
    uint64_t at = table_bytes(l->n);
    if (in.size < at)
        return false;
    for (size_t b = 0; b < blocks_of(l->n); b++) {
        stream[b] = (LevelsStream){.at = (size_t)at, .size = at ? load_u32(in.data + 4 * b) : in.size};
        at += stream[b].size;
    }
    return at == in.size;
}

static bool get_streams(const Levels *l, LevelsForm form, int threads, LevelsStream *stream, Bytes in)
{
    uint32_t table[1 << LOOK_BITS];
    const size_t blocks = blocks_of(l->n);
    if (!find_streams(l, stream, in))
        return false;
    const bool look = l->n >= LOOK_FROM;
    if (look)
        stream_table(l, form, table);
    GetJob job = {l, form, stream, look ? table : NULL, in};
    parallel_for(threads, (blocks + LANES_MAX - 1) / LANES_MAX, get_blocks, &job);
    bool good = true;
    for (size_t b = 0; b < blocks; b += LANES_MAX)
        good &= !stream[b].bad;
    return good;
}

Status levels_get(const Levels *l, LevelsForm form, int threads, Reader *r, Arena *scratch, Error *err, const char **why)
{
    LevelsStream *stream = NEW(scratch, LevelsStream, blocks_of(l->n));
    TRY(arena_check(stream, scratch, err));
    const unsigned sent = form == LEVELS_SHORTER ? take_u8(r) : form;
    *why = "neither sparse nor dense";
    if (r->bad || sent >= LEVELS_SHORTER)
        return ERR_CORRUPT;
    const size_t left = reader_left(r);
    *why = sent == LEVELS_SPARSE ? "damaged sparse streams" : "damaged dense streams";
    return get_streams(l, (LevelsForm)sent, threads, stream, (Bytes){take_bytes(r, left), left}) ? OK : ERR_CORRUPT;
}
