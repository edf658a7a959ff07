/* layout.c -- see layout.h. */
#include "dump/layout.h"

#include <string.h>
#include <strings.h>

const char *const layout_names[] = {
    [LAYOUT_AUTO] = "auto", [LAYOUT_OIHW] = "oihw", [LAYOUT_HWIO] = "hwio", NULL};

/* Returns the layout that the attribute `layout` names. Files of Keras have the attribute `keras_version`
 * instead. LAYOUT_AUTO: no attribute names a layout. */
static KernelLayout named_layout(const AttrList *attrs)
{
    const Attr *named = attr_find(attrs, "layout");
    for (int i = LAYOUT_OIHW; named && named->type == ATTR_TEXT && layout_names[i]; i++)
        if (!strcasecmp(named->text, layout_names[i]))
            return (KernelLayout)i;
    return attr_find(attrs, "keras_version") ? LAYOUT_HWIO : LAYOUT_AUTO;
}

/* Adds the attribute layout = "oihw" to the tensor, or changes the value of its attribute `layout`. */
static Status rename_layout(TensorInfo *t, Arena *a, Error *err)
{
    AttrList attrs = {.item = NEW(a, Attr, t->attrs.count + 1)};
    TRY(arena_check(attrs.item, a, err));
    for (size_t i = 0; i < t->attrs.count; i++)
        if (strcmp(t->attrs.item[i].name, "layout"))
            attrs.item[attrs.count++] = t->attrs.item[i];
    attrs.item[attrs.count++] = attr_text("layout", layout_names[LAYOUT_OIHW]);
    t->attrs = attrs;
    return OK;
}

/* True if the last part of the name has the word "kernel", as in Keras, TensorFlow ("kernel:0") and Flax. PyTorch says
 * "weight". */
static bool named_kernel(const TensorInfo *t)
{
    const char *slash = t->name ? strrchr(t->name, '/') : NULL;
    return t->name && strstr(slash ? slash : t->name, "kernel");
}

/* True for kernels of convolutions in one or three dimensions, by kind or name (Keras: "conv1d/kernel"). Kernels of
 * attention have three axes, too. */
static bool is_other_kernel(const TensorInfo *t)
{
    return (t->shape.rank == 3 || t->shape.rank == 5) &&
           (t->kind == KIND_CONV || (named_kernel(t) && strcasestr(t->name, "conv")));
}

Status layout_settle(TensorInfo *t, KernelLayout asked, const AttrList *root, Arena *a, Error *err)
{
    KernelLayout layout = asked ? asked : named_layout(&t->attrs);
    if (layout == LAYOUT_AUTO)
        layout = named_layout(root);
    if (t->kind != KIND_CONV || t->shape.rank != 4) {
        t->untransposed =
            is_other_kernel(t) && (layout == LAYOUT_HWIO || (layout == LAYOUT_AUTO && named_kernel(t)));
        return OK;
    }
    t->layout = layout;
    if (layout != LAYOUT_HWIO)
        return OK;
    const size_t *dim = t->shape.dim;
    const Shape transposed = {.rank = 4, .dim = {dim[3], dim[2], dim[0], dim[1]}, .n = t->shape.n};
    t->shape = transposed;
    return rename_layout(t, a, err);
}

void layout_transpose(const Shape *shape, const float *part, size_t at, size_t n, float *x)
{
    const size_t outs = shape->dim[0], ins = shape->dim[1], taps = shape->dim[2] * shape->dim[3];
    size_t o = at % outs, i = at / outs % ins, tap = at / outs / ins;
    for (size_t k = 0; k < n; k++) {
        x[(o * ins + i) * taps + tap] = part[k];
        if (++o < outs)
            continue;
        o = 0;
        if (++i == ins) {
            i = 0;
            tap++;
        }
    }
}

/* Returns how much the lengths of two neighbouring axes look like those of a kernel's height and width: 3 for 3x3 and
 * other odd squares, 2 for 4x4 and 1x7, 1 for 2x3, 0 for lengths above KERNEL_SIDE. */
static int looks_like_sides(const size_t *dim)
{
    enum { KERNEL_SIDE = 11 }; /* kernels with longer sides are uncommon */
    const bool square = dim[0] == dim[1], line = dim[0] == 1 || dim[1] == 1;
    if (dim[0] > KERNEL_SIDE || dim[1] > KERNEL_SIDE)
        return 0;
    return square && dim[0] % 2 ? 3 : square || line ? 2 : 1;
}

bool layout_doubtful(const TensorInfo *t)
{
    if (t->kind != KIND_CONV || t->shape.rank != 4 || t->layout != LAYOUT_AUTO)
        return false;
    const int first = looks_like_sides(t->shape.dim), last = looks_like_sides(t->shape.dim + 2);
    return first > last || (first == last && first && named_kernel(t));
}
