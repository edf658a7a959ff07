/* float.c -- block floats: elements are floats of 4 to 8 bits, or integers, and each block of elements has a scale. `float`
 * takes any format, scale and block; fp8, mxfp8, mxfp6, mxfp4 and nvfp4 are the usual ones (OCP Microscaling Formats v1.0,
 * NVFP4, the FP8 of torchao's rows).
 *
 *     kind:8 = 1  [ tensor:f32 ]  { scale:8 or f32 } x blocks  codes: bytes, or bit planes of fewer bits (planes.h)
 *
 * `tensor` is sent with scale=e4m3. An element is value(code) times its block's scale: 2^(byte - 127) with e8m0, with e4m3 the
 * byte as a float times `tensor`; with f32 the scale is what elements were multiplied by, so values are divided by it.
 *
 * rounding=stochastic and correlated round scales up until nothing clips, so that they are unbiased; `clipped` has the scales
 * of `nearest`.
 * rounding=eden is MS-EDEN (arXiv 2601.22813): groups of 128 are rotated (random signs, Hadamard), and scales correct the
 * length of the rounded group. It codes whole groups: zeros fill the last one. */
#include "coder/planes.h"
#include "compress/compressor.h"
#include "math/dyadic_transform.h"
#include "math/vec/kernels.h"

#include <float.h>
#include <math.h>

typedef struct {
    int format, scale, block, rounding, best;
} Float;

enum { E4M3, E5M2, E2M3, E3M2, E2M1, E3M0, INT8 };
enum { FLOOR, RCEIL, EVEN, SCALE_E4M3, SCALE_F32 };
enum { BLOCK_16, BLOCK_32, BLOCK_ROW = 5, BLOCK_TENSOR };
enum { NEAREST, STOCHASTIC, CORRELATED, CLIPPED, EDEN };
enum { OFF, FOUROVER6 };
enum { PIECE = 4096, GROUP = 128, HEADS_MOST = PIECE / 16 };

static const Minifloat formats[] = {
    {3, 7, 8, 8, 0x7e, 448, false}, {2, 15, 8, 15, 0x7b, 57344, false}, {3, 1, 6, 2, 31, 7.5f, false},
    {2, 3, 6, 4, 31, 28, false},    {1, 1, 4, 2, 7, 6, false},          {0, 3, 4, 4, 7, 16, false},
    {7, 0, 8, 0, 127, 1.984375f, true},
};
static const char *const format_names[] = {"e4m3", "e5m2", "e2m3", "e3m2", "e2m1", "e3m0", "int8", NULL};
static const char *const scale_names[] = {"e8m0", "rceil", "even", "e4m3", "f32", NULL};
static const char *const mx_scales[] = {"floor", "rceil", "even", NULL};
static const char *const block_names[] = {"16", "32", "64", "128", "256", "row", "tensor", NULL};
static const char *const roundings[] = {"nearest", "stochastic", "correlated", "clipped", "eden", NULL};
static const char *const plain_roundings[] = {"nearest", "stochastic", "correlated", "clipped", NULL};
static const char *const fp8_roundings[] = {"nearest", "stochastic", "correlated", NULL};
static const char *const bests[] = {"off", "fourover6", NULL};

#define ROUNDING_HELP "to even, without bias, so that workers' errors cancel too, at random within the scales of nearest"

static const Param float_schema[] = {
    PARAM_OF(Float, format, "e4m3", format_names, "exponent and fraction bits of an element, or integers"),
    PARAM_OF(Float, scale, "e8m0", scale_names, "of a block: a power of two (rounded down, up or evenly), or a float"),
    PARAM_OF(Float, block, "32", block_names, "elements that share a scale"),
    PARAM_OF(Float, rounding, "nearest", plain_roundings, ROUNDING_HELP),
    {0},
};
static const Param mx_schema[] = {
    PARAM_OF(Float, scale, "floor", mx_scales, "how the power of two of a block is rounded"),
    PARAM_OF(Float, rounding, "nearest", plain_roundings, ROUNDING_HELP),
    {0},
};
static const Param fp8_schema[] = {
    PARAM_OF(Float, rounding, "nearest", fp8_roundings, "to even, without bias, or so that workers' errors cancel too"),
    {0},
};
static const Param nvfp4_schema[] = {
    PARAM_OF(Float, rounding, "nearest", roundings, ROUNDING_HELP ", MS-EDEN"),
    PARAM_OF(Float, best, "off", bests, "the better one of two scales for each block"),
    {0},
};

/* The settings of a codec; `family` has those that a name fixes. */
static Float settings(const Codec *codec)
{
    Float p = *(const Float *)codec->params;
    const Float *fixed = codec->ops->family;
    if (fixed) {
        p.format = fixed->format;
        p.block = fixed->block;
        p.scale = fixed->scale ? fixed->scale : p.scale;
    }
    return p;
}

typedef struct {
    const Call *c;
    Float p;
    const Minifloat *f;
    size_t n, block, blocks; /* n: coded elements; with eden whole groups */
    size_t head_size;
    float tensor; /* the tensor's scale; 1 unless scale=e4m3 */
    const float *x;
    float *decoded, *turned; /* turned: (n) the rotated elements of eden */
    uint8_t *head, *code;    /* where heads and codes are written */
    const uint8_t *sent_head, *sent_code;
    bool *bad; /* for each piece */
} FloatJob;

/* Rounds at random, with scales that clip nothing. */
static bool is_fair(const Float *p)
{
    return p->rounding == STOCHASTIC || p->rounding == CORRELATED;
}

static FloatJob open_job(const Call *c)
{
    FloatJob j = {.c = c, .p = settings(c->self), .tensor = 1};
    const size_t n = c->shape->n, first = c->shape->rank > 1 ? c->shape->dim[0] : 1;
    j.f = &formats[j.p.format];
    j.n = j.p.rounding == EDEN ? (n + GROUP - 1) / GROUP * GROUP : n;
    j.block = j.p.block == BLOCK_TENSOR ? n : j.p.block == BLOCK_ROW ? n / (first ? first : 1) : (size_t)16 << j.p.block;
    j.block = j.block ? j.block : 1;
    j.blocks = (j.n + j.block - 1) / j.block;
    j.head_size = j.p.scale == SCALE_F32 ? 4 : 1;
    return j;
}

static size_t codes_size(const FloatJob *j, size_t n)
{
    return j->f->width == 8 ? n : planes_size(n, j->f->width);
}
static size_t method_bytes(const FloatJob *j)
{
    return (j->p.scale == SCALE_E4M3 ? 5u : 1u) + j->head_size * j->blocks + codes_size(j, j->n);
}
static bool goes_raw(const FloatJob *j)
{
    return method_bytes(j) >= raw_size(j->c);
}

/* Scales that are floats lose precision with numbers near the least of float32: such tensors go as floats. */
static bool is_tiny(float most)
{
    return most > 0 && most < 0x1p-100f;
}

static size_t bound(const Call *c)
{
    const FloatJob j = open_job(c);
    return goes_raw(&j) || j.p.scale >= SCALE_E4M3 ? raw_size(c) : method_bytes(&j);
}

static unsigned traits(const Codec *codec)
{
    const Float p = settings(codec);
    return (is_fair(&p) ? UNBIASED : 0u) | (p.rounding == NEAREST ? 0u : RANDOM) | (p.rounding == CORRELATED ? PART_SHARED : 0u);
}

static Status check(const Codec *codec, Error *err)
{
    const Float p = settings(codec);
    if (p.best == FOUROVER6 && p.rounding != NEAREST)
        return FAIL(err, ERR_USAGE, "nvfp4: best=fourover6 is for rounding=nearest");
    return OK;
}

/* ---- scales ---- */

static float power_of_two(int e)
{
    return e < -126 ? 0x1p-127f : bits_float((uint32_t)(e + 127) << 23);
}
static int exponent_of(float v) /* floor(log2 v) of a normal number, -127 for smaller ones */
{
    return (int)(float_bits(v) >> 23 & 255) - 127;
}

/* Returns the exponent of a block's power of two, -127 to 128; 128 if nothing below clips nothing. */
static int exponent_for(const FloatJob *j, float peak)
{
    const Minifloat *f = j->f;
    int e = exponent_of(peak) - f->emax;
    if (is_fair(&j->p))
        e += (double)peak > ldexp((double)f->most, e);
    else if (j->p.scale == EVEN)
        e = exponent_of(bits_float(float_bits(peak) + (1u << (22 - (f->twos ? 6 : f->fraction))))) - f->emax;
    else if (j->p.scale == RCEIL) {
        const float part = peak * (1 / f->most);
        e = exponent_of(part) + (part != power_of_two(exponent_of(part)));
    }
    return e < -127 ? -127 : e;
}

static uint8_t e4m3_for(const FloatJob *j, float peak)
{
    const Minifloat *e4m3 = &formats[E4M3];
    uint32_t m = minifloat_round(e4m3, fminf(peak / j->f->most / j->tensor, e4m3->most), NULL);
    while (is_fair(&j->p) && m < e4m3->top && minifloat_value(e4m3, m) * j->tensor * j->f->most < peak)
        m++;
    return (uint8_t)m;
}

static float factor_for(const FloatJob *j, float peak)
{
    float factor = peak > 0 ? fminf(j->f->most / peak, 0x1p127f) : 1;
    while (is_fair(&j->p) && peak * factor > j->f->most)
        factor = nextafterf(factor, 0);
    return factor;
}

/* Returns the tensor's scale: E4M3 scales of blocks are at most 448, or 256 with four over six and with eden. */
static float tensor_for(const FloatJob *j, float most)
{
    const float steps = j->p.best == FOUROVER6 ? 6 * 256.0f
                        : j->p.rounding == EDEN ? 255.99f * (6 / 0.988f)
                                                : j->f->most * 448;
    float tensor = most > 0 ? most / steps : 1;
    while (is_fair(&j->p) && tensor * 448 * j->f->most < most)
        tensor = nextafterf(tensor, FLT_MAX);
    return tensor;
}

/* Writes a block's head; its largest magnitude is `peak`. take_head refuses the head if values could be beyond float32. */
static void put_head(const FloatJob *j, float peak, uint8_t *head)
{
    if (j->p.scale == SCALE_F32)
        store_f32(head, factor_for(j, peak));
    else
        *head = j->p.scale == SCALE_E4M3 ? e4m3_for(j, peak) : (uint8_t)(exponent_for(j, peak) + 127);
}

/* Returns the scale of a head by which values are multiplied, or, with scale=f32, divided; NaN: no encoder writes it. */
static float take_head(const FloatJob *j, const uint8_t *head)
{
    if (j->p.scale == SCALE_F32) {
        const float factor = load_f32(head);
        return factor > 0 && isfinite(factor) && isfinite(j->f->most / factor) ? factor : NAN;
    }
    if (j->p.scale != SCALE_E4M3)
        return *head > 254 - j->f->emax ? NAN : power_of_two(*head - 127);
    const float scale = *head > formats[E4M3].top ? NAN : minifloat_value(&formats[E4M3], *head) * j->tensor;
    return isfinite(scale * j->f->most) ? scale : NAN;
}

/* ---- pieces: up to PIECE elements, and the blocks that they touch ---- */

static bool small_blocks(const FloatJob *j)
{
    return j->p.block < BLOCK_ROW;
}

/* Reads the scales of the blocks of n elements from `from` on, all of one block or of whole blocks. With `back` for decoding,
 * else for encoding: 1 / 2^e, what to divide by (scale 0: infinity, which gives zeros), or what to multiply by. */
static bool take_scales(const FloatJob *j, const uint8_t *heads, size_t from, size_t n, bool back, float *scale,
                        ScaledBlocks *b)
{
    const size_t first = from / j->block, count = small_blocks(j) ? (n + j->block - 1) / j->block : 1;
    bool good = true;
    for (size_t k = 0; k < count && j->p.scale < SCALE_E4M3; k++) { /* compilers make it a loop of vectors */
        const int head = heads[first + k];
        good &= head <= 254 - j->f->emax;
        scale[k] = power_of_two(back ? head - 127 : 127 - head);
    }
    for (size_t k = 0; k < count && j->p.scale >= SCALE_E4M3; k++) {
        scale[k] = take_head(j, heads + (first + k) * j->head_size);
        good &= !isnan(scale[k]);
        if (!back && j->p.scale == SCALE_E4M3 && scale[k] == 0)
            scale[k] = INFINITY;
    }
    *b = (ScaledBlocks){small_blocks(j) ? j->block : n, scale, back ? j->p.scale == SCALE_F32 : j->p.scale == SCALE_E4M3};
    return good;
}

static size_t run_end(const FloatJob *j, size_t from, size_t to)
{
    const size_t end = small_blocks(j) ? to : (from / j->block + 1) * j->block;
    return end < to ? end : to;
}

/* Rounds the elements [from, from + n) to codes. */
static void round_piece(const FloatJob *j, const float *x, const uint8_t *heads, size_t from, size_t n, uint8_t *code)
{
    const bool random = is_fair(&j->p) || j->p.rounding == CLIPPED;
    const RngKey key = rounding_key(j->c, j->p.rounding == CORRELATED, from / BLOCK);
    float scale[HEADS_MOST];
    ScaledBlocks b;
    for (size_t i = from, end; i < from + n; i = end) {
        end = run_end(j, i, from + n);
        take_scales(j, heads, i, end - i, false, scale, &b);
        kernels()->minify(x + i, end - i, &b, j->f, random ? &key : NULL, (uint32_t)(i % BLOCK), code + (i - from));
    }
}

static bool value_piece(const FloatJob *j, const uint8_t *heads, const uint8_t *code, size_t from, size_t n, float *x)
{
    float scale[HEADS_MOST];
    ScaledBlocks b;
    bool good = true;
    for (size_t i = from, end; i < from + n; i = end) {
        end = run_end(j, i, from + n);
        good &= take_scales(j, heads, i, end - i, true, scale, &b) &&
                kernels()->unminify(code + (i - from), end - i, &b, j->f, x + (i - from));
    }
    return good;
}

/* Four over six: takes the scale of a block that maps its largest element to 4 instead of 6 if the squared error is smaller. */
static void choose_scale(const FloatJob *j, size_t block, size_t n, float peak)
{
    uint8_t head[2], code[16];
    double error[2] = {0};
    float y[16];
    for (int k = 0; k < 2; k++) {
        put_head(j, k ? 1.5f * peak : peak, &head[k]);
        const float scale = take_head(j, &head[k]), divisor = scale > 0 ? scale : INFINITY;
        kernels()->minify(j->x + block * j->block, n, &(ScaledBlocks){16, &divisor, true}, j->f, NULL, 0, code);
        kernels()->unminify(code, n, &(ScaledBlocks){16, &scale, false}, j->f, y);
        for (size_t i = 0; i < n; i++) {
            const double d = (double)y[i] - (double)j->x[block * j->block + i];
            error[k] += d * d;
        }
    }
    j->head[block] = head[error[1] < error[0]];
}

/* Writes the heads of the blocks of n elements from `from` on. */
static void put_heads(const FloatJob *j, size_t from, size_t n)
{
    const size_t first = from / j->block;
    float peak[HEADS_MOST];
    kernels()->peaks(j->x + from, n, j->block, peak);
    for (size_t k = 0, i = 0; i < n; k++, i += j->block) {
        put_head(j, peak[k], j->head + (first + k) * j->head_size);
        if (j->p.best == FOUROVER6)
            choose_scale(j, first + k, n - i < j->block ? n - i : j->block, peak[k]);
    }
}

static void large_head(void *data, size_t block)
{
    const FloatJob *j = data;
    const size_t from = block * j->block;
    put_heads(j, from, j->n - from < j->block ? j->n - from : j->block);
}

static size_t piece_size(const FloatJob *j, size_t piece)
{
    return j->n - piece * PIECE < PIECE ? j->n - piece * PIECE : PIECE;
}

/* ---- MS-EDEN ---- */

#define EDEN_MOST 0x1p112f /* the norm of a group is under HADAMARD_MOST */

/* Flips the signs of a group of 128 by random bits, and rotates it; `back` for the inverse. */
static void turn_group(const FloatJob *j, size_t group, bool back, float z[GROUP])
{
    uint32_t flip[GROUP];
    for (size_t w = 0; w < GROUP / 32; w++) {
        const uint32_t word = rng_u32(&j->c->rng, USE_SIGN, GROUP / 32 * group + w);
        for (size_t i = 0; i < 32; i++)
            flip[32 * w + i] = word >> i << 31;
    }
    for (size_t i = 0; i < GROUP && !back; i++)
        z[i] = bits_float(float_bits(z[i]) ^ flip[i]);
    hadamard(z, GROUP, 1);
    for (size_t i = 0; i < GROUP && back; i++)
        z[i] = bits_float(float_bits(z[i]) ^ flip[i]);
}

static void turn_piece(void *data, size_t piece)
{
    FloatJob *j = data;
    const size_t from = piece * PIECE, n = piece_size(j, piece), all = j->c->shape->n;
    for (size_t i = from; i < from + n; i += GROUP) {
        const size_t some = all - i < GROUP ? all - i : GROUP;
        memset(j->turned + i, 0, GROUP * sizeof *j->turned);
        memcpy(j->turned + i, j->x + i, some * sizeof *j->turned);
        turn_group(j, i / GROUP, false, j->turned + i);
    }
}

/* Rounds a group, then sets its blocks' heads to their scales times c = sum z^2 / sum z decoded(z), at random without bias. */
static void eden_group(FloatJob *j, size_t from, uint8_t *code)
{
    const Minifloat *e4m3 = &formats[E4M3];
    const float *z = j->turned + from, most = 6 / 0.988f;
    const size_t first = from / j->block;
    double squares = 0, product = 0;
    float y[GROUP], peak[GROUP / 16];
    kernels()->peaks(z, GROUP, j->block, peak);
    for (size_t k = 0; k < GROUP / 16; k++) {
        const uint32_t m = minifloat_round(e4m3, fminf(peak[k] / most / j->tensor, e4m3->most), NULL);
        j->head[first + k] = m ? (uint8_t)m : 0x38; /* 0x38: 1 */
    }
    round_piece(j, j->turned, j->head, from, GROUP, code);
    value_piece(j, j->head, code, from, GROUP, y);
    for (size_t i = 0; i < GROUP; i++) {
        squares += (double)z[i] * (double)z[i];
        product += (double)z[i] * (double)y[i];
    }
    for (size_t k = 0; k < GROUP / 16 && product > 0; k++) {
        const uint32_t word = rng_u32(&j->c->rng, USE_SAMPLE, first + k);
        const double scale = (double)minifloat_value(e4m3, j->head[first + k]) * squares / product;
        j->head[first + k] = (uint8_t)minifloat_round(e4m3, fminf((float)scale, e4m3->most), &word);
    }
}

/* ---- pieces in parallel ---- */

static void encode_piece(void *data, size_t piece)
{
    FloatJob *j = data;
    const size_t from = piece * PIECE, n = piece_size(j, piece);
    uint8_t own[PIECE], *code = j->f->width == 8 ? j->code + from : own;
    if (small_blocks(j) && !j->turned)
        put_heads(j, from, n);
    if (!j->turned)
        round_piece(j, j->x, j->head, from, n, code);
    for (size_t i = from; i < from + n && j->turned; i += GROUP)
        eden_group(j, i, code + (i - from));
    if (j->f->width < 8)
        planes_put(code, false, n, j->f->width, j->code + planes_size(from, j->f->width));
}

static void decode_piece(void *data, size_t piece)
{
    FloatJob *j = data;
    const bool eden = j->p.rounding == EDEN;
    const size_t from = piece * PIECE, n = piece_size(j, piece), all = j->c->shape->n;
    uint8_t own[PIECE];
    float z[PIECE], *x = eden ? z : j->decoded + from;
    const uint8_t *code = j->f->width == 8 ? j->sent_code + from : own;
    j->bad[piece] = (j->f->width < 8 &&
                     !planes_get(j->sent_code + planes_size(from, j->f->width), n, j->f->width, own, false)) ||
                    !value_piece(j, j->sent_head, code, from, n, x);
    if (!eden || j->bad[piece])
        return;
    for (size_t i = 0; i < n; i += GROUP)
        turn_group(j, (from + i) / GROUP, true, z + i);
    memcpy(j->decoded + from, z, (all - from < n ? all - from : n) * sizeof *z);
}

/* ---- the hooks of the codec ---- */

static size_t pieces_of(const FloatJob *j)
{
    return (j->n + PIECE - 1) / PIECE;
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    FloatJob j = open_job(c);
    const size_t n = c->shape->n;
    const bool floats = j.p.scale >= SCALE_E4M3;
    const float most = floats ? kernels()->abs_max(x, n) : 0;
    bool good = j.p.rounding != EDEN || most <= EDEN_MOST;
    if (goes_raw(&j) || (floats && is_tiny(most)))
        return raw_put(c, x, out);
    j.x = x;
    if (j.p.rounding == EDEN && good) {
        j.turned = NEW(c->scratch, float, j.n);
        TRY(arena_check(j.turned, c->scratch, c->err));
        parallel_for(c->threads, pieces_of(&j), turn_piece, &j);
        j.x = j.turned;
    }
    buf_u8(out, PAYLOAD_METHOD);
    if (j.p.scale == SCALE_E4M3)
        buf_f32(out, j.tensor = tensor_for(&j, j.turned ? kernels()->abs_max(j.turned, j.n) : most));
    j.head = buf_room(out, j.head_size * j.blocks);
    j.code = buf_room(out, codes_size(&j, j.n));
    if (!small_blocks(&j))
        parallel_for(c->threads, j.blocks, large_head, &j);
    if (good)
        parallel_for(c->threads, pieces_of(&j), encode_piece, &j);
    for (size_t b = 0; b < j.blocks && good; b++)
        good = !isnan(take_head(&j, j.head + b * j.head_size));
    if (!good)
        return FAIL(c->err, ERR_NUMERIC, "%s: a value is beyond float32", c->self->ops->name);
    streams_bits(c->streams, 8 * (double)(method_bytes(&j) - 1));
    return OK;
}

static Status decode(const Call *c, Bytes in, float *x)
{
    FloatJob j = open_job(c);
    Reader r = reader_open(in);
    const unsigned kind = take_u8(&r);
    TRY(payload_kind(c, kind, goes_raw(&j) ? PAYLOAD_RAW : PAYLOAD_METHOD));
    j.tensor = j.p.scale == SCALE_E4M3 ? take_f32(&r) : 1;
    j.sent_head = take_bytes(&r, j.head_size * j.blocks);
    j.sent_code = take_bytes(&r, codes_size(&j, j.n));
    j.decoded = x;
    j.bad = NEW(c->scratch, bool, pieces_of(&j));
    TRY(arena_check(j.bad, c->scratch, c->err));
    if (!reader_done(&r))
        return payload_bad(c, "%zu bytes, want %zu", in.size, method_bytes(&j));
    if (!(j.tensor > 0) || !isfinite(j.tensor))
        return payload_bad(c, "the tensor's scale is %g", (double)j.tensor);
    for (size_t b = 0; b < j.blocks; b++)
        if (isnan(take_head(&j, j.sent_head + b * j.head_size)))
            return payload_bad(c, "the scale of block %zu is no scale", b);
    parallel_for(c->threads, pieces_of(&j), decode_piece, &j);
    for (size_t p = 0; p < pieces_of(&j); p++)
        if (j.bad[p])
            return payload_bad(c, "codes or padding that no encoder writes");
    return j.p.rounding == EDEN ? payload_finite(c, x) : OK; /* only a rotation can lead beyond the scales' values */
}

/* With rounding=stochastic or correlated, the sum of (up - |x|)(|x| - down) over the elements, where up and down are its neighbours. */
static double variance(const Call *c, const float *x)
{
    FloatJob j = open_job(c);
    const float most = kernels()->abs_max(x, c->shape->n);
    double sum = 0;
    if (goes_raw(&j) || (j.p.scale >= SCALE_E4M3 && is_tiny(most)))
        return 0;
    if (!is_fair(&j.p))
        return NAN;
    j.tensor = j.p.scale == SCALE_E4M3 ? tensor_for(&j, most) : 1;
    for (size_t from = 0, end; from < j.n; from = end) {
        uint8_t head[4];
        float peak;
        end = j.n - from < j.block ? j.n : from + j.block;
        kernels()->peaks(x + from, end - from, end - from, &peak);
        put_head(&j, peak, head);
        const double scale = (double)take_head(&j, head), unit = j.p.scale == SCALE_F32 ? 1 / scale : scale, least = (double)minifloat_least(j.f);
        for (size_t i = from; i < end && peak > 0; i++) {
            const double v = fabs((double)x[i]) / unit, top = v > least ? exp2(floor(log2(v))) : least,
                         quantum = ldexp(top, -j.f->fraction), part = fmod(v, quantum);
            sum += part * (quantum - part) * unit * unit;
        }
    }
    return sum;
}

#define FLOAT_HOOKS                                                                                          \
    .promises = EXACT_BYTES | FIXED_SIZE, .traits = traits, .check = check,    \
    .bound = bound, .encode = encode, .decode = decode, .variance = variance

static const Float fp8 = {E4M3, SCALE_F32, BLOCK_ROW, 0, 0}, mxfp8 = {E4M3, FLOOR, BLOCK_32, 0, 0},
                   mxfp6 = {E2M3, FLOOR, BLOCK_32, 0, 0}, mxfp4 = {E2M1, FLOOR, BLOCK_32, 0, 0},
                   nvfp4 = {E2M1, SCALE_E4M3, BLOCK_16, 0, 0};

static const Compressor compressor_float = {
    .name = "float",
    .brief = "block floats: floats of 4 to 8 bits with a scale for each block",
    .plain = "Rounds each element to a float of 4, 6 or 8 bits, after a scale that a block of elements shares has brought "
             "the largest one into range.",
    .use_when = "you want a format that is none of fp8, mxfp8, mxfp6, mxfp4 and nvfp4.",
    .example = "atomo-bench synth -o g.h5 --force\n"
               "atomo-bench compare g.h5 -c float:format=e5m2 -c float:format=int8 -c float:format=e3m0,block=128",
    .formula = "x^ = scale q, q the nearest value of the format to x / scale, ties to even, at most its largest\n"
               "e8m0: scale = 2^(floor(log2 max|x|) - emax), a block's; rceil, even: rounded otherwise\n"
               "e4m3: scale = E4M3(max|x| / largest / t) t, t = max|x| of the tensor / (448 largest)\n"
               "f32: scale = max|x| / largest\n"
               "stochastic: the least scale that clips nothing, and E x^ = x; clipped: the scale of nearest",
    .paper = "OCP Microscaling Formats (MX) v1.0, 2023; Rouhani et al., arXiv 2310.10537",
    .look = {HUE_FLOATS, 0, 0},
    .params = float_schema,
    FLOAT_HOOKS,
};

static const Compressor compressor_fp8 = {
    .name = "fp8",
    .brief = "floats of 8 bits (E4M3), a float32 scale for each row",
    .plain = "Rounds each element to a float of 8 bits, E4M3, scaled so that the largest of its row is 448.",
    .use_when = "a quarter of the bytes is few enough, and rows differ in size.",
    .example = "atomo-bench synth -o g.h5 --force\n"
               "atomo-bench compare g.h5 -c fp8 -c fp8:rounding=stochastic -c mxfp8",
    .formula = "x^ = q / s, s = 448 / max|x| of the row (first axis by all others; a vector is one row),\n"
               "q = x s rounded to E4M3. stochastic: E x^ = x",
    .paper = "Micikevicius et al.: FP8 Formats for Deep Learning, arXiv 2209.05433; as torchft's all-reduce",
    .look = {HUE_FLOATS, 1, 1},
    .params = fp8_schema,
    .family = &fp8,
    FLOAT_HOOKS,
};

#define MX_TEXTS(NAME, FORMAT, BITS)                                                                         \
    .plain = "Rounds each element to a float of few bits, " FORMAT "; 32 elements share a power of two.",        \
    .use_when = "you want what hardware with MX formats sends: " BITS " bits an element.",                   \
    .example = "atomo-bench synth -o g.h5 --force\n"                                                                 \
               "atomo-bench compare g.h5 -c " NAME " -c " NAME ":rounding=stochastic",                       \
    .formula = "x^ = 2^e q, q = x / 2^e rounded to " FORMAT ", e = floor(log2 max|x|) - emax of a block of 32;\n" \
               "rceil, even: e rounded otherwise. stochastic: the least e that clips nothing, and E x^ = x;\n" \
               "clipped: stochastic with the e of nearest",                                                  \
    .paper = "OCP Microscaling Formats (MX) v1.0, 2023; Rouhani et al., arXiv 2310.10537", .params = mx_schema, FLOAT_HOOKS

static const Compressor compressor_mxfp8 = {
    .name = "mxfp8",
    .brief = "MX floats of 8 bits (E4M3), a power of two for 32 elements",
    .look = {HUE_FLOATS, 2, 2},
    .family = &mxfp8,
    MX_TEXTS("mxfp8", "E4M3", "8.25"),
};

static const Compressor compressor_mxfp6 = {
    .name = "mxfp6",
    .brief = "MX floats of 6 bits (E2M3), a power of two for 32 elements",
    .look = {HUE_FLOATS, 3, 3},
    .family = &mxfp6,
    MX_TEXTS("mxfp6", "E2M3", "6.25"),
};

static const Compressor compressor_mxfp4 = {
    .name = "mxfp4",
    .brief = "MX floats of 4 bits (E2M1), a power of two for 32 elements",
    .look = {HUE_FLOATS, 4, 4},
    .family = &mxfp4,
    MX_TEXTS("mxfp4", "E2M1", "4.25"),
};

static const Compressor compressor_nvfp4 = {
    .name = "nvfp4",
    .brief = "floats of 4 bits (E2M1), an E4M3 scale for 16 elements and one for the tensor",
    .plain = "Rounds each element to a float of 4 bits; 16 elements share a scale of 8 bits. With rounding=eden groups of 128 are "
             "rotated at random first, and scales keep their length.",
    .use_when = "you want what hardware of 2025 multiplies: 4.5 bits an element.",
    .example = "atomo-bench synth -o g.h5 --force\n"
               "atomo-bench compare g.h5 -c nvfp4 -c nvfp4:best=fourover6 -c nvfp4:rounding=eden",
    .formula = "x^ = s t q, t = max|x| of the tensor / 2688, s = E4M3(max|x| / 6 / t) of a block of 16,\n"
               "q = x / (s t) rounded to E2M1. stochastic: the least s that clips nothing, and E x^ = x;\n"
               "clipped: stochastic with the s of nearest. fourover6: of s and the scale that maps max|x| to 4, the better.\n"
               "eden: z = H D x of 128 elements; q nearest; s becomes E4M3(s sum z^2 / sum z s t q), at random without bias",
    .paper = "NVFP4 (arXiv 2509.25149), Four Over Six (2512.02010), MS-EDEN (2601.22813)",
    .look = {HUE_FLOATS, 5, 0},
    .params = nvfp4_schema,
    .family = &nvfp4,
    FLOAT_HOOKS,
};

const Compressor *const compressors_floats[] = {&compressor_float, &compressor_fp8, &compressor_mxfp8, &compressor_mxfp6, &compressor_mxfp4, &compressor_nvfp4, NULL};
