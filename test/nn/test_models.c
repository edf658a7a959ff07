/* test_models.c -- whole networks: names and shapes of their parameters, and gradients against central
 * differences. */
#include "rig/check.h"

#include "nn/model.h"

#include <math.h>

static Model *opened(const char *network, size_t channels, size_t side, size_t classes, size_t images)
{
    Model *m;
    Error err;
    const ModelSpec spec = {.network = network,
                            .channels = channels,
                            .rows = side,
                            .columns = side,
                            .classes = classes,
                            .images = images};
    check_ok(model_open(&m, &spec, &err), &err);
    return m;
}

static void every_network_has_its_published_number_of_parameters(void **state)
{
    (void)state;
    static const struct {
        const char *network;
        size_t channels, side, classes, floats, tensors;
    } known[] = {
        {"softmax", 1, 28, 10, 7850, 2},         {"lenet", 1, 28, 10, 431080, 8},
        {"fc", 1, 28, 10, 1033510, 6},           {"resnet18", 3, 32, 10, 11173962, 62},
        {"resnet18", 3, 32, 100, 11220132, 62},  {"resnet34", 3, 32, 10, 21282122, 110},
        {"resnet34", 3, 32, 100, 21328292, 110}, {"resnet50", 3, 32, 10, 23520842, 161},
        {"resnet50", 3, 32, 100, 23705252, 161}, {"resnet101", 3, 32, 10, 42512970, 314},
        {"resnet152", 3, 32, 10, 58156618, 467}, {"vgg11", 3, 32, 10, 9756426, 38},
        {"vgg11", 3, 32, 100, 9802596, 38},
    };
    for (size_t i = 0; i < countof(known); i++) {
        Model *m = opened(known[i].network, known[i].channels, known[i].side, known[i].classes, 1);
        assert_int_equal(model_parameters(m)->floats, known[i].floats);
        assert_int_equal(model_parameters(m)->count, known[i].tensors);
        model_close(m);
    }
}

/* Checks the gradient of one batch: along the direction of a tensor's gradient, the derivative of the loss must be
 * the gradient's norm. */
static void check_gradient(const char *network, size_t channels, size_t side, size_t images, double step,
                           double tolerance)
{
    Model *m = opened(network, channels, side, 10, images);
    Arena *a = arena_open(0);
    const size_t n = model_parameters(m)->floats, running_n = model_running(m)->floats,
                 each = channels * side * side;
    float *w = NEW(a, float, n), *g = NEW(a, float, n), *other = NEW(a, float, n), *moved = NEW(a, float, n);
    float *running = NEW(a, float, running_n), *x = NEW(a, float, images *each);
    uint8_t *labels = NEW(a, uint8_t, images);
    model_init(m, 3, w, running);
    const Rng rng = rng_open(5, 0, 0, 0, 0);
    for (size_t i = 0; i < images * each; i++)
        x[i] = (float)rng_normal(&rng, USE_TEST, i);
    for (size_t i = 0; i < images; i++)
        labels[i] = (uint8_t)(i * 7 % 10);
    const Batch batch = {.images = x, .labels = labels, .count = images};
    Score s, up, down;
    Error err;
    check_ok(model_gradient(m, &batch, w, running, &rng, 1, g, &s, &err), &err);
    check_ok(model_gradient(m, &batch, w, running, &rng, 2, other, &s, &err), &err);
    assert_memory_equal(g, other, n * sizeof *g);
    size_t bad = 0;
    for (size_t t = 0; t < model_parameters(m)->count; t++) {
        const Slice *slice = &model_parameters(m)->item[t];
        double norm = 0;
        for (size_t i = 0; i < slice->shape.n; i++)
            norm += (double)g[slice->offset + i] * (double)g[slice->offset + i];
        norm = sqrt(norm);
        if (norm < 1e-5)
            continue;
        for (int side_ = 0; side_ < 2; side_++) {
            memcpy(moved, w, n * sizeof *w);
            for (size_t i = 0; i < slice->shape.n; i++)
                moved[slice->offset + i] +=
                    (float)((side_ ? -step : step) * (double)g[slice->offset + i] / norm);
            check_ok(model_gradient(m, &batch, moved, running, &rng, 2, other, side_ ? &down : &up, &err),
                     &err);
        }
        const double slope = (up.loss - down.loss) / (2 * step);
        if (fabs(slope - norm) > tolerance * norm + 1e-4) {
            print_error("%s %s: slope %g, norm %g\n", network, slice->name, slope, norm);
            bad++;
        }
    }
    assert_int_equal(bad, 0);
    arena_close(a);
    model_close(m);
}

static void gradients_are_the_slopes_of_the_loss(void **state)
{
    (void)state;
    check_gradient("softmax", 1, 28, 20, 1e-2, 0.01);
    check_gradient("fc", 1, 28, 20, 1e-2, 0.02);
    check_gradient("cnn", 1, 28, 20, 2e-3, 0.03);
    check_gradient("lenet", 1, 28, 37, 2e-3, 0.03);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_network_has_its_published_number_of_parameters),
    cmocka_unit_test(gradients_are_the_slopes_of_the_loss),
};

CHECK_MAIN(tests)
