/* test_paper_sizes.c -- the message sizes of ATOMO's Figure 4, on ResNet-18: they follow from its shapes alone. */
#include "rig/codec_rig.h"
#include "nn/model.h"

static Arena *a;
static Model *model;

static int open_model(void **state)
{
    const ModelSpec spec = {
        .network = "resnet18", .channels = 3, .rows = 32, .columns = 32, .classes = 10, .images = 1};
    Error err;
    (void)state;
    a = arena_open(0);
    check_ok(model_open(&model, &spec, &err), &err);
    return 0;
}

static int close_model(void **state)
{
    (void)state;
    model_close(model);
    arena_close(a);
    return 0;
}

/* Bytes of a step's payloads, of normal gradients. */
static double message(const char *spec)
{
    const SliceList *slices = model_parameters(model);
    double bytes = 0;
    for (size_t i = 0; i < slices->count; i++) {
        const Shape shape = slices->item[i].shape;
        const ArenaMark mark = arena_mark(a);
        const Rng rng = rng_open(3, 0, 0, (int64_t)i, 0);
        float *x = NEW(a, float, shape.n);
        Rig rig;
        for (size_t j = 0; j < shape.n; j++)
            x[j] = (float)rng_normal(&rng, USE_DATA, j);
        rig_open(&rig, spec, shape);
        check_ok(rig_encode(&rig, x, 0), &rig.err);
        bytes += (double)rig.payload.size;
        rig_close(&rig);
        arena_rewind(a, mark);
    }
    return bytes;
}

/* A few bytes to a tensor are kind, count and scale. */
static void check_message(const char *spec, double mib)
{
    const double bytes = message(spec);
    print_message("%s: %.3f MiB, published %g\n", spec, bytes / (1 << 20), mib);
    check(fabs(bytes / (1 << 20) - mib) <= 0.005 + 62. * 16 / (1 << 20));
}

/* A rank of s is s atoms of every tensor: sum min(s, m, n) (m + n + 1) floats. */
static void svds_messages_are_the_papers(void **state)
{
    (void)state;
    check_message("svd:rank=1,draw=systematic", 2.36);
    check_message("svd:rank=6,draw=systematic", 14.06);
}

static void terngrads_at_two_bits_is_the_papers(void **state)
{
    (void)state;
    check_message("terngrad:code=2bit", 2.66);
}

/* The paper's coder packs fields of 2 + b bits into words of 64: 16 of two bits, 10 of four. Ours have 1 + b, and no
 * gaps, beside a float for each 512: less by what that leaves empty. */
static void qsgds_are_smaller_by_what_words_of_64_bits_leave_empty(void **state)
{
    static const struct {
        const char *spec;
        double published, fields, bits;
    } cases[] = {{"qsgd:bits=2,code=fixed", 5.33, 16, 3}, {"qsgd:bits=4,code=fixed", 8.52, 10, 5}};
    (void)state;
    for (size_t i = 0; i < countof(cases); i++) {
        const double n = 11173962, ours = message(cases[i].spec);
        check(fabs(8 * n / cases[i].fields / (1 << 20) - cases[i].published) < 0.0055);
        check_rel(ours, n * (cases[i].bits + 32. / 512) / 8, 1e-3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(svds_messages_are_the_papers),
        cmocka_unit_test(terngrads_at_two_bits_is_the_papers),
        cmocka_unit_test(qsgds_are_smaller_by_what_words_of_64_bits_leave_empty),
    };
    return cmocka_run_group_tests(tests, open_model, close_model) ? 1 : 0;
}
