/* levels_streams.h -- declares the encoders and decoders of a block's streams; only levels*.c include this
 * header. */
#ifndef ATOMO_LEVELS_STREAMS_H
#define ATOMO_LEVELS_STREAMS_H

#include "coder/elias.h"
#include "coder/levels.h"

/* Returns the end of the run that contains element i: the index after the run's last element, but at most
 * `end`. */
static inline size_t run_end(const Levels *l, size_t i, size_t end)
{
    const size_t left = l->run - i % l->run;
    return left < end - i ? i + left : end;
}

/* ---- writing: tables of code words; an entry of a table is code word << 6 | its length ---- */

enum { WORD_BITS = 10, GAP_WORDS = 256, PAIR_BITS = 5, PAIR_GAPS = 64, PAIRS_FROM = 1 << 14 };

/* Tables of code words, which save time if n is large and codes have few bits. `ready`: `code` is filled.
 * `paired`: `pair` is filled. `gap` is filled in the sparse form. */
typedef struct {
    bool ready, paired;
    uint64_t code[2 << WORD_BITS], gap[GAP_WORDS];
    /* code words that join a gap with the sign and the level that follow it */
    uint32_t pair[PAIR_GAPS << PAIR_BITS];
} StreamWords;

void stream_words(const Levels *l, LevelsForm form, StreamWords *words);
void sparse_put(const Levels *l, const StreamWords *words, size_t block, BitWriter *w);
void dense_put(const Levels *l, const StreamWords *words, size_t block, BitWriter *w);

/* ---- reading: the streams of up to LANES_MAX blocks in turn ---- */

enum { LANES_MAX = 4, LOOK_BITS = 12, LOOK_FROM = 2048 };

typedef struct {
    BitReader r;
    void *code;      /* the block's codes, the first element's code first */
    size_t start, n; /* start: index of the block's first element in the array; n: length of the block */
    /* indices in the block: `next` is the next element to read; `run_end` is the first element after the
     * current run */
    size_t next, run_end;
    size_t left; /* entries (gap, sign and level) of the current run that are still to be read */
} Lane;

Lane lane_open(const Levels *l, size_t block, Bytes stream);

/* Fills the look-up table of the decoder. The index of an entry is the next LOOK_BITS bits of a stream. The
 * entry describes the first triple (gap, sign, level) in these bits: from the low end, length:4 | gap:10 |
 * code:18. The entry is 0 if the triple is longer than LOOK_BITS bits or not valid. */
void stream_table(const Levels *l, LevelsForm form, uint32_t *table);
bool sparse_get(const Levels *l, const uint32_t *table, Lane *lane, size_t lanes);
bool dense_get(const Levels *l, const uint32_t *table, Lane *lane, size_t lanes);

#endif
