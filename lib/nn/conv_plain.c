/* conv_plain.c -- convolution over plain values: the patches of an image as a matrix, and products with the weights. */
#include "nn/layers.h"

#include "linalg.h"
#include "parallel.h"

#include <string.h>

typedef struct {
    const Layer *l;
    const Pass *p;
    const ConvSettings *c;
    size_t taps, pixels; /* channels x size x size of a patch; pixels of the output */
    float *patches;      /* each piece's own, (taps, pixels) */
    float *partial;      /* each piece's weight gradient and bias gradient, `each` floats */
    size_t each;
} Work;

static Status work_open(Work *w, const Layer *l, const Pass *p)
{
    const ConvSettings *c = l->settings;
    *w = (Work){.l = l,
                .p = p,
                .c = c,
                .taps = l->in->channels * c->size * c->size,
                .pixels = l->out->rows * l->out->columns};
    w->each = c->channels * (w->taps + 1);
    w->patches = NEW(p->scratch, float, pieces_of(p->images) * w->taps * w->pixels);
    w->partial = NEW_ZERO(p->scratch, float, pieces_of(p->images) * w->each);
    return w->patches && w->partial ? OK : arena_fail(p->scratch, p->err);
}

/* ---- patches ---- */

/* Output columns whose tap `kx` lies inside the image. */
typedef struct {
    size_t from, to;
} Inside;
static Inside inside(size_t tap, size_t in, size_t out, const ConvSettings *c)
{
    Inside s = {0, out};
    while (s.from < out && s.from * c->stride + tap < c->padding)
        s.from++;
    while (s.to > s.from && (s.to - 1) * c->stride + tap >= in + c->padding)
        s.to--;
    return s;
}

/* Calls for every tap and output row: one run of pixels of the image beside one row of the patch matrix. */
static void each_run(const Work *w, float *image, float *patches,
                     void (*run)(float *x, float *patch, Inside s, size_t n, size_t stride))
{
    const Value *in = w->l->in, *out = w->l->out;
    const ConvSettings *c = w->c;
    for (size_t channel = 0; channel < in->channels; channel++)
        for (size_t ky = 0; ky < c->size; ky++) {
            const Inside rows = inside(ky, in->rows, out->rows, c);
            for (size_t kx = 0; kx < c->size; kx++) {
                const Inside columns = inside(kx, in->columns, out->columns, c);
                for (size_t row = 0; row < out->rows; row++, patches += out->columns) {
                    const bool there = row >= rows.from && row < rows.to && columns.to > columns.from;
                    float *x = image;
                    if (there)
                        x += (channel * in->rows + row * c->stride + ky - c->padding) * in->columns +
                             columns.from * c->stride + kx - c->padding;
                    run(x, patches, there ? columns : (Inside){0, 0}, out->columns, c->stride);
                }
            }
        }
}

static void gather(float *x, float *patch, Inside s, size_t n, size_t stride)
{
    memset(patch, 0, n * sizeof *patch);
    for (size_t i = s.from; i < s.to; i++, x += stride)
        patch[i] = *x;
}

static void scatter(float *x, float *patch, Inside s, size_t n, size_t stride)
{
    (void)n;
    for (size_t i = s.from; i < s.to; i++, x += stride)
        *x += patch[i];
}

/* ---- forward ---- */

static size_t last_image(const Work *w, size_t piece)
{
    return (piece + 1) * PIECE < w->p->images ? (piece + 1) * PIECE : w->p->images;
}

static void forward_piece(void *data, size_t piece)
{
    const Work *w = data;
    const Layer *l = w->l;
    float *patches = w->patches + piece * w->taps * w->pixels;
    for (size_t i = piece * PIECE; i < last_image(w, piece); i++) {
        float *out = l->out->x + i * value_size(l->out);
        each_run(w, l->in->x + i * value_size(l->in), patches, gather);
        for (size_t k = 0; k < l->out->channels; k++)
            for (size_t j = 0; j < w->pixels; j++)
                out[k * w->pixels + j] = l->bias ? w->p->weights[l->bias->offset + k] : 0;
        linalg_multiply(&(Product){.a = w->p->weights + l->weight->offset,
                                   .b = patches,
                                   .c = out,
                                   .m = l->out->channels,
                                   .n = w->pixels,
                                   .k = w->taps,
                                   .add = true,
                                   .scale = 1},
                        1);
    }
}

static Status forward(Layer *l, const Pass *p)
{
    Work w;
    TRY(work_open(&w, l, p));
    parallel_for(p->threads, pieces_of(p->images), forward_piece, &w);
    return OK;
}

/* ---- backward ---- */

static void backward_image(const Work *w, size_t i, float *patches, float *partial)
{
    const Layer *l = w->l;
    const float *dy = l->out->dx + i * value_size(l->out);
    float *bias = partial + l->out->channels * w->taps;
    for (size_t k = 0; k < l->out->channels; k++)
        for (size_t j = 0; j < w->pixels; j++)
            bias[k] += dy[k * w->pixels + j];
    each_run(w, l->in->x + i * value_size(l->in), patches, gather);
    linalg_multiply(&(Product){.a = dy,
                               .b = patches,
                               .b_turned = true,
                               .c = partial,
                               .m = l->out->channels,
                               .n = w->taps,
                               .k = w->pixels,
                               .add = true,
                               .scale = 1},
                    1);
    if (!l->in->dx)
        return;
    linalg_multiply(&(Product){.a = w->p->weights + l->weight->offset,
                               .a_turned = true,
                               .b = dy,
                               .c = patches,
                               .m = w->taps,
                               .n = w->pixels,
                               .k = l->out->channels,
                               .scale = 1},
                    1);
    float *dx = l->in->dx + i * value_size(l->in);
    if (!l->in->added)
        memset(dx, 0, value_size(l->in) * sizeof *dx);
    each_run(w, dx, patches, scatter);
}

static void backward_piece(void *data, size_t piece)
{
    const Work *w = data;
    for (size_t i = piece * PIECE; i < last_image(w, piece); i++)
        backward_image(w, i, w->patches + piece * w->taps * w->pixels, w->partial + piece * w->each);
}

static Status backward(Layer *l, const Pass *p)
{
    Work w;
    TRY(work_open(&w, l, p));
    const size_t pieces = pieces_of(p->images);
    parallel_for(p->threads, pieces, backward_piece, &w);
    for (size_t piece = 1; piece < pieces; piece++)
        for (size_t i = 0; i < w.each; i++)
            w.partial[i] += w.partial[piece * w.each + i];
    const size_t weights = l->out->channels * w.taps;
    memcpy(p->gradient + l->weight->offset, w.partial, weights * sizeof(float));
    if (l->bias)
        memcpy(p->gradient + l->bias->offset, w.partial + weights, l->out->channels * sizeof(float));
    l->in->added = true;
    return OK;
}

const LayerOps conv_plain_layer = {.name = "conv", .forward = forward, .backward = backward};
