/* networks.c -- the table of networks: those of the ATOMO authors' code, with the same names and order of
 * parameters, two small ones, the ResNets of 16 to 64 channels, and GPT.
 *
 * LeNet and FC are the authors' own. ResNet (He et al. 2016) and VGG (Simonyan & Zisserman 2015) are the
 * variants for CIFAR. ResNet-20 to ResNet-110 are those that He et al. trained on CIFAR-10. */
#include "train/networks.h"

#include "base/text.h"
#include "base/param.h"

#include <stdio.h>
#include <string.h>
#include <math.h>

/* ---- layouts: copies of activations to another number of lanes (layer.h), one image at a time ---- */

typedef struct {
    const Activation *from, *to;
    const float *x;
    float *y;
    bool add; /* true: add to y instead of overwriting it */
} LanesWork;

/* Returns the offset of the first pixel of channel c in an image; its pixels are v->lanes floats apart. */
static size_t channel_at(const Activation *v, size_t c)
{
    return c / v->lanes * v->lanes * v->rows * v->columns + c % v->lanes;
}

static void lanes_copy_image(void *data, size_t image)
{
    const LanesWork *w = data;
    const size_t pixels = w->from->rows * w->from->columns, step = w->from->lanes, y_step = w->to->lanes;
    for (size_t c = 0; c < w->from->channels; c++) {
        const float *x = w->x + image * activation_size(w->from) + channel_at(w->from, c);
        float *y = w->y + image * activation_size(w->to) + channel_at(w->to, c);
        for (size_t i = 0; i < pixels; i++)
            y[i * y_step] = (w->add ? y[i * y_step] : 0) + x[i * step];
    }
}

static Status lanes_forward(Layer *l, const Pass *p)
{
    parallel_for(p->threads, p->images, lanes_copy_image, &(LanesWork){l->in, l->out, l->in->x, l->out->x, false});
    return OK;
}

static Status lanes_backward(Layer *l, const Pass *p)
{
    if (!l->in->dx)
        return OK;
    parallel_for(p->threads, p->images, lanes_copy_image,
                 &(LanesWork){l->out, l->in, l->out->dx, l->in->dx, l->in->accumulate});
    l->in->accumulate = true;
    return OK;
}

static const LayerOps lanes_layer = {.name = "lanes", .forward = lanes_forward, .backward = lanes_backward};

/* Returns the activation with `lanes` lanes. Layouts that store the same order need no copy. */
static Activation *with_lanes(Builder *b, Activation *in, size_t lanes)
{
    if (in->lanes == lanes || in->rows * in->columns == 1)
        return in;
    Activation like = *in;
    like.lanes = lanes;
    Activation *out = build_activation(b, like);
    if (!in->dx)
        out->dx = NULL;
    build_layer(b, &lanes_layer, in, out, NULL, 0);
    return out;
}

/* ---- convolutions ---- */

/* Returns what is wrong with a convolution, or "". */
static const char *conv_fault(Builder *b, const Activation *in, const ConvSettings *s)
{
    if (in->rows + 2 * s->padding < s->size || in->columns + 2 * s->padding < s->size)
        return build_name(b, "%zux%zu kernels on %zux%zu values: the images are too small", s->size, s->size,
                          in->rows, in->columns);
    if (s->blocked && s->channels % layer_lanes())
        return build_name(b, "%zu channels: blocked values want a multiple of %zu", s->channels,
                          layer_lanes());
    return "";
}

/* Adds a convolution. `name` is the name of the PyTorch module: "conv1" has the parameters conv1.weight and, with a
 * bias, conv1.bias. */
static Activation *build_conv(Builder *b, Activation *in, const char *name, const ConvSettings *s)
{
    const char *fault = conv_fault(b, in, s);
    if (*fault) {
        if (b->status == OK)
            b->status = FAIL(b->err, ERR_USAGE, "%s: %s", name, fault);
        return build_nothing(b);
    }
    if (!s->blocked)
        in = with_lanes(b, in, in->channels);
    Activation like = {.lanes = s->blocked ? layer_lanes() : s->channels};
    like.channels = s->channels;
    like.rows = (in->rows + 2 * s->padding - s->size) / s->stride + 1;
    like.columns = (in->columns + 2 * s->padding - s->size) / s->stride + 1;
    Activation *out = build_activation(b, like);
    Layer *l = build_layer(b, &conv_layer, in, out, s, sizeof *s);
    const size_t fan_in = in->channels * s->size * s->size;
    Slice w = {.kind = KIND_CONV, .fan_in = fan_in, .init = s->normal ? INIT_NORMAL : INIT_UNIFORM};
    shape_make(&w.shape, 4, (size_t[]){s->channels, in->channels, s->size, s->size});
    l->weight = build_slice(b, &b->parameters, name, "weight", w);
    if (s->bias)
        l->bias = build_slice(b, &b->parameters, name, "bias",
                              (Slice){.kind = KIND_BIAS,
                                      .shape = shape_vector(s->channels),
                                      .fan_in = fan_in,
                                      .init = s->normal ? INIT_ZERO : INIT_UNIFORM});
    return out;
}

/* ---- layers other than convolutions ---- */

/* Adds a batch norm. Its input and its output share one array `dx`: in the backward pass the gradient of the
 * input overwrites the gradient of the output. */
static Activation *build_norm(Builder *b, Activation *in, const char *name)
{
    Activation *out = build_sharing(b, in);
    Layer *l = build_layer(b, &norm_layer, in, out, NULL, 0);
    const Shape shape = shape_vector(in->channels);
    l->weight = build_slice(b, &b->parameters, name, "weight",
                            (Slice){.kind = KIND_NORM, .shape = shape, .init = INIT_ONE});
    l->bias = build_slice(b, &b->parameters, name, "bias",
                          (Slice){.kind = KIND_NORM, .shape = shape, .init = INIT_ZERO});
    l->running = b->running.floats;
    build_slice(b, &b->running, name, "running_mean",
                (Slice){.kind = KIND_OTHER, .shape = shape, .init = INIT_ZERO});
    build_slice(b, &b->running, name, "running_var",
                (Slice){.kind = KIND_OTHER, .shape = shape, .init = INIT_ONE});
    return out;
}

static Activation *build_linear(Builder *b, Activation *in, const char *name, size_t outputs)
{
    in = with_lanes(b, in, 1);
    const size_t inputs = activation_size(in);
    Activation *out =
        build_activation(b, (Activation){.channels = outputs, .rows = 1, .columns = 1, .lanes = 1});
    Layer *l = build_layer(b, &linear_layer, in, out, NULL, 0);
    l->weight = build_slice(b, &b->parameters, name, "weight",
                            (Slice){.kind = KIND_FC, .shape = shape_matrix(outputs, inputs), .fan_in = inputs});
    l->bias = build_slice(b, &b->parameters, name, "bias",
                          (Slice){.kind = KIND_BIAS, .shape = shape_vector(outputs), .fan_in = inputs});
    return out;
}

/* ---- LeNet and FC, for grey images ---- */

static Activation *softmax(Builder *b, Activation *v, const void *plan)
{
    (void)plan;
    return build_linear(b, v, "linear", b->classes);
}

static Activation *fc(Builder *b, Activation *v, const void *plan)
{
    (void)plan;
    v = build_relu(b, build_linear(b, v, "fc1", 800));
    v = build_relu(b, build_linear(b, v, "fc2", 500));
    return build_sigmoid(b, build_linear(b, v, "fc3", b->classes));
}

/* As in the authors' code, no activation function is between the two fully connected layers. */
static Activation *lenet(Builder *b, Activation *v, const void *plan)
{
    (void)plan;
    v = build_conv(b, v, "conv1", &(ConvSettings){.channels = 20, .size = 5, .stride = 1, .bias = true});
    v = build_relu(b, build_max_pool(b, v, 2));
    v = build_conv(b, v, "conv2", &(ConvSettings){.channels = 50, .size = 5, .stride = 1, .bias = true});
    v = build_relu(b, build_max_pool(b, v, 2));
    v = build_linear(b, v, "fc1", 500);
    return build_linear(b, v, "fc2", b->classes);
}

static Activation *cnn(Builder *b, Activation *v, const void *plan)
{
    (void)plan;
    v = build_conv(b, v, "conv1",
                   &(ConvSettings){.channels = 8, .size = 3, .stride = 1, .padding = 1, .bias = true});
    v = build_relu(b, build_max_pool(b, v, 2));
    v = build_conv(b, v, "conv2",
                   &(ConvSettings){.channels = 16, .size = 3, .stride = 1, .padding = 1, .bias = true});
    v = build_relu(b, build_max_pool(b, v, 2));
    return build_linear(b, v, "fc", b->classes);
}

/* ---- ResNet ---- */

/* Blocks have two convolutions 3x3; BOTTLENECK: 1x1, 3x3 and 1x1 (with four times the channels). NARROW: 16 to 64 channels
 * instead of 64 to 512, weights begin as INIT_NORMAL, and shortcuts have no parameters (He et al. 2016, section 4.2, option A). */
typedef enum { PLAIN, BOTTLENECK, NARROW } ResNetKind;

typedef struct {
    ResNetKind kind;
    size_t blocks[4]; /* of each stage */
} ResNet;

static Activation *conv_norm(Builder *b, Activation *v, const char *conv, const char *norm, size_t channels,
                             size_t size, size_t stride, bool normal)
{
    const ConvSettings s = {.channels = channels,
                            .size = size,
                            .stride = stride,
                            .padding = size / 2,
                            .blocked = true,
                            .normal = normal};
    return build_norm(b, build_conv(b, v, conv, &s), norm);
}

/* Adds convolution number `i` of a residual block, and the batch norm that follows it. */
static Activation *numbered(Builder *b, Activation *v, const char *block, int i, size_t channels, size_t size,
                            size_t stride, bool normal)
{
    return conv_norm(b, v, build_name(b, "%s.conv%d", block, i), build_name(b, "%s.bn%d", block, i), channels,
                     size, stride, normal);
}

static Activation *block(Builder *b, Activation *in, const char *name, size_t width, size_t stride,
                         ResNetKind kind)
{
    const size_t channels = kind == BOTTLENECK ? 4 * width : width;
    const bool narrow = kind == NARROW;
    Activation *v = in;
    if (kind == BOTTLENECK) {
        v = build_relu(b, numbered(b, v, name, 1, width, 1, 1, false));
        v = build_relu(b, numbered(b, v, name, 2, width, 3, stride, false));
        v = numbered(b, v, name, 3, channels, 1, 1, false);
    } else {
        v = build_relu(b, numbered(b, v, name, 1, width, 3, stride, narrow));
        v = numbered(b, v, name, 2, width, 3, 1, narrow);
    }
    Activation *shortcut = in;
    if (narrow && stride != 1)
        shortcut = build_shortcut(b, in, width, stride);
    else if (stride != 1 || in->channels != channels)
        shortcut = conv_norm(b, in, build_name(b, "%s.shortcut.0", name),
                             build_name(b, "%s.shortcut.1", name), channels, 1, stride, false);
    return build_relu(b, build_sum(b, v, shortcut));
}

/* A convolution, three or four stages of blocks, a linear layer on the mean of all pixels. */
static Activation *resnet(Builder *b, Activation *v, const void *plan)
{
    const ResNet *net = plan;
    const bool narrow = net->kind == NARROW;
    const size_t width = narrow ? 16 : 64;
    v = build_relu(b, conv_norm(b, v, "conv1", "bn1", width, 3, 1, narrow));
    for (size_t stage = 0; stage < countof(net->blocks); stage++)
        for (size_t i = 0; i < net->blocks[stage]; i++)
            v = block(b, v, build_name(b, "layer%zu.%zu", stage + 1, i), width << stage, stage && !i ? 2 : 1, net->kind);
    return build_linear(b, build_average_pool(b, v, v->rows), "linear", b->classes);
}

/* ---- VGG with batch norm, for CIFAR ---- */

enum { POOL = 0, END = 1 };

/* Parameter names contain a module number: PyTorch counts convolutions, norms, relus and pools. */
static Activation *vgg(Builder *b, Activation *v, const void *plan)
{
    size_t module = 0;
    for (const int *width = plan; *width != END; width++) {
        if (*width == POOL) {
            v = build_max_pool(b, v, 2);
            module++;
            continue;
        }
        const ConvSettings s = {.channels = (size_t)*width,
                                .size = 3,
                                .stride = 1,
                                .padding = 1,
                                .blocked = true,
                                .bias = true,
                                .normal = true};
        v = build_conv(b, v, build_name(b, "features.%zu", module), &s);
        v = build_relu(b, build_norm(b, v, build_name(b, "features.%zu", module + 1)));
        module += 3;
    }
    v = build_relu(b, build_linear(b, build_dropout(b, v, 0.5), "classifier.1", 512));
    v = build_relu(b, build_linear(b, build_dropout(b, v, 0.5), "classifier.4", 512));
    return build_linear(b, v, "classifier.6", b->classes);
}

/* ---- GPT-2's architecture (Radford et al. 2019), with the parameters that nanoGPT gives it ----
 *
 * Token and position embeddings; `layers` blocks of x = x + attention(norm(x)), x = x + mlp(norm(x)); a last
 * norm; output weights tied to the token embeddings. The mlp is width -> 4 width -> width with GELU. Weights
 * begin as N(0, 0.02^2), and those of the two layers that add to x as N(0, 0.02^2 / (2 layers)). */

typedef struct {
    int64_t layers, heads, width, context;
    bool bias;
} GptShape;
#define DEVIATION 0.02

/* Keys without a default keep the value of the preset. */
static const Param gpt_keys[] = {
    PARAM(GptShape, layers, NULL, 1, 96, "number of blocks"),
    PARAM(GptShape, heads, NULL, 1, 128, "number of heads of attention; divides the width"),
    PARAM(GptShape, width, NULL, 1, 16384, "number of channels of a token"),
    PARAM(GptShape, context, NULL, 1, 8192, "number of tokens that are read at once"),
    PARAM_SWITCH(GptShape, bias, "off", "linear layers and norms have biases"),
    {0},
};

static int64_t either(int64_t given, int64_t usual)
{
    return given == PARAM_NONE ? usual : given;
}

static Status gpt_read(GptShape *out, const char *options, const GptShape *usual, Error *err)
{
    GptShape k;
    const Status status = param_parse(gpt_keys, &k, "gpt", options, err);
    if (status != OK && strstr(err->hint, "atomo-bench list")) /* which knows codecs, not networks */
        error_hint(err, "gpt has layers, heads, width, context and bias: docs/networks.md");
    TRY(status);
    *out = (GptShape){either(k.layers, usual->layers), either(k.heads, usual->heads),
                      either(k.width, usual->width), either(k.context, usual->context), k.bias};
    if (out->width % out->heads)
        return FAIL(err, ERR_USAGE, "gpt: width=%lld: want a multiple of the %lld heads",
                    (long long)out->width, (long long)out->heads);
    return OK;
}

static Status gpt_context(size_t *out, const char *options, const void *plan, Error *err)
{
    GptShape s;
    TRY(gpt_read(&s, options, plan, err));
    *out = (size_t)s.context;
    return OK;
}

static Activation *gpt_block(Builder *b, Activation *in, const GptShape *s, size_t i)
{
    const size_t width = (size_t)s->width;
    const double last = DEVIATION / sqrt(2 * (double)s->layers);
    const char *name = build_name(b, "transformer.h.%zu", i);
    Activation *v = build_layer_norm(b, in, build_name(b, "%s.ln_1", name), s->bias);
    v = build_projection(b, v, build_name(b, "%s.attn.c_attn", name), 3 * width, DEVIATION, s->bias);
    v = build_attention(b, v, (size_t)s->heads);
    v = build_projection(b, v, build_name(b, "%s.attn.c_proj", name), width, last, s->bias);
    Activation *sum = build_sum(b, v, in);
    v = build_layer_norm(b, sum, build_name(b, "%s.ln_2", name), s->bias);
    v = build_gelu(b,
                   build_projection(b, v, build_name(b, "%s.mlp.c_fc", name), 4 * width, DEVIATION, s->bias));
    v = build_projection(b, v, build_name(b, "%s.mlp.c_proj", name), width, last, s->bias);
    return build_sum(b, v, sum);
}

static Activation *gpt_build(Builder *b, Activation *image, const void *plan)
{
    GptShape s = {0};
    const Slice *tokens;
    b->status = gpt_read(&s, b->options, plan, b->err);
    if (b->status == OK && image->columns != (size_t)s.context)
        b->status =
            FAIL(b->err, ERR_USAGE, "windows of %zu tokens: want %lld", image->columns, (long long)s.context);
    if (b->status != OK)
        return build_nothing(b);
    Activation *v =
        build_embedding(b, "transformer.wte", "transformer.wpe", (size_t)s.width, DEVIATION, &tokens);
    for (size_t i = 0; i < (size_t)s.layers; i++)
        v = gpt_block(b, v, &s, i);
    return build_tied(b, build_layer_norm(b, v, "transformer.ln_f", s.bias), tokens);
}

static const GptShape gpt_nano = {4, 4, 128, 64, false}, gpt_mini = {6, 8, 256, 128, false}, gpt_char = {6, 6, 384, 256, false};

/* clang-format off */
static const int vgg11[] = {64, POOL, 128, POOL, 256, 256, POOL, 512, 512, POOL, 512, 512, POOL, END};
static const int vgg13[] = {64, 64, POOL, 128, 128, POOL, 256, 256, POOL, 512, 512, POOL, 512, 512, POOL, END};
static const int vgg16[] = {64, 64, POOL, 128, 128, POOL, 256, 256, 256, POOL, 512, 512, 512, POOL, 512, 512, 512, POOL, END};
static const int vgg19[] = {64, 64, POOL, 128, 128, POOL, 256, 256, 256, 256, POOL, 512, 512, 512, 512, POOL,
                            512, 512, 512, 512, POOL, END};

static const Network networks[] = {
    {"softmax",     "logistic regression",                                        0, 0,  softmax, NULL, NULL, false},
    {"cnn",         "two small convolutions and a linear layer: for quick runs",  0, 0,  cnn,     NULL, NULL, false},
    {"lenet",       "LeNet-5 as the ATOMO code has it, 431,080 parameters",       1, 28, lenet,   NULL, NULL, false},
    {"fc",          "three fully connected layers, 1,033,510 parameters",         1, 28, fc,      NULL, NULL, false},
    {"resnet18",    "ResNet-18 for 32x32 images, 11,173,962 parameters",          3, 32, resnet,  &(ResNet){PLAIN, {2, 2, 2, 2}}, NULL, true},
    {"resnet34",    "ResNet-34 for 32x32 images, 21,282,122 parameters",          3, 32, resnet,  &(ResNet){PLAIN, {3, 4, 6, 3}}, NULL, true},
    {"resnet50",    "ResNet-50 for 32x32 images, 23,520,842 parameters",          3, 32, resnet,  &(ResNet){BOTTLENECK, {3, 4, 6, 3}}, NULL, true},
    {"resnet101",   "ResNet-101 for 32x32 images, 42,512,970 parameters",         3, 32, resnet,  &(ResNet){BOTTLENECK, {3, 4, 23, 3}}, NULL, true},
    {"resnet152",   "ResNet-152 for 32x32 images, 58,156,618 parameters",         3, 32, resnet,  &(ResNet){BOTTLENECK, {3, 8, 36, 3}}, NULL, true},
    {"resnet20",    "ResNet-20 of 16, 32 and 64 channels, 269,722 parameters",    3, 32, resnet, &(ResNet){NARROW, {3, 3, 3}}, NULL, true},
    {"resnet32",    "ResNet-32 of 16, 32 and 64 channels, 464,154 parameters",    3, 32, resnet, &(ResNet){NARROW, {5, 5, 5}}, NULL, true},
    {"resnet44",    "ResNet-44 of 16, 32 and 64 channels, 658,586 parameters",    3, 32, resnet, &(ResNet){NARROW, {7, 7, 7}}, NULL, true},
    {"resnet56",    "ResNet-56 of 16, 32 and 64 channels, 853,018 parameters",    3, 32, resnet, &(ResNet){NARROW, {9, 9, 9}}, NULL, true},
    {"resnet110",   "ResNet-110 of 16, 32 and 64 channels, 1,727,962 parameters", 3, 32, resnet, &(ResNet){NARROW, {18, 18, 18}}, NULL, true},
    {"vgg11",       "VGG-11 with batch norm, 9,756,426 parameters",               3, 32, vgg,     vgg11, NULL, false},
    {"vgg13",       "VGG-13 with batch norm",                                     3, 32, vgg,     vgg13, NULL, false},
    {"vgg16",       "VGG-16 with batch norm",                                     3, 32, vgg,     vgg16, NULL, false},
    {"vgg19",       "VGG-19 with batch norm",                                     3, 32, vgg,     vgg19, NULL, false},
    {"gpt",         "a transformer for texts: gpt:layers=4,heads=4,width=128,context=64,bias=off", 0, 0, gpt_build, &gpt_nano, gpt_context, false},
    {"gpt-nano",    "gpt with 4 layers, 4 heads, width 128, context 64",          0, 0,  gpt_build, &gpt_nano, gpt_context, false},
    {"gpt-mini",    "gpt with 6 layers, 8 heads, width 256, context 128",         0, 0,  gpt_build, &gpt_mini, gpt_context, false},
    {"gpt-char",    "gpt with 6 layers, 6 heads, width 384, context 256",         0, 0,  gpt_build, &gpt_char, gpt_context, false},
    {0},
};
/* clang-format on */

const char *network_name(const void *data, size_t i)
{
    (void)data;
    return networks[i].name;
}

Status network_find(const Network **out, const char **options, const char *text, Error *err)
{
    const char *colon = strchr(text, ':'), *near;
    char name[64], all[300];
    snprintf(name, sizeof name, "%.*s", (int)(colon ? colon - text : (ptrdiff_t)strlen(text)), text);
    *options = colon ? colon + 1 : "";
    for (const Network *n = networks; n->name; n++)
        if (!strcmp(n->name, name)) {
            *out = n;
            return colon && !n->context ? FAIL(err, ERR_USAGE, "network %s: %s has no options", text, name)
                                        : OK;
        }
    near = text_nearest(name, network_name, NULL);
    FAIL(err, ERR_USAGE, "network %s: no such network", text);
    return error_hint(err, "--network %s; there are %s", near ? near : "NAME",
                      text_names(all, sizeof all, network_name, NULL));
}

Status network_context(size_t *context, const char *text, Error *err)
{
    const Network *n;
    const char *options;
    *context = 0;
    TRY(network_find(&n, &options, text, err));
    return n->context ? n->context(context, options, n->plan, err) : OK;
}
