/* tokens.c -- the layers of tokens: embedding, layer norm, GELU, and causal self-attention. */
#include "train/build.h"

#include "base/parallel.h"
#include "math/linalg.h"
#include "train/rows.h"

#include <math.h>
#include <string.h>

/* ---- the loops for this CPU ---- */

extern const RowLoops row_loops_base, row_loops_avx2, row_loops_avx512;
static const RowLoops *const tables[ISA_COUNT] = {
    &row_loops_base,
#if defined(__x86_64__) && !defined(KERNELS_MOST)
    &row_loops_avx2,
    &row_loops_avx512,
#endif
};

const RowLoops *row_loops(void)
{
    Isa isa = isa_of_cpu();
    while (!tables[isa]) /* not in this build */
        isa--;
    return tables[isa];
}

/* ---- token and position embeddings: y[t] = tokens[x[t]] + positions[t] ----
 *
 * The weights of the output
 * layer must be the token embeddings (tied weights, `build_tied`). */

static Status embedding_forward(Layer *l, const Pass *p)
{
    const size_t width = l->out->channels, length = l->out->rows;
    const float *tokens = p->weights + l->weight->offset, *positions = p->weights + l->bias->offset;
    for (size_t i = 0; i < p->images * length; i++) {
        const float *token = tokens + (size_t)l->in->x[i] * width, *position = positions + i % length * width;
        float *y = l->out->x + i * width;
        for (size_t k = 0; k < width; k++)
            y[k] = token[k] + position[k];
    }
    return OK;
}

/* Adds to the gradient of the token embeddings. The output layer, whose embedding_backward pass runs earlier, has
 * already written its part of this gradient. */
static Status embedding_backward(Layer *l, const Pass *p)
{
    const size_t width = l->out->channels, length = l->out->rows;
    float *tokens = p->gradient + l->weight->offset, *positions = p->gradient + l->bias->offset;
    memset(positions, 0, l->bias->shape.n * sizeof *positions);
    for (size_t i = 0; i < p->images * length; i++) {
        const float *dy = l->out->dx + i * width;
        float *token = tokens + (size_t)l->in->x[i] * width, *position = positions + i % length * width;
        for (size_t k = 0; k < width; k++) {
            token[k] += dy[k];
            position[k] += dy[k];
        }
    }
    return OK;
}

static const LayerOps embedding_layer = {.name = "embedding", .forward = embedding_forward, .backward = embedding_backward};

/* ---- layer norm (Ba et al. 2016) of the channels of each token; epsilon 1e-5 ---- */

typedef struct {
    const Layer *l;
    const Pass *p;
    float *partial; /* (pieces, 2, channels) the gradients of weight and bias from one piece of the images */
} NormWork;

/* The state of the layer: for each token its mean and scale. */
static Status norm_open(Layer *l, size_t images, Arena *a, Error *err)
{
    l->state = NEW(a, float, 2 * images * l->in->rows);
    return arena_check(l->state, a, err);
}

static size_t norm_piece_end(const NormWork *w, size_t piece)
{
    const size_t to = (piece + 1) * PIECE;
    return (to < w->p->images ? to : w->p->images) * w->l->in->rows;
}

static void norm_forward_piece(void *data, size_t piece)
{
    const NormWork *w = data;
    const Layer *l = w->l;
    const size_t n = l->in->channels;
    const float *weight = w->p->weights + l->weight->offset,
                *bias = l->bias ? w->p->weights + l->bias->offset : NULL;
    const RowLoops *rows = row_loops();
    for (size_t i = piece * PIECE * l->in->rows, end = norm_piece_end(w, piece); i < end; i++)
        rows->norm(n, l->in->x + i * n, weight, bias, l->out->x + i * n, (float *)l->state + 2 * i);
}

static void norm_backward_piece(void *data, size_t piece)
{
    const NormWork *w = data;
    const Layer *l = w->l;
    const size_t n = l->in->channels;
    const float *weight = w->p->weights + l->weight->offset;
    float *dweight = w->partial + 2 * piece * n, *dbias = l->bias ? dweight + n : NULL;
    const RowLoops *rows = row_loops();
    for (size_t i = piece * PIECE * l->in->rows, end = norm_piece_end(w, piece); i < end; i++)
        rows->norm_back(n, l->in->x + i * n, weight, l->out->dx + i * n, (float *)l->state + 2 * i,
                        l->in->accumulate, l->in->dx + i * n, dweight, dbias);
}

/* A variance beyond float32 would give the scale 0, and so a loss as of constant outputs. */
static Status norm_check_scales(const Layer *l, size_t tokens, Error *err)
{
    const float *state = l->state;
    for (size_t i = 0; i < tokens; i++)
        if (!(state[2 * i + 1] > 0))
            return FAIL(err, ERR_NUMERIC, "layer norm: the variance of token %zu is not finite in float32",
                        i);
    return OK;
}

static Status norm_forward(Layer *l, const Pass *p)
{
    NormWork w = {.l = l, .p = p};
    parallel_for(p->threads, pieces_of(p->images), norm_forward_piece, &w);
    return norm_check_scales(l, p->images * l->in->rows, p->err);
}

static void norm_add_pieces(const NormWork *w, size_t part, float *gradient)
{
    const size_t n = w->l->in->channels;
    memset(gradient, 0, n * sizeof *gradient);
    for (size_t piece = 0; piece < pieces_of(w->p->images); piece++)
        for (size_t k = 0; k < n; k++)
            gradient[k] += w->partial[(2 * piece + part) * n + k];
}

static Status norm_backward(Layer *l, const Pass *p)
{
    NormWork w = {.l = l, .p = p};
    w.partial = NEW_ZERO(p->scratch, float, pieces_of(p->images) * 2 * l->in->channels);
    TRY(arena_check(w.partial, p->scratch, p->err));
    parallel_for(p->threads, pieces_of(p->images), norm_backward_piece, &w);
    norm_add_pieces(&w, 0, p->gradient + l->weight->offset);
    if (l->bias)
        norm_add_pieces(&w, 1, p->gradient + l->bias->offset);
    l->in->accumulate = true;
    return OK;
}

static const LayerOps layer_norm_layer = {
    .name = "layer norm", .open = norm_open, .forward = norm_forward, .backward = norm_backward};

/* ---- attention with several heads (Vaswani et al. 2017) ----
 *
 * The input of token t is q[t], k[t], v[t], side by side; each has `heads` parts of `width` channels. For each
 * head: s[t][u] = q[t] k[u] / sqrt(width) for u <= t, p[t] = softmax(s[t]), y[t] = sum over u of p[t][u] v[u].
 *
 * Blocks of BLOCK_ROWS tokens t are computed one by one, with the keys u up to the block's end. So no matrix of
 * all pairs of tokens is stored. The forward pass keeps log(sum of exp(s[t])) of each token, and the backward
 * pass computes p again from it. */

typedef struct {
    size_t heads; /* divides the number of channels */
} AttentionSettings;

enum { BLOCK_ROWS = 64 };

typedef struct {
    const Layer *l;
    const Pass *p;
    size_t heads, width, length;
    float *room; /* (slots, `room_floats`) */
    size_t room_floats;
} Work;

/* Matrices of one head of one image: (length, width), and `s` and `d` with BLOCK_ROWS rows of up to `length`
 * columns. `y`, `dy` and `dq` have the rows of one block. */
typedef struct {
    float *q, *k, *v, *dk, *dv, *y, *dy, *dq, *s, *d;
} Head;

static Status attention_open(Layer *l, size_t images, Arena *a, Error *err)
{
    const AttentionSettings *s = l->settings;
    l->state = NEW(a, float, images * s->heads * l->in->rows);
    return arena_check(l->state, a, err);
}

static Status work_open(Work *w, const Layer *l, const Pass *p)
{
    const AttentionSettings *s = l->settings;
    const size_t width = l->out->channels / s->heads, length = l->out->rows;
    *w = (Work){.l = l, .p = p, .heads = s->heads, .width = width, .length = length};
    w->room_floats = 5 * length * width + 3 * BLOCK_ROWS * width + 2 * BLOCK_ROWS * length;
    w->room = NEW(p->scratch, float, parallel_slots(p->threads, p->images * s->heads) * w->room_floats);
    return arena_check(w->room, p->scratch, p->err);
}

static Head head_of(const Work *w, size_t slot)
{
    float *at = w->room + slot * w->room_floats;
    const size_t all = w->length * w->width, block = BLOCK_ROWS * w->width;
    Head h = {.q = at, .k = at + all, .v = at + 2 * all, .dk = at + 3 * all, .dv = at + 4 * all};
    at += 5 * all;
    h.y = at;
    h.dy = at + block;
    h.dq = at + 2 * block;
    h.s = at + 3 * block;
    h.d = h.s + BLOCK_ROWS * w->length;
    return h;
}

/* ---- copying `rows` rows of `width` floats, between rows that are `step` floats apart and a matrix ---- */

static void gather(const Work *w, const float *from, size_t step, size_t rows, float *to)
{
    for (size_t i = 0; i < rows; i++)
        memcpy(to + i * w->width, from + i * step, w->width * sizeof *to);
}

static void scatter(const Work *w, const float *from, size_t rows, float *to, size_t step)
{
    for (size_t i = 0; i < rows; i++)
        memcpy(to + i * step, from + i * w->width, w->width * sizeof *to);
}

static void gather_inputs(const Work *w, const Head *h, size_t image, size_t head)
{
    const size_t channels = w->l->out->channels, step = 3 * channels;
    const float *x = w->l->in->x + image * w->length * step + head * w->width;
    gather(w, x, step, w->length, h->q);
    gather(w, x + channels, step, w->length, h->k);
    gather(w, x + 2 * channels, step, w->length, h->v);
}

/* ---- products of one block: queries `from` .. `from` + rows - 1, keys 0 .. keys - 1 ---- */

/* c = scale a b' */
static void rows_by_rows(const Work *w, const float *a, const float *b, size_t rows, size_t keys,
                         double scale, float *c)
{
    linalg_multiply(&(Product){.a = a,
                               .b = b,
                               .b_turned = true,
                               .c = c,
                               .m = rows,
                               .n = keys,
                               .k = w->width,
                               .scale = (float)scale},
                    1);
}

/* c = scale s b */
static void mix_keys(const Work *w, const float *s, const float *b, size_t rows, size_t keys, double scale,
                     float *c)
{
    linalg_multiply(
        &(Product){.a = s, .b = b, .c = c, .m = rows, .n = w->width, .k = keys, .scale = (float)scale}, 1);
}

/* c = c + scale s' b */
static void add_to_keys(const Work *w, const float *s, const float *b, size_t rows, size_t keys, double scale,
                        float *c)
{
    linalg_multiply(&(Product){.a = s,
                               .a_turned = true,
                               .b = b,
                               .c = c,
                               .m = keys,
                               .n = w->width,
                               .k = rows,
                               .add = true,
                               .scale = (float)scale},
                    1);
}

static size_t block_rows(const Work *w, size_t from)
{
    return w->length - from < BLOCK_ROWS ? w->length - from : BLOCK_ROWS;
}

/* ---- attention_forward ---- */

static void forward_head(void *data, size_t piece, size_t slot)
{
    const Work *w = data;
    const Head h = head_of(w, slot);
    const size_t image = piece / w->heads, head = piece % w->heads, channels = w->l->out->channels;
    const RowLoops *rows = row_loops();
    float *sums = (float *)w->l->state + piece * w->length;
    float *y = w->l->out->x + image * w->length * channels + head * w->width;
    gather_inputs(w, &h, image, head);
    for (size_t from = 0; from < w->length; from += BLOCK_ROWS) {
        const size_t count = block_rows(w, from), keys = from + count;
        rows_by_rows(w, h.q + from * w->width, h.k, count, keys, 1 / sqrt((double)w->width), h.s);
        for (size_t i = 0; i < count; i++) {
            const size_t seen = from + i + 1;
            sums[from + i] = rows->softmax(seen, h.s + i * keys);
            memset(h.s + i * keys + seen, 0, (keys - seen) * sizeof *h.s);
        }
        mix_keys(w, h.s, h.v, count, keys, 1, h.y);
        scatter(w, h.y, count, y + from * channels, channels);
    }
}

static Status attention_forward(Layer *l, const Pass *p)
{
    Work w;
    TRY(work_open(&w, l, p));
    parallel_for_slots(p->threads, p->images * w.heads, forward_head, &w);
    return OK;
}

/* ---- attention_backward: dp = dy v', ds = p (dp - (y dy)), dq = ds k, dk = ds' q, dv = p' dy ---- */

/* Computes p in h->s and ds in h->d for the block of queries from `from` on, whose dy is in h->dy. */
static void backward_scores(const Work *w, const Head *h, const float *sums, size_t from)
{
    const size_t count = block_rows(w, from), keys = from + count;
    const RowLoops *rows = row_loops();
    rows_by_rows(w, h->q + from * w->width, h->k, count, keys, 1 / sqrt((double)w->width), h->s);
    rows_by_rows(w, h->dy, h->v, count, keys, 1, h->d);
    for (size_t i = 0; i < count; i++) {
        const size_t seen = from + i + 1, rest = (keys - seen) * sizeof *h->s;
        float *s = h->s + i * keys, *d = h->d + i * keys;
        rows->exp_less(seen, sums[from + i], s);
        rows->softmax_back(seen, s, rows->dot(w->width, h->y + i * w->width, h->dy + i * w->width), d);
        memset(s + seen, 0, rest);
        memset(d + seen, 0, rest);
    }
}

static void backward_head(void *data, size_t piece, size_t slot)
{
    const Work *w = data;
    const Head h = head_of(w, slot);
    const size_t image = piece / w->heads, head = piece % w->heads, channels = w->l->out->channels;
    const double scale = 1 / sqrt((double)w->width);
    const size_t out = image * w->length * channels + head * w->width, step = 3 * channels;
    float *dx = w->l->in->dx + image * w->length * step + head * w->width;
    gather_inputs(w, &h, image, head);
    memset(h.dk, 0, 2 * w->length * w->width * sizeof *h.dk); /* dk, and dv behind it */
    for (size_t from = 0; from < w->length; from += BLOCK_ROWS) {
        const size_t count = block_rows(w, from), keys = from + count;
        gather(w, w->l->out->x + out + from * channels, channels, count, h.y);
        gather(w, w->l->out->dx + out + from * channels, channels, count, h.dy);
        backward_scores(w, &h, (const float *)w->l->state + piece * w->length, from);
        mix_keys(w, h.d, h.k, count, keys, scale, h.dq);
        scatter(w, h.dq, count, dx + from * step, step);
        add_to_keys(w, h.d, h.q + from * w->width, count, keys, scale, h.dk);
        add_to_keys(w, h.s, h.dy, count, keys, 1, h.dv);
    }
    scatter(w, h.dk, w->length, dx + channels, step);
    scatter(w, h.dv, w->length, dx + 2 * channels, step);
}

/* Only this layer reads its input, so the gradient is written, not added. */
static Status attention_backward(Layer *l, const Pass *p)
{
    Work w;
    TRY(work_open(&w, l, p));
    parallel_for_slots(p->threads, p->images * w.heads, backward_head, &w);
    l->in->accumulate = true;
    return OK;
}

static const LayerOps attention_layer = {
    .name = "attention", .open = attention_open, .forward = attention_forward, .backward = attention_backward};

/* ---- adding these layers to a network ---- */

static Activation *tokens_new(Builder *b, size_t length, size_t channels)
{
    return build_activation(
        b, (Activation){.channels = channels, .rows = length, .columns = 1, .lanes = channels});
}

static const Slice *matrix_add(Builder *b, const char *module, Kind kind, size_t rows, size_t columns,
                               double deviation)
{
    return build_slice(b, &b->parameters, module, "weight",
                       (Slice){.kind = kind,
                               .shape = shape_matrix(rows, columns),
                               .fan_in = columns,
                               .init = INIT_GIVEN,
                               .deviation = deviation});
}

Activation *build_embedding(Builder *b, const char *tokens_name, const char *positions_name, size_t width,
                            double deviation, const Slice **tokens)
{
    const size_t length = b->image->columns;
    Activation *out = tokens_new(b, length, width);
    Layer *l = build_layer(b, &embedding_layer, b->image, out, NULL, 0);
    l->weight = *tokens = matrix_add(b, tokens_name, KIND_EMBEDDING, b->classes, width, deviation);
    l->bias = matrix_add(b, positions_name, KIND_EMBEDDING, length, width, deviation);
    return out;
}

Activation *build_layer_norm(Builder *b, Activation *in, const char *name, bool bias)
{
    Activation *out = tokens_new(b, in->rows, in->channels);
    Layer *l = build_layer(b, &layer_norm_layer, in, out, NULL, 0);
    const Shape shape = shape_vector(in->channels);
    l->weight = build_slice(b, &b->parameters, name, "weight",
                            (Slice){.kind = KIND_NORM, .shape = shape, .init = INIT_ONE});
    if (bias)
        l->bias = build_slice(b, &b->parameters, name, "bias",
                              (Slice){.kind = KIND_NORM, .shape = shape, .init = INIT_ZERO});
    return out;
}

Activation *build_projection(Builder *b, Activation *in, const char *name, size_t outputs, double deviation,
                             bool bias)
{
    Activation *out = tokens_new(b, in->rows, outputs);
    Layer *l = build_layer(b, &linear_layer, in, out, NULL, 0);
    l->weight = matrix_add(b, name, KIND_FC, outputs, in->channels, deviation);
    if (bias)
        l->bias = build_slice(b, &b->parameters, name, "bias",
                              (Slice){.kind = KIND_BIAS, .shape = shape_vector(outputs), .init = INIT_ZERO});
    return out;
}

Activation *build_tied(Builder *b, Activation *in, const Slice *tokens)
{
    Activation *out = tokens_new(b, in->rows, tokens->shape.dim[0]);
    build_layer(b, &linear_layer, in, out, NULL, 0)->weight = tokens;
    return out;
}

Activation *build_attention(Builder *b, Activation *in, size_t heads)
{
    Activation *out = tokens_new(b, in->rows, in->channels / 3);
    build_layer(b, &attention_layer, in, out, &(AttentionSettings){heads}, sizeof(AttentionSettings));
    return out;
}
