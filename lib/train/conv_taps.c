/* conv_taps.c -- the gradients of a convolution's weights by one matrix product for each tap.
 *
 * A tap is an element (r, c) of the kernel. It multiplies the input pixel (row stride + r - padding, column
 * stride + c - padding) of each output pixel (row, column), where this is inside the image. So the gradient of its
 * weights is W[out][in] = the sum of dy[out] x[in] over these pairs of pixels of all images: a product of two
 * matrices with one row for each pair. conv.c uses it for shapes for which oneDNN has only its slow
 * reference code. */
#include "train/layer.h"

#include "base/parallel.h"
#include "math/linalg.h"

#include <string.h>

typedef struct {
    const Layer *l;
    const Pass *p;
    size_t size;   /* rows of the kernel */
    float *room;   /* (slots, pairs_most, in + out channels) */
    float *tapped; /* (taps, out, in) gradients of the weights */
} Work;

/* The pairs of pixels of a tap: output rows (or columns) `from` .. `to` - 1. */
typedef struct {
    size_t from, to;
} Span;

/* Returns the output rows (or columns) for which tap row (or column) t reads inside the input. */
static Span span_of(size_t in, size_t out, size_t t, const ConvSettings *c)
{
    Span s = {0, 0};
    while (s.from < out && s.from * c->stride + t < c->padding)
        s.from++;
    s.to = s.from;
    while (s.to < out && s.to * c->stride + t - c->padding < in)
        s.to++;
    return s;
}

/* Copies the channels of one pixel of an image, which are `lanes` side by side, to a row of a matrix. */
static float *copy_pixel(const Activation *v, const float *image, size_t pixel, float *to)
{
    const size_t pixels = v->rows * v->columns;
    for (size_t group = 0; group < v->channels / v->lanes; group++, to += v->lanes)
        memcpy(to, image + (group * pixels + pixel) * v->lanes, v->lanes * sizeof *to);
    return to;
}

/* Copies the pixels of all pairs of the tap (r, c) to x (pairs, in) and dy (pairs, out). Returns the number of
 * pairs. */
static size_t gather(const Work *w, size_t r, size_t c, float *x, float *dy)
{
    const Activation *in = w->l->in, *out = w->l->out;
    const ConvSettings *s = w->l->settings;
    const Span rows = span_of(in->rows, out->rows, r, s), columns = span_of(in->columns, out->columns, c, s);
    for (size_t image = 0; image < w->p->images; image++)
        for (size_t row = rows.from; row < rows.to; row++)
            for (size_t column = columns.from; column < columns.to; column++) {
                const size_t from_row = row * s->stride + r - s->padding,
                             from_column = column * s->stride + c - s->padding;
                x = copy_pixel(in, in->x + image * activation_size(in), from_row * in->columns + from_column,
                               x);
                dy = copy_pixel(out, out->dx + image * activation_size(out), row * out->columns + column, dy);
            }
    return w->p->images * (rows.to - rows.from) * (columns.to - columns.from);
}

static void tap(void *data, size_t t, size_t slot)
{
    const Work *w = data;
    const size_t inputs = w->l->in->channels, outputs = w->l->out->channels,
                 most = w->p->images * w->l->out->rows * w->l->out->columns;
    float *x = w->room + slot * most * (inputs + outputs), *dy = x + most * inputs,
          *to = w->tapped + t * outputs * inputs;
    const size_t pairs = gather(w, t / w->size, t % w->size, x, dy);
    if (!pairs) {
        memset(to, 0, outputs * inputs * sizeof *to);
        return;
    }
    linalg_multiply(
        &(Product){
            .a = dy, .a_turned = true, .b = x, .c = to, .m = outputs, .n = inputs, .k = pairs, .scale = 1},
        1);
}

/* Copies the gradients of output o's weights to [in][tap], and adds up the gradient of its bias. */
static void output(void *data, size_t o)
{
    const Work *w = data;
    const Activation *out = w->l->out;
    const size_t inputs = w->l->in->channels, taps = w->size * w->size, pixels = out->rows * out->columns;
    float *to = w->p->gradient + w->l->weight->offset + o * inputs * taps;
    for (size_t t = 0; t < taps; t++) {
        const float *from = w->tapped + (t * out->channels + o) * inputs;
        for (size_t i = 0; i < inputs; i++)
            to[i * taps + t] = from[i];
    }
    if (!w->l->bias)
        return;
    const float *dy = out->dx + o / out->lanes * pixels * out->lanes + o % out->lanes;
    double sum = 0;
    for (size_t image = 0; image < w->p->images; image++)
        for (size_t pixel = 0; pixel < pixels; pixel++)
            sum += (double)dy[image * activation_size(out) + pixel * out->lanes];
    w->p->gradient[w->l->bias->offset + o] = (float)sum;
}

Status conv_taps_weights(const Layer *l, const Pass *p)
{
    const size_t size = ((const ConvSettings *)l->settings)->size, taps = size * size,
                 pairs = p->images * l->out->rows * l->out->columns;
    Work w = {.l = l, .p = p, .size = size};
    w.room = NEW(p->scratch, float,
                 parallel_slots(p->threads, taps) * pairs * (l->in->channels + l->out->channels));
    w.tapped = NEW(p->scratch, float, l->weight->shape.n);
    TRY(arena_check(w.room && w.tapped, p->scratch, p->err));
    parallel_for_slots(p->threads, taps, tap, &w);
    parallel_for(p->threads, l->out->channels, output, &w);
    return OK;
}
