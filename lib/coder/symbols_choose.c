/* symbols_choose.c -- which form is the shortest. */
#include "coder/symbols_writer.h"

/* Bytes of a block's stream that pay for the states of more lanes; under so many, its own states and length do not
 * pay, and all blocks share one stream. */
enum { LANES_16_FROM = 1 << 13, LANES_4_FROM = 1 << 12, WHOLE_UNDER = 1 << 10 };
/* Shifts, or leads, that gain nothing before the search ends: coarse tables make costs a little bumpy. */
enum { PATIENCE = 2 };
enum { LENGTH_BITS = 32, STATE_BITS = 24, PADDING_BITS = 7, SLACK = 64 };

/* Lanes for symbols of so many bits; returns the bits of states and lengths. */
static uint64_t lay_out(const SymbolsJob *job, uint64_t symbols, Form *f)
{
    const uint64_t blocks = blocks_of(job->s->n), each = symbols / 8 / blocks;
    const bool many = symbols_coder(job->s)->many;
    f->whole = many && blocks > 1 && each < WHOLE_UNDER;
    f->lanes_log4 = !many || f->whole ? 0 : each >= LANES_16_FROM ? 2 : each >= LANES_4_FROM ? 1 : 0;
    const uint64_t bodies = f->whole ? 1 : blocks;
    return bodies * ((many ? STATE_BITS * form_lanes(f) : 0) + (bodies > 1 ? LENGTH_BITS : 0) +
                     (f->classes ? LENGTH_BITS : 0));
}

/* Bits of a form with one table, which gets its lanes; UINT64_MAX where no table holds its symbols. */
static uint64_t form_cost(SymbolsJob *job, Form *f, uint64_t *symbols)
{
    const uint64_t open = symbols_form_counts(job, f, ALL_BLOCKS, job->spare);
    *symbols = table_cost(job->s, form_alphabet(job->s, f), job->spare, &job->trial);
    return *symbols == UINT64_MAX ? UINT64_MAX : *symbols + open + lay_out(job, *symbols, f);
}

/* Forms of one family, tried in turn. */
typedef struct {
    uint64_t best;
    int worse; /* tried in a row that were longer than it */
} Search;

/* Takes the form where it is shorter than what `least` bits have; false: the family has no better ones. */
static bool try_form(SymbolsJob *job, Form form, Search *family, uint64_t *least)
{
    uint64_t symbols;
    const uint64_t bits = form_cost(job, &form, &symbols);
    if (bits == UINT64_MAX)
        return family->best == UINT64_MAX;
    if (bits < *least) {
        *least = bits;
        job->form = form;
        job->symbol_bits = symbols;
    }
    if (bits >= family->best)
        return ++family->worse <= PATIENCE;
    *family = (Search){.best = bits};
    return true;
}

/* Larger shifts as long as they gain, and classes with more leading bits. Returns the bits of the best. */
static uint64_t choose_symbols(SymbolsJob *job)
{
    const Symbols *s = job->s;
    uint64_t least = UINT64_MAX;
    Search shifts = {.best = UINT64_MAX}, classes = shifts;
    for (int shift = shift_least(s); shift < s->width && shift <= SHIFT_MOST; shift++)
        if (!try_form(job, (Form){.kind = KIND_ONE_TABLE, .shift = shift}, &shifts, &least))
            break;
    for (int lead = 0; lead <= CLASS_MOST && job->finest; lead++)
        if (!try_form(job, (Form){.kind = KIND_ONE_TABLE, .classes = true, .shift = lead}, &classes, &least))
            break;
    return least;
}

/* Tables of the blocks' own where they are shorter in all than one. */
static void choose_kind(SymbolsJob *job, uint64_t one)
{
    const size_t blocks = blocks_of(job->s->n);
    Form form = job->form;
    form.whole = false;
    uint64_t own = blocks * (PADDING_BITS + LENGTH_BITS * (uint64_t)(form.classes ? 2 : 1) +
                             (symbols_coder(job->s)->many ? STATE_BITS * form_lanes(&form) : 0));
    for (size_t b = 0; b < blocks && own < one; b++) {
        const uint64_t open = symbols_form_counts(job, &form, b, job->spare),
                       cost = table_cost(job->s, form_alphabet(job->s, &form), job->spare, &job->trial);
        own = cost == UINT64_MAX ? cost : own + cost + open;
    }
    if (blocks == 1 || own >= one)
        return;
    form.kind = KIND_OWN_TABLES;
    job->form = form;
    job->bits = own;
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
    const uint64_t one = choose_symbols(job);
    if (job->trial.starved)
        return ERR_MEMORY;
    if (one / 8 >= symbols_most(s->n, s->width) + SLACK) { /* what is written decides where it is close */
        job->form = (Form){.kind = KIND_PLANES};
        return OK;
    }
    job->bits = one;
    choose_kind(job, one);
    return job->trial.starved ? ERR_MEMORY : make_tables(job, scratch);
}
