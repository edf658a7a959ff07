/* levels_streams.h -- between levels.c and the two halves of its streams; nobody else includes it. */
#ifndef ATOMO_LEVELS_STREAMS_H
#define ATOMO_LEVELS_STREAMS_H

#include "coder/elias.h"
#include "coder/levels.h"

/* Where the run that holds element i ends, or the part that ends at `end`. */
static inline size_t run_end(const Levels *l, size_t i, size_t end)
{
    const size_t left = l->run - i % l->run;
    return left < end - i ? i + left : end;
}

/* ---- writing: code words made ready, as bits << 6 | length ---- */

enum { WORD_BITS = 10, GAP_WORDS = 256, PAIR_BITS = 5, PAIR_GAPS = 64, PAIRS_FROM = 1 << 14 };

/* Each table is filled where its codes are narrow enough and n makes it worth while. */
typedef struct {
    bool ready, paired;
    uint64_t code[2 << WORD_BITS], gap[GAP_WORDS];
    uint32_t pair[PAIR_GAPS << PAIR_BITS]; /* gap and code in one */
} StreamWords;

void stream_words(const Levels *l, LevelsForm form, StreamWords *words);
void sparse_put(const Levels *l, const StreamWords *words, size_t block, BitWriter *w);
void dense_put(const Levels *l, const StreamWords *words, size_t block, BitWriter *w);

/* ---- reading: several blocks' streams in turn ---- */

enum { LANES_MAX = 4, LOOK_BITS = 12, LOOK_FROM = 2048 };

typedef struct {
    BitReader r;
    void *code;           /* the block's first */
    size_t start, n;      /* the block's first element and its length */
    size_t next, run_end; /* the next element and the run's end, counted in the block */
    size_t left;          /* non-zero levels still to come in the run */
} Lane;

Lane lane_open(const Levels *l, size_t block, Bytes stream);

/* What the next LOOK_BITS bits mean: length:4 | gap:10 | code:18; 0: more bits than that, or nothing valid.
 */
void stream_table(const Levels *l, LevelsForm form, uint32_t *table);
bool sparse_get(const Levels *l, const uint32_t *table, Lane *lane, size_t lanes);
bool dense_get(const Levels *l, const uint32_t *table, Lane *lane, size_t lanes);

#endif
