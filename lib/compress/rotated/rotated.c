/* rotated.c -- rotates the vector at random, then rounds each coordinate stochastically to levels (Suresh, Yu,
 * Kumar, McMahan 2017). The levels are evenly spaced from the least to the largest coordinate of a block. All
 * workers share the rotation. A block in a payload of blocks.h is
 *
 *     low:f32 high:f32  planes of the levels, `bits` wide (planes.h) */
#include "coder/planes.h"
#include "math/vec/quantise.h"
#include "math/vec/kernels.h"
#include "compress/rotated/blocks.h"

#include <math.h>

typedef struct {
    int64_t bits;
} Rotated;

static const Param schema[] = {
    PARAM(Rotated, bits, "4", 1, 8, "bits of a coordinate: 2^bits levels", .rate = true),
    {0},
};

static int width_of(const void *data)
{
    const Rotated *r = data;
    return (int)r->bits;
}

static uint32_t steps_of(const void *data)
{
    return (1u << width_of(data)) - 1;
}

static size_t block_bytes(const void *data, size_t n)
{
    return 8 + planes_size(n, width_of(data));
}

/* ---- encoding ---- */

/* `z` is a block, multiplied by the power of two `lift` (blocks_lift) and then rotated. `low` and `high` are
 * the least and the largest element of z, divided by `lift`. */
typedef struct {
    float z[BLOCK_MOST], lift, low, high;
} RotatedRange;

static void rotate(RotatedRange *t, const RotatedBlock *b, const float *x)
{
    t->lift = blocks_lift(sqrt(kernels()->sum_squares(x, b->n)));
    const float drop = 1 / t->lift;
    rotation_turn(&b->rotation, x, b->n, t->lift, t->z);
    kernels()->range(t->z, b->n, &t->low, &t->high);
    t->low = t->low * drop + 0; /* + 0 turns -0 to 0 */
    t->high = t->high * drop + 0;
}

static BlockResult encode_block(const RotatedBlocks *s, const RotatedBlock *b, const float *x, uint8_t *out)
{
    RotatedRange t;
    uint8_t code[BLOCK_MOST];
    rotate(&t, b, x);
    if (!isfinite(t.low) || !isfinite(t.high))
        return BLOCK_BEYOND;
    blocks_round(s, b, t.low * t.lift, t.high * t.lift, steps_of(s->data), t.z, code);
    store_f32(out, t.low);
    store_f32(out + 4, t.high);
    planes_put8(code, b->n, width_of(s->data), out + 8);
    return fmaxf(fabsf(t.low), fabsf(t.high)) > 0x1p100f ? BLOCK_LARGE : BLOCK_FINE;
}

/* Returns D^2 sum f (1 - f) over the elements z of the rotated block. D is the distance between levels, f the
 * fractional part of (z - low) / D. */
static double block_variance(const RotatedBlocks *s, const RotatedBlock *b, const float *x)
{
    RotatedRange t;
    rotate(&t, b, x);
    const double lift = (double)t.lift, steps = steps_of(s->data), low = (double)t.low * lift,
                 width = (double)t.high * lift - low, unit = width / steps / lift;
    double sum = 0;
    for (size_t i = 0; i < b->n && width > 0; i++) {
        const double u = fmin(fmax(((double)t.z[i] - low) * steps / width, 0), steps), f = u - floor(u);
        sum += f * (1 - f);
    }
    return isfinite(width) ? unit * unit * sum : NAN;
}

static size_t count_codes(const void *data, size_t n, const uint8_t *in, uint64_t count[2][256])
{
    uint8_t code[BLOCK_MOST];
    if (planes_get8(in + 8, n, width_of(data), code))
        for (size_t i = 0; i < n; i++)
            count[0][code[i]]++;
    return 2;
}

/* ---- decoding ---- */

static bool is_range(float low, float high)
{
    return isfinite(low) && isfinite(high) && low <= high && !(low == 0 && signbit(low)) &&
           !(high == 0 && signbit(high));
}

static BlockResult decode_block(const RotatedBlocks *s, const RotatedBlock *b, const uint8_t *in, float *y)
{
    uint8_t code[BLOCK_MOST];
    float value[256];
    const float low = load_f32(in), high = load_f32(in + 4);
    const double lift = (double)blocks_lift(fmax(fabs((double)low), fabs((double)high)));
    const double step = ((double)high - (double)low) * lift / steps_of(s->data);
    if (!is_range(low, high))
        return BLOCK_BAD_SCALE;
    if (low == high && !blocks_zero(in + 8, block_bytes(s->data, b->n) - 8))
        return BLOCK_BAD_ZEROS;
    if (!planes_get8(in + 8, b->n, width_of(s->data), code))
        return BLOCK_BAD_PADDING;
    for (uint32_t k = 0; k <= steps_of(s->data); k++)
        value[k] = (float)((double)low * lift + step * k);
    for (size_t i = 0; i < b->n; i++)
        y[i] = value[code[i]];
    rotation_turn_back(&b->rotation, y, b->n);
    return lift == 1 || blocks_drop(y, b->n, (float)lift) ? BLOCK_FINE : BLOCK_BEYOND;
}

/* ---- the hooks of the codec ---- */

static RotatedBlocks rotated_blocks(const Call *c)
{
    return (RotatedBlocks){.c = c,
                           .rng = &c->rng_shared,
                           .rounds = 1,
                           .data = c->self->params,
                           .bytes = block_bytes,
                           .encode = encode_block,
                           .decode = decode_block,
                           .count = count_codes,
                           .variance = block_variance};
}

static const RotatedFamily family = {rotated_blocks};

const Compressor compressor_rotated = {
    .name = "rotated",
    .brief = "random rotation, then stochastically rounded uniform levels",
    .plain = "Rotates the gradient at random, which makes all elements similar in size, and rounds them at "
             "random to even levels. The mean over draws is the gradient.",
    .use_when = "few elements stand out and would spoil the scale of a plain quantiser.",
    .example = "atomo-bench synth -o g.h5 --law power\n"
               "atomo-bench compare g.h5 -c rotated:bits=4 -c qsgd:bits=4",
    .formula =
        "z = R x, R a random rotation that all workers share: signs and a Walsh-Hadamard transform, blocks\n"
        "as in eden. In each block 2^bits levels are evenly spaced from min z to max z, D apart:\n"
        "  c_i = low + D (l + [u_i < f]),   l + f = (z_i - low) / D;   x^ = R' c\n"
        "E x^ = x, for every rotation;  E |x^ - x|^2 = sum over blocks D^2 sum f (1 - f), given R.\n"
        "Raw under 64 elements, and where every |x_i| is under 2^-100.",
    .paper = "Suresh, Yu, Kumar, McMahan: Distributed Mean Estimation with Limited Communication, ICML 2017",
    .look = {HUE_ROTATIONS, 5, 2},
    .params = schema,
    .params_size = sizeof(Rotated),
    .promises = UNBIASED | RANDOM | EXACT_BYTES | GIVEN_DRAWS | FIXED_SIZE,
    .family = &family,
    ROTATED_HOOKS,
    .variance = blocks_variance,
};
