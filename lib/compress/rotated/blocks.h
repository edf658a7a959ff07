/* blocks.h -- payloads that hold a randomly rotated vector block by block (rotation.h), each by itself:
 *
 *     kind:8  { block } x blocks
 *
 * The quantiser gives the size of a block's bytes, writes and reads them; cutting, threads, what goes raw and the
 * range of float32 are here. */
#ifndef ATOMO_COMPRESS_BLOCKS_H
#define ATOMO_COMPRESS_BLOCKS_H

#include "codec/compressor.h"
#include "num/rotation.h"

enum { BLOCK_MOST = ROTATION_LONGEST };

/* What became of a block, the worst last. FAR: is what this decodes to still in float32's range? */
typedef enum { FINE, FAR, BEYOND, BAD_SCALE, BAD_PADDING, BAD_CODES, BAD_ZEROS, VERDICTS } Verdict;

typedef struct {
    size_t n, piece, index; /* index: of all blocks of the vector */
    Rotation rotation;      /* .at is where the block begins in its piece */
} Block;

typedef struct Blocks {
    const Call *c;
    const Rng *rng; /* of the rotation */
    int rounds;
    const void *data;
    size_t (*bytes)(const void *data, size_t n);
    Verdict (*encode)(const struct Blocks *s, const Block *b, const float *x, uint8_t *out);
    Verdict (*decode)(const struct Blocks *s, const Block *b, const uint8_t *in, float *y);
    /* Adds a block's codes to count[0] and count[1], up to 256 symbols each; returns the floats beside them. */
    size_t (*count)(const void *data, size_t n, const uint8_t *in, uint64_t count[2][256]);
    /* What a block adds to the variance, given the rotation; NULL: no closed form. */
    double (*variance)(const struct Blocks *s, const Block *b, const float *x);
} Blocks;

size_t blocks_bound(const Call *c);
Status blocks_encode(const Blocks *s, const float *x, Buf *out);
Status blocks_decode(const Blocks *s, Bytes in, float *x);
double blocks_variance(const Blocks *s, const float *x);

/* The same without a kind byte, and never raw: for n of ROTATION_SHORTEST or more. */
Status blocks_put(const Blocks *s, const float *x, Buf *out);
Status blocks_get(const Blocks *s, Bytes in, float *x);

size_t blocks_count(size_t n);

/* Blocks are rotated at this many times their size, so that nothing leaves float32's range on the way, and
 * `blocks_drop` takes that away again: false when a value is then beyond float32. */
static inline float blocks_lift(double norm)
{
    return norm < 0x1p-60 ? 0x1p100f : norm > 0x1p60 ? 0x1p-100f : 1;
}
bool blocks_drop(float *y, size_t n, float lift);

/* Stochastically rounded levels of z, 0 at `low` and below it, `steps` at `high` and above; z becomes its distance
 * from `low`. */
void blocks_round(const Blocks *s, const Block *b, float low, float high, uint32_t steps, float *z,
                  uint8_t *code);

/* No byte of them is set. */
bool blocks_zero(const uint8_t *byte, size_t size);

#endif
