/* turned.c -- see turned.h.
 *
 * With z the rotated block, N its norm and c the levels nearest to z sqrt(n) / N, the scale N^2 / <c, z> gives the
 * estimate the very component along the vector that it should have, draw by draw; what is left points anywhere,
 * since the rotation does. Blocks whose norm is far from 1 are rotated at 2^100 or 2^-100 times their size, so that
 * nothing leaves float32's range on the way. */
#include "turned.h"

#include "../lloyd.h"
#include "../planes.h"
#include "../rotation.h"

#include <math.h>

enum { PIECE_MOST = BLOCK + ROTATION_LEAST };

typedef enum { FINE, FAR, BEYOND, BAD_SCALE, BAD_PADDING, BAD_ZEROS, VERDICTS } Verdict;

static const char *const reasons[VERDICTS] = {
    [BEYOND] = "a value beyond float32",
    [BAD_SCALE] = "a scale that is no magnitude",
    [BAD_PADDING] = "padding bits are set",
    [BAD_ZEROS] = "codes under a scale of 0",
};

typedef struct {
    const Call *c;
    const Turned *t;
    size_t n;
    const float *x;
    float *y;
    uint8_t *out;
    const uint8_t *in;
    Verdict *verdict; /* of each piece */
} Job;

/* ---- where things stand ---- */

typedef struct {
    size_t n, wide; /* coordinates, and how many of them have a bit more */
    int width;      /* of the others */
} Block;

static Block block_of(const Turned *t, size_t n)
{
    const int width = (int)t->bits;
    const size_t wide = (size_t)((t->bits - width) * (double)n + 0.5);
    return (Block){n, width || wide > LEAST_SENT ? wide : LEAST_SENT, width};
}

static size_t wide_bytes(const Block *b)
{
    return planes_size(b->wide, b->width + 1);
}

static size_t block_bytes(const Block *b)
{
    return 4 + wide_bytes(b) + planes_size(b->n - b->wide, b->width);
}

static size_t piece_bytes(const Turned *t, size_t n)
{
    size_t sum = 0;
    for (size_t left = n, size; left; left -= size) {
        size = rotation_block(left);
        const Block b = block_of(t, size);
        sum += block_bytes(&b);
    }
    return sum;
}

static size_t payload_bytes(const Turned *t, size_t n)
{
    const size_t pieces = rotation_pieces(n);
    return 1 + (pieces - 1) * piece_bytes(t, BLOCK) + piece_bytes(t, rotation_piece(n, pieces - 1));
}

static bool goes_raw(const Call *c)
{
    return c->shape->n < ROTATION_SHORTEST;
}

/* Floats: kind 0 may be sent at any length. */
size_t turned_bound(const Call *c)
{
    return raw_size(c);
}

/* Calls body for each block of a piece, `payload` bytes into it. */
static Verdict each_block(const Job *job, size_t piece,
                          Verdict (*body)(const Job *job, const Block *b, const Rotation *r, size_t start,
                                          size_t payload))
{
    const size_t start = piece * BLOCK, n = rotation_piece(job->n, piece);
    size_t payload = piece * piece_bytes(job->t, BLOCK);
    Verdict worst = FINE;
    for (size_t at = 0, size; at < n; at += size) {
        size = rotation_block(n - at);
        const Block b = block_of(job->t, size);
        const Rotation r = rotation_open(&job->c->rng, piece, at, job->t->rounds);
        const Verdict v = body(job, &b, &r, start + at, payload);
        worst = v > worst ? v : worst;
        payload += block_bytes(&b);
    }
    return worst;
}

static Status run(Job *job, void (*body)(void *data, size_t piece), Verdict *worst)
{
    const size_t pieces = rotation_pieces(job->n);
    job->verdict = NEW(job->c->scratch, Verdict, pieces);
    if (!job->verdict)
        return arena_fail(job->c->scratch, job->c->err);
    parallel_for(job->c->threads, pieces, body, job);
    *worst = FINE;
    for (size_t p = 0; p < pieces; p++)
        *worst = job->verdict[p] > *worst ? job->verdict[p] : *worst;
    return OK;
}

/* ---- encoding ---- */

static float lift_of(double norm)
{
    return norm < 0x1p-60 ? 0x1p100f : norm > 0x1p60 ? 0x1p-100f : 1;
}

static LevelScale scale_of(const Turned *t, int width, float unit)
{
    return t->signs ? (LevelScale){.count = 1, .level = {1}} : lloyd_scale(width, unit);
}

/* Codes of the rotated z; returns <c, z>. */
static double round_off(const Turned *t, const Block *b, const float *z, float unit, uint8_t *code)
{
    double dot = 0;
    if (b->wide) {
        const LevelScale s = scale_of(t, b->width + 1, unit);
        dot += kernels()->nearest_levels(z, b->wide, &s, code);
    }
    if (b->width && b->wide < b->n) {
        const LevelScale s = scale_of(t, b->width, unit);
        dot += kernels()->nearest_levels(z + b->wide, b->n - b->wide, &s, code + b->wide);
    }
    return dot;
}

static float turn_and_round(const Job *job, const Block *b, const Rotation *r, const float *x, uint8_t *code)
{
    float z[PIECE_MOST];
    const double squares = kernels()->sum_squares(x, b->n), norm = sqrt(squares);
    const float lift = lift_of(norm);
    if (squares == 0)
        return 0;
    rotation_turn(r, x, b->n, lift, z);
    const float unit = (float)(norm * (double)lift / sqrt((double)b->n));
    const double dot = round_off(job->t, b, z, unit, code);
    if (dot <= 0) /* all that would be sent is 0 */
        return 0;
    return (float)(job->t->shrink ? dot / (double)b->n / (double)lift : squares * (double)lift / dot);
}

static Verdict encode_block(const Job *job, const Block *b, const Rotation *r, size_t start, size_t payload)
{
    uint8_t code[PIECE_MOST], *out = job->out + payload;
    const float scale = turn_and_round(job, b, r, job->x + start, code);
    if (scale == 0)
        memset(code, 0, b->n);
    store_f32(out, scale);
    planes_put8(code, b->wide, b->width + 1, out + 4);
    if (b->width)
        planes_put8(code + b->wide, b->n - b->wide, b->width, out + 4 + wide_bytes(b));
    return !isfinite(scale) ? BEYOND : scale > 0x1p100f ? FAR : FINE;
}

static void encode_piece(void *data, size_t piece)
{
    const Job *job = data;
    job->verdict[piece] = each_block(job, piece, encode_block);
}

/* Nothing reaches 2^-100, but not all is 0: a float32 scale would be too coarse. */
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

/* ---- streams ---- */

static void count_codes(const uint8_t *plane, size_t n, int width, uint64_t *count)
{
    uint8_t code[PIECE_MOST];
    if (!width || !n || !planes_get8(plane, n, width, code))
        return;
    for (size_t i = 0; i < n; i++)
        count[code[i]]++;
}

/* What a coordinate of either width carries, over all blocks. */
static void report(const Job *job)
{
    uint64_t wide[256] = {0}, narrow[256] = {0};
    const uint8_t *at = job->out;
    size_t blocks = 0;
    for (size_t p = 0; p < rotation_pieces(job->n); p++)
        for (size_t left = rotation_piece(job->n, p), size; left; left -= size, blocks++) {
            size = rotation_block(left);
            const Block b = block_of(job->t, size);
            count_codes(at + 4, b.wide, b.width + 1, wide);
            count_codes(at + 4 + wide_bytes(&b), size - b.wide, b.width, narrow);
            at += block_bytes(&b);
        }
    streams_floats(job->c->streams, blocks);
    streams_symbols(job->c->streams, wide, countof(wide));
    streams_symbols(job->c->streams, narrow, countof(narrow));
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

static bool is_zero(const uint8_t *byte, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (byte[i])
            return false;
    return true;
}

/* Takes the lift away again. */
static bool settle(float *y, size_t n, float lift)
{
    const float drop = 1 / lift;
    bool good = true;
    for (size_t i = 0; i < n; i++) {
        y[i] *= drop;
        good &= isfinite(y[i]) != 0;
    }
    return good;
}

static Verdict decode_block(const Job *job, const Block *b, const Rotation *r, size_t start, size_t payload)
{
    uint8_t code[PIECE_MOST];
    const uint8_t *in = job->in + payload;
    const float scale = load_f32(in), lift = lift_of((double)scale);
    float *y = job->y + start;
    if (!isfinite(scale) || signbit(scale))
        return BAD_SCALE;
    if (scale == 0) {
        memset(y, 0, b->n * sizeof *y);
        return is_zero(in + 4, block_bytes(b) - 4) ? FINE : BAD_ZEROS;
    }
    if (!planes_get8(in + 4, b->wide, b->width + 1, code) ||
        (b->width && !planes_get8(in + 4 + wide_bytes(b), b->n - b->wide, b->width, code + b->wide)))
        return BAD_PADDING;
    if (b->wide)
        level_values(job->t, b->width + 1, scale * lift, code, b->wide, y);
    if (b->width)
        level_values(job->t, b->width, scale * lift, code + b->wide, b->n - b->wide, y + b->wide);
    else
        memset(y + b->wide, 0, (b->n - b->wide) * sizeof *y);
    rotation_turn_back(r, y, b->n);
    return lift == 1 || settle(y, b->n, lift) ? FINE : BEYOND;
}

static void decode_piece(void *data, size_t piece)
{
    const Job *job = data;
    job->verdict[piece] = each_block(job, piece, decode_block);
}

Status turned_decode(const Call *c, const Turned *t, Bytes in, float *x)
{
    Job job = {.c = c, .t = t, .n = c->shape->n, .y = x, .in = in.data + 1};
    Verdict worst;
    if (goes_raw(c) || in.size < 1 || in.data[0] != PAYLOAD_METHOD)
        return payload_bad(c, "not floats, nor the form that %zu elements have", job.n);
    if (in.size != payload_bytes(t, job.n))
        return payload_bad(c, "%zu bytes, want %zu", in.size, payload_bytes(t, job.n));
    TRY(run(&job, decode_piece, &worst));
    return worst == FINE ? OK : payload_bad(c, "%s", reasons[worst]);
}

/* ---- both ---- */

/* Scales near the end of float32: whether what they decode to is still in range is seen by decoding. */
static Status check_range(const Job *job)
{
    Job back = *job;
    Verdict worst;
    back.in = job->out;
    back.y = NEW(job->c->scratch, float, job->n);
    if (!back.y)
        return arena_fail(job->c->scratch, job->c->err);
    TRY(run(&back, decode_piece, &worst));
    return worst == FINE ? OK
                         : FAIL(job->c->err, ERR_NUMERIC, "%s: decoded values would be beyond float32",
                                job->c->self->ops->name);
}

Status turned_encode(const Call *c, const Turned *t, const float *x, Buf *out)
{
    Job job = {.c = c, .t = t, .n = c->shape->n, .x = x};
    Verdict worst;
    if (goes_raw(c) || is_tiny(x, job.n))
        return raw_put(c, x, out);
    buf_u8(out, PAYLOAD_METHOD);
    job.out = buf_room(out, payload_bytes(t, job.n) - 1);
    TRY(run(&job, encode_piece, &worst));
    if (worst == BEYOND)
        return FAIL(c->err, ERR_NUMERIC, "%s: a block's scale is beyond float32", c->self->ops->name);
    if (worst == FAR)
        TRY(check_range(&job));
    if (c->streams)
        report(&job);
    return OK;
}
