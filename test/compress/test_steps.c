/* test_steps.c -- codecs with a state, in a comparison over steps and workers, against direct calls of the
 * codecs. Every worker and tensor has its own state. All repeats of a step start from the same state, and only
 * repeat 0 updates the state. */
#include "rig/check.h"
#include "measure/compare.h"
#include "compress/spec.h"

enum {
    STEPS = 3,
    WORKERS = 2,
    TENSORS = 2,
    CELLS = STEPS * WORKERS,
    VECTORS = CELLS * TENSORS,
    REPEATS = 3,
    MOST = 1500
};

static const char *const specs[] = {
    "ef+qsgd:bits=2",     "ef+topk:ratio=0.05",
    "ef+entry:ratio=0.1", "ef+scaledsign",
    "ef+ef+onebit",       "ef:decay=0.5+terngrad:share=on",
    "ef+svd:rank=2",      "dgc:ratio=0.05,sample=0.1",
    "strom:tau=0.5",      "ef+strom:tau=0.5",
    "qsgd:bits=2", /* without a state */
};

static const char *const names[TENSORS] = {"a", "b"};
static const size_t dims[TENSORS][2] = {{50, 30}, {300, 1}};

typedef struct {
    double bytes, bytes_min, bytes_max, mse, residual;
} Figures;

typedef struct {
    Arena *a;
    Error err;
    Vector vector[VECTORS];
    VectorList list;
    const Codec *codec;
    const char *name;
    Comparison c;
    Figures vectors[VECTORS], cells[CELLS];
} World;

static Status load(void *data, const Vector *v, float *x, Error *err)
{
    const Rng rng = rng_open(3, 0, v->worker, v->step, rng_hash(v->name));
    (void)data, (void)err;
    rng_normals(&rng, USE_DATA, 0, v->shape.n, 1, x);
    return OK;
}

static double figure(const Record *r, const char *name)
{
    return metric_value(metric_find(name), &r->tally);
}

static Status keep(void *data, const Record *r, Error *err)
{
    World *w = data;
    const size_t cell = r->place / (TENSORS + 1), i = r->place % (TENSORS + 1);
    (void)err;
    check(!r->error);
    if (r->level != LEVEL_RUN)
        *(i < TENSORS ? &w->vectors[cell * TENSORS + i] : &w->cells[cell]) =
            (Figures){figure(r, "bytes"), figure(r, "bytes_min"), figure(r, "bytes_max"), figure(r, "mse"),
                      figure(r, "residual_norm")};
    return OK;
}

static World *world_open(const char *spec)
{
    Arena *a = arena_open(0);
    World *w = NEW_ZERO(a, World, 1);
    w->a = a;
    w->name = spec;
    for (size_t k = 0; k < VECTORS; k++) {
        const size_t cell = k / TENSORS, tensor = k % TENSORS;
        w->vector[k] = (Vector){.name = names[tensor],
                                .step_group = "step",
                                .worker_group = "worker",
                                .step = (int64_t)(cell / WORKERS),
                                .worker = (int64_t)(cell % WORKERS),
                                .step_address = (int64_t)(cell / WORKERS),
                                .worker_address = (int64_t)(cell % WORKERS)};
        check(shape_make(&w->vector[k].shape, dims[tensor][1] > 1 ? 2 : 1, dims[tensor]));
        w->list.elements += w->vector[k].shape.n;
    }
    w->list.item = w->vector;
    w->list.count = VECTORS;
    w->list.largest = MOST;
    check_ok(codec_open(&w->codec, spec, a, &w->err), &w->err);
    w->c = (Comparison){.codec = &w->codec,
                        .codecs = 1,
                        .vectors = &w->list,
                        .repeats = REPEATS,
                        .seed = 5,
                        .memory = 1 << 30,
                        .threads = 1,
                        .data = w,
                        .load = load,
                        .record = keep};
    return w;
}

static void world_run(World *w)
{
    size_t failures;
    check_ok(compare_run(&w->c, &failures, w->a, &w->err), &w->err);
    check(failures == 0);
}

/* ---- the reference: the codec called directly ---- */

typedef struct {
    Call call;
    const Vector *v;
    Buf out;
    Message sent;
    float x[MOST], y[MOST];
} Hand;

static void exchange(Hand *h, uint64_t repeat)
{
    const uint64_t tensor = rng_hash(h->v->name);
    h->call.rng = rng_open(5, repeat, h->v->worker, h->v->step, tensor);
    h->call.rng_shared = rng_open(5, repeat, RNG_EVERYONE, h->v->step, tensor);
    h->out.size = 0;
    check_ok(codec_send(&h->call, h->x, &h->out, &h->sent), h->call.err);
    check_ok(codec_receive(&h->call, &h->sent, h->y), h->call.err);
}

static Figures step_by_hand(World *w, const Vector *v, void *state)
{
    Hand *h = NEW_ZERO(w->a, Hand, 1);
    Figures f = {.bytes_min = INFINITY, .residual = NAN};
    h->v = v;
    h->call = (Call){.self = w->codec,
                     .state = state,
                     .shape = &v->shape,
                     .workers = 1,
                     .threads = 1,
                     .scratch = w->a,
                     .err = &w->err};
    h->out.cap = codec_message_bound(&h->call);
    h->out.data = NEW(w->a, uint8_t, h->out.cap);
    check_ok(load(NULL, v, h->x, &w->err), &w->err);
    const bool random = codec_traits(w->codec) & RANDOM;
    for (uint64_t r = 0; r < (random ? REPEATS : 1); r++) {
        const double R = random ? REPEATS : 1;
        exchange(h, r);
        f.bytes += (double)h->out.size / R;
        f.bytes_min = fmin(f.bytes_min, (double)h->out.size);
        f.bytes_max = fmax(f.bytes_max, (double)h->out.size);
        for (size_t i = 0; i < v->shape.n; i++)
            f.mse += pow((double)h->y[i] - (double)h->x[i], 2) / R;
    }
    exchange(h, 0);
    if (state) {
        check_ok(codec_settle(&h->call, h->x, h->sent.round, h->y, state), &w->err);
        f.residual = codec_residual(&h->call);
    }
    return f;
}

static void *new_state(World *w, const Vector *v)
{
    const Call call = {
        .self = w->codec, .shape = &v->shape, .workers = 1, .threads = 1, .scratch = w->a, .err = &w->err};
    const size_t size = codec_state_size(&call);
    return size ? arena_zeroed(w->a, 1, size) : NULL;
}

static void is_same(double a, double b, const char *what, const World *w, size_t k)
{
    if ((isnan(a) && isnan(b)) || fabs(a - b) <= 1e-11 * fabs(b))
        return;
    print_error("%s, step %d, worker %d, %s: %s is %.17g, by hand %.17g\n", w->name, (int)w->vector[k].step,
                (int)w->vector[k].worker, w->vector[k].name, what, a, b);
    check(false);
}

TEST(figures_over_steps_and_workers_are_those_of_the_codec_driven_by_hand)
{
    for (size_t s = 0; s < countof(specs); s++) {
        World *w = world_open(specs[s]);
        void *kept[WORKERS][TENSORS];
        world_run(w);
        for (size_t k = 0; k < VECTORS; k++) {
            const Vector *v = &w->vector[k];
            void **mine = &kept[v->worker][k % TENSORS];
            if (v->step == 0)
                *mine = new_state(w, v);
            const Figures f = step_by_hand(w, v, *mine), *c = &w->vectors[k];
            is_same(c->bytes, f.bytes, "bytes", w, k);
            is_same(c->bytes_min, f.bytes_min, "bytes_min", w, k);
            is_same(c->bytes_max, f.bytes_max, "bytes_max", w, k);
            is_same(c->mse, f.mse, "mse", w, k);
            is_same(c->residual, f.residual, "residual_norm", w, k);
        }
        arena_close(w->a);
    }
}

/* The residual norm of a step and worker is the norm of the joined residuals of all tensors. Residual norms
 * must differ between steps and between workers. */
TEST(residual_norms_are_reported_for_each_step_and_worker)
{
    for (size_t s = 0; s < countof(specs); s++) {
        World *w = world_open(specs[s]);
        const bool keeps = codec_keeps_state(w->codec);
        world_run(w);
        for (size_t cell = 0; cell < CELLS; cell++) {
            double sum = 0;
            for (size_t i = 0; i < TENSORS; i++)
                sum += pow(w->vectors[cell * TENSORS + i].residual, 2);
            check(isnan(w->cells[cell].residual) == !keeps && isnan(sum) == !keeps);
            check(!keeps || fabs(w->cells[cell].residual - sqrt(sum)) <= 1e-12 * sqrt(sum));
            for (size_t other = 0; keeps && other < cell; other++)
                check(w->cells[cell].residual != w->cells[other].residual && sum > 0);
        }
        arena_close(w->a);
    }
}

TEST(neither_other_workers_nor_more_repeats_change_a_state)
{
    for (size_t s = 0; s < countof(specs); s++) {
        World *w = world_open(specs[s]), *one = world_open(specs[s]);
        size_t count = 0;
        world_run(w);
        for (size_t k = 0; k < VECTORS; k++)
            if (one->vector[k].worker == 1)
                one->vector[count++] = one->vector[k];
        one->list.count = count;
        one->c.repeats = 1;
        world_run(one);
        for (size_t step = 0; step < STEPS; step++)
            for (size_t i = 0; i < TENSORS; i++)
                is_same(one->vectors[step * TENSORS + i].residual,
                        w->vectors[(step * WORKERS + 1) * TENSORS + i].residual, "residual_norm", one,
                        step * TENSORS + i);
        arena_close(w->a), arena_close(one->a);
    }
}

CHECK_ALL(NULL, NULL)
