/* test_big_networks.c -- loss, gradients and running statistics of the networks ResNet and VGG against PyTorch
 * in double precision. */
#include "rig/check.h"

#include "train/model.h"

typedef struct {
    const char *name;
    /* norm: norm of a parameter's gradient; product: inner product of the gradient and a fixed pseudorandom
     * vector */
    double norm, product;
} Known;

#include "reference/big_networks.h"
#include "reference/vectors.h"

enum { IMAGES = 4, SIDE = 32, PIXELS = 3 * SIDE * SIDE, CLASSES = 10 };

static size_t compared;

typedef struct {
    Arena *a;
    Model *model;
    float *w, *running, *gradient;
    Batch batch;
} Net;

/* Fills a parameter with the initial values that the script big_networks_torch.py uses. */
static void fill_parameter(const Slice *s, uint32_t seed, float *w)
{
    const size_t length = strlen(s->name);
    const bool bias = length > 5 && !strcmp(s->name + length - 5, ".bias");
    const double bound = sqrt(6.0 / (double)(s->shape.n / s->shape.dim[0]));
    for (size_t i = 0; i < s->shape.n; i++) {
        const double u = reference_unit((uint32_t)i, seed);
        w[i] = (float)(s->shape.rank > 1 ? (2 * u - 1) * bound : bias ? 0.2 * (2 * u - 1) : 0.25 + 0.5 * u);
    }
}

static Net opened(const char *network)
{
    Net t = {.a = arena_open(0)};
    Error err;
    check_ok(model_open(&t.model, &(ModelSpec){network, 3, SIDE, SIDE, CLASSES, IMAGES, NULL, .text = false},
                        &err),
             &err);
    const SliceList *list = model_parameters(t.model), *running = model_running(t.model);
    t.w = NEW(t.a, float, list->floats);
    t.gradient = NEW(t.a, float, list->floats);
    t.running = NEW(t.a, float, running->floats);
    for (size_t i = 0; i < list->count; i++)
        fill_parameter(&list->item[i], (uint32_t)i, t.w + list->item[i].offset);
    for (size_t i = 0; i < running->count; i++) /* 0 or 1, as model_init does */
        for (size_t k = 0; k < running->item[i].shape.n; k++)
            t.running[running->item[i].offset + k] = running->item[i].init == INIT_ONE;
    float *x = NEW(t.a, float, IMAGES *PIXELS);
    uint32_t *labels = NEW(t.a, uint32_t, IMAGES);
    for (size_t i = 0; i < IMAGES * PIXELS; i++)
        x[i] = (float)(2 * (2 * reference_unit((uint32_t)i, 1000) - 1));
    for (size_t i = 0; i < IMAGES; i++)
        labels[i] = (uint32_t)(i * 7 % CLASSES);
    t.batch = (Batch){x, labels, IMAGES};
    return t;
}

static void closed(Net *t)
{
    model_close(t->model);
    arena_close(t->a);
}

static size_t differing(const Known *known, size_t count, const SliceList *list, const float *x, double tolerance)
{
    size_t bad = 0;
    for (size_t i = 0; i < list->count; i++) {
        const Slice *s = &list->item[i];
        const Known *k = known;
        while (k < known + count && strcmp(k->name, s->name) != 0)
            k++;
        if (k == known + count)
            continue; /* in a block that repeats another */
        double square = 0, product = 0;
        for (size_t j = 0; j < s->shape.n; j++) {
            const double v = (double)x[s->offset + j];
            square += v * v;
            product += v * (2 * reference_unit((uint32_t)j, 7) - 1);
        }
        compared++;
        /* The absolute tolerance 1e-5 is for gradients that are 0 up to rounding errors, such as the gradient
         * of a bias in front of a batch norm. */
        if (fabs(sqrt(square) - k->norm) <= tolerance * k->norm + 1e-5 && fabs(product - k->product) <= tolerance * k->norm + 1e-5)
            continue;
        print_error("%s: norm %.9g, product %.9g, wanted %.9g, %.9g\n", s->name, sqrt(square), product, k->norm, k->product);
        bad++;
    }
    return bad;
}

static void hold(const char *network, double loss, double score, const Known *known, size_t count,
                 double tolerance)
{
    Net t = opened(network);
    Error err;
    Score s;
    const SliceList *parameters = model_parameters(t.model), *running = model_running(t.model);
    const Rng rng = rng_open(5, 0, 0, 0, 0);
    check_ok(model_gradient(t.model, &t.batch, t.w, t.running, &rng, 2, t.gradient, &s, &err), &err);
    check_rel(s.loss, loss, 1e-4);
    compared = 0;
    assert_int_equal(differing(known, count, parameters, t.gradient, tolerance), 0);
    assert_int_equal(differing(known, count, running, t.running, tolerance), 0);
    assert_int_equal(compared, count);
    check_ok(model_score(t.model, &t.batch, t.w, t.running, 2, &s, &err), &err);
    check_rel(s.loss, score, 1e-4);
    closed(&t);
}

/* Rounding to single precision may change the sign of a ReLU's input. Then the gradients of all layers before
 * this ReLU change. So PyTorch's own gradients in single precision differ from its gradients in double: by up
 * to 7e-4 (ResNet-18), 2e-2 (ResNet-50) and 2e-3 (VGG-11) of a tensor's norm. Losses must agree to 1e-4. */
TEST(resnet18_is_pytorchs)
{
    hold("resnet18", resnet18_loss, resnet18_score, resnet18_known, countof(resnet18_known), 5e-3);
}

/* PyTorch's gradients of ResNet-20 in single precision differ by up to 2e-6 of a tensor's norm, and so do ours. */
TEST(a_narrow_network_is_pytorchs)
{
    hold("resnet20", resnet20_loss, resnet20_score, resnet20_known, countof(resnet20_known), 1e-4);
}

TEST(bottleneck_networks_are_pytorchs)
{
    hold("resnet50", resnet50_loss, resnet50_score, resnet50_known, countof(resnet50_known), 5e-2);
}

TEST(vgg11_is_pytorchs_with_the_same_dropout)
{
    hold("vgg11", vgg11_loss, vgg11_score, vgg11_known, countof(vgg11_known), 5e-3);
}

CHECK_ALL(NULL, NULL)
