/* test_blocked.c -- convolution and batch norm, one layer at a time, against slow loops in double. Activations
 * are blocked: the last axis is a group of channels. */
#include "rig/check.h"

#include "train/networks.c"
#include "math/linalg.h"
#include "math/vec/kernels.h"

#include <float.h>

enum { MOST = 37, CLASSES = 10 };

/* One layer with its activations, weights and gradients. The loss is the sum of y_i dy_i over all outputs y_i,
 * so dy is its gradient with respect to the outputs. */
typedef struct {
    Arena *a, *scratch;
    Error err;
    Builder b;
    Activation in;
    Layer *layer;
    Rng rng;
    float *w, *gradient, *running, *dy;
} Bench;

static void fill(const Bench *t, uint64_t salt, float *x, size_t n, double low, double high)
{
    const Rng rng = rng_below(&t->rng, salt);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)(low + (high - low) * rng_unit(&rng, USE_TEST, i));
}

static void bench_begin(Bench *t, size_t channels, size_t rows, size_t columns, size_t lanes)
{
    Error err;
    check_ok(linalg_ready(&err), &err);
    *t = (Bench){.a = arena_open(0), .scratch = arena_open(0), .rng = rng_open(1, 0, 0, 0, channels + rows)};
    t->b = (Builder){.arena = t->a, .err = &t->err, .images = MOST, .classes = CLASSES};
    t->b.layer = NEW(t->a, Layer, LAYERS_MOST);
    t->b.parameters.item = NEW(t->a, Slice, SLICES_MOST);
    t->b.running.item = NEW(t->a, Slice, SLICES_MOST);
    t->in = (Activation){.channels = channels, .rows = rows, .columns = columns, .lanes = lanes};
    t->in.x = NEW(t->a, float, MOST *activation_size(&t->in));
    t->in.dx = lanes == 1 ? NULL : NEW(t->a, float, MOST *activation_size(&t->in));
}

static void bench_ready(Bench *t)
{
    check_ok(t->b.status, &t->err);
    t->layer = &t->b.layer[0];
    const size_t floats = t->b.parameters.floats, outputs = MOST * activation_size(t->layer->out);
    t->w = NEW(t->a, float, floats);
    t->gradient = NEW(t->a, float, floats);
    t->running = NEW(t->a, float, t->b.running.floats + 1);
    t->dy = NEW(t->a, float, outputs);
    fill(t, 1, t->in.x, MOST * activation_size(&t->in), -1, 1);
    fill(t, 2, t->w, floats, -1, 1);
    fill(t, 3, t->dy, outputs, -1, 1);
    fill(t, 4, t->running, t->b.running.floats, 0.5, 1);
    check_ok(t->layer->ops->open(t->layer, MOST, t->a, &t->err), &t->err);
}

static void bench_end(Bench *t)
{
    if (t->layer->ops->close)
        t->layer->ops->close(t->layer);
    arena_close(t->scratch);
    arena_close(t->a);
}

static Pass pass_of(Bench *t, size_t images, int threads)
{
    return (Pass){.images = images,
                  .threads = threads,
                  .training = true,
                  .weights = t->w,
                  .gradient = t->gradient,
                  .running = t->running,
                  .scratch = t->scratch,
                  .err = &t->err};
}

static void both_ways(Bench *t, size_t images, int threads, bool added)
{
    const Pass p = pass_of(t, images, threads);
    check_ok(t->layer->ops->forward(t->layer, &p), &t->err);
    memcpy(t->layer->out->dx, t->dy, images * activation_size(t->layer->out) * sizeof(float));
    t->in.accumulate = added;
    check_ok(t->layer->ops->backward(t->layer, &p), &t->err);
}

static size_t at(const Activation *v, size_t image, size_t channel, size_t row, size_t column)
{
    const size_t group = image * (v->channels / v->lanes) + channel / v->lanes;
    return ((group * v->rows + row) * v->columns + column) * v->lanes + channel % v->lanes;
}

/* ---- convolution ---- */

typedef struct {
    /* lanes: number of channels in a group (the input's last axis); 0: layer_lanes(), the number for this
     * machine */
    size_t channels, rows, columns, lanes;
    ConvSettings s;
} Case;

static const Case cases[] = {
    {32, 7, 5, 0, {.channels = 48, .size = 3, .stride = 1, .padding = 1}},
    {16, 9, 9, 0, {.channels = 32, .size = 3, .stride = 2, .padding = 1, .bias = true}},
    {48, 6, 6, 0, {.channels = 16, .size = 3, .stride = 2, .padding = 1}},
    {32, 5, 5, 0, {.channels = 64, .size = 1, .stride = 1}},
    {64, 7, 6, 0, {.channels = 32, .size = 1, .stride = 2, .bias = true}},
    {16, 1, 1, 0, {.channels = 16, .size = 3, .stride = 1, .padding = 1, .bias = true}},
    {16, 8, 8, 0, {.channels = 32, .size = 3, .stride = 1, .padding = 1, .bias = true}},
    {32, 12, 7, 0, {.channels = 16, .size = 3, .stride = 1, .padding = 1}},
    {16, 4, 4, 0, {.channels = 16, .size = 3, .stride = 1, .padding = 0}},
    {32, 2, 2, 0, {.channels = 48, .size = 3, .stride = 1, .padding = 1, .bias = true}},
    {16, 2, 3, 0, {.channels = 16, .size = 3, .stride = 2, .padding = 1}},
    {3, 11, 8, 1, {.channels = 32, .size = 3, .stride = 1, .padding = 1}},
    {3, 8, 8, 1, {.channels = 16, .size = 3, .stride = 2, .padding = 1, .bias = true}},
    {1, 5, 5, 1, {.channels = 16, .size = 3, .stride = 1, .padding = 1, .bias = true}},
};

static void conv_begin(Bench *t, const Case *c)
{
    bench_begin(t, c->channels, c->rows, c->columns, c->lanes ? c->lanes : layer_lanes());
    ConvSettings s = c->s;
    s.blocked = true;
    build_conv(&t->b, &t->in, "conv", &s);
    bench_ready(t);
}

/* Results of the three passes of a convolution, computed as sums of products: y += x w, dx += dy w, dw += dy
 * x. */
typedef struct {
    double *y, *dx, *dw; /* dw: gradients of the weights, followed by the gradients of the biases */
    size_t images;
} Reference;

static void reference_pixel(const Bench *t, const ConvSettings *s, size_t image, size_t o, size_t row,
                            size_t column, Reference *r)
{
    const Activation *in = &t->in, *out = t->layer->out;
    const size_t y = at(out, image, o, row, column);
    const double dy = (double)t->dy[y];
    for (size_t i = 0; i < in->channels; i++)
        for (size_t k = 0; k < s->size * s->size; k++) {
            const size_t from_row = row * s->stride + k / s->size - s->padding,
                         from_column = column * s->stride + k % s->size - s->padding;
            /* row and column are unsigned, so negative ones wrap to large numbers */
            if (from_row >= in->rows || from_column >= in->columns)
                continue;
            const size_t x = at(in, image, i, from_row, from_column),
                         w = (o * in->channels + i) * s->size * s->size + k;
            r->y[y] += (double)t->in.x[x] * (double)t->w[w];
            r->dx[x] += dy * (double)t->w[w];
            r->dw[w] += dy * (double)t->in.x[x];
        }
    if (s->bias) {
        r->y[y] += (double)t->w[t->layer->bias->offset + o];
        r->dw[t->layer->bias->offset + o] += dy;
    }
}

static Reference reference_begin(Bench *t)
{
    return (Reference){.y = NEW_ZERO(t->a, double, MOST *activation_size(t->layer->out)),
                       .dx = NEW_ZERO(t->a, double, MOST *activation_size(&t->in)),
                       .dw = NEW_ZERO(t->a, double, t->b.parameters.floats)};
}

/* Adds the images that are missing to the first `images` images. */
static void reference_reach(const Bench *t, const ConvSettings *s, Reference *r, size_t images)
{
    const Activation *out = t->layer->out;
    for (; r->images < images; r->images++)
        for (size_t o = 0; o < out->channels; o++)
            for (size_t pixel = 0; pixel < out->rows * out->columns; pixel++)
                reference_pixel(t, s, r->images, o, pixel / out->columns, pixel % out->columns, r);
}

/* Each element of x is a sum of `terms` terms of magnitude at most 1. */
static void check_close(const float *x, const double *wanted, size_t n, size_t terms)
{
    for (size_t i = 0; i < n; i++)
        check_near((double)x[i], wanted[i], FLT_EPSILON * (double)terms);
}

static void check_conv(Bench *t, const ConvSettings *s, const Reference *r, bool added)
{
    const Activation *out = t->layer->out;
    const size_t images = r->images, window = s->size * s->size, inputs = images * activation_size(&t->in);
    double *dx = NEW(t->a, double, inputs);
    memcpy(dx, r->dx, inputs * sizeof *dx);
    if (added) {
        float *before = NEW(t->a, float, inputs);
        fill(t, 6, before, inputs, -1, 1);
        memcpy(t->in.dx, before, inputs * sizeof(float));
        for (size_t i = 0; i < inputs; i++)
            dx[i] += (double)before[i];
    }
    both_ways(t, images, 2, added);
    check_close(out->x, r->y, images * activation_size(out), t->in.channels * window + 8);
    check_close(t->gradient, r->dw, t->b.parameters.floats, images * out->rows * out->columns + 8);
    if (t->in.dx) {
        check_close(t->in.dx, dx, inputs, out->channels * window + 8);
        check(t->in.accumulate);
    }
}

TEST(convolutions_are_the_slow_loops)
{
    static const size_t images[] = {1, 15, 16, 17, 32, MOST};
    for (size_t i = 0; i < countof(cases); i++) {
        Bench t;
        conv_begin(&t, &cases[i]);
        Reference r = reference_begin(&t);
        for (size_t k = 0; k < countof(images); k++) {
            const ArenaMark mark = arena_mark(t.a);
            reference_reach(&t, &cases[i].s, &r, images[k]);
            check_conv(&t, &cases[i].s, &r, false);
            if (t.in.dx)
                check_conv(&t, &cases[i].s, &r, true);
            arena_rewind(t.a, mark);
        }
        bench_end(&t);
    }
}

/* Products for each tap replace oneDNN where it has only its reference code. */
TEST(gradients_by_taps_are_the_slow_loops)
{
    static const size_t images[] = {1, MOST};
    for (size_t i = 0; i < countof(cases); i++) {
        Bench t;
        conv_begin(&t, &cases[i]);
        const size_t n = t.b.parameters.floats, pixels = t.layer->out->rows * t.layer->out->columns;
        float *first = NEW(t.a, float, n);
        Reference r = reference_begin(&t);
        for (size_t k = 0; k < countof(images); k++) {
            reference_reach(&t, &cases[i].s, &r, images[k]);
            for (int threads = 1; threads <= 3; threads++) {
                const Pass p = pass_of(&t, images[k], threads);
                memcpy(t.layer->out->dx, t.dy, images[k] * activation_size(t.layer->out) * sizeof(float));
                fill(&t, 7, t.gradient, n, -1, 1);
                check_ok(conv_taps_weights(t.layer, &p), &t.err);
                if (threads == 1)
                    memcpy(first, t.gradient, n * sizeof(float));
                assert_memory_equal(first, t.gradient, n * sizeof(float));
                check_close(t.gradient, r.dw, n, images[k] * pixels + 8);
            }
        }
        bench_end(&t);
    }
}

/* With AVX2 as the widest instructions, oneDNN 2.6 has only its reference code for 3x3 kernels on 2x2 images. */
TEST(small_images_are_computed_by_taps_without_avx512)
{
    if (isa_of_cpu() != ISA_AVX2)
        return;
    Bench t;
    conv_begin(&t, &(Case){32, 2, 2, 0, {.channels = 32, .size = 3, .stride = 1, .padding = 1}});
    const size_t n = t.b.parameters.floats;
    float *layers = NEW(t.a, float, n);
    both_ways(&t, MOST, 1, false);
    memcpy(layers, t.gradient, n * sizeof(float));
    const Pass p = pass_of(&t, MOST, 1);
    check_ok(conv_taps_weights(t.layer, &p), &t.err);
    assert_memory_equal(layers, t.gradient, n * sizeof(float));
    bench_end(&t);
}

/* ---- batch norm against a reference in double, one channel at a time ---- */

static void norm_begin(Bench *t, size_t channels, size_t rows, size_t columns)
{
    bench_begin(t, channels, rows, columns, layer_lanes());
    build_norm(&t->b, &t->in, "bn");
    bench_ready(t);
    /* channels get different means and standard deviations */
    for (size_t i = 0; i < MOST * activation_size(&t->in); i++)
        t->in.x[i] = t->in.x[i] * (float)(1 + i % 3) + (float)(i % 5);
}

typedef struct {
    size_t n;
    double *x, *u; /* x: inputs; u: the gradients dy of the outputs */
    double weight, bias;
} Channel;

static Channel channel_of(Bench *t, size_t images, size_t channel)
{
    const size_t pixels = t->in.rows * t->in.columns;
    Channel c = {.n = images * pixels};
    c.x = NEW(t->a, double, c.n);
    c.u = NEW(t->a, double, c.n);
    for (size_t i = 0; i < c.n; i++) {
        const size_t j = at(&t->in, i / pixels, channel, 0, i % pixels);
        c.x[i] = (double)t->in.x[j];
        c.u[i] = (double)t->dy[j];
    }
    c.weight = (double)t->w[t->layer->weight->offset + channel];
    c.bias = (double)t->w[t->layer->bias->offset + channel];
    return c;
}

static void moments(const Channel *c, double *mean, double *variance)
{
    *mean = *variance = 0;
    for (size_t i = 0; i < c->n; i++)
        *mean += c->x[i] / (double)c->n;
    for (size_t i = 0; i < c->n; i++)
        *variance += (c->x[i] - *mean) * (c->x[i] - *mean) / (double)c->n;
}

static double output(const Channel *c, double mean, double variance, size_t i)
{
    return (c->x[i] - mean) / sqrt(variance + 1e-5) * c->weight + c->bias;
}

static double loss(const Channel *c)
{
    double mean, variance, sum = 0;
    moments(c, &mean, &variance);
    for (size_t i = 0; i < c->n; i++)
        sum += c->u[i] * output(c, mean, variance, i);
    return sum;
}

static double slope(const Channel *c, double *of)
{
    const double step = 1e-4, was = *of;
    *of = was + step;
    const double up = loss(c);
    *of = was - step;
    const double down = loss(c);
    *of = was;
    return (up - down) / (2 * step);
}

static void check_channel(Bench *t, size_t images, size_t channel, const float *before)
{
    const size_t pixels = t->in.rows * t->in.columns, channels = t->in.channels;
    Channel c = channel_of(t, images, channel);
    double mean, variance;
    moments(&c, &mean, &variance);
    for (size_t i = 0; i < c.n; i++)
        check_near((double)t->layer->out->x[at(&t->in, i / pixels, channel, 0, i % pixels)],
                   output(&c, mean, variance, i), 1e-5);
    for (size_t i = 0; i < c.n; i += 1 + c.n / 7)
        check_near((double)t->in.dx[at(&t->in, i / pixels, channel, 0, i % pixels)], slope(&c, &c.x[i]),
                   2e-5);
    const double sum = sqrt((double)c.n);
    check_near((double)t->gradient[t->layer->weight->offset + channel], slope(&c, &c.weight), 1e-6 * sum);
    check_near((double)t->gradient[t->layer->bias->offset + channel], slope(&c, &c.bias), 1e-6 * sum);
    const double unbiased = variance * (double)c.n / (double)(c.n - 1);
    check_rel((double)t->running[channel], 0.9 * (double)before[channel] + 0.1 * mean, 1e-6);
    check_rel((double)t->running[channels + channel],
              0.9 * (double)before[channels + channel] + 0.1 * unbiased, 1e-6);
}

static void check_norm(Bench *t, size_t images)
{
    const size_t n = t->b.running.floats;
    float *before = NEW(t->a, float, n);
    memcpy(before, t->running, n * sizeof(float));
    both_ways(t, images, 2, false);
    for (size_t channel = 0; channel < t->in.channels; channel += 5)
        check_channel(t, images, channel, before);
}

TEST(norms_and_running_statistics_are_as_defined)
{
    static const size_t images[] = {2, 15, 16, 17, MOST};
    Bench t;
    norm_begin(&t, 32, 5, 3);
    check_norm(&t, 1);
    for (size_t k = 0; k < countof(images); k++)
        check_norm(&t, images[k]);
    bench_end(&t);
    norm_begin(&t, 48, 1, 1);
    for (size_t k = 1; k < countof(images); k++)
        check_norm(&t, images[k]);
    bench_end(&t);
}

TEST(scoring_reads_the_running_statistics_and_leaves_them)
{
    Bench t;
    norm_begin(&t, 32, 3, 3);
    float *before = NEW(t.a, float, t.b.running.floats);
    memcpy(before, t.running, t.b.running.floats * sizeof(float));
    Pass p = pass_of(&t, 17, 2);
    p.training = false;
    check_ok(t.layer->ops->forward(t.layer, &p), &t.err);
    assert_memory_equal(before, t.running, t.b.running.floats * sizeof(float));
    for (size_t channel = 0; channel < 32; channel++) {
        const Channel c = channel_of(&t, 17, channel);
        for (size_t i = 0; i < c.n; i++)
            check_near((double)t.layer->out->x[at(&t.in, i / 9, channel, 0, i % 9)],
                       output(&c, (double)before[channel], (double)before[32 + channel], i), 1e-5);
    }
    bench_end(&t);
}

/* A channel whose values are all equal has variance 0. Batch norm then multiplies by 1 / sqrt(epsilon); the
 * result must be finite. */
TEST(constant_channels_and_single_values_stay_finite)
{
    Bench t;
    norm_begin(&t, 16, 1, 1);
    both_ways(&t, 1, 1, false);
    for (size_t i = 0; i < 16; i++) {
        check_near((double)t.layer->out->x[i], (double)t.w[t.layer->bias->offset + i], 1e-3);
        check_near((double)t.in.dx[i], 0, 1e-3);
        check(isfinite(t.running[16 + i]));
    }
    bench_end(&t);
}

CHECK_ALL(NULL, NULL)
