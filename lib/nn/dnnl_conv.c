/* dnnl_conv.c -- convolution over blocked values by oneDNN, a piece of images at a time.
 *
 * oneDNN's weight gradient differs in its last bits from one number of threads to another, so its primitives are made
 * for one thread and for PIECE images, threads work on different pieces, and the pieces' weight gradients are added
 * in order. Weights travel plain; each pass puts them into the order that the primitives ask for. */
#include "nn/layers.h"

#include "kernels.h"
#include "parallel.h"

#include <dnnl.h>
#include <omp.h>
#include <string.h>

#if DNNL_VERSION_MAJOR != 2
#error "want oneDNN 2 (Debian 12's libdnnl-dev)"
#endif

enum { FORWARD, BACK_DATA, BACK_WEIGHTS, WAYS };

/* The primitives for one number of images, made when a pass first has a piece of that size. */
typedef struct {
    dnnl_primitive_desc_t desc[WAYS];
    dnnl_primitive_t run[WAYS];
} Piece;

typedef struct {
    dnnl_engine_t engine;
    Piece piece[PIECE + 1]; /* by images */
    dnnl_memory_desc_t plain;
    dnnl_memory_desc_t order[WAYS]; /* of weights, as the first primitive of each way chose it */
    bool chosen;
} State;

size_t layer_lanes(void)
{
    return isa_of_cpu() == ISA_AVX512 ? 16 : 8;
}

static Status check(dnnl_status_t status, const char *what, Error *err)
{
    if (status == dnnl_out_of_memory)
        return FAIL(err, ERR_MEMORY, "oneDNN: out of memory for %s", what);
    return status == dnnl_success
               ? OK
               : FAIL(err, ERR_NUMERIC, "oneDNN: %s failed (status %d)", what, (int)status);
}

/* ---- making primitives ---- */

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

static Status describe(const Layer *l, State *s, Piece *piece, size_t images, Error *err)
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
    TRY(check(dnnl_convolution_forward_desc_init(&conv[FORWARD], dnnl_forward_training,
                                                 dnnl_convolution_direct, &in, &s->order[FORWARD], b, &out,
                                                 strides, pads, pads),
              "convolution", err));
    TRY(check(dnnl_convolution_backward_data_desc_init(&conv[BACK_DATA], dnnl_convolution_direct, &in,
                                                       &s->order[BACK_DATA], &out, strides, pads, pads),
              "convolution backward", err));
    TRY(check(dnnl_convolution_backward_weights_desc_init(&conv[BACK_WEIGHTS], dnnl_convolution_direct, &in,
                                                          &s->order[BACK_WEIGHTS], b, &out, strides, pads,
                                                          pads),
              "convolution's weight gradient", err));
    dnnl_primitive_attr_t attr;
    TRY(check(dnnl_primitive_attr_create(&attr), "attributes", err));
    dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user);
    dnnl_status_t status = dnnl_success;
    for (int way = 0; way < WAYS && status == dnnl_success; way++)
        if (way != BACK_DATA || l->in->dx)
            status = dnnl_primitive_desc_create(&piece->desc[way], &conv[way], attr, s->engine,
                                                way == FORWARD ? NULL : piece->desc[FORWARD]);
    dnnl_primitive_attr_destroy(attr);
    TRY(check(status, "choosing a convolution", err));
    static const dnnl_query_t weights[WAYS] = {dnnl_query_weights_md, dnnl_query_weights_md,
                                               dnnl_query_diff_weights_md};
    for (int way = 0; way < WAYS && !s->chosen; way++)
        if (piece->desc[way])
            s->order[way] = *dnnl_primitive_desc_query_md(piece->desc[way], weights[way], 0);
    s->chosen = true;
    return OK;
}

/* The number of threads a primitive will use is that of its making. */
static Status piece_ready(const Layer *l, size_t images, Error *err)
{
    State *s = l->state;
    Piece *piece = &s->piece[images];
    if (piece->run[FORWARD])
        return OK;
    const int before = omp_get_max_threads();
    omp_set_num_threads(1);
    Status status = describe(l, s, piece, images, err);
    for (int way = 0; way < WAYS && status == OK; way++)
        if (piece->desc[way])
            status =
                check(dnnl_primitive_create(&piece->run[way], piece->desc[way]), "making a convolution", err);
    omp_set_num_threads(before);
    return status;
}

static Status pieces_ready(const Layer *l, size_t images, Error *err)
{
    if (images >= PIECE)
        TRY(piece_ready(l, PIECE, err));
    return images % PIECE ? piece_ready(l, images % PIECE, err) : OK;
}

static Status open(Layer *l, size_t images, Arena *a, Error *err)
{
    State *s = NEW_ZERO(a, State, 1);
    if (!s)
        return arena_fail(a, err);
    l->state = s;
    const dnnl_dims_t dims = {(dnnl_dim_t)l->weight->shape.dim[0], (dnnl_dim_t)l->weight->shape.dim[1],
                              (dnnl_dim_t)l->weight->shape.dim[2], (dnnl_dim_t)l->weight->shape.dim[3]};
    dnnl_memory_desc_init_by_tag(&s->plain, 4, dims, dnnl_f32, dnnl_oihw);
    TRY(check(dnnl_engine_create(&s->engine, dnnl_cpu, 0), "engine", err));
    return pieces_ready(l, images, err);
}

static void close(Layer *l)
{
    State *s = l->state;
    if (!s)
        return;
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

/* ---- running them ---- */

static const dnnl_memory_desc_t *wanted(const Piece *p, int way, dnnl_query_t what)
{
    return dnnl_primitive_desc_query_md(p->desc[way], what, 0);
}

static dnnl_memory_t lend(const State *s, const dnnl_memory_desc_t *d, const void *data)
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

static dnnl_status_t execute(const State *s, dnnl_primitive_t run, const Argument *arg, int count)
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
    status = dnnl_primitive_execute(run, stream, used, args);
    dnnl_stream_wait(stream);
    for (int i = 0; i < used; i++)
        dnnl_memory_destroy(args[i].memory);
    dnnl_stream_destroy(stream);
    return status;
}

static Status reorder(const State *s, const dnnl_memory_desc_t *from, const void *x,
                      const dnnl_memory_desc_t *to, void *y, Error *err)
{
    dnnl_primitive_desc_t desc;
    dnnl_primitive_t run;
    TRY(check(dnnl_reorder_primitive_desc_create(&desc, from, s->engine, to, s->engine, NULL), "reorder",
              err));
    dnnl_status_t status = dnnl_primitive_create(&run, desc);
    dnnl_primitive_desc_destroy(desc);
    TRY(check(status, "reorder", err));
    const Argument arg[] = {{DNNL_ARG_FROM, from, x}, {DNNL_ARG_TO, to, y}};
    status = execute(s, run, arg, countof(arg));
    dnnl_primitive_destroy(run);
    return check(status, "reorder", err);
}

/* What the pieces of one pass share. */
typedef struct {
    const Layer *l;
    const State *s;
    const Pass *p;
    const void *weights; /* in the order that the primitives ask for */
    uint8_t *scratch;    /* each piece's own, `room` bytes */
    size_t room;
    float *partial; /* each piece's weight gradient and behind it its bias gradient, `each` floats */
    size_t each, bias_at;
    float *aside;          /* where data gradients are made when they are to be added */
    dnnl_status_t *status; /* (pieces) */
} Work;

static size_t piece_images(const Pass *p, size_t piece)
{
    const size_t left = p->images - piece * PIECE;
    return left < PIECE ? left : PIECE;
}

static size_t whole_lines(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* Scratch for each piece, as many bytes as either size of piece asks for. */
static Status work_open(Work *w, const Layer *l, const Pass *p, int way)
{
    *w = (Work){.l = l, .s = l->state, .p = p};
    TRY(pieces_ready(l, p->images, p->err));
    const size_t pieces = pieces_of(p->images), sizes[2] = {PIECE, p->images % PIECE};
    for (int i = 0; i < 2; i++) {
        const Piece *piece = &w->s->piece[sizes[i]];
        if (piece->run[way]) {
            const size_t room = dnnl_memory_desc_get_size(wanted(piece, way, dnnl_query_scratchpad_md));
            w->room = whole_lines(room) > w->room ? whole_lines(room) : w->room;
        }
    }
    w->scratch = arena_take(p->scratch, pieces, w->room);
    w->status = NEW_ZERO(p->scratch, dnnl_status_t, pieces);
    return w->scratch && w->status ? OK : arena_fail(p->scratch, p->err);
}

static Status work_weights(Work *w, int way)
{
    void *ordered = arena_take(w->p->scratch, dnnl_memory_desc_get_size(&w->s->order[way]), 1);
    if (!ordered)
        return arena_fail(w->p->scratch, w->p->err);
    w->weights = ordered;
    return reorder(w->s, &w->s->plain, w->p->weights + w->l->weight->offset, &w->s->order[way], ordered,
                   w->p->err);
}

static Status work_run(Work *w, void (*body)(void *data, size_t piece))
{
    const size_t pieces = pieces_of(w->p->images);
    parallel_for(w->p->threads, pieces, body, w);
    for (size_t i = 0; i < pieces; i++)
        TRY(check(w->status[i], "convolution", w->p->err));
    return OK;
}

static const float *at(const Value *v, const float *x, size_t piece)
{
    return x + piece * PIECE * value_size(v);
}

static void forward_piece(void *data, size_t piece)
{
    const Work *w = data;
    const Layer *l = w->l;
    const Piece *p = &w->s->piece[piece_images(w->p, piece)];
    const Argument arg[] = {
        {DNNL_ARG_SRC, wanted(p, FORWARD, dnnl_query_src_md), at(l->in, l->in->x, piece)},
        {DNNL_ARG_WEIGHTS, &w->s->order[FORWARD], w->weights},
        {DNNL_ARG_BIAS,
         l->bias ? dnnl_primitive_desc_query_md(p->desc[FORWARD], dnnl_query_weights_md, 1) : NULL,
         l->bias ? w->p->weights + l->bias->offset : NULL},
        {DNNL_ARG_DST, wanted(p, FORWARD, dnnl_query_dst_md), at(l->out, l->out->x, piece)},
        {DNNL_ARG_SCRATCHPAD, wanted(p, FORWARD, dnnl_query_scratchpad_md), w->scratch + piece * w->room},
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

static void data_piece(void *data, size_t piece)
{
    const Work *w = data;
    const Layer *l = w->l;
    const size_t images = piece_images(w->p, piece), n = images * value_size(l->in);
    const Piece *p = &w->s->piece[images];
    float *dx = l->in->dx + piece * PIECE * value_size(l->in);
    float *made = w->aside ? w->aside + piece * PIECE * value_size(l->in) : dx;
    const Argument arg[] = {
        {DNNL_ARG_DIFF_DST, wanted(p, BACK_DATA, dnnl_query_diff_dst_md), at(l->out, l->out->dx, piece)},
        {DNNL_ARG_WEIGHTS, &w->s->order[BACK_DATA], w->weights},
        {DNNL_ARG_DIFF_SRC, wanted(p, BACK_DATA, dnnl_query_diff_src_md), made},
        {DNNL_ARG_SCRATCHPAD, wanted(p, BACK_DATA, dnnl_query_scratchpad_md), w->scratch + piece * w->room},
    };
    w->status[piece] = execute(w->s, p->run[BACK_DATA], arg, countof(arg));
    if (w->aside)
        for (size_t i = 0; i < n; i++)
            dx[i] += made[i];
}

static Status backward_data(const Layer *l, const Pass *p)
{
    if (!l->in->dx)
        return OK;
    Work w;
    TRY(work_open(&w, l, p, BACK_DATA));
    TRY(work_weights(&w, BACK_DATA));
    if (l->in->added) {
        w.aside = NEW(p->scratch, float, p->images *value_size(l->in));
        if (!w.aside)
            return arena_fail(p->scratch, p->err);
    }
    l->in->added = true;
    return work_run(&w, data_piece);
}

static void weights_piece(void *data, size_t piece)
{
    const Work *w = data;
    const Layer *l = w->l;
    const Piece *p = &w->s->piece[piece_images(w->p, piece)];
    float *partial = w->partial + piece * w->each;
    const Argument arg[] = {
        {DNNL_ARG_SRC, wanted(p, BACK_WEIGHTS, dnnl_query_src_md), at(l->in, l->in->x, piece)},
        {DNNL_ARG_DIFF_DST, wanted(p, BACK_WEIGHTS, dnnl_query_diff_dst_md), at(l->out, l->out->dx, piece)},
        {DNNL_ARG_DIFF_WEIGHTS, &w->s->order[BACK_WEIGHTS], partial},
        {DNNL_ARG_DIFF_BIAS,
         l->bias ? dnnl_primitive_desc_query_md(p->desc[BACK_WEIGHTS], dnnl_query_diff_weights_md, 1) : NULL,
         partial + w->bias_at},
        {DNNL_ARG_SCRATCHPAD, wanted(p, BACK_WEIGHTS, dnnl_query_scratchpad_md),
         w->scratch + piece * w->room},
    };
    w->status[piece] = execute(w->s, p->run[BACK_WEIGHTS], arg, countof(arg));
}

enum { RUN = 4096 }; /* floats that one thread adds up at a time */

/* The first piece's gradient becomes the sum of all, added in their order. */
static void add_run(void *data, size_t run)
{
    const Work *w = data;
    const size_t from = run * RUN, to = from + RUN < w->each ? from + RUN : w->each;
    for (size_t piece = 1; piece < pieces_of(w->p->images); piece++)
        for (size_t i = from; i < to; i++)
            w->partial[i] += w->partial[piece * w->each + i];
}

static Status backward_weights(const Layer *l, const Pass *p)
{
    Work w;
    TRY(work_open(&w, l, p, BACK_WEIGHTS));
    w.bias_at = whole_lines(dnnl_memory_desc_get_size(&w.s->order[BACK_WEIGHTS])) / sizeof(float);
    w.each = w.bias_at + whole_lines(l->out->channels * sizeof(float)) / sizeof(float);
    w.partial = NEW_ZERO(p->scratch, float, pieces_of(p->images) * w.each);
    if (!w.partial)
        return arena_fail(p->scratch, p->err);
    TRY(work_run(&w, weights_piece));
    parallel_for(p->threads, (w.each + RUN - 1) / RUN, add_run, &w);
    if (l->bias)
        memcpy(p->gradient + l->bias->offset, w.partial + w.bias_at, l->out->channels * sizeof(float));
    return reorder(w.s, &w.s->order[BACK_WEIGHTS], w.partial, &w.s->plain, p->gradient + l->weight->offset,
                   p->err);
}

static Status backward(Layer *l, const Pass *p)
{
    TRY(backward_weights(l, p));
    return backward_data(l, p);
}

const LayerOps conv_blocked_layer = {
    .name = "conv", .open = open, .forward = forward, .backward = backward, .close = close};
