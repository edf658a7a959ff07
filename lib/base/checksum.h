/* checksum.h -- XXH64 (Collet, 2014): 64 bits that change when the data do; no defence against intent. */
#ifndef ATOMO_CHECKSUM_H
#define ATOMO_CHECKSUM_H

#include "base/bytes.h"

uint64_t checksum(Bytes data, uint64_t seed);

#endif
