/* dnnl_piece.c -- makes the primitives of a convolution over blocked values. */
#include "nn/dnnl_piece.h"

#include "kernels.h"

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

static Status describe(const Layer *l, Primitives *s, Piece *piece, size_t images, Error *err)
{
    const ConvSettings *c = l->settings;
    const dnnl_dim_t stride = (dnnl_dim_t)c->stride, pad = (dnnl_dim_t)c->padding;
    const dnnl_dims_t strides = {stride, stride}, pads = {pad, pad};
    const dnnl_dims_t sides = {(dnnl_dim_t)l->out->channels};
    const dnnl_memory_desc_t in = value_desc(l->in, images), out = value_desc(l->out, images);
    dnnl_memory_desc_t bias;
    for (int way = 0; way < WAYS && !s->chosen; way++)
        dnnl_memory_desc_init_by_tag(&s->order[way], 4, s->plain.dims, dnnl_f32, dnnl_format_tag_any);
    dnnl_memory_desc_init_by_tag(&bias, 1, sides, dnnl_f32, dnnl_a);
    const dnnl_memory_desc_t *b = l->bias ? &bias : NULL;

    dnnl_convolution_desc_t conv[WAYS];
    TRY(dnnl_check(dnnl_convolution_forward_desc_init(&conv[FORWARD], dnnl_forward_training,
                                                      dnnl_convolution_direct, &in, &s->order[FORWARD], b,
                                                      &out, strides, pads, pads),
                   "convolution", err));
    TRY(dnnl_check(dnnl_convolution_backward_data_desc_init(&conv[BACK_DATA], dnnl_convolution_direct, &in,
                                                            &s->order[BACK_DATA], &out, strides, pads, pads),
                   "convolution backward", err));
    TRY(dnnl_check(dnnl_convolution_backward_weights_desc_init(&conv[BACK_WEIGHTS], dnnl_convolution_direct,
                                                               &in, &s->order[BACK_WEIGHTS], b, &out, strides,
                                                               pads, pads),
                   "convolution's weight gradient", err));
    dnnl_primitive_attr_t attr;
    TRY(dnnl_check(dnnl_primitive_attr_create(&attr), "attributes", err));
    dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user);
    dnnl_status_t status = dnnl_success;
    for (int way = 0; way < WAYS && status == dnnl_success; way++)
        if (way != BACK_DATA || l->in->dx)
            status = dnnl_primitive_desc_create(&piece->desc[way], &conv[way], attr, s->engine,
                                                way == FORWARD ? NULL : piece->desc[FORWARD]);
    dnnl_primitive_attr_destroy(attr);
    TRY(dnnl_check(status, "choosing a convolution", err));
    static const dnnl_query_t weights[WAYS] = {dnnl_query_weights_md, dnnl_query_weights_md,
                                               dnnl_query_diff_weights_md};
    for (int way = 0; way < WAYS && !s->chosen; way++)
        if (piece->desc[way])
            s->order[way] = *dnnl_primitive_desc_query_md(piece->desc[way], weights[way], 0);
    s->chosen = true;
    return OK;
}

/* The number of threads a primitive will use is that of its making. */
static Status piece_ready(Primitives *s, const Layer *l, size_t images, Error *err)
{
    Piece *piece = &s->piece[images];
    if (piece->run[FORWARD])
        return OK;
    const int before = omp_get_max_threads();
    omp_set_num_threads(1);
    Status status = describe(l, s, piece, images, err);
    for (int way = 0; way < WAYS && status == OK; way++)
        if (piece->desc[way])
            status = dnnl_check(dnnl_primitive_create(&piece->run[way], piece->desc[way]),
                                "making a convolution", err);
    omp_set_num_threads(before);
    return status;
}

Status primitives_ready(Primitives *s, const Layer *l, size_t images, Error *err)
{
    if (images >= PIECE)
        TRY(piece_ready(s, l, PIECE, err));
    return images % PIECE ? piece_ready(s, l, images % PIECE, err) : OK;
}

Status primitives_open(Primitives *s, const Layer *l, size_t images, Error *err)
{
    const size_t *dim = l->weight->shape.dim;
    const dnnl_dims_t dims = {(dnnl_dim_t)dim[0], (dnnl_dim_t)dim[1], (dnnl_dim_t)dim[2], (dnnl_dim_t)dim[3]};
    dnnl_memory_desc_init_by_tag(&s->plain, 4, dims, dnnl_f32, dnnl_oihw);
    TRY(dnnl_check(dnnl_engine_create(&s->engine, dnnl_cpu, 0), "engine", err));
    return primitives_ready(s, l, images, err);
}

void primitives_close(Primitives *s)
{
    for (size_t i = 0; i <= PIECE; i++)
        for (int way = 0; way < WAYS; way++) {
            if (s->piece[i].run[way])
                dnnl_primitive_destroy(s->piece[i].run[way]);
            if (s->piece[i].desc[way])
                dnnl_primitive_desc_destroy(s->piece[i].desc[way]);
        }
    if (s->engine)
        dnnl_engine_destroy(s->engine);
}
