/* fpzip_walk.h -- checks a stream of fpzip before libfpzip decodes it. libfpzip reads beyond the end of a damaged
 * stream, and writes outside its tables where the stream's code lies in no symbol's interval. */
#ifndef ATOMO_FPZIP_WALK_H
#define ATOMO_FPZIP_WALK_H

#include "base/bytes.h"

/* Reads the symbols of n floats at `precision` bits (2 .. 32), as fpzip's decoder does, without the values. Returns
 * true if each lies in its interval, and if their bytes are exactly those of `in`. */
bool fpzip_walk(Bytes in, size_t n, unsigned precision);

#endif
