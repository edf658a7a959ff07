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

#include "base/bytes.h"
#include "math/vec/kernels.h"

typedef enum { LEVELS_SPARSE, LEVELS_DENSE, LEVELS_FORMS } LevelsForm;

typedef struct {
    size_t n, run; /* run: elements of a bucket, 1 or more */
    uint32_t s;    /* the highest level */
    int bits;      /* level_bits(s) */
    void *code;    /* (n) the codes; levels_get writes them, the other functions read them */
} Levels;

static inline bool levels_wide(const Levels *l)
{
    return l->bits > CODE_BYTE_BITS;
}

/* Returns the end of the run that contains element i: the index after the run's last element, but at most
 * `end`. */
static inline size_t levels_run_end(const Levels *l, size_t i, size_t end)
{
    const size_t left = l->run - i % l->run;
    return left < end - i ? i + left : end;
}

/* Returns the bytes of the table of the streams' lengths. */
static inline size_t levels_table_bytes(const Levels *l)
{
    return l->n > BLOCK ? 4 * blocks_of(l->n) : 0;
}

/* Returns an upper bound on the bytes that levels_put writes for n levels in this form (sparse or dense). */
size_t levels_most(size_t n, size_t run, uint32_t s, LevelsForm form);

/* The exact size in bits of one block's stream, in each form (sparse and dense). */
typedef struct {
    uint64_t bits[LEVELS_FORMS];
} LevelsSize;
/* Returns the size of one block's stream in each form. */
LevelsSize levels_measure(const Levels *l, size_t block);

/* Returns the total bytes of all blocks' streams in this form, with the table of their lengths. size[b] is
 * the result of levels_measure for block b. */
size_t levels_bytes(const Levels *l, const LevelsSize *size, LevelsForm form);

/* Where a block's stream is. Callers of levels_put and levels_get lend an array with one of these structs
 * for each block. */
typedef struct {
    size_t at, size; /* offset and size of the stream in the bytes that are written or read */
    bool bad;
} LevelsStream;

/* Writes all blocks' streams. `out` has room for the number of bytes that levels_bytes returns. */
void levels_put(const Levels *l, const LevelsSize *size, LevelsForm form, int threads, LevelsStream *stream,
                uint8_t *out);

/* Decodes the streams to `l->code`. Returns false if levels_put never writes such bytes for this n, run and s. */
bool levels_get(const Levels *l, LevelsForm form, int threads, LevelsStream *stream, Bytes in);

#endif
