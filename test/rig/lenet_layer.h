/* lenet_layer.h -- compares codecs on one layer of LeNet's gradient at step 1000, in runs that differ in their seed. */
#ifndef ATOMO_LENET_LAYER_H
#define ATOMO_LENET_LAYER_H

#include "compress/spec.h"
#include "measure/compare.h"
#include "rig/check.h"

enum { LAYER_CODECS = 12 };

typedef struct {
    Arena *a;
    Dump *dump;
    VectorList list;
    Comparison c; /* its callbacks get the Layer */
    const Codec *codec[LAYER_CODECS];
    void *data; /* for c.record */
    Error err;
} Layer;

static Status layer_load(void *data, const Vector *v, float *x, Error *err)
{
    return vector_load(((Layer *)data)->dump, v, x, err);
}

/* Sets what runs compare; `record` and `data` as in Comparison and Layer. `l` must not move before layer_close. */
static void layer_open(Layer *l, const char *tensor, size_t repeats, const char *const *spec, size_t specs,
                       Status (*record)(void *layer, const Record *r, Error *err), void *data)
{
    const GroupSpec groups = {.selection = {.tensors = {&tensor, 1}, .step = "*1000"}};
    *l = (Layer){.a = arena_open(0), .data = data};
    check_ok(dump_open(&l->dump, "datasets/lenet-mnist.h5", l->a, &l->err), &l->err);
    check_ok(groups_make(&l->list, l->dump, &groups, l->a, &l->err), &l->err);
    check(specs <= LAYER_CODECS);
    for (size_t k = 0; k < specs; k++)
        check_ok(codec_open(&l->codec[k], spec[k], l->a, &l->err), &l->err);
    l->c = (Comparison){.codec = l->codec,
                        .codecs = specs,
                        .vectors = &l->list,
                        .repeats = repeats,
                        .threads = 1,
                        .untimed = true,
                        .data = l,
                        .load = layer_load,
                        .record = record};
}

static void layer_run(Layer *l, uint64_t seed)
{
    size_t failures;
    const ArenaMark mark = arena_mark(l->a);
    l->c.seed = seed;
    check_ok(compare_run(&l->c, &failures, l->a, &l->err), &l->err);
    check(failures == 0);
    arena_rewind(l->a, mark);
}

static void layer_close(Layer *l)
{
    dump_close(l->dump);
    arena_close(l->a);
}

#endif
