/* onednn.h -- the calls whose form differs between oneDNN 2 (Debian 12) and oneDNN 3 (Debian 13). A memory
 * descriptor is a structure in version 2, and in version 3 an object that desc_drop frees. */
#ifndef ATOMO_ONEDNN_H
#define ATOMO_ONEDNN_H

#include <dnnl.h>
#include <stddef.h>

#if DNNL_VERSION_MAJOR != 2 && DNNL_VERSION_MAJOR != 3
#error "want oneDNN 2 or 3 (Debian's libdnnl-dev)"
#endif

#if DNNL_VERSION_MAJOR == 2
typedef const dnnl_memory_desc_t *MemoryDesc; /* a descriptor that a function reads */
#else
typedef const_dnnl_memory_desc_t MemoryDesc;
#endif

/* A blocked order of memory, in the words of oneDNN 2's dnnl_blocking_desc_t. */
typedef struct {
    int ndims, inner_nblks;
    const dnnl_dim_t *dims, *strides, *inner_blks, *inner_idxs;
} Blocks;

enum { FORWARD, BACK_DATA, BACK_WEIGHTS, WAYS };

/* A convolution of `in` to `out`, or the gradient of `in` or of `weights` and `bias`. bias: NULL if it has none. */
typedef struct {
    dnnl_alg_kind_t algorithm;
    MemoryDesc in, weights, bias, out;
    dnnl_dims_t strides, pads;
} Convolution;

#if DNNL_VERSION_MAJOR == 2

/* Makes a descriptor of floats. */
static inline dnnl_status_t desc_make(dnnl_memory_desc_t *d, int rank, const dnnl_dims_t dims, dnnl_format_tag_t tag)
{
    return dnnl_memory_desc_init_by_tag(d, rank, dims, dnnl_f32, tag);
}

static inline dnnl_status_t desc_copy(dnnl_memory_desc_t *to, MemoryDesc from)
{
    *to = *from;
    return dnnl_success;
}

static inline void desc_drop(dnnl_memory_desc_t *d)
{
    *d = (dnnl_memory_desc_t){0};
}

static inline MemoryDesc desc_of(const dnnl_memory_desc_t *d)
{
    return d;
}

static inline dnnl_format_kind_t desc_kind(MemoryDesc d)
{
    return d->format_kind;
}

static inline Blocks desc_blocks(MemoryDesc d)
{
    const dnnl_blocking_desc_t *b = &d->format_desc.blocking;
    return (Blocks){.ndims = d->ndims,
                    .inner_nblks = b->inner_nblks,
                    .dims = d->dims,
                    .strides = b->strides,
                    .inner_blks = b->inner_blks,
                    .inner_idxs = b->inner_idxs};
}

/* forward: the description of the same convolution's forward pass, which those of gradients need. */
static inline dnnl_status_t convolution_describe(dnnl_primitive_desc_t *to, int way, const Convolution *c,
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

static inline dnnl_status_t desc_make(dnnl_memory_desc_t *d, int rank, const dnnl_dims_t dims, dnnl_format_tag_t tag)
{
    return dnnl_memory_desc_create_with_tag(d, rank, dims, dnnl_f32, tag);
}

static inline dnnl_status_t desc_copy(dnnl_memory_desc_t *to, MemoryDesc from)
{
    return dnnl_memory_desc_clone(to, from);
}

static inline void desc_drop(dnnl_memory_desc_t *d)
{
    if (*d)
        dnnl_memory_desc_destroy(*d);
    *d = NULL;
}

static inline MemoryDesc desc_of(const dnnl_memory_desc_t *d)
{
    return *d;
}

static inline dnnl_format_kind_t desc_kind(MemoryDesc d)
{
    dnnl_format_kind_t kind = dnnl_format_kind_undef;
    dnnl_memory_desc_query(d, dnnl_query_format_kind, &kind);
    return kind;
}

static inline const dnnl_dim_t *desc_list(MemoryDesc d, dnnl_query_t what)
{
    const dnnl_dims_t *found = NULL;
    return dnnl_memory_desc_query(d, what, &found) == dnnl_success ? *found : NULL;
}

static inline Blocks desc_blocks(MemoryDesc d)
{
    Blocks b = {.dims = desc_list(d, dnnl_query_dims),
                .strides = desc_list(d, dnnl_query_strides),
                .inner_blks = desc_list(d, dnnl_query_inner_blks),
                .inner_idxs = desc_list(d, dnnl_query_inner_idxs)};
    dnnl_memory_desc_query(d, dnnl_query_ndims_s32, &b.ndims);
    dnnl_memory_desc_query(d, dnnl_query_inner_nblks_s32, &b.inner_nblks);
    return b;
}

static inline dnnl_status_t convolution_describe(dnnl_primitive_desc_t *to, int way, const Convolution *c,
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

#endif
