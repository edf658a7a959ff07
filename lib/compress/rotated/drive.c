/* drive.c -- DRIVE (Vargaftik, Ben Basat, Portnoy, Mendelson, Ben-Itzhak, Mitzenmacher 2021): the signs of the
 * randomly rotated vector, and a scale. The payload is turned.h's. */
#include "compress/rotated/turned.h"

typedef struct {
    int scale;
    int64_t rotations;
} Drive;

enum { SCALE_UNBIASED, SCALE_MSE };
static const char *const scales[] = {"unbiased", "mse", NULL};

static const Param schema[] = {
    PARAM_OF(Drive, scale, "unbiased", scales, "what the signs are scaled by; mse leaves the least error"),
    PARAM(Drive, rotations, "2", 1, ROTATION_ROUNDS_MAX,
          "rounds of random signs and a transform; one is faster, and biased"),
    {0},
};

static unsigned traits(const Codec *codec)
{
    const Drive *d = codec->params;
    return d->rotations > 1 && d->scale == SCALE_UNBIASED ? UNBIASED : 0;
}

static Turned turned_of(const Drive *d)
{
    return (Turned){.bits = 1, .signs = true, .shrink = d->scale == SCALE_MSE};
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    const Drive *d = c->self->params;
    const Turned t = turned_of(d);
    const RotatedBlocks s = turned_blocks(c, &t, d->rotations);
    return blocks_encode(&s, x, out);
}

static Status decode(const Call *c, Bytes in, float *x)
{
    const Drive *d = c->self->params;
    const Turned t = turned_of(d);
    const RotatedBlocks s = turned_blocks(c, &t, d->rotations);
    return blocks_decode(&s, in, x);
}

const Compressor compressor_drive = {
    .name = "drive",
    .brief = "the signs of the randomly rotated vector, and a scale: one bit an element",
    .formula =
        "z = R x, R a random rotation (as in eden);  x^ = S R' sgn(z)\n"
        "unbiased: S = |x|^2 / |z|_1,  E x^ = x,  E |x^ - x|^2 near (pi / 2 - 1) |x|^2 = 0.571 |x|^2\n"
        "mse:      S = |z|_1 / n,      the least error, near (1 - 2 / pi) |x|^2 = 0.363 |x|^2; biased\n"
        "with a scale for each block of the rotation. Raw under 64 elements, and where none reaches 2^-100.",
    .paper =
        "Vargaftik, Ben Basat, Portnoy, Mendelson, Ben-Itzhak, Mitzenmacher: DRIVE: One-bit Distributed\n"
        "Mean Estimation, NeurIPS 2021",
    .params = schema,
    .params_size = sizeof(Drive),
    .promises = RANDOM | EXACT_BYTES,
    .traits = traits,
    .bound = blocks_bound,
    .encode = encode,
    .decode = decode,
};
