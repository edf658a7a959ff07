/* dnnl_conv.c -- convolution over blocked values by oneDNN, a piece of images at a time.
 *
 * Threads work on different pieces, and the pieces' weight gradients are added in order. Weights travel plain; each
 * pass puts them into the order that the primitives ask for. */
#include "nn/dnnl_piece.h"

#include "base/parallel.h"

#include <omp.h>
#include <string.h>

static Status open(Layer *l, size_t images, Arena *a, Error *err)
{
    l->state = NEW_ZERO(a, Primitives, 1);
    return l->state ? primitives_open(l->state, l, images, err) : arena_fail(a, err);
}

static void close(Layer *l)
{
    if (l->state)
        primitives_close(l->state);
}

static const dnnl_memory_desc_t *wanted(const Piece *p, int way, dnnl_query_t what)
{
    return dnnl_primitive_desc_query_md(p->desc[way], what, 0);
}

static dnnl_memory_t lend(const Primitives *s, const dnnl_memory_desc_t *d, const void *data)
{
    dnnl_memory_t m = NULL;
    dnnl_memory_create(&m, d, s->engine, (void *)(uintptr_t)data);
    return m;
}

enum { ARGS_MOST = 5 };

typedef struct {
    int arg;
    const dnnl_memory_desc_t *desc;
    const void *data;
} Argument;

static dnnl_status_t execute(const Primitives *s, dnnl_primitive_t run, const Argument *arg, int count)
{
    dnnl_stream_t stream;
    dnnl_status_t status = dnnl_stream_create(&stream, s->engine, dnnl_stream_default_flags);
    if (status != dnnl_success)
        return status;
    dnnl_exec_arg_t args[ARGS_MOST];
    int used = 0;
    for (int i = 0; i < count; i++)
        if (arg[i].desc)
            args[used++] = (dnnl_exec_arg_t){arg[i].arg, lend(s, arg[i].desc, arg[i].data)};
    const int before = omp_get_max_threads();
    omp_set_num_threads(1); /* what a primitive takes that does not keep to the number of its making */
    status = dnnl_primitive_execute(run, stream, used, args);
    omp_set_num_threads(before);
    dnnl_stream_wait(stream);
    for (int i = 0; i < used; i++)
        dnnl_memory_destroy(args[i].memory);
    dnnl_stream_destroy(stream);
    return status;
}

/* What the pieces of one pass share. */
typedef struct {
    const Layer *l;
    const Primitives *s;
    const Pass *p;
    const float *weights; /* in the order that the primitives ask for */
    uint8_t *scratch;     /* each slot's own, `room` bytes */
    size_t room;
    float *partial; /* each piece's weight gradient and behind it its bias gradient, `each` floats */
    size_t each, bias_at;
    float *aside;          /* each slot's own: a piece's data gradient, when it is to be added; else NULL */
    dnnl_status_t *status; /* (pieces) */
} Work;

static size_t pieces(const Work *w)
{
    return (w->p->images + w->s->images - 1) / w->s->images;
}

static size_t slots(const Work *w)
{
    return parallel_slots(w->p->threads, pieces(w));
}

static size_t images_of(const Work *w, size_t piece)
{
    const size_t left = w->p->images - piece * w->s->images;
    return left < w->s->images ? left : w->s->images;
}

static size_t whole_lines(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* Scratch for each slot, as many bytes as either size of piece asks for. */
static Status work_open(Work *w, const Layer *l, const Pass *p, int way)
{
    *w = (Work){.l = l, .s = l->state, .p = p};
    TRY(primitives_ready(l->state, l, p->images, p->err));
    const size_t sizes[2] = {w->s->images, p->images % w->s->images};
    for (int i = 0; i < 2; i++) {
        const Piece *piece = &w->s->piece[sizes[i]];
        if (piece->run[way]) {
            const size_t room = dnnl_memory_desc_get_size(wanted(piece, way, dnnl_query_scratchpad_md));
            w->room = whole_lines(room) > w->room ? whole_lines(room) : w->room;
        }
    }
    w->scratch = arena_take(p->scratch, slots(w), w->room);
    w->status = NEW_ZERO(p->scratch, dnnl_status_t, pieces(w));
    return w->scratch && w->status ? OK : arena_fail(p->scratch, p->err);
}

static Status work_weights(Work *w, int way)
{
    const dnnl_memory_desc_t *order = &w->s->order[way];
    float *ordered = NEW(w->p->scratch, float, weights_room(order));
    if (!ordered)
        return arena_fail(w->p->scratch, w->p->err);
    w->weights = ordered;
    return weights_put(w->p->weights + w->l->weight->offset, order, ordered, w->p->threads, w->p->scratch,
                       w->p->err);
}

static Status work_run(Work *w, void (*body)(void *data, size_t piece, size_t slot))
{
    parallel_for_slots(w->p->threads, pieces(w), body, w);
    for (size_t i = 0; i < pieces(w); i++)
        TRY(dnnl_check(w->status[i], "convolution", w->p->err));
    return OK;
}

static const float *at(const Work *w, const Value *v, const float *x, size_t piece)
{
    return x + piece * w->s->images * value_size(v);
}

static void forward_piece(void *data, size_t piece, size_t slot)
{
    const Work *w = data;
    const Layer *l = w->l;
    const Piece *p = &w->s->piece[images_of(w, piece)];
    const Argument arg[] = {
        {DNNL_ARG_SRC, wanted(p, FORWARD, dnnl_query_src_md), at(w, l->in, l->in->x, piece)},
        {DNNL_ARG_WEIGHTS, &w->s->order[FORWARD], w->weights},
        {DNNL_ARG_BIAS,
         l->bias ? dnnl_primitive_desc_query_md(p->desc[FORWARD], dnnl_query_weights_md, 1) : NULL,
         l->bias ? w->p->weights + l->bias->offset : NULL},
        {DNNL_ARG_DST, wanted(p, FORWARD, dnnl_query_dst_md), at(w, l->out, l->out->x, piece)},
        {DNNL_ARG_SCRATCHPAD, wanted(p, FORWARD, dnnl_query_scratchpad_md), w->scratch + slot * w->room},
    };
    w->status[piece] = execute(w->s, p->run[FORWARD], arg, countof(arg));
}

static Status forward(Layer *l, const Pass *p)
{
    Work w;
    TRY(work_open(&w, l, p, FORWARD));
    TRY(work_weights(&w, FORWARD));
    return work_run(&w, forward_piece);
}

static void data_piece(void *data, size_t piece, size_t slot)
{
    const Work *w = data;
    const Layer *l = w->l;
    const size_t images = images_of(w, piece), whole = w->s->images * value_size(l->in);
    const Piece *p = &w->s->piece[images];
    float *restrict dx = l->in->dx + piece * whole;
    float *restrict aside = w->aside ? w->aside + slot * whole : NULL;
    const Argument arg[] = {
        {DNNL_ARG_DIFF_DST, wanted(p, BACK_DATA, dnnl_query_diff_dst_md), at(w, l->out, l->out->dx, piece)},
        {DNNL_ARG_WEIGHTS, &w->s->order[BACK_DATA], w->weights},
        {DNNL_ARG_DIFF_SRC, wanted(p, BACK_DATA, dnnl_query_diff_src_md), aside ? aside : dx},
        {DNNL_ARG_SCRATCHPAD, wanted(p, BACK_DATA, dnnl_query_scratchpad_md), w->scratch + slot * w->room},
    };
    w->status[piece] = execute(w->s, p->run[BACK_DATA], arg, countof(arg));
    if (aside)
        for (size_t i = 0; i < images * value_size(l->in); i++)
            dx[i] += aside[i];
}

static Status backward_data(const Layer *l, const Pass *p)
{
    if (!l->in->dx)
        return OK;
    Work w;
    TRY(work_open(&w, l, p, BACK_DATA));
    TRY(work_weights(&w, BACK_DATA));
    if (l->in->added) {
        w.aside = NEW(p->scratch, float, slots(&w) * w.s->images * value_size(l->in));
        if (!w.aside)
            return arena_fail(p->scratch, p->err);
    }
    l->in->added = true;
    return work_run(&w, data_piece);
}

static void weights_piece(void *data, size_t piece, size_t slot)
{
    const Work *w = data;
    const Layer *l = w->l;
    const Piece *p = &w->s->piece[images_of(w, piece)];
    float *partial = w->partial + piece * w->each;
    const Argument arg[] = {
        {DNNL_ARG_SRC, wanted(p, BACK_WEIGHTS, dnnl_query_src_md), at(w, l->in, l->in->x, piece)},
        {DNNL_ARG_DIFF_DST, wanted(p, BACK_WEIGHTS, dnnl_query_diff_dst_md),
         at(w, l->out, l->out->dx, piece)},
        {DNNL_ARG_DIFF_WEIGHTS, &w->s->order[BACK_WEIGHTS], partial},
        {DNNL_ARG_DIFF_BIAS,
         l->bias ? dnnl_primitive_desc_query_md(p->desc[BACK_WEIGHTS], dnnl_query_diff_weights_md, 1) : NULL,
         partial + w->bias_at},
        {DNNL_ARG_SCRATCHPAD, wanted(p, BACK_WEIGHTS, dnnl_query_scratchpad_md), w->scratch + slot * w->room},
    };
    w->status[piece] = execute(w->s, p->run[BACK_WEIGHTS], arg, countof(arg));
}

enum { RUN = 4096 }; /* floats that one thread adds up at a time */

/* The first piece's gradient becomes the sum of all, added in their order. */
static void add_run(void *data, size_t run)
{
    const Work *w = data;
    const size_t from = run * RUN, to = from + RUN < w->each ? from + RUN : w->each;
    for (size_t piece = 1; piece < pieces(w); piece++)
        for (size_t i = from; i < to; i++)
            w->partial[i] += w->partial[piece * w->each + i];
}

static Status backward_weights(const Layer *l, const Pass *p)
{
    Work w;
    TRY(work_open(&w, l, p, BACK_WEIGHTS));
    const dnnl_memory_desc_t *order = &w.s->order[BACK_WEIGHTS];
    w.bias_at = weights_room(order);
    w.each = w.bias_at + (l->bias ? whole_lines(l->out->channels * sizeof(float)) / sizeof(float) : 0);
    w.partial = NEW(p->scratch, float, pieces(&w) * w.each);
    if (!w.partial)
        return arena_fail(p->scratch, p->err);
    TRY(work_run(&w, weights_piece));
    parallel_for(p->threads, (w.each + RUN - 1) / RUN, add_run, &w);
    if (l->bias)
        memcpy(p->gradient + l->bias->offset, w.partial + w.bias_at, l->out->channels * sizeof(float));
    return weights_get(w.partial, order, p->gradient + l->weight->offset, p->threads, p->scratch, p->err);
}

static Status backward(Layer *l, const Pass *p)
{
    TRY(backward_weights(l, p));
    return backward_data(l, p);
}

const LayerOps conv_blocked_layer = {
    .name = "conv", .open = open, .forward = forward, .backward = backward, .close = close};
