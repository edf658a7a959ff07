/* checksum.h -- XXH64 (Collet, 2014), a hash that detects accidental changes of data but no forgeries. */
#ifndef ATOMO_CHECKSUM_H
#define ATOMO_CHECKSUM_H

#include "base/bytes.h"

uint64_t checksum(Bytes data, uint64_t seed);

#endif
