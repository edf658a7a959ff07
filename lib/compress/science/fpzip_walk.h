/* fpzip_walk.h -- checks a stream of fpzip before libfpzip decodes it. libfpzip reads beyond the end of a damaged
 * stream, and writes outside its tables where the stream's code lies in no symbol's interval. */
#ifndef ATOMO_FPZIP_WALK_H
#define ATOMO_FPZIP_WALK_H

#include "base/bytes.h"

/* Reads the symbols of n floats at `precision` bits (2 .. 32), as fpzip's decoder does, but not the
 * values. Returns true if the stream's code always lies in an interval of a symbol, and if the n floats take
 * exactly the bytes of `in`. */
bool fpzip_walk(Bytes in, size_t n, unsigned precision);

#endif
