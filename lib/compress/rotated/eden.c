/* eden.c -- EDEN and DRIVE (Vargaftik, Ben Basat, Portnoy, Mendelson, Ben-Itzhak, Mitzenmacher 2022 and 2021):
 * rotate the vector at random, and send each coordinate as its nearest level: a Lloyd-Max level (eden) or +-1
 * (drive). Each block has one scale. A block in a payload of blocks.h is
 *
 *     scale:f32  planes of the first m codes, w + 1 bits wide  planes of the others, w bits wide (planes.h)
 *
 * The number b of bits per coordinate need not be an integer. Let w = floor(b). Of a block's n coordinates, the
 * first m = floor((b - w) n + 1/2) have codes of w + 1 bits, and the other n - m coordinates codes of w bits.
 * If w = 0, m is at least LEAST_SENT, and the other n - m coordinates are not sent and decode to 0. The top bit
 * of a code is the sign, and the low bits are the index of a level. A block decodes to the scale times the
 * levels, rotated back.
 *
 * Let z be the rotated block of n coordinates, N its norm, and c the levels nearest to z sqrt(n) / N. With the
 * scale N^2 / <c, z> the inner product of estimate and block is N^2 in every draw, so the error is orthogonal
 * to the block. Within the orthogonal directions the random rotation makes the error's direction random, so its
 * mean is 0. */
#include "coder/planes.h"
#include "compress/rotated/blocks.h"
#include "math/best_levels.h"

#include <math.h>

enum { LEAST_SENT = 32 };
enum { SCALE_UNBIASED, SCALE_MSE };
static const char *const scales[] = {"unbiased", "mse", NULL};

typedef struct {
    double bits; /* eden's key `bits`; 0 for drive, which has one bit and levels +-1 */
    int scale;   /* value of drive's key `scale`; SCALE_UNBIASED for eden */
    int64_t rotations;
} Eden;

#define ROTATIONS                                                                                            \
    PARAM(Eden, rotations, "2", 1, ROTATION_ROUNDS_MAX,                                                      \
          "rounds of random signs and a transform; one round is faster and biased")

static const Param eden_keys[] = {
    PARAM(Eden, bits, "2", 0.01, LLOYD_BITS_MAX,
          "bits of a coordinate, a real number; below 1 some coordinates are not sent", .rate = true),
    ROTATIONS,
    {0},
};

static const Param drive_keys[] = {
    PARAM_OF(Eden, scale, "unbiased", scales, "the scale of the signs; mse has the least error"),
    ROTATIONS,
    {0},
};

static unsigned traits(const Codec *codec)
{
    const Eden *e = codec->params;
    return e->rotations > 1 && e->scale == SCALE_UNBIASED ? UNBIASED : 0;
}

/* ---- codes of a block ---- */

typedef struct {
    /* wide: number of codes that are width + 1 bits wide; others: number of codes that are `width` bits wide */
    size_t wide, others;
    int width;
} CodeWidths;

static CodeWidths widths_of(const Eden *e, size_t n)
{
    const double bits = e->bits > 0 ? e->bits : 1;
    const int width = (int)bits;
    size_t wide = (size_t)((bits - width) * (double)n + 0.5);
    if (!width && wide < LEAST_SENT)
        wide = LEAST_SENT;
    return (CodeWidths){wide, n - wide, width};
}

static size_t wide_bytes(const CodeWidths *k)
{
    return planes_size(k->wide, k->width + 1);
}

static size_t block_bytes(const void *data, size_t n)
{
    const CodeWidths k = widths_of(data, n);
    return 4 + wide_bytes(&k) + planes_size(k.others, k.width);
}

static void put_codes(const CodeWidths *k, const uint8_t *code, uint8_t *out)
{
    if (k->wide)
        planes_put8(code, k->wide, k->width + 1, out);
    if (k->width)
        planes_put8(code + k->wide, k->others, k->width, out + wide_bytes(k));
}

static bool get_codes(const CodeWidths *k, const uint8_t *in, uint8_t *code)
{
    return (!k->wide || planes_get8(in, k->wide, k->width + 1, code)) &&
           (!k->width || planes_get8(in + wide_bytes(k), k->others, k->width, code + k->wide));
}

static LevelScale scale_of(const Eden *e, int width, float unit)
{
    return e->bits == 0 ? (LevelScale){.count = 1, .level = {1}} : lloyd_scale(width, unit);
}

/* ---- encoding ---- */

/* Divides the rotated block z (n) by `unit` and rounds each coordinate to the nearest level. Sets code (n) to
 * the codes of the levels c, and returns <c, z>. */
static double round_off(const Eden *e, const CodeWidths *k, const float *z, float unit, uint8_t *code)
{
    double dot = 0;
    if (k->wide) {
        const LevelScale s = scale_of(e, k->width + 1, unit);
        dot += kernels()->nearest_levels(z, k->wide, &s, code);
    }
    if (k->width) {
        const LevelScale s = scale_of(e, k->width, unit);
        dot += kernels()->nearest_levels(z + k->wide, k->others, &s, code + k->wide);
    }
    return dot;
}

/* Computes the block's codes and returns its scale. Returns 0 if x is 0, or if all coordinates that would be
 * sent are 0; `code` is then not valid. */
static float turn_and_round(const Eden *e, const RotatedBlock *b, const CodeWidths *k, const float *x,
                            uint8_t *code)
{
    float z[BLOCK_MOST];
    const double squares = kernels()->sum_squares(x, b->n), norm = sqrt(squares);
    const double lift = (double)blocks_lift(norm);
    if (squares == 0)
        return 0;
    rotation_turn(&b->rotation, x, b->n, (float)lift, z);
    const double dot = round_off(e, k, z, (float)(norm * lift / sqrt((double)b->n)), code);
    if (dot <= 0)
        return 0;
    return (float)(e->scale == SCALE_MSE ? dot / (double)b->n / lift : squares * lift / dot);
}

static BlockResult encode_block(const RotatedBlocks *s, const RotatedBlock *b, const float *x, uint8_t *out)
{
    uint8_t code[BLOCK_MOST];
    const CodeWidths k = widths_of(s->data, b->n);
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
    const CodeWidths k = widths_of(data, n);
    if (get_codes(&k, in + 4, code))
        for (size_t i = 0; i < (k.width ? n : k.wide); i++)
            count[i < k.wide][code[i]]++;
    return 1;
}

/* ---- decoding ---- */

/* Sets z (n) to the levels that the codes stand for, times `unit`. */
static void level_values(const Eden *e, int width, float unit, const uint8_t *code, size_t n, float *z)
{
    const LevelScale s = scale_of(e, width, 1);
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
    const CodeWidths k = widths_of(s->data, b->n);
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

/* ---- the hooks of the codec ---- */

static RotatedBlocks eden_blocks(const Call *c)
{
    const Eden *e = c->self->params;
    return (RotatedBlocks){.c = c,
                           .rng = &c->rng,
                           .rounds = (int)e->rotations,
                           .data = e,
                           .bytes = block_bytes,
                           .encode = encode_block,
                           .decode = decode_block,
                           .count = count_codes};
}

static const RotatedFamily family = {eden_blocks};

/* The errors of coordinates are dependent. With the unbiased scale, for example, the estimate x^ has
 * <x^, x> = |x|^2 in every draw. */
static ErrorLaw moments(const Call *c, const float *x, AtomMoments *m)
{
    (void)c, (void)x, (void)m;
    return ROTATED;
}

const Compressor compressor_eden = {
    .name = "eden",
    .brief = "random rotation, then the best few levels for a normal number",
    .plain = "Rotates the gradient at random and rounds it to the best levels for normal numbers, at any "
             "number of bits, fractions included. The mean over draws is the gradient, and the variance "
             "depends on the bits alone.",
    .use_when = "you want a small unbiased error at 1 to 4 bits an element, whatever the gradient looks "
                "like.",
    .example = "atomo-bench synth -o g.h5 --law power\n"
               "atomo-bench compare g.h5 -c eden:bits=1/2/4",
    .formula =
        "z = R x, R a random rotation;  x^ = S R' c,  c_i the Lloyd-Max level nearest to z_i sqrt(n) / |z|,\n"
        "S = |x|^2 / <c, z>:  <x^, x> = |x|^2 in every draw, and E x^ = x.\n"
        "R: `rotations` rounds of random signs and a Walsh-Hadamard transform, in blocks of 2^16 or less. A\n"
        "last block whose size is no power of two has a cosine transform instead; one whose size is a power\n"
        "of two under 2^12 has a third round after two. Each block has its own scale.\n"
        "E |x^ - x|^2 is near D / (1 - D) |x|^2 for every x, D the distortion of a normal number; the ratio is\n"
        "0.571, 0.133, 0.0358, 0.0096 for 1 to 4 bits. If bits is not whole, that share of a block's\n"
        "coordinates has one bit more. Below 1 bit the other coordinates are not sent: D = 1 - 0.637 bits.\n"
        "Raw under 64 elements, and where every |x_i| is under 2^-100.",
    .paper =
        "Vargaftik, Ben Basat, Portnoy, Mendelson, Ben-Itzhak, Mitzenmacher: EDEN: Communication-Efficient\n"
        "and Robust Distributed Mean Estimation for Federated Learning, ICML 2022",
    .look = {HUE_ROTATIONS, 2, 4},
    .params = eden_keys,
    .params_size = sizeof(Eden),
    .promises = RANDOM | EXACT_BYTES | FIXED_SIZE,
    .traits = traits,
    .family = &family,
    .moments = moments,
    ROTATED_HOOKS,
};

const Compressor compressor_drive = {
    .name = "drive",
    .brief = "the signs of the randomly rotated vector, and a scale: one bit an element",
    .plain = "Rotates the gradient at random and sends the signs and a scale. One bit an element, unbiased,"
             " with a variance of 0.57 times the squared norm for any gradient.",
    .use_when = "one bit an element is wanted without bias and without a state.",
    .example = "atomo-bench synth -o g.h5 --law power\n"
               "atomo-bench compare g.h5 -c drive -c sign",
    .formula =
        "z = R x, R a random rotation (as in eden);  x^ = S R' sgn(z)\n"
        "unbiased: S = |x|^2 / |z|_1,  E x^ = x,  E |x^ - x|^2 near (pi / 2 - 1) |x|^2 = 0.571 |x|^2\n"
        "mse:      S = |z|_1 / n,      the least error, near (1 - 2 / pi) |x|^2 = 0.363 |x|^2; biased\n"
        "with a scale for each block of the rotation. Raw under 64 elements, or where every |x_i| < 2^-100.",
    .paper =
        "Vargaftik, Ben Basat, Portnoy, Mendelson, Ben-Itzhak, Mitzenmacher: DRIVE: One-bit Distributed\n"
        "Mean Estimation, NeurIPS 2021",
    .look = {HUE_ROTATIONS, 1, 3},
    .params = drive_keys,
    .params_size = sizeof(Eden),
    .promises = RANDOM | EXACT_BYTES | FIXED_SIZE,
    .traits = traits,
    .family = &family,
    .moments = moments,
    ROTATED_HOOKS,
};
