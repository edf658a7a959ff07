/* test_models.c -- whole networks: names and shapes of their parameters, their running statistics and their
 * initial weights. */
#include "rig/check.h"

#include "train/model.h"

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

TEST(every_network_has_its_published_number_of_parameters)
{
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
        {"vgg11", 3, 32, 100, 9802596, 38},      {"resnet20", 3, 32, 10, 269722, 59},
        {"resnet32", 3, 32, 10, 464154, 95},     {"resnet44", 3, 32, 10, 658586, 131},
        {"resnet56", 3, 32, 10, 853018, 167},    {"resnet110", 3, 32, 10, 1727962, 329},
    };
    for (size_t i = 0; i < countof(known); i++) {
        Model *m = opened(known[i].network, known[i].channels, known[i].side, known[i].classes, 1);
        assert_int_equal(model_parameters(m)->floats, known[i].floats);
        assert_int_equal(model_parameters(m)->count, known[i].tensors);
        model_close(m);
    }
}

/* The first batch norm of ResNet-18 normalises a convolution of the image. The test computes this convolution
 * by its definition. The running mean and variance begin at 0 and 1. They move by a tenth of the difference
 * towards the batch's mean and unbiased variance, over 1024 values here. Dividing by 1024 in place of 1023
 * would change the variance by 3e-5. */
TEST(running_statistics_move_a_tenth_to_mean_and_unbiased_variance)
{
    enum { SIDE = 32, C = 3, K = 64, VALUES = SIDE * SIDE };
    Model *m = opened("resnet18", C, SIDE, 10, 1);
    const Slice *const stats = model_running(m)->item, *const first = model_parameters(m)->item;
    Arena *a = arena_open(0);
    const size_t n = model_parameters(m)->floats;
    float *w = NEW(a, float, n), *g = NEW(a, float, n), *x = NEW(a, float, C *VALUES);
    float *running = NEW(a, float, model_running(m)->floats);
    const uint32_t label = 3;
    const Rng rng = rng_open(5, 0, 0, 0, 0);
    Score s;
    Error err;
    assert_int_equal(first->shape.n, K * C * 9);
    check(stats[0].shape.n == K && stats[1].shape.n == K);
    model_init(m, 3, w, running);
    rng_normals(&rng, USE_TEST, 0, C * VALUES, 1, x);
    check_ok(model_gradient(m, &(Batch){x, &label, 1}, w, running, &rng, 1, g, &s, &err), &err);
    for (int k = 0; k < K; k++) {
        double sum = 0, squares = 0;
        for (int at = 0; at < VALUES; at++) {
            double v = 0;
            for (int tap = 0; tap < C * 9; tap++) {
                const int row = at / SIDE + tap % 9 / 3 - 1, column = at % SIDE + tap % 3 - 1;
                if (row >= 0 && row < SIDE && column >= 0 && column < SIDE)
                    v += (double)w[first->offset + (size_t)(k * C * 9 + tap)] *
                         (double)x[tap / 9 * VALUES + row * SIDE + column];
            }
            sum += v;
            squares += v * v;
        }
        const double mean = sum / VALUES, variance = (squares - sum * mean) / (VALUES - 1);
        check_near((double)running[stats[0].offset + (size_t)k], 0.1 * mean, 2e-7);
        check_rel((double)running[stats[1].offset + (size_t)k], 0.9 + 0.1 * variance, 1e-6);
    }
    arena_close(a);
    model_close(m);
}

/* The initial weights of a layer must have the variance of their distribution. PyTorch's default is uniform
 * with variance 1 / (3 n) for n inputs. A VGG layer with K kernels of 3 x 3 has normal weights with variance 2
 * / (9 K) (He and others, 2015). The limit is six standard deviations. */
static size_t check_initial(const char *network, size_t channels, size_t side, bool normal)
{
    Model *m = opened(network, channels, side, 10, 1);
    const SliceList *list = model_parameters(m);
    Arena *a = arena_open(0);
    float *w = NEW(a, float, list->floats), *running = NEW(a, float, model_running(m)->floats + 1);
    size_t seen = 0;
    model_init(m, 1, w, running);
    for (const Slice *s = list->item; s < list->item + list->count; s++) {
        const double n = (double)s->shape.n, outputs = (double)s->shape.dim[0];
        const bool he = normal && s->shape.rank == 4;
        double squares = 0;
        if (s->shape.rank < 2)
            continue;
        for (size_t i = 0; i < s->shape.n; i++)
            squares += (double)w[s->offset + i] * (double)w[s->offset + i];
        /* the fourth moment of a normal distribution is 3 variance^2, of a uniform distribution 1.8
         * variance^2 */
        check_rel(squares / n, he ? 2 / (9 * outputs) : outputs / (3 * n), 6 * sqrt((he ? 2 : 0.8) / n));
        seen++;
    }
    arena_close(a);
    model_close(m);
    return seen;
}

TEST(initial_weights_have_the_variance_of_their_law)
{
    assert_int_equal(check_initial("fc", 1, 28, false), 3);
    assert_int_equal(check_initial("resnet18", 3, 32, false), 21);
    assert_int_equal(check_initial("vgg11", 3, 32, true), 11);
}

CHECK_ALL(NULL, NULL)
