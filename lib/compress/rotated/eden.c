/* eden.c -- EDEN (Vargaftik, Ben Basat, Portnoy, Mendelson, Ben-Itzhak, Mitzenmacher 2022): each coordinate of the
 * randomly rotated vector to the nearest of Lloyd and Max's levels. The payload is turned.h's. */
#include "num/lloyd.h"
#include "compress/rotated/turned.h"

typedef struct {
    double bits;
    int64_t rotations;
} Eden;

static const Param schema[] = {
    PARAM(Eden, bits, "2", 0.01, LLOYD_BITS_MAX,
          "bits of a coordinate, a real number; below 1 some are not sent", .rate = true),
    PARAM(Eden, rotations, "2", 1, ROTATION_ROUNDS_MAX,
          "rounds of random signs and a transform; one is faster, and biased"),
    {0},
};

static unsigned traits(const Codec *codec)
{
    const Eden *e = codec->params;
    return e->rotations > 1 ? UNBIASED : 0;
}

static Turned turned_of(const Eden *e)
{
    return (Turned){.bits = e->bits};
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    const Eden *e = c->self->params;
    const Turned t = turned_of(e);
    const RotatedBlocks s = turned_blocks(c, &t, e->rotations);
    return blocks_encode(&s, x, out);
}

static Status decode(const Call *c, Bytes in, float *x)
{
    const Eden *e = c->self->params;
    const Turned t = turned_of(e);
    const RotatedBlocks s = turned_blocks(c, &t, e->rotations);
    return blocks_decode(&s, in, x);
}

const Compressor compressor_eden = {
    .name = "eden",
    .brief = "random rotation, then the best few levels for a normal number",
    .formula =
        "z = R x, R a random rotation;  x^ = S R' c,  c_i the Lloyd-Max level nearest to z_i sqrt(n) / |z|,\n"
        "S = |x|^2 / <c, z>:  <x^, x> = |x|^2 in every draw, and E x^ = x.\n"
        "R: `rotations` rounds of random signs and a Walsh-Hadamard transform, in blocks of 2^16 or less; a\n"
        "last one of no power of two has a cosine transform, one of a power of two under 2^12 a third round\n"
        "after two. Each block has a scale of its own.\n"
        "E |x^ - x|^2 is near D / (1 - D) |x|^2, D that of a normal number: 0.571, 0.133, 0.0358, 0.0096 for\n"
        "1 to 4 bits, whatever x is. b bits between two whole numbers: so many coordinates of a block have\n"
        "one bit more. Below 1: D = 1 - 0.637 b, as the others are not sent.\n"
        "Raw under 64 elements, and where none reaches 2^-100.",
    .paper =
        "Vargaftik, Ben Basat, Portnoy, Mendelson, Ben-Itzhak, Mitzenmacher: EDEN: Communication-Efficient\n"
        "and Robust Distributed Mean Estimation for Federated Learning, ICML 2022",
    .params = schema,
    .params_size = sizeof(Eden),
    .promises = RANDOM | EXACT_BYTES,
    .traits = traits,
    .bound = blocks_bound,
    .encode = encode,
    .decode = decode,
};
