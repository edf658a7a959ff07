/* conv_direct.c -- convolution over interleaved activations, whose last axis is a piece of PIECE images
 * (layer.h). The loops are in loops.h. For few channels this is faster than oneDNN. */
#include "nn/layer.h"

#include "nn/loops.h"
#include "base/parallel.h"

#include <string.h>

/* A tap is a row or a column of the kernel. `row` and `column` have the taps that contribute to an output
 * pixel in the forward pass. `back_row` and `back_column` have the taps that contribute to an input pixel in
 * the input gradient. */
typedef struct {
    Reach *row, *column;           /* the taps for each output row and for each output column */
    Reach *back_row, *back_column; /* the taps for each input row and for each input column */
} State;

/* Returns the taps of output row (or column) `at`. Tap t reads the input row at * stride + t - padding; taps
 * that would read outside the image are left out. */
static Reach reach(size_t at, size_t in, const ConvSettings *c)
{
    const size_t first = at * c->stride;
    Reach r = {.tap = first < c->padding ? c->padding - first : 0, .tap_step = 1, .at_step = 1};
    r.at = first + r.tap - c->padding;
    while (r.tap + r.count < c->size && r.at + r.count < in)
        r.count++;
    return r;
}

/* Returns the taps by which output rows (or columns) read the input row (or column) `at`. Tap t belongs to
 * the output row (at + padding - t) / stride, if this is an integer. */
static Reach reach_back(size_t at, size_t out, const ConvSettings *c)
{
    const size_t first = at + c->padding;
    Reach r = {.tap = first % c->stride, .tap_step = c->stride, .at_step = -1};
    while (r.tap < c->size && r.tap <= first && (first - r.tap) / c->stride >= out)
        r.tap += c->stride;
    if (r.tap > first)
        return (Reach){0};
    r.at = (first - r.tap) / c->stride;
    while (r.tap + r.count * c->stride < c->size && r.count <= r.at)
        r.count++;
    return r;
}

static Status open(Layer *l, size_t images, Arena *a, Error *err)
{
    (void)images;
    const Activation *in = l->in, *out = l->out;
    State *s = NEW(a, State, 1);
    Reach *r = NEW(a, Reach, in->rows + in->columns + out->rows + out->columns);
    TRY(arena_check(s && r, a, err));
    *s = (State){.row = r,
                 .column = r + out->rows,
                 .back_row = r + out->rows + out->columns,
                 .back_column = r + out->rows + out->columns + in->rows};
    for (size_t i = 0; i < out->rows; i++)
        s->row[i] = reach(i, in->rows, l->settings);
    for (size_t i = 0; i < out->columns; i++)
        s->column[i] = reach(i, in->columns, l->settings);
    for (size_t i = 0; i < in->rows; i++)
        s->back_row[i] = reach_back(i, out->rows, l->settings);
    for (size_t i = 0; i < in->columns; i++)
        s->back_column[i] = reach_back(i, out->columns, l->settings);
    l->state = s;
    return OK;
}

/* ---- weights in tiles, in the order in which the loops read them ---- */

/* Returns the number of outputs in a tile: at most as many as the widest loop computes at once, and a
 * multiple of 4. The outputs are divided evenly among the fewest possible tiles. */
static size_t width_of(size_t outputs)
{
    const size_t most = loops()->widest, tiles = (outputs + most - 1) / most;
    return ((outputs + tiles - 1) / tiles + 3) / 4 * 4;
}

static size_t padded_outputs(size_t outputs)
{
    const size_t width = width_of(outputs);
    return (outputs + width - 1) / width * width;
}

/* Copies weights into tiles, an array (tiles, inputs, taps, width). The weight of an output, an input and a
 * tap is at index output * output_step + input * input_step + tap of w. The last tile is padded with 0. */
static float *weights_tiled(const float *w, size_t outputs, size_t output_step, size_t inputs,
                            size_t input_step, size_t taps, Arena *a)
{
    const size_t width = width_of(outputs), all = padded_outputs(outputs);
    float *tiled = NEW(a, float, all *inputs *taps);
    if (!tiled)
        return NULL;
    for (size_t k = 0; k < all; k++)
        for (size_t c = 0; c < inputs; c++)
            for (size_t t = 0; t < taps; t++)
                tiled[((k / width * inputs + c) * taps + t) * width + k % width] =
                    k < outputs ? w[k * output_step + c * input_step + t] : 0;
    return tiled;
}

static float *bias_tiled(const float *bias, size_t outputs, Arena *a)
{
    float *tiled = NEW_ZERO(a, float, padded_outputs(outputs));
    if (tiled)
        memcpy(tiled, bias, outputs * sizeof *bias);
    return tiled;
}

/* ---- forward ---- */

static void direct_piece(void *direct, size_t piece)
{
    Direct d = *(const Direct *)direct;
    d.x += piece * PIECE * d.channels * d.x_rows * d.x_columns;
    d.y += piece * PIECE * d.outputs * d.rows * d.columns;
    loops()->direct(&d);
}

static Status forward(Layer *l, const Pass *p)
{
    const ConvSettings *c = l->settings;
    const State *s = l->state;
    const Activation *in = l->in, *out = l->out;
    const size_t taps = c->size * c->size;
    Direct d = {.x = in->x,
                .channels = in->channels,
                .x_rows = in->rows,
                .x_columns = in->columns,
                .row = s->row,
                .column = s->column,
                .size = c->size,
                .width = width_of(out->channels),
                .y = out->x,
                .outputs = out->channels,
                .rows = out->rows,
                .columns = out->columns};
    d.weight = weights_tiled(p->weights + l->weight->offset, out->channels, in->channels * taps, in->channels,
                             taps, taps, p->scratch);
    if (l->bias)
        d.bias = bias_tiled(p->weights + l->bias->offset, out->channels, p->scratch);
    if (!d.weight || (l->bias && !d.bias))
        return arena_fail(p->scratch, p->err);
    parallel_for(p->threads, pieces_of(p->images), direct_piece, &d);
    return OK;
}

/* ---- backward ---- */

typedef struct {
    const Layer *l;
    Direct dx;
    DirectWeights dw;
    size_t each;    /* floats of a piece's partial gradients: weights, then biases */
    float *partial; /* (pieces, each) partial gradients */
    float *padded;  /* (pieces, padded_each): the input with zero padding; NULL: the layer has no padding */
    size_t padded_each;
} Back;

static void pad(const Back *b, size_t piece, float *to)
{
    const Activation *in = b->l->in;
    const size_t padding = ((const ConvSettings *)b->l->settings)->padding;
    const float *x = in->x + piece * PIECE * activation_size(in);
    memset(to, 0, b->padded_each * sizeof *to);
    for (size_t c = 0; c < in->channels; c++)
        for (size_t row = 0; row < in->rows; row++, x += in->columns * PIECE)
            memcpy(to + ((c * b->dw.x_rows + row + padding) * b->dw.x_columns + padding) * PIECE, x,
                   in->columns * PIECE * sizeof *x);
}

static void backward_piece(void *data, size_t piece)
{
    Back *b = data;
    DirectWeights d = b->dw;
    d.dw = b->partial + piece * b->each;
    d.dbias = d.dw + b->each - d.outputs;
    d.dy += piece * PIECE * activation_size(b->l->out);
    if (b->padded) {
        float *padded = b->padded + piece * b->padded_each;
        pad(b, piece, padded);
        d.x = padded;
    } else
        d.x += piece * PIECE * activation_size(b->l->in);
    loops()->direct_weights(&d);
    if (b->l->in->dx)
        direct_piece(&b->dx, piece);
}

static Status back_open(Back *b, const Layer *l, const Pass *p)
{
    const ConvSettings *c = l->settings;
    const State *s = l->state;
    const Activation *in = l->in, *out = l->out;
    const size_t taps = c->size * c->size, pieces = pieces_of(p->images);
    *b = (Back){.l = l, .each = out->channels * (in->channels * taps + 1)};
    b->dw = (DirectWeights){.x = in->x,
                            .channels = in->channels,
                            .x_rows = in->rows + 2 * c->padding,
                            .x_columns = in->columns + 2 * c->padding,
                            .dy = out->dx,
                            .outputs = out->channels,
                            .rows = out->rows,
                            .columns = out->columns,
                            .size = c->size,
                            .stride = c->stride};
    b->dx = (Direct){.x = out->dx,
                     .channels = out->channels,
                     .x_rows = out->rows,
                     .x_columns = out->columns,
                     .row = s->back_row,
                     .column = s->back_column,
                     .size = c->size,
                     .width = width_of(in->channels),
                     .y = in->dx,
                     .outputs = in->channels,
                     .rows = in->rows,
                     .columns = in->columns,
                     .add = in->accumulate};
    b->padded_each = in->channels * b->dw.x_rows * b->dw.x_columns * PIECE;
    b->partial = NEW_ZERO(p->scratch, float, pieces * b->each);
    b->dx.weight = weights_tiled(p->weights + l->weight->offset, in->channels, taps, out->channels,
                                 in->channels * taps, taps, p->scratch);
    if (c->padding)
        b->padded = NEW(p->scratch, float, pieces * b->padded_each);
    return b->partial && b->dx.weight && (b->padded || !c->padding) ? OK : arena_fail(p->scratch, p->err);
}

static Status backward(Layer *l, const Pass *p)
{
    Back b;
    TRY(back_open(&b, l, p));
    const size_t pieces = pieces_of(p->images), weights = b.each - l->out->channels;
    parallel_for(p->threads, pieces, backward_piece, &b);
    for (size_t piece = 1; piece < pieces; piece++)
        for (size_t i = 0; i < b.each; i++)
            b.partial[i] += b.partial[piece * b.each + i];
    memcpy(p->gradient + l->weight->offset, b.partial, weights * sizeof(float));
    if (l->bias)
        memcpy(p->gradient + l->bias->offset, b.partial + weights, l->out->channels * sizeof(float));
    l->in->accumulate = true;
    return OK;
}

const LayerOps conv_direct_layer = {.name = "conv", .open = open, .forward = forward, .backward = backward};
