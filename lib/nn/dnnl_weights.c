/* dnnl_weights.c -- convolution weights between their plain order and oneDNN's blocked ones.
 *
 * In a blocked order the place of weight (o, i, row, column) is a sum of one term for each of the four, so four small
 * tables say it all. oneDNN's own reorder takes longer than some of the convolutions. */
#include "nn/dnnl_piece.h"

#include "base/parallel.h"

#include <string.h>

enum { DIMS = 4 };

typedef struct {
    size_t out, in, kernel; /* kernel: rows times columns */
    size_t *out_at, *in_at, *kernel_at;
    size_t group; /* outputs that one piece of work takes */
    const float *from;
    float *to;
} Work;

/* Where index x of a dimension leads: its digits in the inner blocks, innermost last, and its outer block. */
static size_t term(const dnnl_memory_desc_t *d, int dim, size_t x)
{
    const dnnl_blocking_desc_t *b = &d->format_desc.blocking;
    size_t at = 0, inner = 1;
    for (int k = b->inner_nblks; k-- > 0;) {
        const size_t size = (size_t)b->inner_blks[k];
        if (b->inner_idxs[k] == dim) {
            at += x % size * inner;
            x /= size;
        }
        inner *= size;
    }
    return at + x * (size_t)b->strides[dim];
}

size_t weights_room(const dnnl_memory_desc_t *order)
{
    enum { LINE = 16 };
    return (dnnl_memory_desc_get_size(order) / sizeof(float) + LINE - 1) / LINE * LINE;
}

static Status work_open(Work *w, const dnnl_memory_desc_t *d, Arena *scratch, Error *err)
{
    if (d->format_kind != dnnl_blocked || d->ndims != DIMS)
        return FAIL(err, ERR_NUMERIC, "oneDNN: weights in an order that is not blocked");
    const size_t rows = (size_t)d->dims[2], columns = (size_t)d->dims[3];
    w->out = (size_t)d->dims[0];
    w->in = (size_t)d->dims[1];
    w->kernel = rows * columns;
    w->group = layer_lanes();
    w->out_at = NEW(scratch, size_t, w->out);
    w->in_at = NEW(scratch, size_t, w->in);
    w->kernel_at = NEW(scratch, size_t, w->kernel);
    if (!w->out_at || !w->in_at || !w->kernel_at)
        return arena_fail(scratch, err);
    for (size_t o = 0; o < w->out; o++)
        w->out_at[o] = term(d, 0, o);
    for (size_t i = 0; i < w->in; i++)
        w->in_at[i] = term(d, 1, i);
    for (size_t k = 0; k < w->kernel; k++)
        w->kernel_at[k] = term(d, 2, k / columns) + term(d, 3, k % columns);
    return OK;
}

/* Inputs outermost, so that what is scattered over stays within the first cache. */
static void put_group(void *data, size_t group)
{
    const Work w = *(const Work *)data;
    const size_t from = group * w.group, to = from + w.group < w.out ? from + w.group : w.out;
    for (size_t i = 0; i < w.in; i++)
        for (size_t o = from; o < to; o++) {
            const float *x = w.from + (o * w.in + i) * w.kernel;
            float *y = w.to + w.out_at[o] + w.in_at[i];
            for (size_t k = 0; k < w.kernel; k++)
                y[w.kernel_at[k]] = x[k];
        }
}

static void get_group(void *data, size_t group)
{
    const Work w = *(const Work *)data;
    const size_t from = group * w.group, to = from + w.group < w.out ? from + w.group : w.out;
    for (size_t i = 0; i < w.in; i++)
        for (size_t o = from; o < to; o++) {
            const float *y = w.from + w.out_at[o] + w.in_at[i];
            float *x = w.to + (o * w.in + i) * w.kernel;
            for (size_t k = 0; k < w.kernel; k++)
                x[k] = y[w.kernel_at[k]];
        }
}

static size_t groups(const Work *w)
{
    return (w->out + w->group - 1) / w->group;
}

Status weights_put(const float *plain, const dnnl_memory_desc_t *order, float *ordered, int threads,
                   Arena *scratch, Error *err)
{
    Work w = {.from = plain, .to = ordered};
    TRY(work_open(&w, order, scratch, err));
    if (weights_room(order) > w.out * w.in * w.kernel) /* channels that fill up a block are zeros */
        memset(ordered, 0, weights_room(order) * sizeof *ordered);
    parallel_for(threads, groups(&w), put_group, &w);
    return OK;
}

Status weights_get(const float *ordered, const dnnl_memory_desc_t *order, float *plain, int threads,
                   Arena *scratch, Error *err)
{
    Work w = {.from = ordered, .to = plain};
    TRY(work_open(&w, order, scratch, err));
    parallel_for(threads, groups(&w), get_group, &w);
    return OK;
}
