/* layer_rig.h -- runs a few layers of a network with random inputs and gradients. Also finds an element of an
 * activation by image, channel, row and column, in any memory layout. */
#ifndef ATOMO_LAYER_RIG_H
#define ATOMO_LAYER_RIG_H

#include "rig/check.h"

#include "train/networks.c"

typedef struct {
    Arena *a, *scratch;
    Error err;
    Builder b;
    Activation *in, *out;
    float *weights, *gradient;
    size_t images;
    int threads;
    bool scoring;
    Rng rng;
} Layers;

/* Opens the layers of a test. The input gets the shape and memory layout of `like`, and the backward pass
 * computes its gradient. */
static inline void layers_open(Layers *r, Activation like, size_t images)
{
    *r = (Layers){.a = arena_open(0), .scratch = arena_open(0), .images = images, .threads = 1};
    r->rng = rng_open(11, 0, 0, 0, 0);
    r->b = (Builder){.arena = r->a, .err = &r->err, .images = images, .classes = 10};
    r->b.layer = NEW(r->a, Layer, LAYERS_MOST);
    r->b.parameters.item = NEW(r->a, Slice, SLICES_MOST);
    r->b.running.item = NEW(r->a, Slice, SLICES_MOST);
    r->in = r->b.image = NEW(r->a, Activation, 1);
    *r->in = like;
    r->in->x = NEW(r->a, float, activation_floats(r->in, images));
    r->in->dx = NEW(r->a, float, activation_floats(r->in, images));
}

static inline void layers_close(Layers *r)
{
    for (size_t i = 0; i < r->b.layers; i++)
        if (r->b.layer[i].ops->close)
            r->b.layer[i].ops->close(&r->b.layer[i]);
    arena_close(r->scratch);
    arena_close(r->a);
}

static inline void layers_normal(float *x, size_t n, double scale, uint64_t which)
{
    const Rng rng = rng_open(12, 0, 0, 0, which);
    rng_normals(&rng, USE_TEST, 0, n, scale, x);
}

static inline void layers_ready(Layers *r, Activation *out)
{
    check_ok(r->b.status, &r->err);
    r->out = out;
    for (size_t i = 0; i < r->b.layers; i++)
        if (r->b.layer[i].ops->open)
            check_ok(r->b.layer[i].ops->open(&r->b.layer[i], r->images, r->a, &r->err), &r->err);
    const size_t n = r->b.parameters.floats;
    r->weights = NEW(r->a, float, n + 1);
    r->gradient = NEW(r->a, float, n + 1);
    layers_normal(r->weights, n, 0.5, 1);
    layers_normal(r->in->x, activation_floats(r->in, r->images), 1, 2);
}

static inline Pass layers_pass(Layers *r)
{
    return (Pass){.images = r->images,
                  .threads = r->threads,
                  .training = !r->scoring,
                  .weights = r->weights,
                  .gradient = r->gradient,
                  .rng = r->rng,
                  .scratch = r->scratch,
                  .err = &r->err};
}

static inline void layers_forward(Layers *r)
{
    const Pass p = layers_pass(r);
    for (size_t i = 0; i < r->b.layers; i++) {
        const ArenaMark mark = arena_mark(r->scratch);
        check_ok(r->b.layer[i].ops->forward(&r->b.layer[i], &p), &r->err);
        arena_rewind(r->scratch, mark);
    }
}

/* Runs the backward pass. If `added`, in->dx already holds a gradient, and the pass adds to it. */
static inline void layers_backward(Layers *r, bool added)
{
    const Pass p = layers_pass(r);
    for (size_t i = 0; i < r->b.layers; i++)
        r->b.layer[i].in->accumulate = r->b.layer[i].out->accumulate = false;
    r->in->accumulate = added;
    for (size_t i = r->b.layers; i-- > 0;) {
        const ArenaMark mark = arena_mark(r->scratch);
        check_ok(r->b.layer[i].ops->backward(&r->b.layer[i], &p), &r->err);
        arena_rewind(r->scratch, mark);
    }
}

/* Returns the address of element i of an image in x, which is v->x or v->dx. Elements are numbered by channel,
 * then row, then column, in every memory layout. */
static inline float *element(const Activation *v, float *x, size_t image, size_t i)
{
    const size_t n = activation_size(v), pixels = v->rows * v->columns, lanes = v->lanes;
    return x + image * n + (i / pixels / lanes * pixels + i % pixels) * lanes + i / pixels % lanes;
}

static inline double *in_order(Layers *r, const Activation *v, float *x)
{
    const size_t n = activation_size(v);
    double *plain = NEW(r->a, double, r->images *n);
    for (size_t image = 0; image < r->images; image++)
        for (size_t i = 0; i < n; i++)
            plain[image * n + i] = (double)*element(v, x, image, i);
    return plain;
}

/* Fills the outputs' gradient dx with random numbers, which do not depend on the memory layout. */
static inline void give_gradient(Layers *r)
{
    float *plain = NEW(r->a, float, r->images *activation_size(r->out));
    layers_normal(plain, r->images * activation_size(r->out), 1, 3);
    for (size_t image = 0; image < r->images; image++)
        for (size_t i = 0; i < activation_size(r->out); i++)
            *element(r->out, r->out->dx, image, i) = plain[image * activation_size(r->out) + i];
}

#endif
