/* symbols_choose.c -- which form is the shortest. */
#include "symbols_writer.h"

/* Bytes of a block's stream that pay for the states of more lanes; under so many, its own states and length do not
 * pay, and all blocks share one stream. */
enum { LANES_16_FROM = 1 << 13, LANES_4_FROM = 1 << 12, WHOLE_UNDER = 1 << 10 };
enum { LENGTH_BITS = 32, STATE_BITS = 24, PADDING_BITS = 7 };

static uint64_t form_cost(SymbolsJob *job, const Form *f, size_t block, uint64_t *open)
{
    *open = symbols_form_counts(job, f, block, job->spare);
    return table_cost(job->s, form_alphabet(job->s, f), job->spare, &job->trial);
}

/* The shift at which one table and its symbols are shortest: larger ones as long as they gain. Returns the
 * bits, low ones included. */
static uint64_t choose_shift(SymbolsJob *job)
{
    const Symbols *s = job->s;
    uint64_t best = UINT64_MAX, open;
    for (int shift = shift_least(s); shift < s->width && shift <= SHIFT_MOST; shift++) {
        const Form form = {.shift = shift};
        const uint64_t symbols = form_cost(job, &form, ALL_BLOCKS, &open);
        if (symbols == UINT64_MAX)
            continue;
        if (symbols + open >= best)
            break;
        best = symbols + open;
        job->symbol_bits = symbols;
        job->form = form;
    }
    return best;
}

/* Classes where they are shorter than the best shift: more leading bits as long as they gain. */
static uint64_t choose_classes(SymbolsJob *job, uint64_t shifted)
{
    uint64_t best = UINT64_MAX, open;
    for (int lead = 0; lead <= CLASS_MOST && job->finest; lead++) {
        const Form form = {.classes = true, .shift = lead};
        const uint64_t symbols = form_cost(job, &form, ALL_BLOCKS, &open);
        const uint64_t bits = symbols + open + LENGTH_BITS * (uint64_t)blocks_of(job->s->n);
        if (symbols == UINT64_MAX || bits >= best)
            break;
        best = bits;
        if (bits < shifted) {
            job->symbol_bits = symbols;
            job->form = form;
        }
    }
    return best < shifted ? best : shifted;
}

/* Tables of the blocks' own where they are shorter in all than one. */
static void choose_kind(SymbolsJob *job, uint64_t one)
{
    const size_t blocks = blocks_of(job->s->n);
    uint64_t own = job->form.classes ? LENGTH_BITS * (uint64_t)blocks : 0, open;
    own += job->form.whole ? (LENGTH_BITS + STATE_BITS) * (uint64_t)blocks : 0;
    for (size_t b = 0; b < blocks && blocks > 1; b++) {
        const uint64_t cost = form_cost(job, &job->form, b, &open);
        own = cost == UINT64_MAX ? cost : own + PADDING_BITS + cost + open;
        if (own >= one)
            break;
    }
    const bool owns = blocks > 1 && own < one;
    job->form.kind = owns ? KIND_OWN_TABLES : KIND_ONE_TABLE;
    job->form.whole = job->form.whole && !owns;
}

static void choose_lanes(SymbolsJob *job)
{
    const uint64_t blocks = blocks_of(job->s->n), each = job->symbol_bits / 8 / blocks;
    if (!symbols_coder(job->s)->many)
        return;
    job->form.whole = blocks > 1 && each < WHOLE_UNDER;
    job->form.lanes_log4 = each >= LANES_16_FROM ? 2 : each >= LANES_4_FROM ? 1 : 0;
}

static Status make_tables(SymbolsJob *job, Arena *scratch)
{
    const Symbols *s = job->s;
    const uint32_t alphabet = form_alphabet(s, &job->form);
    job->table = NEW(scratch, Table, symbols_tables(job));
    if (!job->table)
        return ERR_MEMORY;
    for (size_t t = 0; t < symbols_tables(job); t++) {
        const bool own = job->form.kind == KIND_OWN_TABLES;
        if (!symbols_coder(s)->open(&job->table[t], alphabet, scratch))
            return ERR_MEMORY;
        symbols_form_counts(job, &job->form, own ? t : ALL_BLOCKS, job->spare);
        if (table_cost(s, alphabet, job->spare, &job->table[t]) == UINT64_MAX)
            return ERR_MEMORY;
    }
    return OK;
}

Status symbols_choose(SymbolsJob *job, Arena *scratch)
{
    const Symbols *s = job->s;
    if (!symbols_coder(s)->open(&job->trial, (uint32_t)job->cells, scratch))
        return ERR_MEMORY;
    job->trial.starved = false;
    const uint64_t one = choose_classes(job, choose_shift(job));
    if (job->trial.starved)
        return ERR_MEMORY;
    if (one == UINT64_MAX || one / 8 >= symbols_most(s->n, s->width))
        return OK;
    choose_lanes(job);
    choose_kind(job, one);
    return job->trial.starved ? ERR_MEMORY : make_tables(job, scratch);
}
