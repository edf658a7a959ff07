/* levels.h -- codes an array of signed levels as Elias omega codes, in one of the two streams of the QSGD
 * paper.
 *
 * The input is an array of codes: level | sign << bits (quantise.h). A code is a byte if bits <=
 * CODE_BYTE_BITS, else a 32-bit word. The array is cut into blocks of 2^16 elements. It is also cut into
 * buckets of `run` elements; a run is the part of a bucket that lies in one block. The stream of a block:
 *
 *     sparse   { omega(1 + non-zeros)  { omega(gap) sign:1 omega(level) } x non-zeros } x runs
 *     dense    { omega(1 + level)  sign:1 unless level = 0 } x elements
 *
 * A gap is the difference between the indices of two consecutive non-zero levels; the first gap of a run is
 * the first non-zero level's index in the run, plus 1. If the largest level s is 1, the sparse stream omits
 * the levels. Streams end on whole bytes; if there are two or more blocks, a table of the streams' lengths
 * in bytes precedes them:
 *
 *     { length:32 } x blocks  { stream } x blocks            (the table only when n > 2^16) */
#ifndef ATOMO_LEVELS_H
#define ATOMO_LEVELS_H

#include "base/arena.h"
#include "base/bytes.h"
#include "math/vec/kernels.h"

/* LEVELS_SHORTER: the shorter of the two streams, behind a byte with its form. */
typedef enum { LEVELS_SPARSE, LEVELS_DENSE, LEVELS_SHORTER } LevelsForm;

typedef struct {
    size_t n, run; /* run: elements of a bucket, 1 or more */
    uint32_t s;    /* the highest level */
    int bits;      /* level_bits(s) */
    void *code;    /* (n) the codes; levels_get writes them, the other functions read them */
} Levels;

/* Returns an upper bound on the bytes that levels_put writes for n levels in this form. */
size_t levels_most(size_t n, size_t run, uint32_t s, LevelsForm form);

/* Writes the levels in this form. */
Status levels_put(const Levels *l, LevelsForm form, int threads, Arena *scratch, Error *err, Buf *out);

/* Reads levels to `l->code` from the rest of r. Returns ERR_CORRUPT, with a reason in *why, for bytes that levels_put never
 * writes for this form, n, run and s. */
Status levels_get(const Levels *l, LevelsForm form, int threads, Reader *r, Arena *scratch, Error *err, const char **why);

#endif
