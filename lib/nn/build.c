/* build.c -- adds layers to a network: the shapes of their values, their parameters, their memory. */
#include "nn/build.h"

#include "base/text.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static Value *failed(Builder *b)
{
    if (b->status == OK)
        b->status = arena_fail(b->arena, b->err);
    return &b->nothing;
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

static Value *value_new(Builder *b, Value like)
{
    Value *v = NEW(b->arena, Value, 1);
    if (!v || b->status != OK)
        return failed(b);
    *v = like;
    v->x = NEW(b->arena, float, value_floats(v, b->images));
    v->dx = NEW(b->arena, float, value_floats(v, b->images));
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

static Layer *layer_add(Builder *b, const LayerOps *ops, Value *in, Value *out)
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

/* ---- arrangements ---- */

static Value *turned(Builder *b, Value *in, const LayerOps *ops, bool abreast)
{
    Value *out = value_new(b, (Value){.channels = in->channels,
                                      .rows = in->rows,
                                      .columns = in->columns,
                                      .lanes = 1,
                                      .abreast = abreast});
    if (!in->dx)
        out->dx = NULL;
    layer_add(b, ops, in, out);
    return out;
}

static Value *abreast(Builder *b, Value *in)
{
    return in->abreast ? in : turned(b, in, &abreast_layer, true);
}

static Value *plain(Builder *b, Value *in)
{
    return in->abreast ? turned(b, in, &plain_layer, false) : in;
}

/* ---- convolutions ---- */

static Value *conv(Builder *b, Value *in, const char *name, const ConvSettings *s, const LayerOps *ops,
                   Value like)
{
    if (in->rows + 2 * s->padding < s->size || in->columns + 2 * s->padding < s->size) {
        if (b->status == OK)
            b->status =
                FAIL(b->err, ERR_USAGE, "%s: %zux%zu kernels on %zux%zu values: the images are too small",
                     name, s->size, s->size, in->rows, in->columns);
        return &b->nothing;
    }
    like.channels = s->channels;
    like.rows = (in->rows + 2 * s->padding - s->size) / s->stride + 1;
    like.columns = (in->columns + 2 * s->padding - s->size) / s->stride + 1;
    Value *out = value_new(b, like);
    Layer *l = layer_add(b, ops, in, out);
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

Value *build_conv(Builder *b, Value *in, const char *name, const ConvSettings *s)
{
    return conv(b, abreast(b, in), name, s, &conv_direct_layer, (Value){.lanes = 1, .abreast = true});
}

Value *build_conv_blocked(Builder *b, Value *in, const char *name, const ConvSettings *s)
{
    const size_t lanes = layer_lanes();
    if (s->channels % lanes) {
        if (b->status == OK)
            b->status = FAIL(b->err, ERR_USAGE, "%s: %zu channels: blocked values want a multiple of %zu",
                             name, s->channels, lanes);
        return &b->nothing;
    }
    return conv(b, plain(b, in), name, s, &conv_blocked_layer, (Value){.lanes = lanes});
}

/* ---- the others ---- */

/* The gradient of what goes in is made in the place of the gradient of what comes out. */
Value *build_norm(Builder *b, Value *in, const char *name)
{
    Value *out = NEW(b->arena, Value, 1);
    if (!out || b->status != OK)
        return failed(b);
    *out = *in;
    out->x = NEW(b->arena, float, b->images *value_size(in));
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

Value *build_linear(Builder *b, Value *in, const char *name, size_t outputs)
{
    in = plain(b, in);
    const size_t inputs = value_size(in);
    Value *out = value_new(b, (Value){.channels = outputs, .rows = 1, .columns = 1, .lanes = 1});
    Layer *l = layer_add(b, &linear_layer, in, out);
    l->weight = slice_add(b, &b->parameters, name, "weight",
                          (Slice){.kind = KIND_FC, .shape = shape2(outputs, inputs), .fan_in = inputs});
    l->bias = slice_add(b, &b->parameters, name, "bias",
                        (Slice){.kind = KIND_BIAS, .shape = shape_vector(outputs), .fan_in = inputs});
    return out;
}

/* Relu and sigmoid read on the way back what they made. */
static bool needed_back(const Builder *b, const Value *v)
{
    for (size_t i = 0; i < b->layers; i++)
        if (b->layer[i].out == v && (b->layer[i].ops == &relu_layer || b->layer[i].ops == &sigmoid_layer))
            return true;
    return false;
}

static Value *in_place(Builder *b, const LayerOps *ops, Value *in)
{
    assert(b->status != OK || !needed_back(b, in));
    layer_add(b, ops, in, in);
    return in;
}

Value *build_relu(Builder *b, Value *in)
{
    return in_place(b, &relu_layer, in);
}

Value *build_sigmoid(Builder *b, Value *in)
{
    return in_place(b, &sigmoid_layer, in);
}

Value *build_dropout(Builder *b, Value *in, double probability)
{
    layer_add(b, &dropout_layer, in, in)->settings =
        settings_copy(b, &(DropoutSettings){probability}, sizeof(DropoutSettings));
    return in;
}

static Value *pool(Builder *b, Value *in, const LayerOps *ops, size_t size)
{
    if (in->rows < size || in->columns < size) {
        if (b->status == OK)
            b->status = FAIL(b->err, ERR_USAGE, "%s of %zu on %zux%zu values: the images are too small",
                             ops->name, size, in->rows, in->columns);
        return &b->nothing;
    }
    in = in->lanes == 1 ? abreast(b, in) : in;
    Value like = *in;
    like.rows /= size;
    like.columns /= size;
    Value *out = value_new(b, like);
    layer_add(b, ops, in, out)->settings = settings_copy(b, &(PoolSettings){size}, sizeof(PoolSettings));
    return out;
}

Value *build_max_pool(Builder *b, Value *in, size_t size)
{
    return pool(b, in, &max_pool_layer, size);
}

Value *build_average_pool(Builder *b, Value *in, size_t size)
{
    return pool(b, in, &average_pool_layer, size);
}

Value *build_sum(Builder *b, Value *in, Value *other)
{
    in_place(b, &sum_layer, in);
    b->layer[b->layers - 1].other = other;
    return in;
}
