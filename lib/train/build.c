/* build.c -- adds layers to a network: allocates their activations, parameters and memory, and checks
 * shapes. */
#include "train/build.h"

#include "base/text.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

Activation *build_nothing(Builder *b)
{
    b->nothing = (Activation){.channels = 1, .rows = 1, .columns = 1, .lanes = 1};
    return &b->nothing;
}

static Activation *failed(Builder *b)
{
    if (b->status == OK)
        b->status = arena_fail(b->arena, b->err);
    return build_nothing(b);
}

const char *build_name(Builder *b, const char *format, ...)
{
    char text[128];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const char *name = text_copy(b->arena, text);
    if (!name)
        failed(b);
    return name ? name : "";
}

static Activation *activation_new(Builder *b, Activation like)
{
    Activation *v = NEW(b->arena, Activation, 1);
    if (!v || b->status != OK)
        return failed(b);
    *v = like;
    v->x = NEW(b->arena, float, activation_floats(v, b->images));
    v->dx = NEW(b->arena, float, activation_floats(v, b->images));
    return v->x && v->dx ? v : failed(b);
}

static const Slice *slice_add(Builder *b, SliceList *list, const char *module, const char *part, Slice s)
{
    if (list->count == SLICES_MOST) {
        b->status = FAIL(b->err, ERR_MEMORY, "more than %d parameters", SLICES_MOST);
        return &list->item[0];
    }
    s.name = build_name(b, "%s.%s", module, part);
    s.offset = list->floats;
    list->floats += s.shape.n;
    list->item[list->count] = s;
    return &list->item[list->count++];
}

static Shape shape2(size_t rows, size_t columns)
{
    Shape s;
    shape_make(&s, 2, (size_t[]){rows, columns});
    return s;
}

static Layer *layer_add(Builder *b, const LayerOps *ops, Activation *in, Activation *out)
{
    if (b->layers == LAYERS_MOST) {
        b->status = FAIL(b->err, ERR_MEMORY, "more than %d layers", LAYERS_MOST);
        b->layers = 0;
    }
    Layer *l = &b->layer[b->layers];
    *l = (Layer){.ops = ops, .in = in, .out = out, .index = b->layers++};
    return l;
}

static const void *settings_copy(Builder *b, const void *settings, size_t size)
{
    void *copy = arena_take(b->arena, 1, size);
    if (!copy) {
        failed(b);
        return settings;
    }
    return memcpy(copy, settings, size);
}

/* ---- layouts ---- */

/* Returns the activation with `lanes` lanes. Layouts that store the same order need no copy. */
static Activation *with_lanes(Builder *b, Activation *in, size_t lanes)
{
    if (in->lanes == lanes || in->rows * in->columns == 1)
        return in;
    Activation like = *in;
    like.lanes = lanes;
    Activation *out = activation_new(b, like);
    if (!in->dx)
        out->dx = NULL;
    layer_add(b, &lanes_layer, in, out);
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

Activation *build_conv(Builder *b, Activation *in, const char *name, const ConvSettings *s)
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
    Activation *out = activation_new(b, like);
    Layer *l = layer_add(b, &conv_layer, in, out);
    l->settings = settings_copy(b, s, sizeof *s);
    const size_t fan_in = in->channels * s->size * s->size;
    Slice w = {.kind = KIND_CONV, .fan_in = fan_in, .init = s->normal ? INIT_NORMAL : INIT_UNIFORM};
    shape_make(&w.shape, 4, (size_t[]){s->channels, in->channels, s->size, s->size});
    l->weight = slice_add(b, &b->parameters, name, "weight", w);
    if (s->bias)
        l->bias = slice_add(b, &b->parameters, name, "bias",
                            (Slice){.kind = KIND_BIAS,
                                    .shape = shape_vector(s->channels),
                                    .fan_in = fan_in,
                                    .init = s->normal ? INIT_ZERO : INIT_UNIFORM});
    return out;
}

/* ---- layers other than convolutions ---- */

/* Adds a batch norm. Its input and its output share one array `dx`: in the backward pass the gradient of the
 * input overwrites the gradient of the output. */
Activation *build_norm(Builder *b, Activation *in, const char *name)
{
    Activation *out = NEW(b->arena, Activation, 1);
    if (!out || b->status != OK)
        return failed(b);
    *out = *in;
    out->x = NEW(b->arena, float, b->images *activation_size(in));
    if (!out->x)
        return failed(b);
    Layer *l = layer_add(b, &norm_layer, in, out);
    const Shape shape = shape_vector(in->channels);
    l->weight = slice_add(b, &b->parameters, name, "weight",
                          (Slice){.kind = KIND_NORM, .shape = shape, .init = INIT_ONE});
    l->bias = slice_add(b, &b->parameters, name, "bias",
                        (Slice){.kind = KIND_NORM, .shape = shape, .init = INIT_ZERO});
    l->running = b->running.floats;
    slice_add(b, &b->running, name, "running_mean",
              (Slice){.kind = KIND_OTHER, .shape = shape, .init = INIT_ZERO});
    slice_add(b, &b->running, name, "running_var",
              (Slice){.kind = KIND_OTHER, .shape = shape, .init = INIT_ONE});
    return out;
}

Activation *build_linear(Builder *b, Activation *in, const char *name, size_t outputs)
{
    in = with_lanes(b, in, 1);
    const size_t inputs = activation_size(in);
    Activation *out =
        activation_new(b, (Activation){.channels = outputs, .rows = 1, .columns = 1, .lanes = 1});
    Layer *l = layer_add(b, &linear_layer, in, out);
    l->weight = slice_add(b, &b->parameters, name, "weight",
                          (Slice){.kind = KIND_FC, .shape = shape2(outputs, inputs), .fan_in = inputs});
    l->bias = slice_add(b, &b->parameters, name, "bias",
                        (Slice){.kind = KIND_BIAS, .shape = shape_vector(outputs), .fan_in = inputs});
    return out;
}

/* Returns true if v is the output of a relu or sigmoid layer. The backward pass of such a layer reads v, so
 * no later layer may overwrite v. */
static bool needed_back(const Builder *b, const Activation *v)
{
    for (size_t i = 0; i < b->layers; i++)
        if (b->layer[i].out == v && (b->layer[i].ops == &relu_layer || b->layer[i].ops == &sigmoid_layer))
            return true;
    return false;
}

static Activation *in_place(Builder *b, const LayerOps *ops, Activation *in)
{
    assert(b->status != OK || !needed_back(b, in));
    layer_add(b, ops, in, in);
    return in;
}

Activation *build_relu(Builder *b, Activation *in)
{
    return in_place(b, &relu_layer, in);
}

Activation *build_sigmoid(Builder *b, Activation *in)
{
    return in_place(b, &sigmoid_layer, in);
}

Activation *build_dropout(Builder *b, Activation *in, double probability)
{
    layer_add(b, &dropout_layer, in, in)->settings =
        settings_copy(b, &(DropoutSettings){probability}, sizeof(DropoutSettings));
    return in;
}

static Activation *pool(Builder *b, Activation *in, const LayerOps *ops, size_t size)
{
    if (in->rows < size || in->columns < size) {
        if (b->status == OK)
            b->status = FAIL(b->err, ERR_USAGE, "%s of %zu on %zux%zu values: the images are too small",
                             ops->name, size, in->rows, in->columns);
        return build_nothing(b);
    }
    Activation like = *in;
    like.rows /= size;
    like.columns /= size;
    Activation *out = activation_new(b, like);
    layer_add(b, ops, in, out)->settings = settings_copy(b, &(PoolSettings){size}, sizeof(PoolSettings));
    return out;
}

Activation *build_max_pool(Builder *b, Activation *in, size_t size)
{
    return pool(b, in, &max_pool_layer, size);
}

Activation *build_average_pool(Builder *b, Activation *in, size_t size)
{
    return pool(b, in, &average_pool_layer, size);
}

Activation *build_sum(Builder *b, Activation *in, Activation *other)
{
    in_place(b, &sum_layer, in);
    b->layer[b->layers - 1].other = other;
    return in;
}

Activation *build_shortcut(Builder *b, Activation *in, size_t channels, size_t stride)
{
    Activation like = *in;
    assert(b->status != OK || (channels >= in->channels && channels % in->lanes == 0));
    like.channels = channels;
    like.rows = (in->rows + stride - 1) / stride;
    like.columns = (in->columns + stride - 1) / stride;
    Activation *out = activation_new(b, like);
    layer_add(b, &shortcut_layer, in, out)->settings =
        settings_copy(b, &(ShortcutSettings){stride}, sizeof(ShortcutSettings));
    return out;
}

/* ---- layers of tokens ---- */

static Activation *tokens_new(Builder *b, size_t length, size_t channels)
{
    return activation_new(
        b, (Activation){.channels = channels, .rows = length, .columns = 1, .lanes = channels});
}

static const Slice *matrix_add(Builder *b, const char *module, Kind kind, size_t rows, size_t columns,
                               double deviation)
{
    return slice_add(b, &b->parameters, module, "weight",
                     (Slice){.kind = kind,
                             .shape = shape2(rows, columns),
                             .fan_in = columns,
                             .init = INIT_GIVEN,
                             .deviation = deviation});
}

Activation *build_embedding(Builder *b, const char *tokens_name, const char *positions_name, size_t width,
                            double deviation, const Slice **tokens)
{
    const size_t length = b->image->columns;
    Activation *out = tokens_new(b, length, width);
    Layer *l = layer_add(b, &embedding_layer, b->image, out);
    l->weight = *tokens = matrix_add(b, tokens_name, KIND_EMBEDDING, b->classes, width, deviation);
    l->bias = matrix_add(b, positions_name, KIND_EMBEDDING, length, width, deviation);
    return out;
}

Activation *build_layer_norm(Builder *b, Activation *in, const char *name, bool bias)
{
    Activation *out = tokens_new(b, in->rows, in->channels);
    Layer *l = layer_add(b, &layer_norm_layer, in, out);
    const Shape shape = shape_vector(in->channels);
    l->weight = slice_add(b, &b->parameters, name, "weight",
                          (Slice){.kind = KIND_NORM, .shape = shape, .init = INIT_ONE});
    if (bias)
        l->bias = slice_add(b, &b->parameters, name, "bias",
                            (Slice){.kind = KIND_NORM, .shape = shape, .init = INIT_ZERO});
    return out;
}

Activation *build_projection(Builder *b, Activation *in, const char *name, size_t outputs, double deviation,
                             bool bias)
{
    Activation *out = tokens_new(b, in->rows, outputs);
    Layer *l = layer_add(b, &linear_layer, in, out);
    l->weight = matrix_add(b, name, KIND_FC, outputs, in->channels, deviation);
    if (bias)
        l->bias = slice_add(b, &b->parameters, name, "bias",
                            (Slice){.kind = KIND_BIAS, .shape = shape_vector(outputs), .init = INIT_ZERO});
    return out;
}

Activation *build_tied(Builder *b, Activation *in, const Slice *tokens)
{
    Activation *out = tokens_new(b, in->rows, tokens->shape.dim[0]);
    layer_add(b, &linear_layer, in, out)->weight = tokens;
    return out;
}

Activation *build_attention(Builder *b, Activation *in, size_t heads)
{
    Activation *out = tokens_new(b, in->rows, in->channels / 3);
    layer_add(b, &attention_layer, in, out)->settings =
        settings_copy(b, &(AttentionSettings){heads}, sizeof(AttentionSettings));
    return out;
}

Activation *build_gelu(Builder *b, Activation *in)
{
    Activation *out = NEW(b->arena, Activation, 1);
    if (!out || b->status != OK)
        return failed(b);
    *out = *in;
    out->x = NEW(b->arena, float, activation_floats(in, b->images));
    if (!out->x)
        return failed(b);
    layer_add(b, &gelu_layer, in, out);
    return out;
}
