/* code_table.h -- shared by tables of Huffman code lengths and of rANS frequencies: the list of an alphabet's
 * symbols, and numbers sent as steps from the number before. In Elias' gamma code:
 *
 *     gamma(1 + symbols listed)  { gamma(1 + symbols left out before it) ... } x those
 *     step: gamma(1 + 2 d) for a number d >= 0 above the one before, gamma(2 d) for one d > 0 below */
#ifndef ATOMO_CODE_TABLE_H
#define ATOMO_CODE_TABLE_H

#include "base/bits.h"

/* Writes a table, or only counts its bits where there is no writer: one walk for both keeps costs exact. */
typedef struct {
    BitWriter *w;
    uint64_t bits;
    uint32_t next;   /* the least symbol that can follow */
    unsigned before; /* the number that the next step starts from */
} TableWalk;

void walk_gamma(TableWalk *t, uint64_t v);
void walk_bits(TableWalk *t, uint64_t v, unsigned count);
void walk_start(TableWalk *t, uint32_t listed);
void walk_symbol(TableWalk *t, uint32_t symbol);
void walk_step(TableWalk *t, unsigned number);

/* Reads a table; false for tables that no walk writes: more than `most` symbols, symbols beyond the alphabet, numbers
 * outside least .. most. */
typedef struct {
    BitReader *r;
    uint32_t alphabet, next;
    unsigned before;
} TableScan;

bool scan_start(TableScan *t, uint32_t most, uint32_t *listed);
bool scan_symbol(TableScan *t, uint32_t *symbol);
bool scan_step(TableScan *t, unsigned least, unsigned most, unsigned *number);

#endif
