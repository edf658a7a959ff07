/* test_layout.c -- kernels of convolutions stored as [h, w, in, out] are read as [out, in, h, w]. */
#include "dump/tensor.h"

#include "rig/check.h"
#include "rig/scratch_dir.h"

static Error err;
static const Attr hwio = {"layout", ATTR_TEXT, 0, 0, "HWIO"}, oihw = {"layout", ATTR_TEXT, 0, 0, "oihw"},
                  keras = {"keras_version", ATTR_TEXT, 0, 0, "2.12.0"};

enum { H = 3, W = 2, IN = 4, OUT = 5, N = H * W * IN * OUT };

/* Returns the element of the kernel at the given place, whatever the order of the axes. */
static float element(size_t h, size_t w, size_t in, size_t out)
{
    return (float)(1000 * h + 100 * w + 10 * in + out);
}

/* Writes a kernel stored as [h, w, in, out], with attributes of its own and of the root; NULL: none. */
static void write_kernel(const Attr *own, const Attr *root)
{
    DumpWriter *to;
    Shape shape, bias = shape_vector(OUT);
    float x[N], *at = x;
    const AttrList mine = {(Attr *)(uintptr_t)own, 1}, roots = {(Attr *)(uintptr_t)root, 1};
    shape_make(&shape, 4, (const size_t[]){H, W, IN, OUT});
    for (size_t h = 0; h < H; h++)
        for (size_t w = 0; w < W; w++)
            for (size_t in = 0; in < IN; in++)
                for (size_t out = 0; out < OUT; out++)
                    *at++ = element(h, w, in, out);
    check_ok(dump_create(&to, in_scratch("k.h5"), &err), &err);
    if (root)
        check_ok(dump_write_attrs(to, "", &roots, &err), &err);
    check_ok(dump_write(to, "conv/kernel", &shape, x, own ? &mine : NULL, &err), &err);
    check_ok(dump_write(to, "conv/bias", &bias, x, NULL, &err), &err);
    check_ok(dump_finish(to, OK, &err), &err);
}

static const TensorInfo *find(const Dump *d, const char *path, size_t *at)
{
    for (*at = 0; strcmp(dump_tensor(d, *at)->path, path); (*at)++)
        ;
    return dump_tensor(d, *at);
}

/* Opens the file and checks shape and elements of the kernel: those of [out, in, h, w] if `turned`, else those of
 * the file. */
static void check_kernel(KernelLayout asked, bool turned)
{
    static const size_t stored[] = {H, W, IN, OUT}, usual[] = {OUT, IN, H, W};
    Arena *a = arena_open(0);
    Dump *d;
    size_t i;
    float x[N], bias[OUT];
    check_ok(dump_open_as(&d, in_scratch("k.h5"), &(DumpHints){.layout = (int)asked}, a, &err), &err);
    const TensorInfo *t = find(d, "conv/kernel", &i);
    check(t->shape.rank == 4 && t->shape.n == N &&
          !memcmp(t->shape.dim, turned ? usual : stored, sizeof usual));
    check_ok(dump_read(d, i, x, &err), &err);
    for (size_t h = 0; h < H; h++)
        for (size_t w = 0; w < W; w++)
            for (size_t in = 0; in < IN; in++)
                for (size_t out = 0; out < OUT; out++)
                    check(
                        x[turned ? ((out * IN + in) * H + h) * W + w : ((h * W + w) * IN + in) * OUT + out] ==
                        element(h, w, in, out));
    check(find(d, "conv/bias", &i)->shape.rank == 1 && dump_tensor(d, i)->attrs.count == 0);
    check_ok(dump_read(d, i, bias, &err), &err);
    for (size_t out = 0; out < OUT; out++)
        check(bias[out] == element(0, 0, 0, out));
    dump_close(d);
    arena_close(a);
}

TEST(an_attribute_of_the_kernel_names_its_layout)
{
    write_kernel(&hwio, NULL);
    check_kernel(LAYOUT_AUTO, true);
    write_kernel(&oihw, NULL);
    check_kernel(LAYOUT_AUTO, false);
}

TEST(an_attribute_of_the_file_names_the_layout_of_all_kernels)
{
    write_kernel(NULL, NULL);
    check_kernel(LAYOUT_AUTO, false);
    write_kernel(NULL, &hwio);
    check_kernel(LAYOUT_AUTO, true);
    write_kernel(NULL, &keras);
    check_kernel(LAYOUT_AUTO, true);
}

TEST(the_kernels_attribute_counts_before_the_files_and_the_option_before_both)
{
    write_kernel(&oihw, &hwio);
    check_kernel(LAYOUT_AUTO, false);
    check_kernel(LAYOUT_HWIO, true);
    write_kernel(&hwio, &oihw);
    check_kernel(LAYOUT_AUTO, true);
    check_kernel(LAYOUT_OIHW, false);
}

TEST(a_transposed_kernel_says_so_and_is_not_transposed_twice)
{
    Arena *a = arena_open(0);
    Dump *d;
    size_t i;
    write_kernel(&hwio, &hwio);
    check_ok(dump_open(&d, in_scratch("k.h5"), a, &err), &err);
    const TensorInfo *t = find(d, "conv/kernel", &i);
    check(t->attrs.count == 1 && !strcmp(t->attrs.item[0].name, "layout") &&
          !strcmp(t->attrs.item[0].text, "oihw"));
    dump_close(d);
    arena_close(a);
}

TEST(doubt_is_cast_on_kernels_that_are_called_so)
{
    static const struct {
        const char *name;
        bool doubtful;
    } cases[] = {{"conv/kernel", true},   {"conv2d/kernel:0", true}, {"conv/depthwise_kernel", true},
                 {"conv.weight", false},  {"kernel/weight", false}};
    for (size_t i = 0; i < countof(cases); i++) {
        TensorInfo t = {.kind = KIND_CONV, .name = cases[i].name};
        check(shape_make(&t.shape, 4, (const size_t[]){3, 3, 16, 32}));
        check(layout_doubtful(&t) == cases[i].doubtful);
        t.layout = LAYOUT_OIHW;
        check(!layout_doubtful(&t));
        t = (TensorInfo){.kind = KIND_FC, .name = cases[i].name, .shape = t.shape};
        check(!layout_doubtful(&t));
    }
}

CHECK_ALL(scratch_open, scratch_close)
