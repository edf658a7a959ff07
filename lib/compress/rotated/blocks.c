/* blocks.c -- cuts a vector into pieces of 2^16 elements and the pieces into blocks, and encodes or decodes the
 * blocks in threads (blocks.h). */
#include "compress/rotated/blocks.h"

#include "math/vec/kernels.h"

#include <math.h>

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
    BlockResult *result; /* for each piece (2^16 elements): the worst result of its blocks */
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

/* Each piece of 2^16 elements is one block. Only the last piece, which may be shorter or longer, may have
 * several blocks. */
size_t blocks_count(size_t n)
{
    const size_t pieces = rotation_pieces(n);
    size_t count = pieces - 1;
    for (size_t left = rotation_piece(n, pieces - 1); left; left -= rotation_block(left))
        count++;
    return count;
}

static bool goes_raw(const Call *c)
{
    return c->shape->n < ROTATION_SHORTEST;
}

/* Any tensor may be sent as raw floats, and no other payload is longer. */
size_t blocks_bound(const Call *c)
{
    return raw_size(c);
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
    const BlocksJob *job = data;
    const RotatedBlocks *s = job->s;
    const size_t start = piece * BLOCK, n = rotation_piece(job->n, piece);
    size_t payload = piece ? piece * piece_bytes(s, BLOCK) : 0;
    BlockResult worst = BLOCK_FINE;
    RotatedBlock b = {.index = piece};
    for (size_t at = 0; at < n; at += b.n, b.index++) {
        b = (RotatedBlock){rotation_block(n - at), piece, b.index,
                           rotation_open(s->rng, piece, at, s->rounds)};
        const BlockResult v = job->in ? s->decode(s, &b, job->in + payload, job->y + start + at)
                                      : s->encode(s, &b, job->x + start + at, job->out + payload);
        worst = v > worst ? v : worst;
        payload += s->bytes(s->data, b.n);
    }
    job->result[piece] = worst;
}

static Status run(BlocksJob *job, BlockResult *worst)
{
    const Call *c = job->s->c;
    const size_t pieces = rotation_pieces(job->n);
    job->result = NEW(c->scratch, BlockResult, pieces);
    TRY(arena_check(job->result, c->scratch, c->err));
    parallel_for(c->threads, pieces, run_piece, job);
    *worst = BLOCK_FINE;
    for (size_t p = 0; p < pieces; p++)
        *worst = job->result[p] > *worst ? job->result[p] : *worst;
    return OK;
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
    BlockResult worst = BLOCK_FINE;
    back.y = NEW(c->scratch, float, job->n);
    TRY(arena_check(back.y, c->scratch, c->err));
    TRY(run(&back, &worst));
    if (worst != BLOCK_FINE)
        return FAIL(c->err, ERR_NUMERIC, "%s: decoded values would be beyond float32", c->self->ops->name);
    return OK;
}

Status blocks_put(const RotatedBlocks *s, const float *x, Buf *out)
{
    const Call *c = s->c;
    BlocksJob job = {.s = s, .n = c->shape->n, .x = x};
    BlockResult worst = BLOCK_FINE;
    job.out = buf_room(out, all_bytes(s, job.n));
    TRY(run(&job, &worst));
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
    BlockResult worst = BLOCK_FINE;
    if (in.size != all_bytes(s, job.n))
        return payload_bad(s->c, "%zu bytes, want %zu", 1 + in.size, 1 + all_bytes(s, job.n));
    TRY(run(&job, &worst));
    return worst == BLOCK_FINE ? OK : payload_bad(s->c, "%s", reasons[worst]);
}

static RotatedBlocks blocks_of_family(const Call *c)
{
    const RotatedFamily *family = c->self->ops->family;
    return family->blocks(c);
}

Status blocks_encode(const Call *c, const float *x, Buf *out)
{
    const RotatedBlocks s = blocks_of_family(c);
    if (goes_raw(c) || is_tiny(x, c->shape->n))
        return raw_put(c, x, out);
    buf_u8(out, PAYLOAD_METHOD);
    return blocks_put(&s, x, out);
}

Status blocks_decode(const Call *c, Bytes in, float *x)
{
    const RotatedBlocks s = blocks_of_family(c);
    if (goes_raw(c) || in.size < 1 || in.data[0] != PAYLOAD_METHOD)
        return payload_bad(c, "not floats, nor the form that %zu elements have", c->shape->n);
    return blocks_get(&s, (Bytes){in.data + 1, in.size - 1}, x);
}

double blocks_variance(const Call *c, const float *x)
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

bool blocks_drop(float *y, size_t n, float lift)
{
    const float drop = 1 / lift;
    bool good = true;
    for (size_t i = 0; i < n; i++) {
        y[i] *= drop;
        good &= isfinite(y[i]) != 0;
    }
    return good;
}

bool blocks_zero(const uint8_t *byte, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (byte[i])
            return false;
    return true;
}

void blocks_round(const RotatedBlocks *s, const RotatedBlock *b, float low, float high, uint32_t steps,
                  float *z, uint8_t *code)
{
    const RngKey key = rng_key(&s->c->rng, USE_COIN, b->piece);
    for (size_t i = 0; i < b->n; i++)
        z[i] = z[i] > low ? z[i] - low : 0;
    if (high > low)
        kernels()->quantise8(z, b->n, quantiser_make(high - low, steps), key, (uint32_t)b->rotation.at, code);
    else
        memset(code, 0, b->n);
}
