/* checksum.h -- XXH64 (Collet, 2014), a hash that detects accidental changes of data but no forgeries. */
#ifndef ATOMO_CHECKSUM_H
#define ATOMO_CHECKSUM_H

#include "base/bytes.h"

enum { CHECKSUM_STRIPE = 32 };

/* The state of a hash whose data come in pieces. */
typedef struct {
    uint64_t lane[4], size;        /* bytes so far */
    uint8_t rest[CHECKSUM_STRIPE]; /* the last size % CHECKSUM_STRIPE of them, not yet mixed into the lanes */
} Checksum;

Checksum checksum_begin(uint64_t seed);
void checksum_add(Checksum *c, Bytes data);
uint64_t checksum_end(const Checksum *c);

uint64_t checksum(Bytes data, uint64_t seed);

/* Returns the checksum of n floats as a file stores them, little-endian. */
uint64_t checksum_floats(const float *x, size_t n, uint64_t seed);

#endif
