/* thc.c -- tensor homomorphic compression with uniform levels (Li, Ben Basat, Vargaftik, Lao, Xu, Mitzenmacher,
 * Yu 2024): all workers use the same rotation and the same quantisation levels, so that level numbers add
 * without decoding. The payload has the format of sums.h, with one scale for each block (blocks.h): the largest
 * norm of the block over all workers (with share=off, the worker's own norm).
 *
 * Rotated coordinates are nearly normally distributed with a standard deviation proportional to the block's
 * norm. So the levels span a multiple of the norm. Coordinates beyond the levels are clipped, which makes the
 * codec biased. */
#include "math/vec/kernels.h"
#include "compress/rotated/blocks.h"
#include "compress/levels/sums.h"

#include <math.h>

enum { BITS_MOST = 8 };

static const Param schema[] = {
    PARAM(SumsParams, bits, "4", 1, BITS_MOST, "bits of a coordinate: 2^bits levels", .rate = true),
    PARAM_SWITCH(SumsParams, share, "on",
                 "norms for all workers, sent in a round of their own; off: cannot merge"),
    {0},
};

/* ends[bits] is t: the levels span -t .. t standard deviations of a coordinate. Up to 4 bits P(|Z| > t) = 1/32
 * for a standard normal Z, as in the paper. Each bit above 4 divides the probability by 4, so that the clipping
 * error falls as fast as the rounding error. */
static const float ends[BITS_MOST + 1] = {0,          2.1538746f, 2.1538746f, 2.1538746f, 2.1538746f,
                                          2.6600676f, 3.097269f,  3.4871042f, 3.8419306f};

typedef struct {
    int bits;
    uint32_t steps;
    const uint8_t *norm; /* for each block: its scale, a norm, as a float32 */
    SumsTotal total;
} ThcJob;

static Sums sums_of(const Call *c)
{
    const SumsParams *p = c->self->params;
    const size_t n = c->shape->n;
    const bool raw = n < ROTATION_SHORTEST;
    return (Sums){.c = c,
                  .scales = raw ? 0 : blocks_count(n),
                  .bits = (int)p->bits,
                  .top = (1u << p->bits) - 1,
                  .shared = p->share,
                  .raw = raw};
}

/* ---- the norms of round 0, four bytes for each block ---- */

static size_t norm_bytes(const void *data, size_t n)
{
    (void)data, (void)n;
    return 4;
}

static BlockResult encode_norm(const RotatedBlocks *s, const RotatedBlock *b, const float *x, uint8_t *out)
{
    (void)s;
    const float norm = (float)sqrt(kernels()->sum_squares(x, b->n));
    store_f32(out, norm);
    return isfinite(norm) ? BLOCK_FINE : BLOCK_BEYOND;
}

static size_t count_norm(const void *data, size_t n, const uint8_t *in, uint64_t count[2][256])
{
    (void)data, (void)n, (void)in, (void)count;
    return 1;
}

/* ---- levels ---- */

static size_t level_bytes(const void *data, size_t n)
{
    const ThcJob *job = data;
    return planes_size(n, job->total.width);
}

/* Returns the highest quantisation level of a block, times *lift; the lowest level is its negative. Sets
 * *lift to the power of two by which the block is multiplied before its rotation. */
static float end_of(const ThcJob *job, const RotatedBlock *b, float *lift)
{
    const double norm = (double)load_f32(job->norm + 4 * b->index);
    *lift = blocks_lift(norm);
    return (float)((double)ends[job->bits] * norm * (double)*lift / sqrt((double)b->n));
}

static BlockResult encode_levels(const RotatedBlocks *s, const RotatedBlock *b, const float *x, uint8_t *out)
{
    const ThcJob *job = s->data;
    float z[BLOCK_MOST], lift;
    uint8_t code[BLOCK_MOST];
    const float end = end_of(job, b, &lift);
    rotation_turn(&b->rotation, x, b->n, lift, z);
    blocks_round(s, b, -end, end, job->steps, z, code);
    planes_put8(code, b->n, job->bits, out);
    return load_f32(job->norm + 4 * b->index) > 0x1p100f ? BLOCK_LARGE : BLOCK_FINE;
}

static size_t count_levels(const void *data, size_t n, const uint8_t *in, uint64_t count[2][256])
{
    const ThcJob *job = data;
    uint8_t code[BLOCK_MOST];
    if (planes_get8(in, n, job->bits, code))
        for (size_t i = 0; i < n; i++)
            count[0][code[i]]++;
    return 0;
}

/* Decodes sums of W workers' levels. A level is an integer 0 .. `steps`. A sum k decodes to (2 k - W
 * `steps`) times half the distance between two levels. Refuses a block of norm 0 with a level that is not 0. */
static BlockResult decode_levels(const RotatedBlocks *s, const RotatedBlock *b, const uint8_t *in, float *y)
{
    (void)in; /* job->total has the codes */
    const ThcJob *job = s->data;
    uint32_t sum[BLOCK_MOST], any = 0;
    float lift;
    const float end = end_of(job, b, &lift), half = end / (float)job->steps;
    const int32_t middle = (int32_t)(job->total.workers * job->steps);
    if (!sums_get(&job->total, b->piece * BLOCK + b->rotation.at, b->n, sum))
        return BLOCK_BAD_CODES;
    for (size_t i = 0; i < b->n; i++) {
        any |= sum[i];
        y[i] = (float)(2 * (int32_t)sum[i] - middle) * half;
    }
    if (end == 0) {
        memset(y, 0, b->n * sizeof *y);
        return any ? BLOCK_BAD_ZEROS : BLOCK_FINE;
    }
    rotation_turn_back(&b->rotation, y, b->n);
    return lift == 1 || blocks_drop(y, b->n, lift) ? BLOCK_FINE : BLOCK_BEYOND;
}

/* ---- the hooks of the codec ---- */

static RotatedBlocks norm_blocks(const Call *c)
{
    return (RotatedBlocks){.c = c,
                           .rng = &c->rng_shared,
                           .rounds = 1,
                           .bytes = norm_bytes,
                           .encode = encode_norm,
                           .count = count_norm};
}

static RotatedBlocks level_blocks(const Call *c, const ThcJob *job)
{
    return (RotatedBlocks){.c = c,
                           .rng = &c->rng_shared,
                           .rounds = 1,
                           .data = job,
                           .bytes = level_bytes,
                           .encode = encode_levels,
                           .decode = decode_levels,
                           .count = count_levels};
}

static Status put_norms(const Call *c, const float *x, Buf *out)
{
    const RotatedBlocks norms = norm_blocks(c);
    buf_u8(out, PAYLOAD_METHOD);
    return blocks_put(&norms, x, out);
}

static Status put_levels(const Sums *s, const uint8_t *norm, const float *x, Buf *out)
{
    const ThcJob job = {
        .bits = s->bits, .steps = s->top, .norm = norm, .total = {1, s->bits, s->top, out->data + out->size}};
    const RotatedBlocks levels = level_blocks(s->c, &job);
    return blocks_put(&levels, x, out);
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    const Sums s = sums_of(c);
    const uint8_t *norm = out->data + out->size + 1;
    if (s.raw)
        return sums_scale_round(&s) ? OK : raw_put(c, x, out);
    if (sums_scale_round(&s))
        return put_norms(c, x, out);
    if (s.shared) {
        TRY(sums_heard(&s, &norm));
        buf_u8(out, PAYLOAD_METHOD);
    } else {
        TRY(put_norms(c, x, out));
    }
    return put_levels(&s, norm, x, out);
}

static Status decode(const Call *c, Bytes in, float *x)
{
    const Sums s = sums_of(c);
    ThcJob job = {.bits = s.bits, .steps = s.top};
    TRY(sums_open(&s, in, &job.norm, &job.total));
    if (!job.norm)
        return payload_floats(c, job.total.planes, x);
    const RotatedBlocks levels = level_blocks(c, &job);
    return blocks_get(&levels, (Bytes){job.total.planes, planes_size(c->shape->n, job.total.width)}, x);
}

static const SumsFamily family = {sums_of};

const Compressor compressor_thc = {
    .name = "thc",
    .brief = "shared rotation, clipped and rounded to uniform levels that add up undecoded",
    .plain = "Rotates the gradient by a rotation that all workers share, clips the few largest values and "
             "rounds the others at random to few even levels. Sums of payloads are payloads.",
    .use_when = "a server or a switch adds payloads of few bits an element, and the small bias of clipping "
                "is bearable or repaired by ef+.",
    .example = "atomo-bench synth -o g.h5 --workers 4\n"
               "atomo-bench merge g.h5 -c thc:bits=4 --workers 4",
    .formula =
        "z = R x, R the rotation of rotated, shared by all workers; in each block of d coordinates 2^bits\n"
        "levels stand evenly from -T to T, D apart, T = t N / sqrt(d), N the largest |x|_2 of all workers'\n"
        "blocks (share=on, found in a first round) or one's own:\n"
        "  c_i = -T + D (l + [u_i < f]),   l + f = (min(max(z_i, -T), T) + T) / D;   x^ = R' c\n"
        "t = 2.154: P(|Z| > t) = p = 1/32 for a normal Z; from 5 bits on a quarter of that for each bit.\n"
        "Biased by clipping: about 1 - p of x comes back, E <x^, x> = (1 - p) |x|^2 for normal z under one's\n"
        "own norm, and E |x^ - x|^2 = sum D^2 f (1 - f) + sum over clipped z of (|z| - T)^2; the second sum\n"
        "is 0.0073 |x|^2 at p = 1/32, and averaging over workers does not lessen it.\n"
        "share=on: the sum of W workers' levels is theirs undecoded, ceil(log2 W) bits wider;\n"
        "bits + ceil(log2 W) may be 24. Raw under 64 elements.\n"
        "Differs from the paper: these are its uniform levels. Its own choice is 2^bits uneven levels, from a\n"
        "table, on a finer even grid (sums are of places on the grid), with error feedback (ef+ gives that).",
    .paper =
        "Li, Ben Basat, Vargaftik, Lao, Xu, Mitzenmacher, Yu: THC: Accelerating Distributed Deep Learning\n"
        "Using Tensor Homomorphic Compression, NSDI 2024",
    .look = {HUE_LEVELS, 5, 2},
    .params = schema,
    .promises = RANDOM | EXACT_BYTES | PART_SHARED | FIXED_SIZE,
    .family = &family,
    SUMS_HOOKS,
    .encode = encode,
    .decode = decode,
};
