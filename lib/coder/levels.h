/* levels.h -- codes an array of signed levels as Elias omega codes, in one of the two streams of the QSGD
 * paper.
 *
 * Codes are those of quantise.h: level | sign << bits, bytes while bits <= CODE_BYTE_BITS, else 32-bit words.
 * Elements form runs of `run` elements (a bucket), cut at blocks of 2^16. A block's stream:
 *
 *     sparse   { omega(1 + non-zeros)  { omega(gap) sign:1 omega(level) } x non-zeros } x runs
 *     dense    { omega(1 + level)  sign:1 unless level = 0 } x elements
 *
 * A gap counts from the non-zero level before it, the first one from the run's start (1: the first element).
 * With s = 1 the sparse stream has no levels. Streams end on whole bytes; two or more blocks are preceded by
 * a table of their lengths:
 *
 *     { length:32 } x blocks  { stream } x blocks            (the table only when n > 2^16) */
#ifndef ATOMO_LEVELS_H
#define ATOMO_LEVELS_H

#include "base/bytes.h"
#include "vec/kernels.h"

typedef enum { LEVELS_SPARSE, LEVELS_DENSE, LEVELS_FORMS } LevelsForm;

typedef struct {
    size_t n, run; /* run >= 1 */
    uint32_t s;    /* the highest level */
    int bits;      /* level_bits(s) */
    void *code;    /* levels_room bytes, or NULL: `make` makes them whenever they are needed */
    size_t first;  /* the element that code begins with, a block's first */
    const void *data;
    void (*make)(const void *data, size_t block, void *code);       /* the codes of a block */
    void (*take)(const void *data, size_t block, const void *code); /* receives the codes that levels_get reads */
} Levels;

/* Bytes that n codes take in memory. */
size_t levels_room(size_t n, uint32_t s);
static inline bool levels_wide(const Levels *l)
{
    return l->bits > CODE_BYTE_BITS;
}

/* Returns an upper bound on the bytes of a form. */
size_t levels_most(size_t n, size_t run, uint32_t s, LevelsForm form);

/* Exact bits of one block's stream in both forms. */
typedef struct {
    uint64_t bits[LEVELS_FORMS];
} LevelsSize;
LevelsSize levels_measure(const Levels *l, size_t block); /* l->code holds the block's codes */

/* Returns the bytes of a form with its table; size[b]: levels_measure of block b. */
size_t levels_bytes(const Levels *l, const LevelsSize *size, LevelsForm form);

/* A block's stream; whoever puts or gets levels lends one for each of blocks_of(n) blocks. */
typedef struct {
    size_t at, size; /* in the bytes that are written or read */
    bool bad;
} LevelsStream;

/* Writes exactly levels_bytes bytes. */
void levels_put(const Levels *l, const LevelsSize *size, LevelsForm form, int threads, LevelsStream *stream,
                uint8_t *out);

/* Gives the codes to `take`, block by block in any order; false for anything but what levels_put writes for
 * these n, run and s. `room` holds codes: those of LEVELS_AT_ONCE blocks, or of n if fewer. */
enum { LEVELS_AT_ONCE = 64 };
bool levels_get(const Levels *l, LevelsForm form, int threads, LevelsStream *stream, void *room, Bytes in);

#endif
