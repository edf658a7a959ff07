/* test_svd_sizes.c -- on real gradients, the codec svd with singular vectors rounded by qsgd must have a
 * fraction of the variance of svd with vectors of floats, in no more bytes. */
#include "dump/tensor.h"
#include "rig/codec_rig.h"

#define DATA "../shared/data/"

typedef struct {
    double bytes, variance;
} Sent;

/* Returns the bytes (mean of two draws) and the variance, summed over the tensors of the first step and worker
 * of a dump (file of gradients). */
static Sent send_dump(Dump *dump, const char *spec, Arena *a)
{
    Sent sum = {0};
    Error err;
    for (size_t i = 0; i < dump_count(dump); i++) {
        const TensorInfo *t = dump_tensor(dump, i), *first = dump_tensor(dump, 0);
        const ArenaMark mark = arena_mark(a);
        if (t->step != first->step || t->worker != first->worker)
            continue;
        float *x = NEW(a, float, t->shape.n);
        Rig rig;
        check_ok(dump_read(dump, i, x, &err), &err);
        rig_open(&rig, spec, t->shape);
        for (uint64_t r = 0; r < 2; r++) {
            check_ok(rig_encode(&rig, x, r), &rig.err);
            sum.bytes += (double)rig.payload.size / 2;
        }
        sum.variance += codec_variance(&rig.call, x);
        rig_close(&rig);
        arena_rewind(a, mark);
    }
    return sum;
}

static void rounded_vectors_have_a_fraction_of_the_variance_at_the_same_size(void **state)
{
    (void)state;
    static const char *const files[] = {"lenet-mnist-small.h5", "resnet18-cifar10.h5",
                                        "charlm-shakespeare.h5"};
    static const struct {
        const char *floats, *rounded;
        double share; /* the most variance of `rounded`, in units of that of `floats` */
    } pairs[] = {{"svd:rank=1,draw=systematic", "svd:rank=3.5,vectors=qsgd,draw=systematic", 1. / 3},
                 {"svd:rank=1,draw=systematic", "svd:rank=6,vectors=qsgd,vbits=6,draw=systematic", 1. / 5}};
    for (size_t f = 0; f < countof(files); f++) {
        Arena *a = arena_open(0);
        Error err;
        Dump *dump;
        if (dump_open(&dump, text_format(a, "%s%s", DATA, files[f]), a, &err) != OK) {
            print_message("skip: %s, which is not part of the project, is not here\n", files[f]);
            arena_close(a);
            continue;
        }
        for (size_t i = 0; i < countof(pairs); i++) {
            const Sent floats = send_dump(dump, pairs[i].floats, a),
                       rounded = send_dump(dump, pairs[i].rounded, a);
            print_message("%s: %s %.0f bytes, %s %.0f bytes, variance %.3f of that\n", files[f],
                          pairs[i].floats, floats.bytes, pairs[i].rounded, rounded.bytes,
                          rounded.variance / floats.variance);
            check(rounded.bytes <= floats.bytes);
            check(rounded.variance <= pairs[i].share * floats.variance);
        }
        dump_close(dump);
        arena_close(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounded_vectors_have_a_fraction_of_the_variance_at_the_same_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0;
}
