/* rotated.c -- cuts a vector into pieces of 2^16 elements and the pieces into blocks, and encodes or decodes the blocks in
 * threads (blocks.h); and the codecs rotated, eden and drive. */
#include "compress/rotated/blocks.h"
#include "math/vec/kernels.h"
#include "coder/planes.h"
#include "math/vec/quantise.h"

#include <math.h>
#include <stdatomic.h>

static const char *const reasons[BLOCK_RESULTS] = {
    [BLOCK_BEYOND] = "a value beyond float32",
    [BLOCK_BAD_SCALE] = "a scale that is none",
    [BLOCK_BAD_PADDING] = "padding bits are set",
    [BLOCK_BAD_CODES] = "codes that no encoder writes",
    [BLOCK_BAD_ZEROS] = "codes where there is but one value",
};

typedef struct {
    const RotatedBlocks *s;
    size_t n;
    const float *x;
    float *y;
    uint8_t *out;
    const uint8_t *in;
    _Atomic BlockResult worst; /* of all blocks */
} BlocksJob;

/* ---- sizes ---- */

static size_t piece_bytes(const RotatedBlocks *s, size_t n)
{
    size_t sum = 0;
    for (size_t left = n, size; left; left -= size) {
        size = rotation_block(left);
        sum += s->bytes(s->data, size);
    }
    return sum;
}

static size_t all_bytes(const RotatedBlocks *s, size_t n)
{
    const size_t pieces = rotation_pieces(n);
    return (pieces - 1) * piece_bytes(s, BLOCK) + piece_bytes(s, rotation_piece(n, pieces - 1));
}

static bool goes_raw(const Call *c)
{
    return c->shape->n < ROTATION_SHORTEST;
}

/* True if all |x| are below 2^-100 and not all are 0. Such a tensor is sent as raw floats, because its scale
 * factors would lose precision in float32. */
static bool is_tiny(const float *x, size_t n)
{
    bool zero = true;
    for (size_t i = 0; i < n; i++) {
        if (fabsf(x[i]) >= 0x1p-100f)
            return false;
        zero &= x[i] == 0;
    }
    return !zero;
}

/* ---- pieces ---- */

static void run_piece(void *data, size_t piece)
{
    BlocksJob *job = data;
    const RotatedBlocks *s = job->s;
    const size_t start = piece * BLOCK, n = rotation_piece(job->n, piece);
    size_t payload = piece ? piece * piece_bytes(s, BLOCK) : 0;
    RotatedBlock b = {.index = piece};
    for (size_t at = 0; at < n; at += b.n, b.index++) {
        b = (RotatedBlock){rotation_block(n - at), piece, b.index,
                           rotation_open(s->rng, piece, at, s->rounds)};
        const BlockResult v = job->in ? s->decode(s, &b, job->in + payload, job->y + start + at)
                                      : s->encode(s, &b, job->x + start + at, job->out + payload);
        for (BlockResult worst = job->worst; v > worst && !atomic_compare_exchange_weak(&job->worst, &worst, v);)
            ;
        payload += s->bytes(s->data, b.n);
    }
}

static BlockResult run(BlocksJob *job)
{
    parallel_for(job->s->c->threads, rotation_pieces(job->n), run_piece, job);
    return job->worst;
}

/* ---- encoding and decoding the whole vector ---- */

static void report(const BlocksJob *job)
{
    uint64_t count[2][256] = {{0}};
    const uint8_t *at = job->out;
    size_t floats = 0;
    for (size_t p = 0; p < rotation_pieces(job->n); p++)
        for (size_t left = rotation_piece(job->n, p), size; left; left -= size) {
            size = rotation_block(left);
            floats += job->s->count(job->s->data, size, at, count);
            at += job->s->bytes(job->s->data, size);
        }
    streams_floats(job->s->c->streams, floats);
    streams_symbols(job->s->c->streams, count[0], 256);
    streams_symbols(job->s->c->streams, count[1], 256);
}

/* Fails if a decoded value exceeds float32's range. */
static Status check_range(const BlocksJob *job)
{
    const Call *c = job->s->c;
    BlocksJob back = {.s = job->s, .n = job->n, .in = job->out};
    back.y = NEW(c->scratch, float, job->n);
    TRY(arena_check(back.y, c->scratch, c->err));
    if (run(&back) != BLOCK_FINE)
        return FAIL(c->err, ERR_NUMERIC, "%s: decoded values would be beyond float32", c->self->ops->name);
    return OK;
}

Status blocks_put(const RotatedBlocks *s, const float *x, Buf *out)
{
    const Call *c = s->c;
    BlocksJob job = {.s = s, .n = c->shape->n, .x = x};
    job.out = buf_room(out, all_bytes(s, job.n));
    const BlockResult worst = run(&job);
    if (worst == BLOCK_BEYOND)
        return FAIL(c->err, ERR_NUMERIC, "%s: a block's scale is beyond float32", c->self->ops->name);
    if (worst == BLOCK_LARGE)
        TRY(check_range(&job));
    if (c->streams)
        report(&job);
    return OK;
}

Status blocks_get(const RotatedBlocks *s, Bytes in, float *x)
{
    BlocksJob job = {.s = s, .n = s->c->shape->n, .y = x, .in = in.data};
    if (in.size != all_bytes(s, job.n))
        return payload_bad(s->c, "%zu bytes, want %zu", 1 + in.size, 1 + all_bytes(s, job.n));
    const BlockResult worst = run(&job);
    return worst == BLOCK_FINE ? OK : payload_bad(s->c, "%s", reasons[worst]);
}

/* `Compressor.family` is the quantiser without the members that depend on a Call. With `rounds` 0 they are eden's parameter,
 * and each worker has a rotation of its own. */
static RotatedBlocks blocks_of_family(const Call *c);

static Status blocks_encode(const Call *c, const float *x, Buf *out)
{
    const RotatedBlocks s = blocks_of_family(c);
    if (goes_raw(c) || is_tiny(x, c->shape->n))
        return raw_put(c, x, out);
    buf_u8(out, PAYLOAD_METHOD);
    return blocks_put(&s, x, out);
}

static Status blocks_decode(const Call *c, Bytes in, float *x)
{
    const RotatedBlocks s = blocks_of_family(c);
    if (goes_raw(c) || in.size < 1 || in.data[0] != PAYLOAD_METHOD)
        return payload_bad(c, "not floats, nor the form that %zu elements have", c->shape->n);
    return blocks_get(&s, (Bytes){in.data + 1, in.size - 1}, x);
}

/* For quantisers that have the member `variance`. */
static double blocks_variance(const Call *c, const float *x)
{
    const RotatedBlocks s = blocks_of_family(c);
    const size_t n = c->shape->n;
    double sum = 0;
    if (goes_raw(c) || is_tiny(x, n))
        return 0;
    for (size_t p = 0; p < rotation_pieces(n); p++)
        for (size_t at = 0, size; at < rotation_piece(n, p); at += size) {
            size = rotation_block(rotation_piece(n, p) - at);
            const RotatedBlock b = {.n = size, .piece = p, .rotation = rotation_open(s.rng, p, at, s.rounds)};
            sum += s.variance(&s, &b, x + p * BLOCK + at);
        }
    return sum;
}

/* True if all bytes are 0. */
static bool blocks_zero(const uint8_t *byte, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (byte[i])
            return false;
    return true;
}

void blocks_round(const RotatedBlocks *s, const RotatedBlock *b, float low, float high, uint32_t steps,
                  bool correlated, float *z, uint8_t *code)
{
    const RngKey key = rounding_key(s->c, correlated, b->piece);
    for (size_t i = 0; i < b->n; i++)
        z[i] = z[i] > low ? z[i] - low : 0;
    if (high > low)
        kernels()->quantise8(z, b->n, quantiser_make(high - low, steps), key, (uint32_t)b->rotation.at, code);
    else
        memset(code, 0, b->n);
}

/* Any tensor may be sent as raw floats, and no other payload is longer. */
#define ROTATED_HOOKS .bound = raw_size, .encode = blocks_encode, .decode = blocks_decode

/* ---- rotated: rotates the vector at random, then rounds each coordinate stochastically to levels (Suresh, Yu,
 * Kumar, McMahan 2017). The levels are evenly spaced from the least to the largest coordinate of a block. All
 * workers share the rotation. A block in a payload of blocks.h is
 *
 *     low:f32 high:f32  planes of the levels, `bits` wide (planes.h) ---- */

typedef struct {
    int64_t bits;
    int rounding;
} Rotated;

static const Param schema[] = {
    PARAM(Rotated, bits, "4", 1, 8, "bits of a coordinate: 2^bits levels", .rate = true),
    PARAM_OF(Rotated, rounding, "independent", rounding_names, WORKERS_ROUNDING_HELP),
    {0},
};

static int width_of(const void *data)
{
    const Rotated *r = data;
    return (int)r->bits;
}

static bool rotated_correlated(const void *data)
{
    return ((const Rotated *)data)->rounding == ROUNDING_CORRELATED;
}

static unsigned rotated_traits(const Codec *codec)
{
    return rotated_correlated(codec->params) ? PART_SHARED : 0u;
}

static uint32_t steps_of(const void *data)
{
    return (1u << width_of(data)) - 1;
}

static size_t rotated_block_bytes(const void *data, size_t n)
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

static BlockResult rotated_encode_block(const RotatedBlocks *s, const RotatedBlock *b, const float *x, uint8_t *out)
{
    RotatedRange t;
    uint8_t code[BLOCK_MOST];
    rotate(&t, b, x);
    if (!isfinite(t.low) || !isfinite(t.high))
        return BLOCK_BEYOND;
    blocks_round(s, b, t.low * t.lift, t.high * t.lift, steps_of(s->data), rotated_correlated(s->data), t.z, code);
    store_f32(out, t.low);
    store_f32(out + 4, t.high);
    planes_put(code, false, b->n, width_of(s->data), out + 8);
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

static size_t rotated_count_codes(const void *data, size_t n, const uint8_t *in, uint64_t count[2][256])
{
    uint8_t code[BLOCK_MOST];
    if (planes_get(in + 8, n, width_of(data), code, false))
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

static BlockResult rotated_decode_block(const RotatedBlocks *s, const RotatedBlock *b, const uint8_t *in, float *y)
{
    uint8_t code[BLOCK_MOST];
    float value[256];
    const float low = load_f32(in), high = load_f32(in + 4);
    const double lift = (double)blocks_lift(fmax(fabs((double)low), fabs((double)high)));
    const double step = ((double)high - (double)low) * lift / steps_of(s->data);
    if (!is_range(low, high))
        return BLOCK_BAD_SCALE;
    if (low == high && !blocks_zero(in + 8, rotated_block_bytes(s->data, b->n) - 8))
        return BLOCK_BAD_ZEROS;
    if (!planes_get(in + 8, b->n, width_of(s->data), code, false))
        return BLOCK_BAD_PADDING;
    for (uint32_t k = 0; k <= steps_of(s->data); k++)
        value[k] = (float)((double)low * lift + step * k);
    for (size_t i = 0; i < b->n; i++)
        y[i] = value[code[i]];
    rotation_turn_back(&b->rotation, y, b->n);
    return lift == 1 || blocks_drop(y, b->n, (float)lift) ? BLOCK_FINE : BLOCK_BEYOND;
}

static const RotatedBlocks rotated_family = {.rounds = 1,
                                             .bytes = rotated_block_bytes,
                                             .encode = rotated_encode_block,
                                             .decode = rotated_decode_block,
                                             .count = rotated_count_codes,
                                             .variance = block_variance};

static const Compressor compressor_rotated = {
    .name = "rotated",
    .brief = "random rotation, then stochastically rounded uniform levels",
    .plain = "Rotates the gradient at random, which makes all elements similar in size, and rounds them at "
             "random to even levels. The mean over draws is the gradient.",
    .use_when = "few elements stand out and would spoil the scale of a plain quantiser.",
    .example = "atomo-bench synth -o g.h5 --force --law power\n"
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
    .promises = UNBIASED | RANDOM | EXACT_BYTES | GIVEN_DRAWS | FIXED_SIZE | NEEDS_ALL,
    .traits = rotated_traits,
    .family = &rotated_family,
    ROTATED_HOOKS,
    .variance = blocks_variance,
};

/* ---- eden: EDEN and DRIVE (Vargaftik, Ben Basat, Portnoy, Mendelson, Ben-Itzhak, Mitzenmacher 2022 and 2021):
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
 * mean is 0. ---- */

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
    size_t from, n; /* the first of the codes, and their number */
    int width;
    size_t at; /* of their bytes in the block */
} CodeSpan;

/* Sets span[] to the codes of a block of n elements that are sent. Returns the bytes of the block. */
static size_t spans_of(const Eden *e, size_t n, CodeSpan span[2])
{
    const double bits = e->bits > 0 ? e->bits : 1;
    const int width = (int)bits;
    size_t wide = (size_t)((bits - width) * (double)n + 0.5);
    if (!width && wide < LEAST_SENT)
        wide = LEAST_SENT;
    const size_t others = width ? n - wide : 0, at = 4 + planes_size(wide, width + 1);
    span[0] = (CodeSpan){0, wide, width + 1, 4};
    span[1] = (CodeSpan){wide, others, width, at};
    return at + planes_size(others, width);
}

static size_t eden_block_bytes(const void *data, size_t n)
{
    CodeSpan span[2];
    return spans_of(data, n, span);
}

static bool get_codes(const CodeSpan span[2], const uint8_t *in, uint8_t *code)
{
    bool good = true;
    for (const CodeSpan *k = span; k < span + 2; k++)
        good = good && (!k->n || planes_get(in + k->at, k->n, k->width, code + k->from, false));
    return good;
}

static LevelScale scale_of(const Eden *e, int width, float unit)
{
    return e->bits == 0 ? (LevelScale){.count = 1, .level = {1}} : lloyd_scale(width, unit);
}

/* ---- encoding ---- */

/* Divides the rotated block z by `unit` and rounds each coordinate to the nearest level. Sets `code` to
 * the codes of the levels c, and returns <c, z>. */
static double round_off(const Eden *e, const CodeSpan span[2], const float *z, float unit, uint8_t *code)
{
    double dot = 0;
    for (const CodeSpan *k = span; k < span + 2; k++)
        if (k->n) {
            const LevelScale s = scale_of(e, k->width, unit);
            dot += kernels()->nearest_levels(z + k->from, k->n, &s, code + k->from);
        }
    return dot;
}

/* Computes the block's codes and returns its scale. Returns 0 if x is 0, or if all coordinates that would be
 * sent are 0; `code` is then not valid. */
static float turn_and_round(const Eden *e, const RotatedBlock *b, const CodeSpan span[2], const float *x,
                            uint8_t *code)
{
    float z[BLOCK_MOST];
    const double squares = kernels()->sum_squares(x, b->n), norm = sqrt(squares);
    const double lift = (double)blocks_lift(norm);
    if (squares == 0)
        return 0;
    rotation_turn(&b->rotation, x, b->n, (float)lift, z);
    const double dot = round_off(e, span, z, (float)(norm * lift / sqrt((double)b->n)), code);
    if (dot <= 0)
        return 0;
    return (float)(e->scale == SCALE_MSE ? dot / (double)b->n / lift : squares * lift / dot);
}

static BlockResult eden_encode_block(const RotatedBlocks *s, const RotatedBlock *b, const float *x, uint8_t *out)
{
    uint8_t code[BLOCK_MOST];
    CodeSpan span[2];
    spans_of(s->data, b->n, span);
    const float scale = turn_and_round(s->data, b, span, x, code);
    if (scale == 0)
        memset(code, 0, b->n);
    store_f32(out, scale);
    for (const CodeSpan *k = span; k < span + 2; k++)
        if (k->n)
            planes_put(code + k->from, false, k->n, k->width, out + k->at);
    return !isfinite(scale) ? BLOCK_BEYOND : scale > 0x1p100f ? BLOCK_LARGE : BLOCK_FINE;
}

static size_t eden_count_codes(const void *data, size_t n, const uint8_t *in, uint64_t count[2][256])
{
    uint8_t code[BLOCK_MOST];
    CodeSpan span[2];
    spans_of(data, n, span);
    if (get_codes(span, in, code))
        for (size_t i = 0; i < span[0].n + span[1].n; i++)
            count[i < span[0].n][code[i]]++;
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

static BlockResult eden_decode_block(const RotatedBlocks *s, const RotatedBlock *b, const uint8_t *in, float *y)
{
    uint8_t code[BLOCK_MOST];
    CodeSpan span[2];
    const size_t size = spans_of(s->data, b->n, span), sent = span[0].n + span[1].n;
    const float scale = load_f32(in), lift = blocks_lift((double)scale);
    if (!isfinite(scale) || signbit(scale))
        return BLOCK_BAD_SCALE;
    if (scale == 0) {
        memset(y, 0, b->n * sizeof *y);
        return blocks_zero(in + 4, size - 4) ? BLOCK_FINE : BLOCK_BAD_ZEROS;
    }
    if (!get_codes(span, in, code))
        return BLOCK_BAD_PADDING;
    for (const CodeSpan *k = span; k < span + 2; k++)
        if (k->n)
            level_values(s->data, k->width, scale * lift, code + k->from, k->n, y + k->from);
    memset(y + sent, 0, (b->n - sent) * sizeof *y);
    rotation_turn_back(&b->rotation, y, b->n);
    return lift == 1 || blocks_drop(y, b->n, lift) ? BLOCK_FINE : BLOCK_BEYOND;
}

/* ---- the hooks of the codec ---- */

static const RotatedBlocks eden_family = {.bytes = eden_block_bytes,
                                          .encode = eden_encode_block,
                                          .decode = eden_decode_block,
                                          .count = eden_count_codes};

static RotatedBlocks blocks_of_family(const Call *c)
{
    const Eden *e = c->self->params;
    RotatedBlocks s = *(const RotatedBlocks *)c->self->ops->family;
    s.c = c;
    s.rng = s.rounds ? &c->rng_shared : &c->rng;
    s.data = c->self->params;
    s.rounds = s.rounds ? s.rounds : (int)e->rotations;
    return s;
}

/* The errors of coordinates are dependent. With the unbiased scale, for example, the estimate x^ has
 * <x^, x> = |x|^2 in every draw. */
static ErrorLaw moments(const Call *c, const float *x, AtomMoments *m)
{
    (void)c, (void)x, (void)m;
    return ROTATED;
}

static const Compressor compressor_eden = {
    .name = "eden",
    .brief = "random rotation, then the best few levels for a normal number",
    .plain = "Rotates the gradient at random and rounds it to the best levels for normal numbers, at any "
             "number of bits, fractions included. The mean over draws is the gradient, and the variance "
             "depends on the bits alone.",
    .use_when = "you want a small unbiased error at 1 to 4 bits an element, whatever the gradient looks "
                "like.",
    .example = "atomo-bench synth -o g.h5 --force --law power\n"
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
    .promises = RANDOM | EXACT_BYTES | FIXED_SIZE,
    .traits = traits,
    .family = &eden_family,
    .moments = moments,
    ROTATED_HOOKS,
};

static const Compressor compressor_drive = {
    .name = "drive",
    .brief = "the signs of the randomly rotated vector, and a scale: one bit an element",
    .plain = "Rotates the gradient at random and sends the signs and a scale. One bit an element, unbiased,"
             " with a variance of 0.57 times the squared norm for any gradient.",
    .use_when = "one bit an element is wanted without bias and without a state.",
    .example = "atomo-bench synth -o g.h5 --force --law power\n"
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
    .promises = RANDOM | EXACT_BYTES | FIXED_SIZE,
    .traits = traits,
    .family = &eden_family,
    .moments = moments,
    ROTATED_HOOKS,
};

const Compressor *const compressors_rotated[] = {&compressor_rotated, &compressor_drive, &compressor_eden, NULL};
