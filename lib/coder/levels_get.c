/* levels_get.c -- decodes levels. The streams of four blocks are read in turn, with one table look-up for
 * each entry (gap, sign and level). An entry is read bit by bit if it has more bits than a table index, if it
 * is in the last bytes of a stream, or if the array is too short for a table. */
#include "coder/elias.h"
#include "coder/levels.h"

enum { LANES_MAX = 4, LOOK_BITS = 12, LOOK_FROM = 2048 };

typedef struct {
    BitReader r;
    void *code;      /* the block's codes, the first element's code first */
    size_t start, n; /* start: index of the block's first element in the array; n: length of the block */
    /* indices in the block: `next` is the next element to read; `run_end` is the first element after the
     * current run */
    size_t next, run_end;
    size_t left; /* entries (gap, sign and level) of the current run that are still to be read */
} Lane;

#define INLINE static inline __attribute__((always_inline))

enum { LENGTH_MASK = 15, GAP_SHIFT = 4, GAP_MASK = 1023, CODE_SHIFT = 14 };

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
    lane->r.at += e & LENGTH_MASK;
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
                            : levels_run_end(l, lane->start + start, lane->start + lane->n) - lane->start;
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

static bool sparse_get(const Levels *l, const uint32_t *table, Lane *lane, size_t lanes)
{
    return levels_wide(l) ? get_lanes(l, table, lane, lanes, true, LEVELS_SPARSE)
                          : get_lanes(l, table, lane, lanes, false, LEVELS_SPARSE);
}

static bool dense_get(const Levels *l, const uint32_t *table, Lane *lane, size_t lanes)
{
    return levels_wide(l) ? get_lanes(l, table, lane, lanes, true, LEVELS_DENSE)
                          : get_lanes(l, table, lane, lanes, false, LEVELS_DENSE);
}

/* ---- reading: four blocks at a time, so that the table look-ups of their streams overlap in time ---- */

typedef struct {
    const Levels *l;
    LevelsForm form;
    LevelsStream *stream;
    const uint32_t *table;
    Bytes in;
} GetJob;

static size_t pieces_of(size_t blocks)
{
    return (blocks + LANES_MAX - 1) / LANES_MAX;
}

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
    job->stream[first].bad = !(job->form == LEVELS_SPARSE ? sparse_get(l, job->table, lane, lanes)
                                                          : dense_get(l, job->table, lane, lanes));
}

static bool find_streams(const Levels *l, LevelsStream *stream, Bytes in)
{
    uint64_t at = levels_table_bytes(l);
    if (in.size < at)
        return false;
    for (size_t b = 0; b < blocks_of(l->n); b++) {
        stream[b] = (LevelsStream){.at = (size_t)at, .size = at ? load_u32(in.data + 4 * b) : in.size};
        at += stream[b].size;
    }
    return at == in.size;
}

bool levels_get(const Levels *l, LevelsForm form, int threads, LevelsStream *stream, Bytes in)
{
    uint32_t table[1 << LOOK_BITS];
    const size_t blocks = blocks_of(l->n);
    if (!find_streams(l, stream, in))
        return false;
    const bool look = l->n >= LOOK_FROM;
    if (look)
        stream_table(l, form, table);
    GetJob job = {l, form, stream, look ? table : NULL, in};
    parallel_for(threads, pieces_of(blocks), get_blocks, &job);
    bool good = true;
    for (size_t b = 0; b < blocks; b += LANES_MAX)
        good &= !stream[b].bad;
    return good;
}
