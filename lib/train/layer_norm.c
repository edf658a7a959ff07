/* layer_norm.c -- layer norm (Ba et al. 2016) of the channels of each token. */
#include "train/layer.h"

#include "base/parallel.h"
#include "train/rows.h"

#include <string.h>

typedef struct {
    const Layer *l;
    const Pass *p;
    float *partial; /* (pieces, 2, channels) the gradients of weight and bias from one piece of the images */
} Work;

/* The state of the layer: for each token its mean and scale. */
static Status open(Layer *l, size_t images, Arena *a, Error *err)
{
    l->state = NEW(a, float, 2 * images * l->in->rows);
    return arena_check(l->state, a, err);
}

static size_t piece_end(const Work *w, size_t piece)
{
    const size_t to = (piece + 1) * PIECE;
    return (to < w->p->images ? to : w->p->images) * w->l->in->rows;
}

static void forward_piece(void *data, size_t piece)
{
    const Work *w = data;
    const Layer *l = w->l;
    const size_t n = l->in->channels;
    const float *weight = w->p->weights + l->weight->offset,
                *bias = l->bias ? w->p->weights + l->bias->offset : NULL;
    const RowLoops *rows = row_loops();
    for (size_t i = piece * PIECE * l->in->rows, end = piece_end(w, piece); i < end; i++)
        rows->norm(n, l->in->x + i * n, weight, bias, l->out->x + i * n, (float *)l->state + 2 * i);
}

static void backward_piece(void *data, size_t piece)
{
    const Work *w = data;
    const Layer *l = w->l;
    const size_t n = l->in->channels;
    const float *weight = w->p->weights + l->weight->offset;
    float *dweight = w->partial + 2 * piece * n, *dbias = l->bias ? dweight + n : NULL;
    const RowLoops *rows = row_loops();
    for (size_t i = piece * PIECE * l->in->rows, end = piece_end(w, piece); i < end; i++)
        rows->norm_back(n, l->in->x + i * n, weight, l->out->dx + i * n, (float *)l->state + 2 * i,
                        l->in->accumulate, l->in->dx + i * n, dweight, dbias);
}

/* A variance beyond float32 would give the scale 0, and so a loss as of constant outputs. */
static Status check_scales(const Layer *l, size_t tokens, Error *err)
{
    const float *state = l->state;
    for (size_t i = 0; i < tokens; i++)
        if (!(state[2 * i + 1] > 0))
            return FAIL(err, ERR_NUMERIC, "layer norm: the variance of token %zu is not finite in float32",
                        i);
    return OK;
}

static Status forward(Layer *l, const Pass *p)
{
    Work w = {.l = l, .p = p};
    parallel_for(p->threads, pieces_of(p->images), forward_piece, &w);
    return check_scales(l, p->images * l->in->rows, p->err);
}

static void add_pieces(const Work *w, size_t part, float *gradient)
{
    const size_t n = w->l->in->channels;
    memset(gradient, 0, n * sizeof *gradient);
    for (size_t piece = 0; piece < pieces_of(w->p->images); piece++)
        for (size_t k = 0; k < n; k++)
            gradient[k] += w->partial[(2 * piece + part) * n + k];
}

static Status backward(Layer *l, const Pass *p)
{
    Work w = {.l = l, .p = p};
    w.partial = NEW_ZERO(p->scratch, float, pieces_of(p->images) * 2 * l->in->channels);
    TRY(arena_check(w.partial, p->scratch, p->err));
    parallel_for(p->threads, pieces_of(p->images), backward_piece, &w);
    add_pieces(&w, 0, p->gradient + l->weight->offset);
    if (l->bias)
        add_pieces(&w, 1, p->gradient + l->bias->offset);
    l->in->accumulate = true;
    return OK;
}

const LayerOps layer_norm_layer = {
    .name = "layer norm", .open = open, .forward = forward, .backward = backward};
