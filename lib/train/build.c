/* build.c -- adds layers to a network: allocates their activations, parameters and memory, and checks
 * shapes. */
#include "train/build.h"

#include "base/parallel.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

Activation *build_nothing(Builder *b)
{
    b->nothing = (Activation){.channels = 1, .rows = 1, .columns = 1, .lanes = 1};
    return &b->nothing;
}

Activation *build_failed(Builder *b)
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
        build_failed(b);
    return name ? name : "";
}

Activation *build_activation(Builder *b, Activation like)
{
    Activation *v = NEW(b->arena, Activation, 1);
    if (!v || b->status != OK)
        return build_failed(b);
    *v = like;
    v->x = NEW(b->arena, float, activation_floats(v, b->images));
    v->dx = NEW(b->arena, float, activation_floats(v, b->images));
    return v->x && v->dx ? v : build_failed(b);
}

const Slice *build_slice(Builder *b, SliceList *list, const char *module, const char *part, Slice s)
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

Layer *build_layer(Builder *b, const LayerOps *ops, Activation *in, Activation *out, const void *settings, size_t size)
{
    if (b->layers == LAYERS_MOST) {
        b->status = FAIL(b->err, ERR_MEMORY, "more than %d layers", LAYERS_MOST);
        b->layers = 0;
    }
    void *copy = arena_take(b->arena, 1, size);
    if (!copy)
        build_failed(b);
    else if (size)
        memcpy(copy, settings, size);
    Layer *l = &b->layer[b->layers];
    *l = (Layer){.ops = ops, .settings = copy, .in = in, .out = out, .index = b->layers++};
    return l;
}

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
Activation *build_norm(Builder *b, Activation *in, const char *name)
{
    Activation *out = NEW(b->arena, Activation, 1);
    if (!out || b->status != OK)
        return build_failed(b);
    *out = *in;
    out->x = NEW(b->arena, float, b->images *activation_size(in));
    if (!out->x)
        return build_failed(b);
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

Activation *build_linear(Builder *b, Activation *in, const char *name, size_t outputs)
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
