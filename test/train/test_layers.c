/* test_layers.c -- tests single layers, on activations of any layout. Compares outputs with a slow forward pass in double, and gradients with central differences of
 * the slow forward pass. */
#include "rig/layer_rig.h"

/* ---- reference layers, one image at a time, in double ---- */

typedef struct Case {
    size_t channels, rows, columns, images;
    Activation *(*build)(Builder *b, Activation *in, const struct Case *c);
    void (*reference)(const struct Case *c, const double *x, const double *w, double *y);
    size_t outputs, size, stride, padding;
    bool bias, blocked, in_place;
} Case;

static void conv_ref(const Case *c, const double *x, const double *w, double *y)
{
    const size_t rows = (c->rows + 2 * c->padding - c->size) / c->stride + 1,
                 columns = (c->columns + 2 * c->padding - c->size) / c->stride + 1;
    const double *bias = w + c->outputs * c->channels * c->size * c->size;
    for (size_t k = 0; k < c->outputs; k++)
        for (size_t row = 0; row < rows; row++)
            for (size_t column = 0; column < columns; column++) {
                double sum = c->bias ? bias[k] : 0;
                for (size_t i = 0; i < c->channels * c->size * c->size; i++) {
                    const size_t ch = i / c->size / c->size, ky = i / c->size % c->size, kx = i % c->size;
                    const size_t r = row * c->stride + ky - c->padding,
                                 l = column * c->stride + kx - c->padding;
                    /* rows and columns are unsigned here, so a negative one wraps around to a large number */
                    if (r < c->rows && l < c->columns)
                        sum += w[k * c->channels * c->size * c->size + i] *
                               x[(ch * c->rows + r) * c->columns + l];
                }
                *y++ = sum;
            }
}

static Activation *conv(Builder *b, Activation *in, const Case *c)
{
    return build_conv(b, in, "conv",
                      &(ConvSettings){.channels = c->outputs,
                                      .size = c->size,
                                      .stride = c->stride,
                                      .padding = c->padding,
                                      .bias = c->bias});
}

static void linear_ref(const Case *c, const double *x, const double *w, double *y)
{
    const size_t n = c->channels * c->rows * c->columns;
    for (size_t k = 0; k < c->outputs; k++) {
        y[k] = w[c->outputs * n + k];
        for (size_t i = 0; i < n; i++)
            y[k] += w[k * n + i] * x[i];
    }
}

static Activation *linear(Builder *b, Activation *in, const Case *c)
{
    return build_linear(b, in, "linear", c->outputs);
}

static void pool_ref(const Case *c, const double *x, double *y, bool maximum)
{
    for (size_t ch = 0; ch < c->channels; ch++)
        for (size_t row = 0; row < c->rows / c->size; row++)
            for (size_t column = 0; column < c->columns / c->size; column++) {
                double most = -INFINITY, sum = 0;
                for (size_t i = 0; i < c->size * c->size; i++) {
                    const double v = x[(ch * c->rows + row * c->size + i / c->size) * c->columns +
                                       column * c->size + i % c->size];
                    most = fmax(most, v);
                    sum += v / (double)(c->size * c->size);
                }
                *y++ = maximum ? most : sum;
            }
}

static void max_ref(const Case *c, const double *x, const double *w, double *y)
{
    (void)w;
    pool_ref(c, x, y, true);
}

static Activation *max_pool(Builder *b, Activation *in, const Case *c)
{
    return build_max_pool(b, in, c->size);
}

static void average_ref(const Case *c, const double *x, const double *w, double *y)
{
    (void)w;
    pool_ref(c, x, y, false);
}

static Activation *average_pool(Builder *b, Activation *in, const Case *c)
{
    return build_average_pool(b, in, c->size);
}

static void relu_ref(const Case *c, const double *x, const double *w, double *y)
{
    (void)w;
    for (size_t i = 0; i < c->channels * c->rows * c->columns; i++)
        y[i] = fmax(x[i], 0);
}

static Activation *relu(Builder *b, Activation *in, const Case *c)
{
    (void)c;
    return build_relu(b, in);
}

static void sigmoid_ref(const Case *c, const double *x, const double *w, double *y)
{
    (void)w;
    for (size_t i = 0; i < c->channels * c->rows * c->columns; i++)
        y[i] = 1 / (1 + exp(-x[i]));
}

static Activation *sigmoid(Builder *b, Activation *in, const Case *c)
{
    (void)c;
    return build_sigmoid(b, in);
}

static void shortcut_ref(const Case *c, const double *x, const double *w, double *y)
{
    (void)w;
    const size_t rows = (c->rows + c->stride - 1) / c->stride,
                 columns = (c->columns + c->stride - 1) / c->stride;
    for (size_t o = 0; o < c->outputs; o++)
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < columns; j++)
                *y++ = o < c->channels ? x[(o * c->rows + i * c->stride) * c->columns + j * c->stride] : 0;
}

static Activation *shortcut(Builder *b, Activation *in, const Case *c)
{
    return build_shortcut(b, in, c->outputs, c->stride);
}

/* In the backward pass the first shortcut must add to the input's gradient. */
static void two_shortcuts_ref(const Case *c, const double *x, const double *w, double *y)
{
    shortcut_ref(c, x, w, y);
    for (size_t i = 0; i < c->outputs * ((c->rows + 1) / 2) * ((c->columns + 1) / 2); i++)
        y[i] *= 2;
}

static Activation *two_shortcuts(Builder *b, Activation *in, const Case *c)
{
    Activation *one = shortcut(b, in, c);
    return build_sum(b, one, shortcut(b, in, c));
}

/* Computes the sum of two convolutions of the same input. In the backward pass the second convolution must
 * add to the input's gradient, not overwrite it. */
static void two_convs_ref(const Case *c, const double *x, const double *w, double *y)
{
    const size_t n = c->outputs * c->rows * c->columns;
    double *other = calloc(n, sizeof *other);
    conv_ref(c, x, w, y);
    conv_ref(c, x, w + c->outputs * c->channels * c->size * c->size, other);
    for (size_t i = 0; i < n; i++)
        y[i] += other[i];
    free(other);
}

static Activation *two_convs(Builder *b, Activation *in, const Case *c)
{
    /* max pooling of size 1 does not change the numbers */
    in = build_max_pool(b, in, 1);
    const ConvSettings s = {.channels = c->outputs, .size = c->size, .stride = 1, .padding = c->padding};
    Activation *one = build_conv(b, in, "one", &s);
    return build_sum(b, one, build_conv(b, in, "two", &s));
}

/* clang-format off */
static const Case cases[] = {
    /* The first columns are channels, rows, columns, images, layer, reference. The named fields are outputs,
     * size, stride, padding, bias. */
    {1, 28, 28, 2, conv, conv_ref,                .outputs = 20, .size = 5, .stride = 1, .bias = true},
    {20, 12, 12, 1, conv, conv_ref,               .outputs = 50, .size = 5, .stride = 1, .bias = true},
    {3, 9, 7, 17, conv, conv_ref,                 .outputs = 7, .size = 3, .stride = 1, .padding = 1, .bias = true},
    {3, 9, 7, 37, conv, conv_ref,                 .outputs = 1, .size = 3, .stride = 2, .padding = 1},
    {2, 10, 11, 1, conv, conv_ref,                .outputs = 25, .size = 4, .stride = 3, .padding = 2, .bias = true},
    {2, 3, 3, 2, conv, conv_ref,                  .outputs = 13, .size = 5, .stride = 1, .padding = 3},
    {5, 1, 1, 16, conv, conv_ref,                 .outputs = 9, .size = 1, .stride = 1, .bias = true},
    {4, 6, 5, 2, conv, conv_ref,                  .outputs = 3, .size = 1, .stride = 2},
    {1, 7, 7, 1, conv, conv_ref,                  .outputs = 2, .size = 2, .stride = 4, .padding = 1},
    {1, 4, 6, 2, conv, conv_ref,                  .outputs = 73, .size = 3, .stride = 1},
    {3, 5, 4, 6, two_convs, two_convs_ref,        .outputs = 6, .size = 3, .stride = 1, .padding = 1},
    {1, 28, 28, 3, linear, linear_ref,            .outputs = 11},
    {3, 1, 1, 1, linear, linear_ref,              .outputs = 1},
    {7, 3, 2, 40, linear, linear_ref,             .outputs = 300},
    {3, 8, 8, 5, max_pool, max_ref,               .size = 2},
    {2, 9, 7, 17, max_pool, max_ref,              .size = 2},
    {2, 10, 11, 1, max_pool, max_ref,             .size = 3},
    {32, 5, 4, 3, max_pool, max_ref,              .size = 2, .blocked = true},
    {3, 8, 8, 33, average_pool, average_ref,      .size = 4},
    {2, 7, 10, 1, average_pool, average_ref,      .size = 3},
    {32, 9, 8, 2, average_pool, average_ref,      .size = 4, .blocked = true},
    {3, 9, 6, 3, shortcut, shortcut_ref,          .outputs = 5, .stride = 2},
    {3, 5, 6, 2, two_shortcuts, two_shortcuts_ref, .outputs = 4, .stride = 2},
    {32, 8, 8, 2, shortcut, shortcut_ref,         .outputs = 64, .stride = 2, .blocked = true},
    {16, 5, 4, 2, shortcut, shortcut_ref,         .outputs = 16, .stride = 3, .blocked = true},
    {3, 4, 5, 7, relu, relu_ref,                  .in_place = true},
    {3, 150, 160, 1, relu, relu_ref,              .in_place = true},
    {1, 1, 10, 19, sigmoid, sigmoid_ref,          .in_place = true},
};
/* clang-format on */

static void case_open(Layers *r, const Case *c)
{
    const size_t lanes = c->blocked ? layer_lanes() : 1;
    layers_open(r,
                (Activation){.channels = c->channels, .rows = c->rows, .columns = c->columns, .lanes = lanes},
                c->images);
    layers_ready(r, c->build(&r->b, r->in, c));
    for (size_t i = 0; i < r->b.parameters.floats; i++)
        r->gradient[i] = NAN;
    for (size_t i = 0; i < activation_floats(r->in, c->images); i++)
        r->in->dx[i] = NAN;
}

/* The tolerance is for sums of a few thousand products. */
static void check_all(const Case *c, const char *what, const double *a, const double *b, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(b[i]));
    for (size_t i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) <= 5e-6 * most)) {
            print_error("case %td, %s %zu of %zu: %.9g against %.9g\n", c - cases, what, i, n, a[i], b[i]);
            check(a[i] == b[i]);
        }
}

static double weighted_sum(const Case *c, const double *x, const double *w, const double *dy, size_t n,
                           double *y)
{
    c->reference(c, x, w, y);
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += y[i] * dy[i];
    return sum;
}

/* Returns a derivative by central differences. The function is the sum of y_i dy_i over the outputs y of one
 * image; the variable is *v, an element of x or w. */
static double slope(const Case *c, const double *x, const double *w, double *v, const double *dy, size_t n,
                    double *y)
{
    const double step = 1e-5, was = *v;
    *v = was + step;
    const double up = weighted_sum(c, x, w, dy, n, y);
    *v = was - step;
    const double down = weighted_sum(c, x, w, dy, n, y);
    *v = was;
    return (up - down) / (2 * step);
}

/* at most this many parameters, and elements of an image, are checked */
enum { SAMPLE = 12 };

static void check_case(const Case *c)
{
    Layers r;
    case_open(&r, c);
    const size_t n = activation_size(r.in), m = activation_size(r.out), weights = r.b.parameters.floats;
    double *x = in_order(&r, r.in, r.in->x), *w = NEW(r.a, double, weights + 1),
           *y = NEW(r.a, double, c->images *m);
    for (size_t i = 0; i < weights; i++)
        w[i] = (double)r.weights[i];
    layers_forward(&r);
    for (size_t image = 0; image < c->images; image++)
        c->reference(c, x + image * n, w, y + image * m);
    check_all(c, "output", in_order(&r, r.out, r.out->x), y, c->images * m);

    give_gradient(&r);
    const double *dy = in_order(&r, r.out, r.out->dx);
    layers_backward(&r, false);
    const double *dx = in_order(&r, r.in, r.in->dx);
    double found[SAMPLE], want[SAMPLE];
    size_t count = 0;
    for (size_t image = 0; image<c->images; image += c->images> 2 ? c->images - 1 : 1, count = 0) {
        for (size_t i = image % 2; i < n && count < SAMPLE; i += 1 + n / SAMPLE) {
            found[count] = dx[image * n + i];
            want[count++] = slope(c, x + image * n, w, x + image * n + i, dy + image * m, m, y);
        }
        check_all(c, "gradient of input", found, want, count);
    }
    for (size_t i = 0; i < weights && count < SAMPLE;
         i = i + 1 < weights && i + 1 + weights / SAMPLE >= weights ? weights - 1
                                                                    : i + 1 + weights / SAMPLE) {
        found[count] = (double)r.gradient[i];
        want[count] = 0;
        for (size_t image = 0; image < c->images; image++)
            want[count] += slope(c, x + image * n, w, w + i, dy + image * m, m, y);
        count++;
    }
    check_all(c, "gradient of parameter", found, want, count);
    layers_close(&r);
}

TEST(layers_give_what_a_slow_reference_gives)
{
    for (size_t i = 0; i < countof(cases); i++)
        check_case(&cases[i]);
}

/* ---- values used by two layers: their gradients add up ---- */

TEST(gradients_of_a_value_read_twice_add_up)
{
    for (const Case *c = cases; c < cases + countof(cases); c++) {
        if (c->in_place)
            continue;
        Layers r;
        case_open(&r, c);
        layers_forward(&r);
        give_gradient(&r);
        layers_backward(&r, false);
        check(r.in->accumulate);
        const size_t n = c->images * activation_size(r.in);
        double *alone = in_order(&r, r.in, r.in->dx);
        layers_normal(r.in->dx, n, 1, 4);
        const double *before = in_order(&r, r.in, r.in->dx);
        for (size_t i = 0; i < n; i++)
            alone[i] += before[i];
        layers_backward(&r, true);
        check_all(c, "added gradient", in_order(&r, r.in, r.in->dx), alone, n);
        layers_close(&r);
    }
}

TEST(a_last_piece_that_is_not_full_does_not_see_what_was_there_before)
{
    Layers r;
    const Case *c = &cases[2];
    case_open(&r, c);
    layers_forward(&r);
    give_gradient(&r);
    layers_backward(&r, false);
    const size_t weights = r.b.parameters.floats, size = activation_size(r.in);
    r.images = 3;
    layers_forward(&r);
    give_gradient(&r);
    layers_backward(&r, false);
    Layers alone;
    Case few = *c;
    few.images = 3;
    case_open(&alone, &few);
    memcpy(alone.in->x, r.in->x, 3 * size * sizeof(float));
    layers_forward(&alone);
    give_gradient(&alone);
    layers_backward(&alone, false);
    check(!memcmp(r.gradient, alone.gradient, weights * sizeof(float)));
    check(!memcmp(r.in->dx, alone.in->dx, 3 * size * sizeof(float)));
    layers_close(&alone);
    layers_close(&r);
}

CHECK_ALL(NULL, NULL)
