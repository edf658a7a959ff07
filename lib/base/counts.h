/* counts.h -- reads lists of positive integers from option values: "2,4,8" or "4,8,...,512". */
#ifndef ATOMO_COUNTS_H
#define ATOMO_COUNTS_H

#include "base/base.h"

enum { COUNTS_MOST = 64 };

typedef struct {
    size_t count;
    size_t number[COUNTS_MOST]; /* the numbers in the order given, without repetitions */
} Counts;

/* Reads integers from 1 to `most` (below 2^31), separated by commas. "4,8,...,64" stands for the geometric
 * sequence 4,8,16,32,64; the number behind the dots must be in the sequence. `what` is the name of the option
 * whose value `text` is. If `text` is wrong, fails with ERR_USAGE and a message that begins with `what`. */
Status counts_read(Counts *c, const char *what, const char *text, size_t most, Error *err) MUST_USE;

size_t counts_largest(const Counts *c); /* returns the largest number; 0 for an empty list */

#endif
