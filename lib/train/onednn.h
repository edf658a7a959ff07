/* onednn.h -- the calls whose form differs between oneDNN 2 (Debian 12) and oneDNN 3 (Debian 13). A memory
 * descriptor is a structure in version 2, and in version 3 an object that desc_drop frees. */
#ifndef ATOMO_ONEDNN_H
#define ATOMO_ONEDNN_H

#include <dnnl.h>

#if DNNL_VERSION_MAJOR != 2 && DNNL_VERSION_MAJOR != 3
#error "want oneDNN 2 or 3 (Debian's libdnnl-dev)"
#endif

#if DNNL_VERSION_MAJOR == 2
typedef const dnnl_memory_desc_t *MemoryDesc; /* a descriptor that a function reads */
#else
typedef const_dnnl_memory_desc_t MemoryDesc;
#endif

/* Makes a descriptor of floats. */
dnnl_status_t desc_make(dnnl_memory_desc_t *d, int rank, const dnnl_dims_t dims, dnnl_format_tag_t tag);
dnnl_status_t desc_copy(dnnl_memory_desc_t *to, MemoryDesc from);
void desc_drop(dnnl_memory_desc_t *d);
MemoryDesc desc_of(const dnnl_memory_desc_t *d);
dnnl_format_kind_t desc_kind(MemoryDesc d);

/* A blocked order of memory, in the words of oneDNN 2's dnnl_blocking_desc_t. */
typedef struct {
    int ndims, inner_nblks;
    const dnnl_dim_t *dims, *strides, *inner_blks, *inner_idxs;
} Blocks;

Blocks desc_blocks(MemoryDesc d);

enum { FORWARD, BACK_DATA, BACK_WEIGHTS, WAYS };

/* A convolution of `in` to `out`, or the gradient of `in` or of `weights` and `bias`. bias: NULL if it has none. */
typedef struct {
    dnnl_alg_kind_t algorithm;
    MemoryDesc in, weights, bias, out;
    dnnl_dims_t strides, pads;
} Convolution;

/* forward: the description of the same convolution's forward pass, which those of gradients need. */
dnnl_status_t convolution_describe(dnnl_primitive_desc_t *to, int way, const Convolution *c,
                                   dnnl_engine_t engine, const_dnnl_primitive_desc_t forward,
                                   dnnl_primitive_attr_t attr);

#endif
