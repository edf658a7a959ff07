/* test_layer_rules.c -- properties of layers that their formulas do not show: max pooling of equal elements,
 * NaN, dropout's mask, sums of activations, the loss, and equal results on every instruction set. */
#include "rig/layer_rig.h"
#include "train/model.c"

/* ---- max pooling ---- */

TEST(the_first_of_equal_maxima_gets_the_gradient)
{
    Layers r;
    layers_open(&r, (Activation){.channels = 1, .rows = 2, .columns = 6, .lanes = 1}, 1);
    layers_ready(&r, build_max_pool(&r.b, r.in, 2));
    static const float x[12] = {5, 5, 1, 2, -1, -3, 5, 5, 3, 3, -2, -1};
    memcpy(r.in->x, x, sizeof x);
    layers_forward(&r);
    static const double largest[3] = {5, 3, -1};
    const double *y = in_order(&r, r.out, r.out->x);
    check(!memcmp(y, largest, sizeof largest));
    for (size_t i = 0; i < 3; i++)
        *element(r.out, r.out->dx, 0, i) = (float)(7 + i);
    layers_backward(&r, false);
    static const float want[12] = {7, 0, 0, 0, 9, 0, 0, 0, 8, 0, 0, 0};
    check(!memcmp(r.in->dx, want, sizeof want));
    layers_close(&r);
}

TEST(what_is_no_number_reaches_the_loss)
{
    for (size_t place = 0; place < 4; place++) {
        Layers r;
        layers_open(&r, (Activation){.channels = 1, .rows = 2, .columns = 2, .lanes = 1}, 1);
        layers_ready(&r, build_relu(&r.b, build_max_pool(&r.b, r.in, 2)));
        r.in->x[place] = NAN;
        layers_forward(&r);
        check(isnan(*in_order(&r, r.out, r.out->x)));
        layers_close(&r);
    }
}

/* ---- dropout ---- */

enum { MANY = 3 * 256 * 256 };

static void dropped_layers(Layers *r, double probability)
{
    layers_open(r, (Activation){.channels = 3, .rows = 256, .columns = 256, .lanes = 1}, 1);
    layers_ready(r, build_dropout(&r->b, r->in, probability));
    for (size_t i = 0; i < MANY; i++)
        r->in->x[i] = 3;
}

/* The number of elements that dropout keeps is binomial. It is more than five standard deviations from its
 * mean with probability 1e-6. */
TEST(dropout_drops_its_share_and_keeps_the_mean)
{
    static const double probability[] = {0, 0.1, 0.5, 0.9};
    for (size_t k = 0; k < countof(probability); k++) {
        const double p = probability[k];
        Layers r;
        dropped_layers(&r, p);
        layers_forward(&r);
        size_t kept = 0;
        for (size_t i = 0; i < MANY; i++) {
            check(r.in->x[i] == 0 || fabs((double)r.in->x[i] - 3 / (1 - p)) < 1e-5);
            kept += r.in->x[i] != 0;
        }
        check_near((double)kept, MANY * (1 - p), 5 * sqrt(MANY * p * (1 - p)));
        layers_close(&r);
    }
}

TEST(the_gradient_passes_where_dropout_kept_and_nowhere_else)
{
    Layers r;
    dropped_layers(&r, 0.3);
    layers_forward(&r);
    for (size_t i = 0; i < MANY; i++)
        r.in->dx[i] = 3;
    r.threads = 2;
    layers_backward(&r, false);
    check(!memcmp(r.in->x, r.in->dx, MANY * sizeof(float)));
    layers_close(&r);
}

/* Returns how many elements both masks keep or both masks drop. Two independent masks of probability 1/2 agree
 * on about half of the elements. */
static double agreement(const Layers *a, const Layers *b)
{
    size_t same = 0;
    for (size_t i = 0; i < MANY; i++)
        same += (a->in->x[i] == 0) == (b->in->x[i] == 0);
    return (double)same;
}

TEST(steps_and_layers_drop_independently)
{
    Layers first, step, layer, again;
    dropped_layers(&first, 0.5);
    dropped_layers(&step, 0.5);
    dropped_layers(&layer, 0.5);
    dropped_layers(&again, 0.5);
    step.rng = rng_open(11, 0, 0, 1, 0);
    layer.b.layer[0].index = 1;
    again.threads = 3;
    layers_forward(&first);
    layers_forward(&step);
    layers_forward(&layer);
    layers_forward(&again);
    check_near(agreement(&first, &step), MANY / 2.0, 5 * sqrt(MANY / 4.0));
    check_near(agreement(&first, &layer), MANY / 2.0, 5 * sqrt(MANY / 4.0));
    check_near(agreement(&step, &layer), MANY / 2.0, 5 * sqrt(MANY / 4.0));
    check(!memcmp(first.in->x, again.in->x, MANY * sizeof(float)));
    layers_close(&first);
    layers_close(&step);
    layers_close(&layer);
    layers_close(&again);
}

TEST(scoring_drops_nothing)
{
    Layers r;
    dropped_layers(&r, 0.5);
    r.scoring = true;
    layers_forward(&r);
    for (size_t i = 0; i < MANY; i++)
        check(r.in->x[i] == 3);
    layers_close(&r);
}

/* ---- layers that work in place, and sums of two activations ---- */

TEST(layers_in_place_give_their_input_back)
{
    Layers r;
    layers_open(&r, (Activation){.channels = 2, .rows = 3, .columns = 3, .lanes = 1}, 2);
    Activation other = *r.in, third = *r.in;
    check(build_relu(&r.b, r.in) == r.in);
    check(build_dropout(&r.b, r.in, 0.5) == r.in);
    check(build_sigmoid(&r.b, &other) == &other);
    check(build_sum(&r.b, &third, r.in) == &third);
    layers_close(&r);
}

/* The network computes x + W x. The backward pass of the sum writes a gradient for x. The backward pass of
 * the linear layer W must add to it, not overwrite it. */
TEST(a_sum_gives_both_summands_its_gradient)
{
    enum { N = 6, IMAGES = 5 };
    Layers r;
    layers_open(&r, (Activation){.channels = N, .rows = 1, .columns = 1, .lanes = 1}, IMAGES);
    layers_ready(&r, build_sum(&r.b, build_linear(&r.b, r.in, "inner", N), r.in));
    layers_forward(&r);
    give_gradient(&r);
    const double *dy = in_order(&r, r.out, r.out->dx), *y = in_order(&r, r.out, r.out->x);
    layers_backward(&r, false);
    for (size_t image = 0; image < IMAGES; image++)
        for (size_t i = 0; i < N; i++) {
            double dx = dy[image * N + i];
            for (size_t k = 0; k < N; k++) {
                double inner = (double)r.weights[N * N + k];
                for (size_t j = 0; j < N; j++)
                    inner += (double)r.weights[k * N + j] * (double)r.in->x[image * N + j];
                if (k == i)
                    check_near(y[image * N + i], inner + (double)r.in->x[image * N + i], 1e-5);
                dx += (double)r.weights[k * N + i] * dy[image * N + k];
            }
            check_near((double)r.in->dx[image * N + i], dx, 1e-5);
        }
    layers_close(&r);
}

/* ---- the loss function ---- */

TEST(the_loss_is_the_cross_entropy_and_its_gradient_the_slope)
{
    enum { IMAGES = 3, CLASSES = 4 };
    float x[IMAGES * CLASSES] = {0.5f, -1, 2, 0.25f, 0, 0, 0, 0, 100, -100, 50, 99}, dx[IMAGES * CLASSES];
    static const uint32_t labels[IMAGES] = {2, 1, 3};
    const Activation v = {.channels = CLASSES, .rows = 1, .columns = 1, .lanes = 1, .x = x, .dx = dx};
    double loss;
    size_t correct;
    softmax_loss(&v, labels, IMAGES, &loss, &correct);
    double want = log(exp(0.5) + exp(-1) + exp(2) + exp(0.25)) - 2;
    want += log(4);
    want += log1p(exp(-1) + exp(-50) + exp(-200)) + 1;
    check_rel(loss, want, 1e-14);
    assert_int_equal(correct, 1); /* of equal outputs, the first one is the predicted class */
    for (size_t i = 0; i < IMAGES; i++) {
        double sum = 0;
        for (size_t k = 0; k < CLASSES; k++)
            sum += exp((double)x[i * CLASSES + k] - 100);
        for (size_t k = 0; k < CLASSES; k++)
            check_near((double)dx[i * CLASSES + k],
                       (exp((double)x[i * CLASSES + k] - 100) / sum - (k == labels[i])) / IMAGES, 1e-7);
    }
}

/* With outputs k / 100, the loss of label l is log((e^(C / 100) - 1) / (e^(1 / 100) - 1)) - l / 100. */
TEST(a_thousand_classes_are_as_good_as_four)
{
    enum { CLASSES = 1000, LABEL = 700 };
    float x[CLASSES], dx[CLASSES];
    const Activation v = {.channels = CLASSES, .rows = 1, .columns = 1, .lanes = 1, .x = x, .dx = dx};
    double loss;
    size_t correct;
    for (size_t k = 0; k < CLASSES; k++)
        x[k] = (float)k / 100;
    softmax_loss(&v, (const uint32_t[]){LABEL}, 1, &loss, &correct);
    const double sum = expm1(CLASSES / 100.0) / expm1(0.01);
    check_rel(loss, log(sum) - LABEL / 100.0, 1e-6);
    for (size_t k = 0; k < CLASSES; k++)
        check_near((double)dx[k], exp((double)k / 100) / sum - (k == LABEL), 1e-6);
}

TEST(outputs_beyond_all_bounds_have_a_finite_loss_and_no_number_has_none)
{
    float x[2] = {3e38f, -3e38f}, dx[2];
    const Activation v = {.channels = 2, .rows = 1, .columns = 1, .lanes = 1, .x = x, .dx = dx};
    double loss;
    size_t correct;
    softmax_loss(&v, (const uint32_t[]){0}, 1, &loss, &correct);
    check(loss == 0 && dx[0] == 0 && dx[1] == 0 && correct == 1);
    softmax_loss(&v, (const uint32_t[]){1}, 1, &loss, &correct);
    check_rel(loss, 6e38, 1e-6);
    check(dx[0] == 1 && dx[1] == -1 && correct == 0);
    for (size_t k = 0; k < 2; k++) {
        x[0] = x[1] = 1;
        x[k] = NAN;
        softmax_loss(&v, (const uint32_t[]){0}, 1, &loss, &correct);
        check(isnan(loss));
    }
}

CHECK_ALL(NULL, NULL)
