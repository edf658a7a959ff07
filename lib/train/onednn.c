/* onednn.c -- see onednn.h. */
#include "train/onednn.h"

#include <stddef.h>

#if DNNL_VERSION_MAJOR == 2

dnnl_status_t desc_make(dnnl_memory_desc_t *d, int rank, const dnnl_dims_t dims, dnnl_format_tag_t tag)
{
    return dnnl_memory_desc_init_by_tag(d, rank, dims, dnnl_f32, tag);
}

dnnl_status_t desc_copy(dnnl_memory_desc_t *to, MemoryDesc from)
{
    *to = *from;
    return dnnl_success;
}

void desc_drop(dnnl_memory_desc_t *d)
{
    *d = (dnnl_memory_desc_t){0};
}

MemoryDesc desc_of(const dnnl_memory_desc_t *d)
{
    return d;
}

dnnl_format_kind_t desc_kind(MemoryDesc d)
{
    return d->format_kind;
}

Blocks desc_blocks(MemoryDesc d)
{
    const dnnl_blocking_desc_t *b = &d->format_desc.blocking;
    return (Blocks){.ndims = d->ndims,
                    .inner_nblks = b->inner_nblks,
                    .dims = d->dims,
                    .strides = b->strides,
                    .inner_blks = b->inner_blks,
                    .inner_idxs = b->inner_idxs};
}

dnnl_status_t convolution_describe(dnnl_primitive_desc_t *to, int way, const Convolution *c,
                                   dnnl_engine_t engine, const_dnnl_primitive_desc_t forward,
                                   dnnl_primitive_attr_t attr)
{
    dnnl_convolution_desc_t d;
    dnnl_status_t status;
    if (way == FORWARD)
        status =
            dnnl_convolution_forward_desc_init(&d, dnnl_forward_training, c->algorithm, c->in, c->weights,
                                               c->bias, c->out, c->strides, c->pads, c->pads);
    else if (way == BACK_DATA)
        status = dnnl_convolution_backward_data_desc_init(&d, c->algorithm, c->in, c->weights, c->out,
                                                          c->strides, c->pads, c->pads);
    else
        status = dnnl_convolution_backward_weights_desc_init(&d, c->algorithm, c->in, c->weights, c->bias,
                                                             c->out, c->strides, c->pads, c->pads);
    return status == dnnl_success ? dnnl_primitive_desc_create(to, &d, attr, engine, forward) : status;
}

#else

dnnl_status_t desc_make(dnnl_memory_desc_t *d, int rank, const dnnl_dims_t dims, dnnl_format_tag_t tag)
{
    return dnnl_memory_desc_create_with_tag(d, rank, dims, dnnl_f32, tag);
}

dnnl_status_t desc_copy(dnnl_memory_desc_t *to, MemoryDesc from)
{
    return dnnl_memory_desc_clone(to, from);
}

void desc_drop(dnnl_memory_desc_t *d)
{
    if (*d)
        dnnl_memory_desc_destroy(*d);
    *d = NULL;
}

MemoryDesc desc_of(const dnnl_memory_desc_t *d)
{
    return *d;
}

dnnl_format_kind_t desc_kind(MemoryDesc d)
{
    dnnl_format_kind_t kind = dnnl_format_kind_undef;
    dnnl_memory_desc_query(d, dnnl_query_format_kind, &kind);
    return kind;
}

static const dnnl_dim_t *list(MemoryDesc d, dnnl_query_t what)
{
    const dnnl_dims_t *found = NULL;
    return dnnl_memory_desc_query(d, what, &found) == dnnl_success ? *found : NULL;
}

Blocks desc_blocks(MemoryDesc d)
{
    Blocks b = {.dims = list(d, dnnl_query_dims),
                .strides = list(d, dnnl_query_strides),
                .inner_blks = list(d, dnnl_query_inner_blks),
                .inner_idxs = list(d, dnnl_query_inner_idxs)};
    dnnl_memory_desc_query(d, dnnl_query_ndims_s32, &b.ndims);
    dnnl_memory_desc_query(d, dnnl_query_inner_nblks_s32, &b.inner_nblks);
    return b;
}

dnnl_status_t convolution_describe(dnnl_primitive_desc_t *to, int way, const Convolution *c,
                                   dnnl_engine_t engine, const_dnnl_primitive_desc_t forward,
                                   dnnl_primitive_attr_t attr)
{
    static const dnnl_dims_t dense = {0};
    if (way == FORWARD)
        return dnnl_convolution_forward_primitive_desc_create(to, engine, dnnl_forward_training, c->algorithm,
                                                              c->in, c->weights, c->bias, c->out, c->strides,
                                                              dense, c->pads, c->pads, attr);
    if (way == BACK_DATA)
        return dnnl_convolution_backward_data_primitive_desc_create(to, engine, c->algorithm, c->in,
                                                                    c->weights, c->out, c->strides, dense,
                                                                    c->pads, c->pads, forward, attr);
    return dnnl_convolution_backward_weights_primitive_desc_create(to, engine, c->algorithm, c->in,
                                                                   c->weights, c->bias, c->out, c->strides,
                                                                   dense, c->pads, c->pads, forward, attr);
}

#endif
