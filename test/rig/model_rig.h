/* model_rig.h -- makes the tensors of one training step, for tests of codecs that compute one plan for all
 * tensors of a step. */
#ifndef ATOMO_MODEL_H
#define ATOMO_MODEL_H

#include "rig/check.h"
#include "compress/spec.h"
#include "dump/groups.h"

typedef struct {
    Arena *a, *scratch;
    Error err;
    size_t count, elements;
    Shape *shape;
    float **x;
    Call *call;
    size_t loads; /* number of calls of model_load, by which a codec's plan reads tensors */
} Model;

/* Returns tensor j and counts the call. */
static inline const float *model_load(void *data, size_t j, Error *err)
{
    Model *m = data;
    (void)err;
    m->loads++;
    return m->x[j];
}

static inline void model_open(Model *m, size_t count)
{
    *m = (Model){.a = arena_open(0), .scratch = arena_open(0), .count = count};
    m->shape = NEW(m->a, Shape, count);
    m->x = NEW(m->a, float *, count);
    m->call = NEW(m->a, Call, count);
}

static inline void model_close(Model *m)
{
    arena_close(m->a);
    arena_close(m->scratch);
}

static inline float *model_tensor(Model *m, size_t j, Shape shape)
{
    m->shape[j] = shape;
    m->elements += shape.n;
    return m->x[j] = NEW_ZERO(m->a, float, shape.n + 1);
}

/* Fills 24 tensors, whose scales span `decades` powers of ten. Some have normal elements, some are matrices
 * with decaying singular values, and some are heavy-tailed. Two are special: one is zero, and one has equal
 * magnitudes. */
static inline void model_fill(Model *m, uint64_t seed, double decades)
{
    model_open(m, 24);
    for (size_t j = 0; j < m->count; j++) {
        const Rng rng = rng_open(seed, 0, 0, 0, j);
        const size_t rows = 4 + (size_t)(60 * rng_unit(&rng, USE_TEST, 0)),
                     cols = 3 + (size_t)(90 * rng_unit(&rng, USE_TEST, 1));
        const double scale = pow(10, -decades * rng_unit(&rng, USE_TEST, 2));
        Shape shape;
        check(shape_make(&shape, j % 3 == 2 ? 1 : 2, (const size_t[]){rows, cols}));
        float *x = model_tensor(m, j, shape);
        for (size_t i = 0; i < shape.n; i++) {
            const double normal = rng_normal(&rng, USE_DATA, i);
            double v = j % 4 == 1 ? normal * normal * normal : normal;
            if (j % 3 == 1) /* matrices close to rank 1: a single outer product has most of the norm */
                v = 0.05 * normal +
                    rng_normal(&rng, USE_ATOM, i / cols) * rng_normal(&rng, USE_COIN, i % cols);
            x[i] = (float)(scale * v);
        }
    }
    memset(m->x[5], 0, m->shape[5].n * sizeof(float));
    for (size_t i = 0; i < m->shape[7].n; i++)
        m->x[7][i] = i % 2 ? 1e-4f : -1e-4f;
}

/* Reads the tensors of the first step and worker in a dump (a file of gradients). Returns false if there is no
 * such file. */
static inline bool model_read(Model *m, const char *path)
{
    Dump *dump;
    VectorList list;
    model_open(m, 0);
    if (dump_open(&dump, path, m->a, &m->err) != OK) {
        const char *slash = strrchr(path, '/');
        print_message("skip: %s, which is not part of the project, is not here\n", slash ? slash + 1 : path);
        model_close(m);
        return false;
    }
    check_ok(groups_make(&list, dump, &(GroupSpec){0}, m->a, &m->err), &m->err);
    Arena *a = m->a, *scratch = m->scratch;
    *m = (Model){.a = a, .scratch = scratch};
    while (m->count < list.count && list.item[m->count].step == list.item[0].step &&
           list.item[m->count].worker == list.item[0].worker)
        m->count++;
    m->shape = NEW(a, Shape, m->count);
    m->x = NEW(a, float *, m->count);
    m->call = NEW(a, Call, m->count);
    for (size_t j = 0; j < m->count; j++)
        check_ok(vector_load(dump, &list.item[j], model_tensor(m, j, list.item[j].shape), &m->err), &m->err);
    dump_close(dump);
    return true;
}

/* Describes the model's tensors as a Step, the input of a codec's plan. The result is valid until the next
 * call. */
static inline Step model_step(Model *m, const char *spec)
{
    const Codec *codec;
    check_ok(codec_open(&codec, spec, m->a, &m->err), &m->err);
    for (size_t j = 0; j < m->count; j++)
        m->call[j] = (Call){.self = codec,
                            .shape = &m->shape[j],
                            .rng = rng_open(1, 0, 0, 0, j),
                            .rng_shared = rng_open(1, 0, RNG_EVERYONE, 0, j),
                            .workers = 1,
                            .threads = 1,
                            .scratch = m->scratch,
                            .err = &m->err};
    m->loads = 0;
    return (Step){m->count, m->call, model_load, m};
}

/* Computes a codec's plan of the model's tensors, and stores each tensor's record of the plan in the tensor's
 * Call. Returns the records. */
static inline void *model_plan(Model *m, const char *spec)
{
    const Step step = model_step(m, spec);
    const size_t size = codec_plan_size(step.call->self);
    char *records = arena_zeroed(m->a, m->count, size);
    check_ok(codec_plan(&step, records), &m->err);
    for (size_t j = 0; j < m->count; j++)
        m->call[j].plan = records + j * size;
    return records;
}

/* Returns the sum of the closed-form variances of all tensors. */
static inline double model_variance(Model *m)
{
    double sum = 0;
    for (size_t j = 0; j < m->count; j++)
        sum += codec_variance(&m->call[j], m->x[j]);
    return sum;
}

/* Returns the payload bits per element, the mean over `draws` draws. Sets *error to the standard error of this
 * mean. */
static inline double model_bits(Model *m, size_t draws, double *error)
{
    double mean = 0, square = 0;
    for (size_t r = 0; r < draws; r++) {
        double bits = 0;
        for (size_t j = 0; j < m->count; j++) {
            const ArenaMark mark = arena_mark(m->a);
            Call *c = &m->call[j];
            Message message;
            c->rng = rng_open(1, r, 0, 0, j);
            Buf payload = {.cap = codec_message_bound(c)};
            payload.data = NEW(m->a, uint8_t, payload.cap);
            check_ok(codec_send(c, m->x[j], &payload, &message), &m->err);
            bits += 8 * (double)payload.size / (double)m->elements;
            arena_rewind(m->a, mark);
        }
        const double off = bits - mean;
        mean += off / (double)(r + 1);
        square += off * (bits - mean);
    }
    *error = draws > 1 ? sqrt(square / (double)(draws - 1) / (double)draws) : 0;
    return mean;
}

#endif
