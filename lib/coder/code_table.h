/* code_table.h -- parts that tables of Huffman code lengths and of rANS frequencies share: the list of the symbols
 * that occur, and numbers sent as differences from the previous number. Both are in Elias' gamma code:
 *
 *     gamma(1 + symbols listed)  { gamma(1 + symbols skipped before this symbol) ... } x symbols listed
 *     step: gamma(1 + 2 d) for a number d >= 0 above the previous number, gamma(2 d) for d > 0 below */
#ifndef ATOMO_CODE_TABLE_H
#define ATOMO_CODE_TABLE_H

#include "base/bits.h"

/* Writes a table to w, or only counts the table's bits when w is NULL: the same functions write and count, so that
 * the counted size is exact. */
typedef struct {
    BitWriter *w;
    uint64_t bits;
    uint32_t next;   /* the least symbol that may be listed next: 1 more than the last listed symbol */
    unsigned before; /* the previous number of the table, to which the next step is relative */
} TableWalk;

void walk_gamma(TableWalk *t, uint64_t v);
void walk_bits(TableWalk *t, uint64_t v, unsigned count);
void walk_start(TableWalk *t, uint32_t listed);
void walk_symbol(TableWalk *t, uint32_t symbol);
void walk_step(TableWalk *t, unsigned number);

/* Reads a table. The scan functions return false for a table that the walk functions cannot write: more than `most`
 * symbols, symbols beyond the alphabet, numbers outside least .. most. */
typedef struct {
    BitReader *r;
    uint32_t alphabet, next;
    unsigned before;
} TableScan;

bool scan_start(TableScan *t, uint32_t most, uint32_t *listed);
bool scan_symbol(TableScan *t, uint32_t *symbol);
bool scan_step(TableScan *t, unsigned least, unsigned most, unsigned *number);

#endif
