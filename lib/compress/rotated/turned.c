/* turned.c -- see turned.h.
 *
 * With z the rotated block, N its norm and c the levels nearest to z sqrt(n) / N, the scale N^2 / <c, z> gives the
 * estimate the very component along the vector that it should have, draw by draw; what is left points anywhere,
 * since the rotation does. */
#include "compress/rotated/turned.h"

#include "num/lloyd.h"
#include "coder/planes.h"

#include <math.h>

/* ---- where things stand ---- */

typedef struct {
    size_t wide, others; /* coordinates with a bit more, and the others */
    int width;           /* of these */
} Cut;

static Cut cut_of(const Turned *t, size_t n)
{
    const int width = (int)t->bits;
    size_t wide = (size_t)((t->bits - width) * (double)n + 0.5);
    if (!width && wide < LEAST_SENT)
        wide = LEAST_SENT;
    return (Cut){wide, n - wide, width};
}

static size_t wide_bytes(const Cut *k)
{
    return planes_size(k->wide, k->width + 1);
}

static size_t block_bytes(const void *data, size_t n)
{
    const Cut k = cut_of(data, n);
    return 4 + wide_bytes(&k) + planes_size(k.others, k.width);
}

static void put_codes(const Cut *k, const uint8_t *code, uint8_t *out)
{
    if (k->wide)
        planes_put8(code, k->wide, k->width + 1, out);
    if (k->width)
        planes_put8(code + k->wide, k->others, k->width, out + wide_bytes(k));
}

static bool get_codes(const Cut *k, const uint8_t *in, uint8_t *code)
{
    return (!k->wide || planes_get8(in, k->wide, k->width + 1, code)) &&
           (!k->width || planes_get8(in + wide_bytes(k), k->others, k->width, code + k->wide));
}

static LevelScale scale_of(const Turned *t, int width, float unit)
{
    return t->signs ? (LevelScale){.count = 1, .level = {1}} : lloyd_scale(width, unit);
}

/* ---- encoding ---- */

/* Codes of the rotated z; returns <c, z>. */
static double round_off(const Turned *t, const Cut *k, const float *z, float unit, uint8_t *code)
{
    double dot = 0;
    if (k->wide) {
        const LevelScale s = scale_of(t, k->width + 1, unit);
        dot += kernels()->nearest_levels(z, k->wide, &s, code);
    }
    if (k->width) {
        const LevelScale s = scale_of(t, k->width, unit);
        dot += kernels()->nearest_levels(z + k->wide, k->others, &s, code + k->wide);
    }
    return dot;
}

/* The scale; 0 where all that would be sent is. */
static float turn_and_round(const Turned *t, const RotatedBlock *b, const Cut *k, const float *x,
                            uint8_t *code)
{
    float z[BLOCK_MOST];
    const double squares = kernels()->sum_squares(x, b->n), norm = sqrt(squares);
    const double lift = (double)blocks_lift(norm);
    if (squares == 0)
        return 0;
    rotation_turn(&b->rotation, x, b->n, (float)lift, z);
    const double dot = round_off(t, k, z, (float)(norm * lift / sqrt((double)b->n)), code);
    if (dot <= 0)
        return 0;
    return (float)(t->shrink ? dot / (double)b->n / lift : squares * lift / dot);
}

static BlockResult encode_block(const RotatedBlocks *s, const RotatedBlock *b, const float *x, uint8_t *out)
{
    uint8_t code[BLOCK_MOST];
    const Cut k = cut_of(s->data, b->n);
    const float scale = turn_and_round(s->data, b, &k, x, code);
    if (scale == 0)
        memset(code, 0, b->n);
    store_f32(out, scale);
    put_codes(&k, code, out + 4);
    return !isfinite(scale) ? BLOCK_BEYOND : scale > 0x1p100f ? BLOCK_LARGE : BLOCK_FINE;
}

static size_t count_codes(const void *data, size_t n, const uint8_t *in, uint64_t count[2][256])
{
    uint8_t code[BLOCK_MOST];
    const Cut k = cut_of(data, n);
    if (get_codes(&k, in + 4, code))
        for (size_t i = 0; i < (k.width ? n : k.wide); i++)
            count[i < k.wide][code[i]]++;
    return 1;
}

/* ---- decoding ---- */

/* z_i = its level times `unit`. */
static void level_values(const Turned *t, int width, float unit, const uint8_t *code, size_t n, float *z)
{
    const LevelScale s = scale_of(t, width, 1);
    float value[256];
    for (int k = 0; k < s.count; k++) {
        value[k] = s.level[k] * unit;
        value[k + s.count] = -value[k];
    }
    for (size_t i = 0; i < n; i++)
        z[i] = value[code[i]];
}

static BlockResult decode_block(const RotatedBlocks *s, const RotatedBlock *b, const uint8_t *in, float *y)
{
    uint8_t code[BLOCK_MOST];
    const Cut k = cut_of(s->data, b->n);
    const float scale = load_f32(in), lift = blocks_lift((double)scale);
    if (!isfinite(scale) || signbit(scale))
        return BLOCK_BAD_SCALE;
    if (scale == 0) {
        memset(y, 0, b->n * sizeof *y);
        return blocks_zero(in + 4, block_bytes(s->data, b->n) - 4) ? BLOCK_FINE : BLOCK_BAD_ZEROS;
    }
    if (!get_codes(&k, in + 4, code))
        return BLOCK_BAD_PADDING;
    if (k.wide)
        level_values(s->data, k.width + 1, scale * lift, code, k.wide, y);
    if (k.width)
        level_values(s->data, k.width, scale * lift, code + k.wide, k.others, y + k.wide);
    else
        memset(y + k.wide, 0, k.others * sizeof *y);
    rotation_turn_back(&b->rotation, y, b->n);
    return lift == 1 || blocks_drop(y, b->n, lift) ? BLOCK_FINE : BLOCK_BEYOND;
}

RotatedBlocks turned_blocks(const Call *c, const Turned *t, int64_t rounds)
{
    return (RotatedBlocks){.c = c,
                           .rng = &c->rng,
                           .rounds = (int)rounds,
                           .data = t,
                           .bytes = block_bytes,
                           .encode = encode_block,
                           .decode = decode_block,
                           .count = count_codes};
}
