/* blocks.h -- payloads of a randomly rotated vector (rotation.h), cut into blocks that are coded independently:
 *
 *     kind:8  { block } x blocks
 *
 * A quantiser (struct RotatedBlocks) encodes and decodes one block. rotated.c cuts the vector into blocks, runs
 * threads, sends short and tiny vectors raw, and checks that values are within float32's range. */
#ifndef ATOMO_COMPRESS_BLOCKS_H
#define ATOMO_COMPRESS_BLOCKS_H

#include "compress/compressor.h"
#include "math/rotation.h"

#include <math.h>

enum { BLOCK_MOST = ROTATION_LONGEST };

/* The result of coding a block, from best to worst. BLOCK_LARGE: the block is encoded, but its scale is so
 * large that decoded values may be beyond float32's range; blocks_put then decodes the payload to check. All
 * results after BLOCK_LARGE are failures. */
typedef enum {
    BLOCK_FINE,
    BLOCK_LARGE,
    BLOCK_BEYOND,
    BLOCK_BAD_SCALE,
    BLOCK_BAD_PADDING,
    BLOCK_BAD_CODES,
    BLOCK_BAD_ZEROS,
    BLOCK_RESULTS
} BlockResult;

typedef struct {
    /* The vector is cut into pieces of 2^16 elements, and pieces into blocks. `piece`: number of the block's
     * piece, which selects the block's random words. `index`: number of the block in the vector. */
    size_t n, piece, index;
    Rotation rotation; /* .at: index of the block's first element in its piece of 2^16 elements */
} RotatedBlock;

typedef struct RotatedBlocks {
    const Call *c;
    const Rng *rng; /* the rotation's random stream */
    /* rounds of the rotation, each of random signs and an orthogonal transform */
    int rounds;
    const void *data;                            /* the quantiser's parameters */
    size_t (*bytes)(const void *data, size_t n); /* size in bytes of an encoded block of n elements */
    BlockResult (*encode)(const struct RotatedBlocks *s, const RotatedBlock *b, const float *x, uint8_t *out);
    BlockResult (*decode)(const struct RotatedBlocks *s, const RotatedBlock *b, const uint8_t *in, float *y);
    /* Counts the symbols of a block's codes in the histograms count[0] and count[1]. Returns the number of
     * floats in the encoded block. */
    size_t (*count)(const void *data, size_t n, const uint8_t *in, uint64_t count[2][256]);
    /* Returns the variance of the block's estimate over the random rounding, for the drawn rotation; NULL if
     * there is no closed form. */
    double (*variance)(const struct RotatedBlocks *s, const RotatedBlock *b, const float *x);
} RotatedBlocks;

/* Writes the encoded blocks without a kind byte, never as raw floats; n >= ROTATION_SHORTEST. */
Status blocks_put(const RotatedBlocks *s, const float *x, Buf *out);
/* Reads the blocks that blocks_put writes. */
Status blocks_get(const RotatedBlocks *s, Bytes in, float *x);

/* Returns the number of blocks of a vector of n elements. Each piece of 2^16 elements is one block. Only the last piece,
 * which may be shorter or longer, may have several blocks. */
static inline size_t blocks_count(size_t n)
{
    const size_t pieces = rotation_pieces(n);
    size_t count = pieces - 1;
    for (size_t left = rotation_piece(n, pieces - 1); left; left -= rotation_block(left))
        count++;
    return count;
}

/* Returns the power of two by which a block of norm `norm` is multiplied before its rotation, so that all
 * rotated values stay within float32's range. */
static inline float blocks_lift(double norm)
{
    return norm < 0x1p-60 ? 0x1p100f : norm > 0x1p60 ? 0x1p-100f : 1;
}

/* Divides the n values y by `lift`, after the inverse rotation. Returns false if a quotient is beyond
 * float32's range. */
static inline bool blocks_drop(float *y, size_t n, float lift)
{
    const float drop = 1 / lift;
    bool good = true;
    for (size_t i = 0; i < n; i++) {
        y[i] *= drop;
        good &= isfinite(y[i]) != 0;
    }
    return good;
}

/* Rounds z (n) stochastically, `correlated` or not (rounding_key), to levels 0 .. steps, evenly spaced from `low` to `high`, and
 * writes the levels to code (n). A z below `low` gets level 0, a z above `high` gets level `steps`. Overwrites z. */
void blocks_round(const RotatedBlocks *s, const RotatedBlock *b, float low, float high, uint32_t steps,
                  bool correlated, float *z, uint8_t *code);

#endif
