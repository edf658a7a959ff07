/* zfp.c -- zfp's lossy coder for blocks of 4, 4 x 4 or 4 x 4 x 4 floats (libzfp 1.0).
 *
 * Payload:  kind:8 = 1 | the bits of all blocks, padded with zeros to whole bytes (docs/FORMAT.md)
 *
 * Lindstrom: Fixed-Rate Compressed Floating-Point Arrays, IEEE TVCG 20(12), 2014. The codec gives libzfp one
 * block at a time, so it knows the number of bits, which zfp_compress rounds up to a word of eight bytes.
 * libzfp reads beyond the end of a damaged stream: here zeros follow it, more than a block can take. */
#include "compress/compressor.h"

#include <math.h>
#include <zfp.h>

typedef struct {
    double rate, accuracy;
    int view;
} Zfp;

enum { CUBE, MATRIX, VECTOR };
static const char *const views[] = {"cube", "matrix", "vector", NULL};

static const Param schema[] = {
    PARAM(Zfp, rate, "8", 0.15, 32, "bits per element; at least 9 per block", .rate = true, .group = 1),
    PARAM(Zfp, accuracy, NULL, 0, 3.4028234663852886e38,
          "largest absolute error of an element, instead of a rate", .above = true, .group = 1),
    PARAM_OF(Zfp, view, "cube", views,
             "what a block is: 64 consecutive elements, 4 x 4 of the matrix, or 4 consecutive elements"),
    {0},
};

/* The blocks of a tensor, and their bits: exactly `most` each at a fixed rate, else at most `most`. */
typedef struct {
    int dims;
    size_t size;                /* floats of a block, 4^dims */
    size_t rows, columns, wide; /* of the matrix, and blocks in a row of blocks; rows = 0: no matrix */
    size_t count;
    bool fixed;
    size_t most;
} Grid;

enum { SIDE = 4, SIZE_MOST = SIDE * SIDE * SIDE, EMPTY = 9 };

/* A tensor of few elements takes smaller blocks, since padding costs as many bits as elements do. */
static int dims_of(int view, size_t n, size_t rows, size_t columns)
{
    if (view == MATRIX)
        return rows > 1 && columns > 1 ? 2 : 1;
    return view == VECTOR || n < SIDE * SIDE ? 1 : n < SIZE_MOST ? 2 : 3;
}

/* At an accuracy, a block takes at most a bit, an exponent of 8 bits, 32 bits of each value, and for each
 * value a bit that announces its highest 1. At a fixed rate, it takes the rate, and at least the bit and the
 * exponent, as in zfp_stream_set_rate. */
static Grid grid_of(const Call *c)
{
    const Zfp *p = c->self->params;
    Grid g = {.fixed = !(p->accuracy > 0)};
    matrix_view(c->shape, RESHAPE_ROWS, &g.rows, &g.columns);
    g.dims = dims_of(p->view, c->shape->n, g.rows, g.columns);
    g.size = (size_t)1 << 2 * g.dims;
    if (p->view != MATRIX || g.dims == 1)
        g.rows = 0;
    g.wide = size_parts(g.columns, SIDE);
    g.count = g.rows ? size_parts(g.rows, SIDE) * g.wide : size_parts(c->shape->n, g.size);
    g.most = g.fixed ? (size_t)fmax(floor((double)g.size * p->rate + 0.5), EMPTY) : EMPTY + 33 * g.size;
    return g;
}

static size_t bytes_most(const Grid *g)
{
    return size_parts(g->count * g->most, 8);
}

static size_t bound(const Call *c)
{
    const Grid g = grid_of(c);
    return 1 + bytes_most(&g);
}

/* ---- libzfp's stream of bits ---- */

typedef struct {
    zfp_stream *zfp;
    bitstream *bits;
    uint8_t *room;
} Stream;

/* SLACK is the room for zeros behind a stream: for the largest block, which libzfp may still read after the end
 * of a damaged stream, and for two words. */
enum { WORD_MOST = 8, SLACK = (EMPTY + 33 * SIZE_MOST) / 8 + 2 * WORD_MOST };

static void stream_free(Stream *s)
{
    if (s->zfp)
        zfp_stream_close(s->zfp);
    if (s->bits)
        stream_close(s->bits);
}

static Status stream_new(Stream *s, const Call *c, const Grid *g, size_t bytes)
{
    const Zfp *p = c->self->params;
    const size_t room = (bytes + SLACK) / WORD_MOST * WORD_MOST;
    *s = (Stream){.room = NEW_ZERO(c->scratch, uint8_t, room)};
    TRY(arena_check(s->room, c->scratch, c->err));
    s->bits = stream_open(s->room, room);
    s->zfp = s->bits ? zfp_stream_open(s->bits) : NULL;
    if (!s->zfp) {
        stream_free(s);
        return FAIL(c->err, ERR_MEMORY, "zfp: out of memory");
    }
    if (g->fixed)
        zfp_stream_set_rate(s->zfp, p->rate, zfp_type_float, (uint)g->dims, zfp_false);
    else
        zfp_stream_set_accuracy(s->zfp, p->accuracy);
    return OK;
}

/* Turns libzfp's words in memory into little-endian bytes, or back. */
static void words_order(uint8_t *room, size_t size)
{
    const size_t word = stream_word_bits / 8;
    for (size_t i = 0; __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ && i < size; i += word)
        file_order(room + i, word);
}

/* ---- blocks ---- */

/* The part of block b that lies in the tensor: `high` rows of `wide` elements from `at` on. */
typedef struct {
    size_t at, wide, high;
} Place;

static Place place_of(const Call *c, const Grid *g, size_t b)
{
    if (!g->rows)
        return (Place){b * g->size, size_least(c->shape->n - b * g->size, g->size), 1};
    const size_t row = b / g->wide * SIDE, column = b % g->wide * SIDE;
    return (Place){row * g->columns + column, size_least(g->columns - column, SIDE), size_least(g->rows - row, SIDE)};
}

static size_t (*const encoders[])(zfp_stream *, const float *) = {
    NULL, zfp_encode_block_float_1, zfp_encode_block_float_2, zfp_encode_block_float_3};
static size_t (*const decoders[])(zfp_stream *, float *) = {
    NULL, zfp_decode_block_float_1, zfp_decode_block_float_2, zfp_decode_block_float_3};

/* libzfp multiplies a block by 2^(30 - E), where 2^E is above its values. This must be a float: of an infinite product,
 * which integer libzfp makes depends on the processor. */
static const float LEAST = 0x1p-98f;

/* Writes block b to the stream, as zeros if all its values are below LEAST. In a block of consecutive elements, zeros
 * follow the last element of x. */
static void put_block(const Call *c, const Grid *g, zfp_stream *zfp, const float *x, size_t b)
{
    const Place p = place_of(c, g, b);
    const size_t stride = g->rows ? SIDE : p.wide;
    float block[SIZE_MOST] = {0}, most = 0;
    for (size_t i = 0; i < p.high; i++)
        for (size_t j = 0; j < p.wide; j++) {
            block[i * stride + j] = x[p.at + i * g->columns + j];
            most = fmaxf(most, fabsf(block[i * stride + j]));
        }
    if (most < LEAST)
        memset(block, 0, sizeof block);
    if (g->rows)
        zfp_encode_partial_block_strided_float_2(zfp, block, p.wide, p.high, 1, SIDE);
    else
        encoders[g->dims](zfp, block);
}

static void take_block(const Call *c, const Grid *g, zfp_stream *zfp, float *x, size_t b)
{
    const Place p = place_of(c, g, b);
    float block[SIZE_MOST];
    if (g->rows) {
        zfp_decode_partial_block_strided_float_2(zfp, x + p.at, p.wide, p.high, 1, (ptrdiff_t)g->columns);
        return;
    }
    decoders[g->dims](zfp, block);
    memcpy(x + p.at, block, p.wide * sizeof *x);
}

/* ---- the codec ---- */

/* The values of a block may decode to twice its power of two, which must be a float. */
static const float LIMIT = 0x1p126f;

/* True if raw floats are sent, as they are not longer. */
static bool goes_raw(const Call *c, const Grid *g)
{
    return !c->shape->n || (g->fixed && sends_raw(c));
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    const Grid g = grid_of(c);
    if (goes_raw(c, &g))
        return raw_put(c, x, out);
    for (size_t i = 0; i < c->shape->n; i++)
        if (fabsf(x[i]) >= LIMIT)
            return FAIL(c->err, ERR_NUMERIC, "zfp: element %zu is %g, beyond 2^126", i, (double)x[i]);
    Stream s;
    TRY(stream_new(&s, c, &g, bytes_most(&g)));
    for (size_t b = 0; b < g.count; b++)
        put_block(c, &g, s.zfp, x, b);
    const size_t size = size_parts(stream_wtell(s.bits), 8);
    stream_flush(s.bits);
    words_order(s.room, size);
    buf_u8(out, PAYLOAD_METHOD);
    buf_copy(out, s.room, size);
    stream_free(&s);
    streams_bits(c->streams, NAN);
    return OK;
}

/* Decodes all blocks. Returns the number of bits that they took; stops where these are more than `most`. */
static size_t take_blocks(const Call *c, const Grid *g, const Stream *s, size_t most, float *x)
{
    for (size_t b = 0; b < g->count && stream_rtell(s->bits) <= most; b++)
        take_block(c, g, s->zfp, x, b);
    return stream_rtell(s->bits);
}

static Status decode(const Call *c, Bytes in, float *x)
{
    const Grid g = grid_of(c);
    const size_t size = in.size - 1, most = bytes_most(&g);
    TRY(payload_kind(c, in.data[0], goes_raw(c, &g) ? PAYLOAD_RAW : PAYLOAD_METHOD));
    if (g.fixed ? size != most : size > most)
        return payload_bad(c, "%zu bytes, want %s%zu", in.size, g.fixed ? "" : "at most ", most + 1);
    Stream s;
    TRY(stream_new(&s, c, &g, size));
    memcpy(s.room, in.data + 1, size);
    words_order(s.room, size);
    const size_t bits = take_blocks(c, &g, &s, 8 * size, x);
    stream_free(&s);
    if (size_parts(bits, 8) != size)
        return payload_bad(c, "its blocks take other than %zu bytes", in.size);
    if (bits % 8 && in.data[size] >> bits % 8)
        return payload_bad(c, "padding bits are set");
    return payload_finite(c, x);
}

const Compressor compressor_zfp = {
    .name = "zfp",
    .brief = "zfp's coder for smooth fields, at a fixed rate or accuracy",
    .plain =
        "Gives the gradient to libzfp, a compressor for the fields of simulations. It takes blocks of 64 elements, turns "
        "each into integers of a common exponent, transforms them, and sends their leading bits.",
    .use_when =
        "you would reach for a compressor of scientific data: it shows how much of its gain is left where "
        "neighbours are not alike.",
    .example = "atomo-bench synth -o g.h5 --force\n"
               "atomo-bench compare g.h5 -c zfp:rate=4/8 -c zfp:accuracy=0.01 -c minmax:bits=4/8",
    .formula =
        "Each block of 4^d elements becomes integers at 2^e, the power of two above the largest magnitude. A\n"
        "transform of 4 values along each axis decorrelates them; their bits are sent from the highest plane on,\n"
        "until the block has used up its rate, or the planes left are below the accuracy.\n"
        "A cube is 64 consecutive elements as 4 x 4 x 4. Gradients are not smooth along any axis, so the largest\n"
        "block, which shares one exponent, has the least error. The rate counts elements of full blocks. The error\n"
        "is at most `accuracy`, or 2^-98: smaller blocks are sent as zeros. Biased. The library is called through\n"
        "its interface for blocks.",
    .paper =
        "Lindstrom: Fixed-Rate Compressed Floating-Point Arrays, IEEE Transactions on Visualization and\n"
        "Computer Graphics 20(12), 2014",
    .look = {HUE_LEVELS, 0, 3},
    .params = schema,
    .promises = EXACT_BYTES | WHOLE,
    .bound = bound,
    .encode = encode,
    .decode = decode,
};
