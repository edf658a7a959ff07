/* code_table.h -- functions that write and read tables of Huffman code lengths or of rANS frequencies. A table
 * lists the symbols that occur. A number of the table, such as a code length, is sent as its difference d
 * from the previous number. Symbols and differences are in Elias' gamma code:
 *
 *     gamma(1 + symbols listed)  { gamma(1 + symbols skipped before this symbol) ... } x symbols listed
 *     difference: gamma(1 + 2 d) for a number d >= 0 above the previous number, gamma(2 d) for d > 0 below */
#ifndef ATOMO_CODE_TABLE_H
#define ATOMO_CODE_TABLE_H

#include "base/bits.h"

/* Writes a table to `w`. If `w` is NULL, it only counts the table's bits. */
typedef struct {
    BitWriter *w;
    uint64_t bits;
    uint32_t next;   /* the least symbol that may be listed next: 1 more than the last listed symbol */
    unsigned before; /* the previous number of the table, from which the next difference is counted */
} TableWalk;

void walk_gamma(TableWalk *t, uint64_t v);
void walk_bits(TableWalk *t, uint64_t v, unsigned count);
void walk_step(TableWalk *t, unsigned number);

/* Reads a table. scan_step returns false for a number outside `least` .. `most`. */
typedef struct {
    BitReader *r;
    uint32_t alphabet, next;
    unsigned before;
} TableScan;

bool scan_step(TableScan *t, unsigned least, unsigned most, unsigned *number);

#endif
