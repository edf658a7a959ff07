/* counts.h -- reads lists of positive integers from option values: "2,4,8" or "4,8,...,512". */
#ifndef ATOMO_COUNTS_H
#define ATOMO_COUNTS_H

#include "base/base.h"

enum { COUNTS_MOST = 64 };

typedef struct {
    size_t count;
    size_t number[COUNTS_MOST]; /* the numbers in the order given, without repetitions */
} Counts;

/* Reads numbers from 1 to `most` (below 2^31) with commas between them. Dots continue a geometric sequence: after
 * 4,8 they mean 16, 32 and so on up to the number behind the dots, which must be in the sequence. The message of
 * ERR_USAGE has `what`, the name of the option whose value `text` is, and the part of `text` that is wrong. */
Status counts_read(Counts *c, const char *what, const char *text, size_t most, Error *err) MUST_USE;

size_t counts_largest(const Counts *c); /* returns the largest number; 0 for an empty list */

#endif
