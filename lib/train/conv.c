/* conv.c -- convolution by oneDNN, one piece (a few images of the batch) at a time.
 *
 * The last bits of oneDNN's weight gradients depend on the number of threads. So each primitive is made for
 * one thread and one piece, whose size follows from the layer's shape alone. Threads work on different
 * pieces, and the pieces' weight gradients are added in order. Weights are stored as [out][in][row][column].
 * Each pass copies them into the blocked order that oneDNN chose.
 *
 * For some shapes oneDNN has only its reference code for the gradient of the weights, which is a thousand times
 * slower, such as 3x3 kernels on images of 2x2 on CPUs without AVX-512. conv_taps.c computes it then. */
#include "train/layer.h"

#include "base/parallel.h"
#include "train/onednn.h"

#include <string.h>

/* Of OpenMP's library, with which oneDNN has its threads; clang has no omp.h unless another package is there. */
int omp_get_max_threads(void);
void omp_set_num_threads(int threads);

enum { CONV_PIECE_MOST = 2 * PIECE }; /* the most images in a piece */

/* oneDNN's primitives for pieces of one number of images, made when the first such piece occurs. */
typedef struct {
    dnnl_primitive_desc_t desc[WAYS];
    /* run[BACK_DATA] is NULL for the network's first layer, whose input (the images) needs no gradient;
     * run[BACK_WEIGHTS] is NULL where oneDNN has only its reference code */
    dnnl_primitive_t run[WAYS];
} PiecePrimitives;

typedef struct {
    dnnl_engine_t engine;
    size_t images;        /* images in a full piece: PIECE, or CONV_PIECE_MOST if the layer's images have few
                           * pixels */
    dnnl_alg_kind_t back; /* algorithm of the gradients; forward always uses the direct algorithm */
    /* piece[k]: primitives for pieces of k images */
    PiecePrimitives piece[CONV_PIECE_MOST + 1];
    dnnl_dims_t dims; /* of the weights */
    /* orders of the weights in memory for the forward pass and for the two parts of the backward pass;
     * oneDNN chooses them when the first primitives are made */
    dnnl_memory_desc_t order[WAYS];
} Primitives;

static Status dnnl_check(dnnl_status_t status, const char *what, Error *err)
{
    if (status == dnnl_out_of_memory)
        return FAIL(err, ERR_MEMORY, "oneDNN: out of memory for %s", what);
    return status == dnnl_success
               ? OK
               : FAIL(err, ERR_NUMERIC, "oneDNN: %s failed (status %d)", what, (int)status);
}

static dnnl_status_t activation_desc(dnnl_memory_desc_t *d, const Activation *v, bool blocked, size_t images)
{
    const dnnl_dims_t dims = {(dnnl_dim_t)images, (dnnl_dim_t)v->channels, (dnnl_dim_t)v->rows,
                              (dnnl_dim_t)v->columns};
    if (!blocked)
        return desc_make(d, 4, dims, dnnl_nhwc);
    return desc_make(d, 4, dims, v->lanes == 1 ? dnnl_nchw : v->lanes == 16 ? dnnl_nChw16c : dnnl_nChw8c);
}

/* ---- choosing the algorithm, and the number of images in a piece ---- */

/* Winograd's algorithm F(4x4, 3x3) (Lavin & Gray 2016) takes 36 products for 16 output pixels, where direct
 * sums take 144. Its relative rounding error is about 1e-6; direct sums have 2e-7. In the forward pass,
 * rounding changes the sign of some relu inputs, and each change alters the gradients of all earlier layers.
 * So the forward pass uses direct sums, and only gradients are computed by Winograd's algorithm. */
enum { TILE = 4, TILE_PRODUCTS = 36 };

static size_t tiles(const Activation *v)
{
    return (v->rows + TILE - 1) / TILE * ((v->columns + TILE - 1) / TILE);
}

/* Returns true if the gradients should be computed by Winograd's algorithm: the filters are 3x3 with stride 1
 * and padding 1, the input is blocked, and the algorithm saves at least half of the products. It saves less
 * if many tiles extend beyond the image. */
static bool winograd_saves(const Layer *l)
{
    const ConvSettings *c = l->settings;
    return c->size == 3 && c->stride == 1 && c->padding == 1 && c->blocked && l->in->lanes > 1 &&
           l->out->rows * l->out->columns * 9 >= 2 * TILE_PRODUCTS * tiles(l->out);
}

/* Returns the number of images in a full piece. Images with few pixels form larger pieces: each piece writes
 * a whole weight gradient, however few its pixels are. */
static size_t piece_images(const Layer *l)
{
    enum { FEW_PIXELS = 64 };
    return l->out->rows * l->out->columns <= FEW_PIXELS ? CONV_PIECE_MOST : PIECE;
}

/* ---- making oneDNN's primitives ---- */

/* Descriptors of the activations of a piece and of the bias. */
typedef struct {
    dnnl_memory_desc_t in, out, bias;
} Sides;

static dnnl_status_t sides_open(Sides *d, const Layer *l, size_t images)
{
    const dnnl_dims_t channels = {(dnnl_dim_t)l->out->channels};
    const bool blocked = ((const ConvSettings *)l->settings)->blocked;
    dnnl_status_t status = activation_desc(&d->in, l->in, blocked, images);
    if (status == dnnl_success)
        status = activation_desc(&d->out, l->out, blocked, images);
    return status == dnnl_success ? desc_make(&d->bias, 1, channels, dnnl_a) : status;
}

static void sides_close(Sides *d)
{
    desc_drop(&d->in);
    desc_drop(&d->out);
    desc_drop(&d->bias);
}

static dnnl_status_t describe(const Layer *l, const Primitives *s, PiecePrimitives *piece, const Sides *d,
                              dnnl_primitive_attr_t attr)
{
    const ConvSettings *c = l->settings;
    const dnnl_dim_t stride = (dnnl_dim_t)c->stride, pad = (dnnl_dim_t)c->padding;
    Convolution conv = {.in = desc_of(&d->in),
                        .bias = l->bias ? desc_of(&d->bias) : NULL,
                        .out = desc_of(&d->out),
                        .strides = {stride, stride},
                        .pads = {pad, pad}};
    dnnl_status_t status = dnnl_success;
    for (int way = 0; way < WAYS && status == dnnl_success; way++) {
        conv.algorithm = way == FORWARD ? dnnl_convolution_direct : s->back;
        conv.weights = desc_of(&s->order[way]);
        if (way != BACK_DATA || l->in->dx)
            status =
                convolution_describe(&piece->desc[way], way, &conv, s->engine, piece->desc[FORWARD], attr);
    }
    return status;
}

static dnnl_status_t choose(const Layer *l, const Primitives *s, PiecePrimitives *piece, size_t images)
{
    dnnl_primitive_attr_t attr;
    Sides sides = {0};
    dnnl_status_t status = dnnl_primitive_attr_create(&attr);
    if (status != dnnl_success)
        return status;
    dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user);
    status = sides_open(&sides, l, images);
    if (status == dnnl_success)
        status = describe(l, s, piece, &sides, attr);
    sides_close(&sides);
    dnnl_primitive_attr_destroy(attr);
    return status;
}

/* Gives up oneDNN's gradient of the weights where it is oneDNN's reference code. */
static void drop_reference(PiecePrimitives *piece)
{
    const char *code = NULL;
    if (dnnl_primitive_desc_query(piece->desc[BACK_WEIGHTS], dnnl_query_impl_info_str, 0, (void *)&code) ==
            dnnl_success &&
        !strncmp(code, "ref", 3)) {
        dnnl_primitive_desc_destroy(piece->desc[BACK_WEIGHTS]);
        piece->desc[BACK_WEIGHTS] = NULL;
    }
}

static dnnl_status_t keep_orders(Primitives *s, const PiecePrimitives *piece)
{
    static const dnnl_query_t weights[WAYS] = {dnnl_query_weights_md, dnnl_query_weights_md,
                                               dnnl_query_diff_weights_md};
    dnnl_status_t status = dnnl_success;
    for (int way = 0; way < WAYS && status == dnnl_success; way++)
        if (piece->desc[way] && desc_kind(desc_of(&s->order[way])) == dnnl_format_kind_any) {
            desc_drop(&s->order[way]);
            status =
                desc_copy(&s->order[way], dnnl_primitive_desc_query_md(piece->desc[way], weights[way], 0));
        }
    return status;
}

/* Makes the primitives for pieces of `images` images, for one thread: oneDNN fixes the number of threads
 * when it makes a primitive. */
static dnnl_status_t piece_make(const Layer *l, Primitives *s, size_t images)
{
    PiecePrimitives *piece = &s->piece[images];
    const int before = omp_get_max_threads();
    omp_set_num_threads(1);
    dnnl_status_t status = choose(l, s, piece, images);
    if (status == dnnl_success)
        drop_reference(piece);
    for (int way = 0; way < WAYS && status == dnnl_success; way++)
        if (piece->desc[way])
            status = dnnl_primitive_create(&piece->run[way], piece->desc[way]);
    omp_set_num_threads(before);
    return status == dnnl_success ? keep_orders(s, piece) : status;
}

static void pieces_drop(Primitives *s)
{
    for (size_t i = 0; i < countof(s->piece); i++) {
        PiecePrimitives *piece = &s->piece[i];
        for (int way = 0; way < WAYS; way++) {
            if (piece->run[way])
                dnnl_primitive_destroy(piece->run[way]);
            if (piece->desc[way])
                dnnl_primitive_desc_destroy(piece->desc[way]);
        }
        *piece = (PiecePrimitives){0};
    }
}

static dnnl_status_t begin(Primitives *s, dnnl_alg_kind_t algorithm)
{
    dnnl_status_t status = dnnl_success;
    pieces_drop(s);
    s->back = algorithm;
    for (int way = 0; way < WAYS && status == dnnl_success; way++) {
        desc_drop(&s->order[way]);
        status = desc_make(&s->order[way], 4, s->dims, dnnl_format_tag_any);
    }
    return status;
}

static const char making[] = "making a convolution";

static Status piece_ready(Primitives *s, const Layer *l, size_t images, Error *err)
{
    if (s->piece[images].run[FORWARD])
        return OK;
    return dnnl_check(piece_make(l, s, images), making, err);
}

/* Makes the primitives for a pass over `images` images that do not exist yet. Not thread-safe. */
static Status primitives_ready(Primitives *s, const Layer *l, size_t images, Error *err)
{
    if (images >= s->images)
        TRY(piece_ready(s, l, s->images, err));
    return images % s->images ? piece_ready(s, l, images % s->images, err) : OK;
}

/* After a failure, `primitives_close` frees the primitives made so far. */
static Status primitives_open(Primitives *s, const Layer *l, size_t images, Error *err)
{
    const size_t *dim = l->weight->shape.dim;
    for (int i = 0; i < 4; i++)
        s->dims[i] = (dnnl_dim_t)dim[i];
    s->images = piece_images(l);
    TRY(dnnl_check(dnnl_engine_create(&s->engine, dnnl_cpu, 0), "engine", err));
    TRY(dnnl_check(begin(s, winograd_saves(l) ? dnnl_convolution_winograd : dnnl_convolution_direct), making,
                   err));
    if (s->back == dnnl_convolution_winograd && piece_make(l, s, s->images) != dnnl_success)
        /* second try, without Winograd's algorithm, which oneDNN has only for some CPUs */
        TRY(dnnl_check(begin(s, dnnl_convolution_direct), making, err));
    return primitives_ready(s, l, images, err);
}

static void primitives_close(Primitives *s)
{
    pieces_drop(s);
    for (int way = 0; way < WAYS; way++)
        desc_drop(&s->order[way]);
    if (s->engine)
        dnnl_engine_destroy(s->engine);
}

/* ---- copying weights between the order [out][in][row][column] and oneDNN's blocked orders ----
 *
 * In a blocked order, the offset of weight (o, i, row, column) is a sum of four terms, one for each index.
 * So small tables of terms describe the order. oneDNN's own function for such copies takes longer than some
 * convolutions. */

enum { DIMS = 4 };

typedef struct {
    size_t out, in, kernel; /* kernel: number of rows times number of columns of the kernel */
    size_t *out_at, *in_at, *kernel_at;
    size_t group; /* number of outputs that one parallel task copies */
    float *plain, *ordered;
    bool back; /* true: copy `ordered` to `plain` */
} Reorder;

/* Returns the term that index x of dimension `dim` adds to a weight's offset: its offset within the inner
 * blocks plus the offset of its outer block. */
static size_t term(const Blocks *b, int dim, size_t x)
{
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

/* Returns the number of floats that the weights take in a blocked order, with padding, rounded up to whole
 * cache lines. */
static size_t weights_room(MemoryDesc order)
{
    enum { LINE = 16 };
    return (dnnl_memory_desc_get_size(order) / sizeof(float) + LINE - 1) / LINE * LINE;
}

static Status reorder_open(Reorder *w, MemoryDesc order, Arena *scratch, Error *err)
{
    if (desc_kind(order) != dnnl_blocked)
        return FAIL(err, ERR_NUMERIC, "oneDNN: weights in an order that is not blocked");
    const Blocks blocks = desc_blocks(order), *d = &blocks;
    if (d->ndims != DIMS)
        return FAIL(err, ERR_NUMERIC, "oneDNN: weights of %d dimensions, want %d", d->ndims, DIMS);
    const size_t rows = (size_t)d->dims[2], columns = (size_t)d->dims[3];
    w->out = (size_t)d->dims[0];
    w->in = (size_t)d->dims[1];
    w->kernel = rows * columns;
    w->group = layer_lanes();
    w->out_at = NEW(scratch, size_t, w->out);
    w->in_at = NEW(scratch, size_t, w->in);
    w->kernel_at = NEW(scratch, size_t, w->kernel);
    TRY(arena_check(w->out_at && w->in_at && w->kernel_at, scratch, err));
    for (size_t o = 0; o < w->out; o++)
        w->out_at[o] = term(d, 0, o);
    for (size_t i = 0; i < w->in; i++)
        w->in_at[i] = term(d, 1, i);
    for (size_t k = 0; k < w->kernel; k++)
        w->kernel_at[k] = term(d, 2, k / columns) + term(d, 3, k % columns);
    return OK;
}

/* Copies the weights of a group of outputs. The outermost loop is over inputs, so that the scattered accesses stay
 * within the L1 cache. */
static void copy_group(void *data, size_t group)
{
    const Reorder w = *(const Reorder *)data;
    const size_t from = group * w.group, to = from + w.group < w.out ? from + w.group : w.out;
    for (size_t i = 0; i < w.in; i++)
        for (size_t o = from; o < to; o++) {
            float *x = w.plain + (o * w.in + i) * w.kernel, *y = w.ordered + w.out_at[o] + w.in_at[i];
            if (w.back)
                for (size_t k = 0; k < w.kernel; k++)
                    x[k] = y[w.kernel_at[k]];
            else
                for (size_t k = 0; k < w.kernel; k++)
                    y[w.kernel_at[k]] = x[k];
        }
}

/* Copies weights to an order of oneDNN; with `back`, from it. */
static Status weights_copy(float *plain, MemoryDesc order, float *ordered, bool back, const Pass *p)
{
    Reorder w = {.plain = plain, .ordered = ordered, .back = back};
    TRY(reorder_open(&w, order, p->scratch, p->err));
    if (!back && weights_room(order) > w.out * w.in * w.kernel) /* channels that pad a block must be 0 */
        memset(ordered, 0, weights_room(order) * sizeof *ordered);
    parallel_for(p->threads, (w.out + w.group - 1) / w.group, copy_group, &w);
    return OK;
}

/* ---- a forward or backward pass over all pieces of images ---- */

static MemoryDesc wanted(const PiecePrimitives *p, int way, dnnl_query_t what)
{
    return dnnl_primitive_desc_query_md(p->desc[way], what, 0);
}

static dnnl_memory_t lend(const Primitives *s, MemoryDesc d, const void *data)
{
    dnnl_memory_t m = NULL;
    dnnl_memory_create(&m, d, s->engine, (void *)(uintptr_t)data);
    return m;
}

enum { ARGS_MOST = 5 };

typedef struct {
    int arg;
    MemoryDesc desc;
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
    /* some primitives read OpenMP's number of threads again when they run; it must be 1, as when they were
     * made */
    omp_set_num_threads(1);
    status = dnnl_primitive_execute(run, stream, used, args);
    omp_set_num_threads(before);
    dnnl_stream_wait(stream);
    for (int i = 0; i < used; i++)
        dnnl_memory_destroy(args[i].memory);
    dnnl_stream_destroy(stream);
    return status;
}

/* A forward or backward pass of the layer. Its pieces (a few images each) run in parallel. A slot is the
 * scratch memory of one thread. */
typedef struct {
    const Layer *l;
    const Primitives *s;
    const Pass *p;
    const float *weights; /* the layer's weights in the blocked order of the primitives */
    uint8_t *scratch;     /* (slots, room) bytes */
    size_t room;
    /* (pieces, each) the weight gradient of each piece, and from index `bias_at` on its bias gradient */
    float *partial;
    size_t each, bias_at;
    /* (slots, floats of a full piece) gradients of a piece's input, to be added to `dx`; NULL: they are
     * written to `dx` directly */
    float *aside;
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

/* Opens a pass. A slot's scratch memory is large enough for a full piece and for the last, shorter piece. */
static Status work_open(Work *w, const Layer *l, const Pass *p, int way)
{
    *w = (Work){.l = l, .s = l->state, .p = p};
    TRY(primitives_ready(l->state, l, p->images, p->err));
    const size_t sizes[2] = {w->s->images, p->images % w->s->images};
    for (int i = 0; i < 2; i++) {
        const PiecePrimitives *piece = &w->s->piece[sizes[i]];
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
    MemoryDesc order = desc_of(&w->s->order[way]);
    float *ordered = NEW(w->p->scratch, float, weights_room(order));
    TRY(arena_check(ordered, w->p->scratch, w->p->err));
    w->weights = ordered;
    /* the cast only removes const: the weights are read */
    return weights_copy((float *)(uintptr_t)w->p->weights + w->l->weight->offset, order, ordered, false, w->p);
}

static Status work_run(Work *w, void (*body)(void *data, size_t piece, size_t slot))
{
    parallel_for_slots(w->p->threads, pieces(w), body, w);
    for (size_t i = 0; i < pieces(w); i++)
        TRY(dnnl_check(w->status[i], "convolution", w->p->err));
    return OK;
}

static const float *at(const Work *w, const Activation *v, const float *x, size_t piece)
{
    return x + piece * w->s->images * activation_size(v);
}

static void forward_piece(void *data, size_t piece, size_t slot)
{
    const Work *w = data;
    const Layer *l = w->l;
    const PiecePrimitives *p = &w->s->piece[images_of(w, piece)];
    const Argument arg[] = {
        {DNNL_ARG_SRC, wanted(p, FORWARD, dnnl_query_src_md), at(w, l->in, l->in->x, piece)},
        {DNNL_ARG_WEIGHTS, desc_of(&w->s->order[FORWARD]), w->weights},
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
    const size_t images = images_of(w, piece), whole = w->s->images * activation_size(l->in);
    const PiecePrimitives *p = &w->s->piece[images];
    float *restrict dx = l->in->dx + piece * whole;
    float *restrict aside = w->aside ? w->aside + slot * whole : NULL;
    const Argument arg[] = {
        {DNNL_ARG_DIFF_DST, wanted(p, BACK_DATA, dnnl_query_diff_dst_md), at(w, l->out, l->out->dx, piece)},
        {DNNL_ARG_WEIGHTS, desc_of(&w->s->order[BACK_DATA]), w->weights},
        {DNNL_ARG_DIFF_SRC, wanted(p, BACK_DATA, dnnl_query_diff_src_md), aside ? aside : dx},
        {DNNL_ARG_SCRATCHPAD, wanted(p, BACK_DATA, dnnl_query_scratchpad_md), w->scratch + slot * w->room},
    };
    w->status[piece] = execute(w->s, p->run[BACK_DATA], arg, countof(arg));
    if (aside)
        for (size_t i = 0; i < images * activation_size(l->in); i++)
            dx[i] += aside[i];
}

static Status backward_data(const Layer *l, const Pass *p)
{
    if (!l->in->dx)
        return OK;
    Work w;
    TRY(work_open(&w, l, p, BACK_DATA));
    TRY(work_weights(&w, BACK_DATA));
    if (l->in->accumulate) {
        w.aside = NEW(p->scratch, float, slots(&w) * w.s->images * activation_size(l->in));
        TRY(arena_check(w.aside, p->scratch, p->err));
    }
    l->in->accumulate = true;
    return work_run(&w, data_piece);
}

static void weights_piece(void *data, size_t piece, size_t slot)
{
    const Work *w = data;
    const Layer *l = w->l;
    const PiecePrimitives *p = &w->s->piece[images_of(w, piece)];
    float *partial = w->partial + piece * w->each;
    const Argument arg[] = {
        {DNNL_ARG_SRC, wanted(p, BACK_WEIGHTS, dnnl_query_src_md), at(w, l->in, l->in->x, piece)},
        {DNNL_ARG_DIFF_DST, wanted(p, BACK_WEIGHTS, dnnl_query_diff_dst_md),
         at(w, l->out, l->out->dx, piece)},
        {DNNL_ARG_DIFF_WEIGHTS, desc_of(&w->s->order[BACK_WEIGHTS]), partial},
        {DNNL_ARG_DIFF_BIAS,
         l->bias ? dnnl_primitive_desc_query_md(p->desc[BACK_WEIGHTS], dnnl_query_diff_weights_md, 1) : NULL,
         partial + w->bias_at},
        {DNNL_ARG_SCRATCHPAD, wanted(p, BACK_WEIGHTS, dnnl_query_scratchpad_md), w->scratch + slot * w->room},
    };
    w->status[piece] = execute(w->s, p->run[BACK_WEIGHTS], arg, countof(arg));
}

enum { RUN = 4096 }; /* floats that one parallel task of add_run adds up */

/* Adds up RUN elements of the gradients of all pieces, in the order of the pieces. The sums replace those of
 * the first piece. */
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
    MemoryDesc order = desc_of(&w.s->order[BACK_WEIGHTS]);
    w.bias_at = weights_room(order);
    w.each = w.bias_at + (l->bias ? whole_lines(l->out->channels * sizeof(float)) / sizeof(float) : 0);
    w.partial = NEW(p->scratch, float, pieces(&w) * w.each);
    TRY(arena_check(w.partial, p->scratch, p->err));
    TRY(work_run(&w, weights_piece));
    parallel_for(p->threads, (w.each + RUN - 1) / RUN, add_run, &w);
    if (l->bias)
        memcpy(p->gradient + l->bias->offset, w.partial + w.bias_at, l->out->channels * sizeof(float));
    return weights_copy(p->gradient + l->weight->offset, order, w.partial, true, p);
}

/* Returns true if oneDNN has fast code for the gradient of the weights, for full pieces and for the last one. */
static bool weights_fast(const Primitives *s, size_t images)
{
    const size_t rest = images % s->images;
    return (images < s->images || s->piece[s->images].run[BACK_WEIGHTS]) &&
           (!rest || s->piece[rest].run[BACK_WEIGHTS]);
}

static Status backward(Layer *l, const Pass *p)
{
    TRY(primitives_ready(l->state, l, p->images, p->err));
    TRY((weights_fast(l->state, p->images) ? backward_weights : conv_taps_weights)(l, p));
    return backward_data(l, p);
}

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

const LayerOps conv_layer = {
    .name = "conv", .open = open, .forward = forward, .backward = backward, .close = close};
