/* model.c -- runs a network forward and backward over its list of layers. */
#include "train/model.h"

#include "base/parallel.h"
#include "math/blockwise.h"
#include "math/linalg.h"

#include <math.h>
#include <string.h>

struct Model {
    Arena *arena, *scratch;
    Builder b;
    Activation *outputs;
    bool (*stopped)(void);
    bool (*leaves)(void *data);
    void (*ready)(void *data, size_t first);
    void *data;
    /* (parameters) the gradient of a parameter is complete after the backward pass of this layer */
    size_t *last;
};

/* ---- opening ---- */

enum { LEAST_SIDE = 8 };

static Status check_input(const Network *n, const ModelSpec *spec, Error *err)
{
    if (!n->context == spec->text)
        return FAIL(err, ERR_USAGE, "network %s: takes %s, and the data set has %s", n->name,
                    n->context ? "a text" : "images", spec->text ? "a text" : "images");
    if (n->resizes && (spec->rows != spec->columns || spec->rows < LEAST_SIDE))
        return FAIL(err, ERR_USAGE,
                    "network %s: images of %zux%zu: want square ones, with sides of %d or more", n->name,
                    spec->rows, spec->columns, LEAST_SIDE);
    if (!n->resizes && ((n->channels && n->channels != spec->channels) ||
                        (n->side && (n->side != spec->rows || n->side != spec->columns))))
        return FAIL(err, ERR_USAGE, "network %s: images of %zux%zux%zu: want %zux%zux%zu", n->name,
                    spec->channels, spec->rows, spec->columns, n->channels, n->side, n->side);
    return OK;
}

static Status build(Model *m, const Network *network, const char *options, const ModelSpec *spec, Error *err)
{
    Builder *b = &m->b;
    *b = (Builder){
        .arena = m->arena, .err = err, .images = spec->images, .classes = spec->classes, .options = options};
    b->layer = NEW(m->arena, Layer, LAYERS_MOST);
    b->parameters.item = NEW(m->arena, Slice, SLICES_MOST);
    b->running.item = NEW(m->arena, Slice, SLICES_MOST);
    b->image = NEW(m->arena, Activation, 1);
    TRY(arena_check(b->layer && b->parameters.item && b->running.item && b->image, m->arena, err));
    *b->image =
        (Activation){.channels = spec->channels, .rows = spec->rows, .columns = spec->columns, .lanes = 1};
    m->outputs = network->build(b, b->image, network->plan);
    TRY(b->status);
    for (size_t i = 0; i < b->layers; i++)
        if (b->layer[i].ops->open)
            TRY(b->layer[i].ops->open(&b->layer[i], spec->images, m->arena, err));
    return OK;
}

/* Finds the layers that compute the gradients. The backward pass begins with the layer of the largest index. */
static Status find_last(Model *m, Error *err)
{
    const SliceList *list = &m->b.parameters;
    m->last = NEW(m->arena, size_t, list->count);
    TRY(arena_check(m->last, m->arena, err));
    for (size_t s = 0; s < list->count; s++) {
        const Slice *slice = &list->item[s];
        m->last[s] = 0;
        while (m->b.layer[m->last[s]].weight != slice && m->b.layer[m->last[s]].bias != slice)
            m->last[s]++;
    }
    return OK;
}

Status model_open(Model **out, const ModelSpec *spec, Error *err)
{
    *out = NULL;
    const Network *network = NULL;
    const char *options;
    TRY(network_find(&network, &options, spec->network, err));
    TRY(check_input(network, spec, err));
    TRY(linalg_ready(err));
    Arena *arena = arena_open(0);
    Model *m = NEW_ZERO(arena, Model, 1);
    if (!m) {
        const Status status = arena_fail(arena, err);
        arena_close(arena);
        return status;
    }
    m->arena = arena;
    m->stopped = spec->stopped;
    m->leaves = spec->leaves;
    m->ready = spec->ready;
    m->data = spec->data;
    m->scratch = arena_open(0);
    Status status = build(m, network, options, spec, err);
    if (status == OK)
        status = find_last(m, err);
    if (status != OK) {
        model_close(m);
        return error_at(err, "network %s", spec->network);
    }
    *out = m;
    return OK;
}

void model_close(Model *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->b.layers; i++)
        if (m->b.layer[i].ops->close)
            m->b.layer[i].ops->close(&m->b.layer[i]);
    arena_close(m->scratch);
    arena_close(m->arena);
}

const SliceList *model_parameters(const Model *m)
{
    return &m->b.parameters;
}

const SliceList *model_running(const Model *m)
{
    return &m->b.running;
}

const Slice *model_head(const Model *m)
{
    size_t i = m->b.layers - 1;
    while (i && !m->b.layer[i].weight)
        i--;
    return m->b.layer[i].weight;
}

/* ---- drawing the initial weights ---- */

static void init_uniform(const Rng *rng, double bound, float *x, size_t n)
{
    double u[256];
    for (size_t from = 0; from < n; from += countof(u)) {
        const size_t some = n - from < countof(u) ? n - from : countof(u);
        rng_units(rng, USE_INIT, from, some, u);
        for (size_t k = 0; k < some; k++)
            x[from + k] = (float)(bound * (2 * u[k] - 1));
    }
}

static void init(const Slice *s, const Rng *rng, float *x)
{
    const Shape *shape = &s->shape;
    const double bound = s->fan_in ? 1 / sqrt((double)s->fan_in) : 0;
    const double deviation =
        shape->rank == 4 ? sqrt(2.0 / (double)(shape->dim[0] * shape->dim[2] * shape->dim[3])) : 0;
    switch (s->init) {
    case INIT_UNIFORM:
        init_uniform(rng, bound, x, shape->n);
        break;
    case INIT_NORMAL:
    case INIT_GIVEN:
        rng_normals(rng, USE_INIT, 0, shape->n, s->init == INIT_GIVEN ? s->deviation : deviation, x);
        break;
    case INIT_ZERO:
    case INIT_ONE:
        for (size_t i = 0; i < shape->n; i++)
            x[i] = s->init == INIT_ONE;
    }
}

static void init_all(const SliceList *list, uint64_t seed, float *x)
{
    for (size_t i = 0; i < list->count; i++) {
        const Slice *s = &list->item[i];
        const Rng rng = rng_open(seed, 0, RNG_EVERYONE, 0, rng_hash(s->name));
        init(s, &rng, x + s->offset);
    }
}

void model_init(const Model *m, uint64_t seed, float *weights, float *running)
{
    init_all(&m->b.parameters, seed, weights);
    init_all(&m->b.running, seed, running);
}

/* ---- passes ---- */

static Status check_stopped(const Model *m, Error *err)
{
    return m->stopped && m->stopped() ? FAIL(err, ERR_STOPPED, "stopped") : OK;
}

/* Runs one layer forward or backward. A stop ends it between two of its pieces; its results are then dropped. */
static Status run_layer(const Model *m, Status (*run)(Layer *l, const Pass *p), Layer *l, const Pass *p)
{
    TRY(check_stopped(m, p->err));
    if (m->leaves && m->leaves(m->data))
        return FAIL(p->err, ERR_STOPPED, "stopped");
    const ArenaMark mark = arena_mark(p->scratch);
    parallel_until(m->stopped);
    const Status status = run(l, p);
    parallel_until(NULL);
    arena_rewind(p->scratch, mark);
    /* asked first: the layer may have refused values that were not computed */
    TRY(check_stopped(m, p->err));
    return status;
}

static Status forward(Model *m, const Pass *p, const float *images)
{
    /* the cast only removes const: no layer writes to the images */
    m->b.image->x = (float *)(uintptr_t)images;
    for (size_t i = 0; i < m->b.layers; i++) {
        Layer *l = &m->b.layer[i];
        TRY(run_layer(m, l->ops->forward, l, p));
    }
    return OK;
}

static Status backward(Model *m, const Pass *p)
{
    size_t ready = m->b.parameters.count, before = ready;
    for (size_t i = 0; i < m->b.layers; i++)
        m->b.layer[i].in->accumulate = m->b.layer[i].out->accumulate = false;
    for (size_t i = m->b.layers; i-- > 0;) {
        Layer *l = &m->b.layer[i];
        TRY(run_layer(m, l->ops->backward, l, p));
        while (ready && m->last[ready - 1] >= i)
            ready--;
        if (m->ready && ready < before)
            m->ready(m->data, ready);
        before = ready;
    }
    return OK;
}

/* Adds to the error the name of the first parameter or layer whose values are not all finite. */
static Status blame_layer(const Model *m, const Pass *p)
{
    for (size_t i = 0; i < m->b.layers; i++) {
        const Layer *l = &m->b.layer[i];
        const Slice *slice[] = {l->weight, l->bias};
        const char *name = l->weight ? l->weight->name : l->ops->name, *end = strrchr(name, '.');
        size_t bad;
        for (size_t j = 0; j < countof(slice); j++) {
            if (!slice[j])
                continue;
            first_nonfinite(p->weights + slice[j]->offset, slice[j]->shape.n, &bad);
            if (bad)
                return error_at(p->err, "%s: %zu of its %zu values are not finite", slice[j]->name, bad,
                                slice[j]->shape.n);
        }
        first_nonfinite(l->out->x, p->images * activation_size(l->out), &bad);
        if (bad)
            return error_at(p->err, "layer %zu (%.*s): %zu of its outputs are not finite", i,
                            (int)(end ? end - name : (ptrdiff_t)strlen(name)), name, bad);
    }
    return p->err->status;
}

/* Computes the softmax cross-entropy of `count` rows of outputs: one for each image, or one for each token.
 * `*loss` is the sum over the rows, and `*correct` the number of rows whose largest output is at their label.
 * `v->dx` becomes the gradient of the mean loss. */
static void softmax_loss(const Activation *v, const uint32_t *labels, size_t count, double *loss,
                         size_t *correct)
{
    const size_t classes = v->channels;
    *loss = 0;
    *correct = 0;
    for (size_t i = 0; i < count; i++) {
        const float *x = v->x + i * classes;
        float *d = v->dx + i * classes;
        size_t best = 0;
        for (size_t k = 1; k < classes; k++)
            if (x[k] > x[best])
                best = k;
        double sum = 0;
        for (size_t k = 0; k < classes; k++)
            sum += exp((double)x[k] - (double)x[best]);
        for (size_t k = 0; k < classes; k++) {
            const double e = exp((double)x[k] - (double)x[best]);
            d[k] = (float)((e / sum - (k == labels[i])) / (double)count);
        }
        *loss += log(sum) + (double)x[best] - (double)x[labels[i]];
        *correct += best == labels[i];
    }
}

static Status judge(const Model *m, const Pass *p, const Batch *batch, Score *score)
{
    const size_t labels = batch->count * m->outputs->rows * m->outputs->columns;
    softmax_loss(m->outputs, batch->labels, labels, &score->loss, &score->correct);
    score->loss /= (double)labels;
    if (isfinite(score->loss))
        return OK;
    FAIL(p->err, ERR_NUMERIC, "the loss is %s", isnan(score->loss) ? "not a number" : "infinite");
    return blame_layer(m, p);
}

Status model_gradient(Model *m, const Batch *batch, const float *weights, float *running, const Rng *rng,
                      int threads, float *gradient, Score *score, Error *err)
{
    const Pass p = {.images = batch->count,
                    .threads = threads,
                    .training = true,
                    .weights = weights,
                    .gradient = gradient,
                    .running = running,
                    .rng = *rng,
                    .scratch = m->scratch,
                    .err = err};
    TRY(forward(m, &p, batch->images));
    TRY(judge(m, &p, batch, score));
    return backward(m, &p);
}

Status model_score(Model *m, const Batch *batch, const float *weights, const float *running, int threads,
                   Score *score, Error *err)
{
    const Pass p = {.images = batch->count,
                    .threads = threads,
                    .weights = weights,
                    /* the cast only removes const: scoring does not write to the running statistics */
                    .running = (float *)(uintptr_t)running,
                    .scratch = m->scratch,
                    .err = err};
    TRY(forward(m, &p, batch->images));
    return judge(m, &p, batch, score);
}
