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

/* Notes that memory ran out; returns the placeholder. */
static Activation *build_failed(Builder *b)
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

Activation *build_sharing(Builder *b, const Activation *in)
{
    Activation *v = NEW(b->arena, Activation, 1);
    if (!v || b->status != OK)
        return build_failed(b);
    *v = *in;
    v->x = NEW(b->arena, float, activation_floats(v, b->images));
    return v->x ? v : build_failed(b);
}

Activation *build_activation(Builder *b, Activation like)
{
    Activation *v = build_sharing(b, &like);
    v->dx = NEW(b->arena, float, activation_floats(v, b->images));
    return v->dx ? v : build_failed(b);
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
