/* fpzip.c -- fpzip predicts each float from its neighbours, and entropy-codes the difference (libfpzip 1.3).
 *
 * Payload:  kind:8 = 1 | fpzip's stream without its header (docs/FORMAT.md)
 *
 * Lindstrom, Isenburg: Fast and Efficient Compression of Floating-Point Data, IEEE TVCG 12(5), 2006. */
#include "codec/compressor.h"
#include "compress/science/fpzip_walk.h"

#include <fpzip.h>
#include <limits.h>

typedef struct {
    int64_t precision;
    int view;
} Fpzip;

enum { VECTOR, MATRIX };
static const char *const views[] = {"vector", "matrix", NULL};

static const Param schema[] = {
    PARAM(Fpzip, precision, "16", 2, 32,
          "bits of a float that are kept: sign, exponent, leading digits; 32 is lossless", .rate = true),
    PARAM_OF(Fpzip, view, "vector", views,
             "what predicts an element: the one before it, or three neighbours in the matrix"),
    {0},
};

static size_t bound(const Call *c)
{
    return raw_size(c);
}

/* Sets the type, precision and sides of the array. A vector lies along the last axis, so that libfpzip needs
 * memory for 8 elements only. */
static void array_of(const Call *c, FPZ *array)
{
    const Fpzip *p = c->self->params;
    size_t rows = c->shape->n, columns = 1;
    if (p->view == MATRIX)
        matrix_view(c->shape, RESHAPE_ROWS, &rows, &columns);
    array->type = FPZIP_TYPE_FLOAT;
    array->prec = (int)p->precision;
    array->nx = (int)columns;
    *(p->view == MATRIX ? &array->ny : &array->nz) = (int)rows;
}

/* Returns the bytes written to out, or 0 if they are more than `cap`. */
static size_t write_array(const Call *c, const float *x, uint8_t *out, size_t cap)
{
    FPZ *array = fpzip_write_to_buffer(out, cap);
    array_of(c, array);
    const size_t size = fpzip_write(array, x);
    fpzip_write_close(array);
    return size;
}

static Status encode(const Call *c, const float *x, Buf *out)
{
    const size_t cap = raw_size(c) - 1, start = out->size;
    buf_u8(out, PAYLOAD_METHOD);
    uint8_t *room = buf_room(out, cap);
    const size_t size = c->shape->n && c->shape->n <= INT_MAX ? write_array(c, x, room, cap) : 0;
    out->size = start;
    if (!size)
        return raw_put(c, x, out);
    out->size = start + 1 + size;
    streams_unknown(c->streams);
    return OK;
}

static Status decode(const Call *c, Bytes in, float *x)
{
    const Bytes stream = {in.data + 1, in.size - 1};
    TRY(payload_kind(c, in.data[0], c->shape->n && c->shape->n <= INT_MAX ? PAYLOAD_METHOD : PAYLOAD_RAW));
    if (!fpzip_walk(stream, c->shape->n, (unsigned)((const Fpzip *)c->self->params)->precision))
        return payload_bad(c, "%zu bytes that are no stream of %zu floats", in.size, c->shape->n);
    FPZ *array = fpzip_read_from_buffer(stream.data);
    array_of(c, array);
    const size_t size = fpzip_read(array, x);
    fpzip_read_close(array);
    if (size != stream.size)
        return payload_bad(c, "libfpzip reads %zu bytes of %zu", size, stream.size);
    return payload_finite(c, x);
}

const Compressor compressor_fpzip = {
    .name = "fpzip",
    .brief = "fpzip's prediction and entropy coding of floats cut to a precision",
    .plain =
        "Gives the gradient to libfpzip, a compressor for the fields of simulations. It cuts the low bits of each float, "
        "predicts it from its neighbours, and codes how far the float is from the prediction.",
    .use_when =
        "you would reach for a compressor of scientific data, or want floats without loss: fpzip:precision=32.",
    .example = "atomo-bench synth -o g.h5\n"
               "atomo-bench compare g.h5 -c fpzip:precision=10/16/32 -c zstd+none -c bf16",
    .formula =
        "decode g_i without its lowest 32 - precision bits: rounded towards 0. The bits of the float and of\n"
        "its prediction are taken as integers, and their difference is coded. A vector's prediction is the element before, a matrix's the\n"
        "Lorenzo predictor, left + above - above left. Gradients are not smooth, so a prediction from three\n"
        "neighbours is worse. Biased. Decoding takes twice libfpzip's time: a check of the stream comes first, since\n"
        "libfpzip checks nothing.",
    .paper =
        "Lindstrom, Isenburg: Fast and Efficient Compression of Floating-Point Data, IEEE Transactions on\n"
        "Visualization and Computer Graphics 12(5), 2006",
    .params = schema,
    .params_size = sizeof(Fpzip),
    .promises = EXACT_BYTES,
    .bound = bound,
    .encode = encode,
    .decode = decode,
};
