/* dnnl_piece.c -- makes the primitives of a convolution over blocked values. */
#include "nn/dnnl_piece.h"

#include "vec/kernels.h"

#include <omp.h>

size_t layer_lanes(void)
{
    return isa_of_cpu() == ISA_AVX512 ? 16 : 8;
}

Status dnnl_check(dnnl_status_t status, const char *what, Error *err)
{
    if (status == dnnl_out_of_memory)
        return FAIL(err, ERR_MEMORY, "oneDNN: out of memory for %s", what);
    return status == dnnl_success
               ? OK
               : FAIL(err, ERR_NUMERIC, "oneDNN: %s failed (status %d)", what, (int)status);
}

static dnnl_memory_desc_t value_desc(const Value *v, size_t images)
{
    const dnnl_dims_t dims = {(dnnl_dim_t)images, (dnnl_dim_t)v->channels, (dnnl_dim_t)v->rows,
                              (dnnl_dim_t)v->columns};
    dnnl_memory_desc_t d;
    dnnl_memory_desc_init_by_tag(&d, 4, dims, dnnl_f32,
                                 v->lanes == 1    ? dnnl_nchw
                                 : v->lanes == 16 ? dnnl_nChw16c
                                                  : dnnl_nChw8c);
    return d;
}

/* ---- how to convolve ---- */

/* Winograd's F(4x4, 3x3) (Lavin & Gray 2016) makes 16 output pixels of 36 products where the sum itself has 144. It
 * rounds to about 1e-6 of the whole, the sum itself to 2e-7. In a gradient that is all; in an output it would also turn
 * more relus over, each of which changes every gradient before it. So outputs are sums, and gradients Winograd's. */
enum { TILE = 4, TILE_PRODUCTS = 36 };

static size_t tiles(const Value *v)
{
    return (v->rows + TILE - 1) / TILE * ((v->columns + TILE - 1) / TILE);
}

/* Where it saves at least half of the products; tiles over the edge save less. */
static bool winograd_saves(const Layer *l)
{
    const ConvSettings *c = l->settings;
    return c->size == 3 && c->stride == 1 && c->padding == 1 && l->in->lanes > 1 &&
           l->out->rows * l->out->columns * 9 >= 2 * TILE_PRODUCTS * tiles(l->out);
}

/* A piece's work on weights (turning them, writing a gradient) wants to be small beside that on its pixels. */
static size_t piece_images(const Layer *l)
{
    enum { FEW_PIXELS = 64 };
    return l->out->rows * l->out->columns <= FEW_PIXELS ? CONV_PIECE_MOST : PIECE;
}

/* ---- making it ---- */

static dnnl_status_t describe(const Layer *l, const Primitives *s, size_t images,
                              dnnl_convolution_desc_t conv[WAYS])
{
    const ConvSettings *c = l->settings;
    const dnnl_dim_t stride = (dnnl_dim_t)c->stride, pad = (dnnl_dim_t)c->padding;
    const dnnl_dims_t strides = {stride, stride}, pads = {pad, pad};
    const dnnl_dims_t sides = {(dnnl_dim_t)l->out->channels};
    const dnnl_memory_desc_t in = value_desc(l->in, images), out = value_desc(l->out, images);
    dnnl_memory_desc_t bias;
    dnnl_memory_desc_init_by_tag(&bias, 1, sides, dnnl_f32, dnnl_a);
    const dnnl_memory_desc_t *b = l->bias ? &bias : NULL;
    dnnl_status_t status =
        dnnl_convolution_forward_desc_init(&conv[FORWARD], dnnl_forward_training, dnnl_convolution_direct,
                                           &in, &s->order[FORWARD], b, &out, strides, pads, pads);
    if (status == dnnl_success)
        status = dnnl_convolution_backward_data_desc_init(&conv[BACK_DATA], s->back, &in,
                                                          &s->order[BACK_DATA], &out, strides, pads, pads);
    if (status == dnnl_success)
        status = dnnl_convolution_backward_weights_desc_init(
            &conv[BACK_WEIGHTS], s->back, &in, &s->order[BACK_WEIGHTS], b, &out, strides, pads, pads);
    return status;
}

static dnnl_status_t choose(const Layer *l, const Primitives *s, Piece *piece, size_t images)
{
    dnnl_convolution_desc_t conv[WAYS];
    dnnl_primitive_attr_t attr;
    dnnl_status_t status = describe(l, s, images, conv);
    if (status == dnnl_success)
        status = dnnl_primitive_attr_create(&attr);
    if (status != dnnl_success)
        return status;
    dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user);
    for (int way = 0; way < WAYS && status == dnnl_success; way++)
        if (way != BACK_DATA || l->in->dx)
            status = dnnl_primitive_desc_create(&piece->desc[way], &conv[way], attr, s->engine,
                                                way == FORWARD ? NULL : piece->desc[FORWARD]);
    dnnl_primitive_attr_destroy(attr);
    return status;
}

static void keep_orders(Primitives *s, const Piece *piece)
{
    static const dnnl_query_t weights[WAYS] = {dnnl_query_weights_md, dnnl_query_weights_md,
                                               dnnl_query_diff_weights_md};
    for (int way = 0; way < WAYS && !s->chosen; way++)
        if (piece->desc[way])
            s->order[way] = *dnnl_primitive_desc_query_md(piece->desc[way], weights[way], 0);
    s->chosen = true;
}

/* The number of threads a primitive will use is that of its making. */
static dnnl_status_t piece_make(const Layer *l, Primitives *s, size_t images)
{
    Piece *piece = &s->piece[images];
    const int before = omp_get_max_threads();
    omp_set_num_threads(1);
    dnnl_status_t status = choose(l, s, piece, images);
    for (int way = 0; way < WAYS && status == dnnl_success; way++)
        if (piece->desc[way])
            status = dnnl_primitive_create(&piece->run[way], piece->desc[way]);
    omp_set_num_threads(before);
    if (status == dnnl_success)
        keep_orders(s, piece);
    return status;
}

static void pieces_drop(Primitives *s)
{
    for (size_t i = 0; i < countof(s->piece); i++) {
        Piece *piece = &s->piece[i];
        for (int way = 0; way < WAYS; way++) {
            if (piece->run[way])
                dnnl_primitive_destroy(piece->run[way]);
            if (piece->desc[way])
                dnnl_primitive_desc_destroy(piece->desc[way]);
        }
        *piece = (Piece){0};
    }
}

static void begin(Primitives *s, dnnl_alg_kind_t algorithm)
{
    pieces_drop(s);
    s->back = algorithm;
    s->chosen = false;
    for (int way = 0; way < WAYS; way++)
        dnnl_memory_desc_init_by_tag(&s->order[way], 4, s->plain.dims, dnnl_f32, dnnl_format_tag_any);
}

static Status piece_ready(Primitives *s, const Layer *l, size_t images, Error *err)
{
    if (s->piece[images].run[FORWARD])
        return OK;
    return dnnl_check(piece_make(l, s, images), "making a convolution", err);
}

Status primitives_ready(Primitives *s, const Layer *l, size_t images, Error *err)
{
    if (images >= s->images)
        TRY(piece_ready(s, l, s->images, err));
    return images % s->images ? piece_ready(s, l, images % s->images, err) : OK;
}

Status primitives_open(Primitives *s, const Layer *l, size_t images, Error *err)
{
    const size_t *dim = l->weight->shape.dim;
    const dnnl_dims_t dims = {(dnnl_dim_t)dim[0], (dnnl_dim_t)dim[1], (dnnl_dim_t)dim[2], (dnnl_dim_t)dim[3]};
    dnnl_memory_desc_init_by_tag(&s->plain, 4, dims, dnnl_f32, dnnl_oihw);
    s->images = piece_images(l);
    TRY(dnnl_check(dnnl_engine_create(&s->engine, dnnl_cpu, 0), "engine", err));
    begin(s, winograd_saves(l) ? dnnl_convolution_winograd : dnnl_convolution_direct);
    if (s->back == dnnl_convolution_winograd && piece_make(l, s, s->images) != dnnl_success)
        begin(s, dnnl_convolution_direct); /* oneDNN has it for some machines only */
    return primitives_ready(s, l, images, err);
}

void primitives_close(Primitives *s)
{
    pieces_drop(s);
    if (s->engine)
        dnnl_engine_destroy(s->engine);
}
