/* norm.c -- batch normalisation over blocked activations (Ioffe & Szegedy 2015), as PyTorch defines it:
 * epsilon 1e-5; the running statistics move by 0.1 of the difference towards the batch's mean and unbiased
 * variance. */
#include "train/layer.h"

#include "base/parallel.h"

#include <math.h>
#include <string.h>

#define EPSILON  1e-5
#define MOMENTUM 0.1

/* Mean and scale of each channel, from the batch in training, else from the running statistics. The
 * normalised value is (x - mean) * scale. */
typedef struct {
    float *mean, *scale; /* (channels) */
} State;

typedef struct {
    const Layer *l;
    const Pass *p;
    double *sum; /* (pieces, 2, channels) the partial sums of each piece of PIECE images */
    /* (channels) coefficients. Forward: y = `by` * x + `shift`. Backward: dx = `by` * dy + `curve` * x +
     * `shift`. */
    float *by, *shift, *curve;
} Work;

static Status open(Layer *l, size_t images, Arena *a, Error *err)
{
    (void)images;
    State *s = NEW(a, State, 1);
    TRY(arena_check(s, a, err));
    s->mean = NEW(a, float, l->in->channels);
    s->scale = NEW(a, float, l->in->channels);
    l->state = s;
    return s->mean && s->scale ? OK : arena_fail(a, err);
}

static Status work_open(Work *w, const Layer *l, const Pass *p)
{
    const size_t channels = l->in->channels;
    *w = (Work){.l = l, .p = p};
    w->sum = NEW_ZERO(p->scratch, double, pieces_of(p->images) * 2 * channels);
    w->by = NEW(p->scratch, float, channels);
    w->shift = NEW(p->scratch, float, channels);
    w->curve = NEW(p->scratch, float, channels);
    return w->sum && w->by && w->shift && w->curve ? OK : arena_fail(p->scratch, p->err);
}

/* ---- sums over the pixels of one group of channels ---- */

enum { LANES_MOST = 16 };

typedef struct {
    size_t from, to; /* the images of this piece: `from` .. `to` - 1 */
    size_t pixels, lanes, groups;
} Cut;

static Cut cut_of(const Work *w, size_t piece)
{
    const Activation *v = w->l->in;
    const size_t from = piece * PIECE, to = from + PIECE;
    return (Cut){.from = from,
                 .to = to < w->p->images ? to : w->p->images,
                 .pixels = v->rows * v->columns,
                 .lanes = v->lanes,
                 .groups = v->channels / v->lanes};
}

/* For each channel of a group, adds the sum of `a` over all pixels to `sum0`, and the sum of a * b to
 * `sum1`. */
static void add_up(const float *restrict a, const float *restrict b, size_t pixels, size_t lanes,
                   double *restrict sum0, double *restrict sum1)
{
    double s0[LANES_MOST] = {0}, s1[LANES_MOST] = {0};
    for (size_t i = 0; i < pixels; i++, a += lanes, b += lanes)
        for (size_t k = 0; k < lanes; k++) {
            s0[k] += (double)a[k];
            s1[k] += (double)a[k] * (double)b[k];
        }
    for (size_t k = 0; k < lanes; k++) {
        sum0[k] += s0[k];
        sum1[k] += s1[k];
    }
}

static void add_piece(const Work *w, size_t piece, const float *a, const float *b)
{
    const Cut c = cut_of(w, piece);
    const size_t channels = w->l->in->channels;
    double *sum = w->sum + piece * 2 * channels;
    for (size_t image = c.from; image < c.to; image++)
        for (size_t g = 0; g < c.groups; g++) {
            const size_t at = (image * c.groups + g) * c.pixels * c.lanes;
            add_up(a + at, b + at, c.pixels, c.lanes, sum + g * c.lanes, sum + channels + g * c.lanes);
        }
}

static void forward_sums(void *data, size_t piece)
{
    const Work *w = data;
    add_piece(w, piece, w->l->in->x, w->l->in->x);
}

static void backward_sums(void *data, size_t piece)
{
    const Work *w = data;
    add_piece(w, piece, w->l->out->dx, w->l->in->x);
}

/* Adds the partial sums of all pieces (PIECE images each) to those of the first piece, in the order of the
 * pieces. */
static void add_pieces(const Work *w)
{
    const size_t two = 2 * w->l->in->channels;
    for (size_t piece = 1; piece < pieces_of(w->p->images); piece++)
        for (size_t i = 0; i < two; i++)
            w->sum[i] += w->sum[piece * two + i];
}

static double elements(const Work *w)
{
    return (double)(w->p->images * w->l->in->rows * w->l->in->columns);
}

/* ---- forward ---- */

static void forward_piece(void *data, size_t piece)
{
    const Work *w = data;
    const Cut c = cut_of(w, piece);
    for (size_t image = c.from; image < c.to; image++)
        for (size_t g = 0; g < c.groups; g++) {
            const size_t at = (image * c.groups + g) * c.pixels * c.lanes;
            const float *x = w->l->in->x + at, *by = w->by + g * c.lanes, *shift = w->shift + g * c.lanes;
            float *y = w->l->out->x + at;
            for (size_t i = 0; i < c.pixels; i++)
                for (size_t k = 0; k < c.lanes; k++)
                    y[i * c.lanes + k] = x[i * c.lanes + k] * by[k] + shift[k];
        }
}

static void batch_statistics(const Work *w)
{
    const Layer *l = w->l;
    State *s = l->state;
    const size_t channels = l->in->channels;
    const double n = elements(w);
    float *mean = w->p->running + l->running, *variance = mean + channels;
    for (size_t i = 0; i < channels; i++) {
        const double m = w->sum[i] / n, square = w->sum[channels + i] / n - m * m,
                     v = square > 0 ? square : 0;
        s->mean[i] = (float)m;
        s->scale[i] = (float)(1 / sqrt(v + EPSILON));
        mean[i] = (float)((1 - MOMENTUM) * (double)mean[i] + MOMENTUM * m);
        variance[i] =
            (float)((1 - MOMENTUM) * (double)variance[i] + MOMENTUM * v * (n > 1 ? n / (n - 1) : 1));
    }
}

static void running_statistics(const Work *w)
{
    State *s = w->l->state;
    const float *mean = w->p->running + w->l->running, *variance = mean + w->l->in->channels;
    for (size_t i = 0; i < w->l->in->channels; i++) {
        s->mean[i] = mean[i];
        s->scale[i] = (float)(1 / sqrt((double)variance[i] + EPSILON));
    }
}

static Status forward(Layer *l, const Pass *p)
{
    Work w;
    TRY(work_open(&w, l, p));
    if (p->training) {
        parallel_for(p->threads, pieces_of(p->images), forward_sums, &w);
        add_pieces(&w);
        batch_statistics(&w);
    } else {
        running_statistics(&w);
    }
    const State *s = l->state;
    const float *weight = p->weights + l->weight->offset, *bias = p->weights + l->bias->offset;
    for (size_t i = 0; i < l->in->channels; i++) {
        w.by[i] = weight[i] * s->scale[i];
        w.shift[i] = bias[i] - s->mean[i] * w.by[i];
    }
    parallel_for(p->threads, pieces_of(p->images), forward_piece, &w);
    return OK;
}

/* ---- backward: with normalised values h = (x - mean) scale, dx = weight scale (dy - mean(dy) - h mean(dy
 * h)) ---- */

static void backward_piece(void *data, size_t piece)
{
    const Work *w = data;
    const Cut c = cut_of(w, piece);
    for (size_t image = c.from; image < c.to; image++)
        for (size_t g = 0; g < c.groups; g++) {
            const size_t at = (image * c.groups + g) * c.pixels * c.lanes;
            const float *by = w->by + g * c.lanes, *curve = w->curve + g * c.lanes,
                        *shift = w->shift + g * c.lanes;
            const float *x = w->l->in->x + at;
            float *d = w->l->in->dx + at;
            for (size_t i = 0; i < c.pixels; i++)
                for (size_t k = 0; k < c.lanes; k++) {
                    const size_t j = i * c.lanes + k;
                    d[j] = d[j] * by[k] + (x[j] * curve[k] + shift[k]);
                }
        }
}

static Status backward(Layer *l, const Pass *p)
{
    Work w;
    TRY(work_open(&w, l, p));
    parallel_for(p->threads, pieces_of(p->images), backward_sums, &w);
    add_pieces(&w);
    const State *s = l->state;
    const float *weight = p->weights + l->weight->offset;
    const size_t channels = l->in->channels;
    const double n = elements(&w);
    for (size_t i = 0; i < channels; i++) {
        const double scale = (double)s->scale[i], mean = (double)s->mean[i], by = (double)weight[i] * scale;
        const double dy = w.sum[i], dyh = (w.sum[channels + i] - mean * dy) * scale;
        p->gradient[l->bias->offset + i] = (float)dy;
        p->gradient[l->weight->offset + i] = (float)dyh;
        w.by[i] = (float)by;
        w.curve[i] = (float)(-by * scale * dyh / n);
        w.shift[i] = (float)(-by * dy / n + by * scale * mean * dyh / n);
    }
    parallel_for(p->threads, pieces_of(p->images), backward_piece, &w);
    return OK;
}

const LayerOps norm_layer = {.name = "batch norm", .open = open, .forward = forward, .backward = backward};
