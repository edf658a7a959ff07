/* symbols_whole.c -- one stream of all blocks, for symbols so likely that a block takes a few bytes: lengths and
 * states of the blocks' own would be a good part of them. */
#include "coder/symbols_writer.h"

/* Room for the low bits of all codes: planes, or length:32 and open bits. */
static size_t low_room(const SymbolsJob *job)
{
    const size_t n = job->s->n;
    if (!job->form.classes)
        return planes_size(n, job->form.shift);
    return 4 + (size_t)(symbols_form_counts(job, &job->form, ALL_BLOCKS, job->spare) + 7) / 8;
}

/* The low bits of all blocks, one behind the other, and their symbols as bytes. */
static void split_all(const SymbolsJob *job, uint8_t *low, size_t low_size, uint8_t *byte)
{
    const size_t n = job->s->n;
    BitWriter open = job->form.classes ? bits_writer(low + 4, low_size - 4) : bits_writer(low, 0);
    for (size_t b = 0; b < blocks_of(n); b++) {
        uint16_t symbol[BLOCK];
        symbols_split(job, b, symbol, low + (job->form.classes ? 0 : planes_size(b * BLOCK, job->form.shift)),
                      &open);
        symbols_ranks(&job->table[0], symbol, block_size(n, b), byte + b * BLOCK);
    }
    if (!job->form.classes)
        return;
    bits_close(&open);
    assert(!open.full && open.at == low + low_size);
    store_u32(low, (uint32_t)(low_size - 4));
}

Status symbols_write_whole(SymbolsJob *job, Arena *scratch)
{
    const size_t n = job->s->n, low_size = low_room(job),
                 stream = rans_room(job->symbol_bits, n, WHOLE_LANES);
    uint8_t *byte = NEW(scratch, uint8_t, n), *low = NEW(scratch, uint8_t, low_size);
    job->room_size = low_size + stream;
    job->room = NEW(scratch, uint8_t, job->room_size);
    if (!byte || !low || !job->room)
        return ERR_MEMORY;
    split_all(job, low, low_size, byte);
    RansWriter w;
    rans_writer(&w, &job->table[0].rans);
    uint8_t *end = job->room + job->room_size;
    const size_t size = rans_put(&w, WHOLE_LANES, byte, n, end);
    memcpy(end - size - low_size, low, low_size);
    job->size[0] = low_size + size;
    return OK;
}
