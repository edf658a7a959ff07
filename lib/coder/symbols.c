/* symbols.c -- the writing half: the form chosen, block by block. */
#include "coder/symbols_writer.h"

size_t symbols_most(size_t n, int width)
{
    return 1 + planes_size(n, width);
}

static void put_planes(void *data, size_t block)
{
    const SymbolsJob *job = data;
    const Symbols *s = job->s;
    const size_t n = block_size(s->n, block);
    uint8_t *out = job->out + planes_size(block * BLOCK, s->width);
    if (!symbols_wide(s)) {
        planes_put8(job->code + block * BLOCK, n, s->width, out);
        return;
    }
    uint32_t code[BLOCK];
    s->make(s->data, block, code);
    planes_put32(code, n, s->width, out);
}

void symbols_split(const SymbolsJob *job, size_t block, uint16_t *symbol, uint8_t *low, BitWriter *open)
{
    const Symbols *s = job->s;
    const size_t n = block_size(s->n, block);
    const int shift = job->form.shift;
    uint32_t code[BLOCK];
    if (!symbols_wide(s)) {
        const uint8_t *byte = job->code + block * BLOCK;
        for (size_t i = 0; i < n; i++)
            symbol[i] = (uint16_t)(byte[i] >> shift);
        if (shift)
            planes_put8(byte, n, shift, low);
        return;
    }
    s->make(s->data, block, code);
    if (job->form.classes) {
        classes_split(s, shift, code, n, symbol, open);
        return;
    }
    for (size_t i = 0; i < n; i++)
        symbol[i] = (uint16_t)(code[i] >> shift);
    if (shift)
        planes_put32(code, n, shift, low);
}

/* The most bytes of a block's low bits. */
static size_t low_most(const SymbolsJob *job, size_t n)
{
    return job->form.classes ? 4 + planes_size(n, job->s->width) + 8 : planes_size(n, job->form.shift);
}

/* A block's low bits, and its symbols; returns the bytes. */
static size_t split_block(const SymbolsJob *job, size_t block, uint16_t *symbol, uint8_t *low)
{
    const size_t n = block_size(job->s->n, block);
    BitWriter open = bits_writer(low + 4, low_most(job, n));
    symbols_split(job, block, symbol, low, &open);
    if (!job->form.classes)
        return planes_size(n, job->form.shift);
    bits_close(&open);
    assert(!open.full);
    store_u32(low, (uint32_t)(open.at - low - 4));
    return (size_t)(open.at - low);
}

/* A block from the end of its room: the stream, the low bits, a table of its own. */
static void put_block(void *data, size_t block)
{
    SymbolsJob *job = data;
    const Symbols *s = job->s;
    const size_t n = block_size(s->n, block);
    const Table *table = &job->table[job->form.kind == KIND_OWN_TABLES ? block : 0];
    uint8_t *end = job->room + (block + 1) * job->room_size, *at = end;
    uint16_t symbol[BLOCK];
    uint8_t *bits = job->room + block * job->room_size; /* the low bits, until the stream's place is known */
    const size_t low = split_block(job, block, symbol, bits);
    at -= symbols_coder(s)->stream_put(table, form_lanes(&job->form), symbol, n, at);
    at -= low;
    memmove(at, bits, low);
    if (job->form.kind == KIND_OWN_TABLES) {
        at -= table_size(s, table);
        table_put(s, table, at);
    }
    job->size[block] = (size_t)(end - at);
}

/* ---- all ---- */

/* Blocks that have lengths and streams of their own: all, or one of all codes. */
static size_t bodies(const SymbolsJob *job)
{
    return job->form.whole ? 1 : blocks_of(job->s->n);
}

/* Bytes of the blocks that have been written, and what stands before them. */
static size_t written(const SymbolsJob *job)
{
    size_t bytes = 1 + (job->form.kind == KIND_ONE_TABLE ? table_size(job->s, &job->table[0]) : 0) +
                   (bodies(job) > 1 ? 4 * bodies(job) : 0);
    for (size_t b = 0; b < bodies(job); b++)
        bytes += job->size[b];
    return bytes;
}

static void join(const SymbolsJob *job, Buf *out)
{
    buf_u8(out, form_byte(&job->form));
    if (job->form.kind == KIND_ONE_TABLE)
        table_put(job->s, &job->table[0], buf_room(out, table_size(job->s, &job->table[0])));
    for (size_t b = 0; b < bodies(job) && bodies(job) > 1; b++)
        buf_u32(out, (uint32_t)job->size[b]);
    for (size_t b = 0; b < bodies(job); b++)
        buf_copy(out, job->room + (b + 1) * job->room_size - job->size[b], job->size[b]);
}

/* Bytes that the symbols of a block of n can take, with whatever table. */
static size_t room_most(const SymbolsJob *job, size_t n)
{
    const Symbols *s = job->s;
    size_t most = 0;
    for (size_t t = 0; t < symbols_tables(job); t++) {
        const size_t own = job->form.kind == KIND_OWN_TABLES ? table_size(s, &job->table[t]) : 0,
                     size = own + symbols_coder(s)->stream_most(&job->table[t], n);
        most = size > most ? size : most;
    }
    return most + 2 * low_most(job, n);
}

static Status write_blocks(SymbolsJob *job, Arena *scratch)
{
    const size_t n = job->s->n, blocks = blocks_of(n);
    job->room_size = room_most(job, n < BLOCK ? n : BLOCK);
    job->room = NEW(scratch, uint8_t, blocks * job->room_size);
    if (!job->room)
        return ERR_MEMORY;
    parallel_for(job->s->threads, blocks, put_block, job);
    return OK;
}

static Status write_symbols(SymbolsJob *job, Arena *scratch)
{
    if (job->form.kind == KIND_PLANES)
        return OK;
    TRY(job->form.whole ? symbols_write_whole(job, scratch) : write_blocks(job, scratch));
    if (written(job) >= symbols_most(job->s->n, job->s->width))
        job->form.kind = KIND_PLANES;
    return OK;
}

Status symbols_put(const Symbols *s, Buf *out, Arena *scratch, Error *err)
{
    SymbolsJob job;
    bool sparse;
    assert(s->width >= 1 && s->width <= SYMBOLS_WIDTH);
    if (symbols_count(&job, s, scratch) != OK || symbols_choose(&job, scratch) != OK)
        return arena_fail(scratch, err);
    TRY(symbols_put_sparse(&job, out, scratch, err, &sparse));
    if (sparse)
        return OK;
    if (write_symbols(&job, scratch) != OK)
        return arena_fail(scratch, err);
    if (job.form.kind == KIND_PLANES) {
        buf_u8(out, KIND_PLANES);
        job.out = buf_room(out, planes_size(s->n, s->width));
        parallel_for(s->threads, blocks_of(s->n), put_planes, &job);
    } else {
        join(&job, out);
    }
    if (s->entropy)
        *s->entropy = symbols_entropy(&job);
    return OK;
}
