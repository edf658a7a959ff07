/* test_powersgd_sizes.c -- the compression ratio of powersgd on ResNet-18 against the paper. */
#include "rig/matrices.h"
#include "rig/model_rig.h"

static double ratio_of(Model *m, const char *spec)
{
    size_t bytes = 0;
    for (size_t j = 0; j < m->count; j++) {
        Rig rig;
        rig_open(&rig, spec, m->shape[j]);
        check_ok(rig_encode(&rig, m->x[j], 0), &rig.err);
        bytes += rig.payload.size;
        rig_close(&rig);
    }
    return 4 * (double)m->elements / (double)bytes;
}

static void ratios_are_the_papers(Model *m)
{
    assert_int_equal(m->elements, 11173962);
    check_near(ratio_of(m, "powersgd:rank=1"), 243, 0.5);
    check_near(ratio_of(m, "powersgd:rank=2"), 136, 0.5);
    check_near(ratio_of(m, "powersgd:rank=4"), 72, 0.5);
    model_close(m);
}

static void add_tensor(Model *m, size_t a, size_t b, size_t side)
{
    const Shape shape = b ? shape_of(side ? 4 : 2, (const size_t[]){a, b, side, side}) : shape_vector(a);
    float *x = model_tensor(m, m->count, shape);
    normal(x, shape.n < 1000 ? shape.n : 1000, m->count++);
}

static void add_convolution(Model *m, size_t out, size_t in, size_t side)
{
    add_tensor(m, out, in, side);
    add_tensor(m, out, 0, 0); /* scale and shift of the batch norm that follows the convolution */
    add_tensor(m, out, 0, 0);
}

static void resnet18_shrinks_by_the_papers_ratios_in_shape(void **state)
{
    (void)state;
    Model m;
    model_open(&m, 62);
    m.count = 0;
    add_convolution(&m, 64, 3, 3);
    for (size_t in = 64, stage = 0; stage < 4; stage++) {
        const size_t out = (size_t)64 << stage;
        for (int k = 0; k < 4; k++, in = out)
            add_convolution(&m, out, in, 3);
        if (stage)
            add_convolution(&m, out, out / 2, 1);
    }
    add_tensor(&m, 10, 512, 0);
    add_tensor(&m, 10, 0, 0);
    assert_int_equal(m.count, 62);
    ratios_are_the_papers(&m);
}

static void resnet18_shrinks_by_the_papers_ratios_on_its_gradients(void **state)
{
    (void)state;
    Model m;
    if (model_read(&m, "../shared/data/resnet18-cifar10.h5"))
        ratios_are_the_papers(&m);
}

/* Defect 9 of public implementations: the rows of the matrix are the first axis of every tensor. In layouts
 * with the kernel axes first, 1 x 1 kernels are then sent raw, and 3 x 3 kernels shrink by at most a factor of
 * three. */
static void defect_9_kernels_are_matrices_that_shrink(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        size_t dim[4];
        double least;
    } rows[] = {{"powersgd", {64, 128, 1, 1}, 20},
                {"powersgd", {64, 64, 3, 3}, 28},
                {"powersgd:reshape=paper", {64, 128, 1, 1}, 20},
                {"powersgd:reshape=square", {1, 1, 128, 64}, 20}, /* spatial axes first */
                {"powersgd:reshape=square", {3, 3, 64, 64}, 40}};
    for (size_t i = 0; i < countof(rows); i++) {
        Rig rig;
        const Shape shape = shape_of(4, rows[i].dim);
        rig_open(&rig, rows[i].spec, shape);
        float *x = NEW(rig.forever, float, shape.n);
        normal(x, shape.n, i);
        send(&rig, x, 0);
        check(4 * (double)shape.n / (double)rig.payload.size > rows[i].least);
        check(error_share(x, rig.decoded, shape.n) < 1);
        rig_close(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resnet18_shrinks_by_the_papers_ratios_in_shape),
        cmocka_unit_test(resnet18_shrinks_by_the_papers_ratios_on_its_gradients),
        cmocka_unit_test(defect_9_kernels_are_matrices_that_shrink),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}
