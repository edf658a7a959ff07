/* levels.c -- computes the sizes of the blocks' streams. Writes and reads the table of stream lengths. Runs
 * the encoders and decoders of levels_streams.h. */
#include "coder/levels_streams.h"

static size_t table_bytes(const Levels *l)
{
    return l->n > BLOCK ? 4 * blocks_of(l->n) : 0;
}

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
    return table_bytes(&l) + (size_t)(bits / 8) + blocks_of(n);
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

size_t levels_bytes(const Levels *l, const LevelsSize *size, LevelsForm form)
{
    size_t bytes = table_bytes(l);
    for (size_t b = 0; b < blocks_of(l->n); b++)
        bytes += stream_bytes(&size[b], form);
    return bytes;
}

/* ---- writing ---- */

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
    size_t at = table_bytes(l);
    for (size_t b = 0; b < blocks_of(l->n); b++) {
        stream[b] = (LevelsStream){.at = at, .size = stream_bytes(&size[b], form)};
        at += stream[b].size;
        if (table_bytes(l))
            store_u32(out + 4 * b, (uint32_t)stream[b].size);
    }
    StreamWords words;
    stream_words(l, form, &words);
    PutJob job = {l, form, stream, &words, out};
    parallel_for(threads, blocks_of(l->n), put_block, &job);
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
    uint64_t at = table_bytes(l);
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
