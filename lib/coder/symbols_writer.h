/* symbols_writer.h -- the steps of symbols_put: counting, choosing the form, writing it. */
#ifndef ATOMO_SYMBOLS_WRITER_H
#define ATOMO_SYMBOLS_WRITER_H

#include "coder/symbols_parts.h"

typedef struct {
    const Symbols *s;
    uint8_t *code;   /* all of them, or NULL where they are words: made again when wanted */
    uint32_t *count; /* (blocks, cells) how often each code occurs, less shift_least low bits */
    size_t cells;
    uint64_t *total;       /* (cells) over all blocks */
    uint32_t *class;       /* (blocks, finest) how often each finest class occurs; none: finest is 0 */
    uint64_t *class_total; /* (finest) over all blocks */
    size_t finest;
    uint64_t *spare; /* (the most symbols) counts of the form at work */
    Form form;
    uint64_t bits;        /* of the form, as near as its costs say */
    uint64_t symbol_bits; /* of all symbols by one table */
    Table *table;         /* one, or one for each block */
    Table trial;          /* to find costs with */
    uint8_t *room;        /* (blocks, room_size), or one for all blocks */
    size_t room_size;
    size_t *size; /* (blocks) bytes at the end of each room */
    uint8_t *out; /* planes */
} SymbolsJob;

static const size_t ALL_BLOCKS = SIZE_MAX;

Status symbols_count(SymbolsJob *job, const Symbols *s, Arena *scratch);

/* Counts of a form's symbols, over all blocks or in one; returns the bits that they leave open. */
uint64_t symbols_form_counts(const SymbolsJob *job, const Form *f, size_t block, uint64_t *count);

static inline size_t symbols_tables(const SymbolsJob *job)
{
    return job->form.kind == KIND_OWN_TABLES ? blocks_of(job->s->n) : 1;
}

/* The shortest form by what tables and symbols cost, and its tables. KIND_PLANES: symbols would not be shorter. */
Status symbols_choose(SymbolsJob *job, Arena *scratch);

/* A block's symbols, and what they leave open as planes into `low`, or of classes behind what `open` has. */
void symbols_split(const SymbolsJob *job, size_t block, uint16_t *symbol, uint8_t *low, BitWriter *open);

/* All blocks as one; the bytes end the room. */
Status symbols_write_whole(SymbolsJob *job, Arena *scratch);

/* The sparse form where it is shorter than the one chosen; false in `put`: it is not, and nothing is written. */
Status symbols_put_sparse(const SymbolsJob *job, Buf *out, Arena *scratch, Error *err, bool *put);

/* The order-0 bound of what the form sends, in bits: symbols by their shares where they have a table, open bits
 * and planes one each. */
double symbols_entropy(const SymbolsJob *job);

#endif
