/* test_muon.c -- Muon's updates equal those of two transcriptions in double: a single step of the orthogonalisation for six
 * shapes, and 20 steps of a whole network, of which AdamW changes what is no matrix of Muon. The weights do not depend on
 * threads, and Muon learns. */
#include "rig/check.h"
#include "train/optim.c"

#include "compress/spec.h"
#include "math/linalg.h"
#include "rig/tiny_data.h"
#include "train/training_run.h"

#include <stdlib.h>
#include <string.h>

static Arena *arena;
static Error err;
static Dataset train_data, test_data;

static int open_all(void **state)
{
    arena = arena_open(0);
    train_data = tiny_data(SPLIT_TRAIN, 480, arena);
    test_data = tiny_data(SPLIT_TEST, 250, arena);
    return linalg_ready(&err) == OK ? 0 : -1;
}

static int close_all(void **state)
{
    arena_close(arena);
    return 0;
}

/* ---- the transcription, as in the author's code: a matrix with more rows than columns is transposed first ---- */

static double *product(const double *a, const double *b, size_t m, size_t n, size_t k, bool turned)
{
    double *c = NEW(arena, double, m * n);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            c[i * n + j] = 0;
            for (size_t l = 0; l < k; l++)
                c[i * n + j] += a[i * k + l] * (turned ? b[j * k + l] : b[l * n + j]);
        }
    return c;
}

static double *turn(const double *x, size_t rows, size_t columns)
{
    double *y = NEW(arena, double, rows * columns);
    for (size_t i = 0; i < rows * columns; i++)
        y[i % columns * rows + i / columns] = x[i];
    return y;
}

static double *orthogonal(const double *u, size_t rows, size_t columns)
{
    const bool tall = rows > columns;
    const size_t m = tall ? columns : rows, n = tall ? rows : columns;
    double *x = tall ? turn(u, rows, columns) : memcpy(NEW(arena, double, m * n), u, m * n * sizeof *u), norm = 0;
    for (size_t i = 0; i < m * n; i++)
        norm += x[i] * x[i];
    for (size_t i = 0; i < m * n; i++)
        x[i] /= sqrt(norm) + 1e-7;
    for (int step = 0; step < 5; step++) {
        double *A = product(x, x, m, m, n, true), *B = product(A, A, m, m, m, false);
        for (size_t i = 0; i < m * m; i++)
            B[i] = -4.7750 * A[i] + 2.0315 * B[i];
        double *y = product(B, x, m, n, m, false);
        for (size_t i = 0; i < m * n; i++)
            x[i] = 3.4445 * x[i] + y[i];
    }
    return tall ? turn(x, m, n) : x;
}

/* ---- one step ---- */

TEST(one_step_equals_the_transcription_for_six_shapes)
{
    static const size_t shapes[6][2] = {{1, 7}, {7, 1}, {16, 16}, {12, 40}, {40, 12}, {64, 48}};
    for (size_t i = 0; i < 6; i++) {
        const size_t rows = shapes[i][0], columns = shapes[i][1], n = rows * columns;
        const ArenaMark mark = arena_mark(arena);
        float *g = NEW(arena, float, n), *v = NEW(arena, float, n), *w = NEW_ZERO(arena, float, n),
              *room = NEW(arena, float, 2 * n + 2 * rows * rows + 2 * columns * columns);
        double *u = NEW(arena, double, n);
        for (size_t k = 0; k < n; k++) {
            g[k] = (float)rng_normal(&(Rng){{1, 2, 3, (uint32_t)i}}, USE_TEST, k);
            v[k] = (float)rng_normal(&(Rng){{1, 2, 4, (uint32_t)i}}, USE_TEST, k);
            u[k] = (double)g[k] + 0.95 * (0.95 * (double)v[k] + (double)g[k]);
        }
        const Optimizer o = {.kind = OPTIMIZER_MUON, .lr = 1, .momentum = 0.95, .beta2 = 0.9, .scale = MUON_KELLER};
        optimizer_step(&o, 1,
                       &(Updated){.gradient = g, .velocity = v, .weights = w, .n = n, .matrix = true, .scale = 1, .rows = rows,
                                  .room = room},
                       2);
        const double *x = orthogonal(u, rows, columns), scale = sqrt(fmax(1, (double)rows / (double)columns));
        double error = 0, norm = 0;
        for (size_t k = 0; k < n; k++) {
            const double d = (double)w[k] + scale * x[k];
            check(fabs(d) < 1e-6);
            error += d * d;
            norm += scale * x[k] * scale * x[k];
        }
        /* not 1e-6: the roundings of five steps in float32 alone, in any order, come to 1.1e-6 of the norm for the last shape */
        check(sqrt(error / norm) < 2e-6);
        arena_rewind(arena, mark);
    }
}

/* ---- a network ---- */

static TrainSetup setup_of(MuonScale scale)
{
    TrainSetup s = {.network = "cnn",
                    .train = &train_data,
                    .test = &test_data,
                    .workers = 2,
                    .aggregate = 2,
                    .batch = 24,
                    .test_batch = 100,
                    .optimizer = {.kind = OPTIMIZER_MUON,
                                  .lr = 0.02,
                                  .momentum = 0.95,
                                  .beta2 = 0.99,
                                  .weight_decay = 0.1,
                                  .other = 0.003,
                                  .scale = scale},
                    .seed = 1,
                    .threads = 1};
    check_ok(codec_open(&s.codec, "none", arena, &err), &err);
    return s;
}

typedef struct {
    double *w, *v, *s; /* (parameters) weights, momentum and squares */
} Exact;

static void exact_adamw(const Exact *e, const Slice *p, const float *g, size_t step, const Optimizer *o)
{
    for (size_t i = p->offset; i < p->offset + p->shape.n; i++) {
        const double x = (double)g[i];
        e->v[i] = 0.9 * e->v[i] + 0.1 * x;
        e->s[i] = o->beta2 * e->s[i] + (1 - o->beta2) * x * x;
        const double v = e->v[i] / (1 - pow(0.9, (double)step)), s = e->s[i] / (1 - pow(o->beta2, (double)step));
        e->w[i] -= o->other * ((p->shape.rank > 1 ? o->weight_decay * e->w[i] : 0) + v / (sqrt(s) + 1e-8));
    }
}

static void exact_muon(const Exact *e, const Slice *p, const float *g, const Optimizer *o)
{
    const ArenaMark mark = arena_mark(arena);
    const size_t n = p->shape.n, rows = p->shape.dim[0], columns = n / rows;
    const double out = (double)rows, in = (double)columns;
    const double scales[] = {sqrt(fmax(1, out / in)), 0.2 * sqrt(fmax(out, in)), sqrt(out / in)};
    double *u = NEW(arena, double, n), *v = e->v + p->offset, *w = e->w + p->offset;
    for (size_t i = 0; i < n; i++) {
        v[i] = o->momentum * v[i] + (double)g[p->offset + i];
        u[i] = (double)g[p->offset + i] + o->momentum * v[i];
    }
    const double *x = orthogonal(u, rows, columns);
    for (size_t i = 0; i < n; i++)
        w[i] -= o->lr * (o->weight_decay * w[i] + scales[o->scale] * x[i]);
    arena_rewind(arena, mark);
}

TEST(twenty_steps_equal_the_transcription)
{
    for (MuonScale scale = MUON_KELLER; scale <= MUON_DION; scale++) {
        const TrainSetup s = setup_of(scale);
        Trainer *t;
        StepRecord r;
        check_ok(trainer_open(&t, &s, &err), &err);
        const SliceList *list = model_parameters(t->model);
        const Exact e = {NEW(arena, double, t->floats), NEW_ZERO(arena, double, t->floats), NEW_ZERO(arena, double, t->floats)};
        size_t matrices = 0;
        for (size_t i = 0; i < t->floats; i++)
            e.w[i] = (double)t->weights[i];
        for (size_t step = 1; step <= 20; step++) {
            check_ok(trainer_step(t, &r, &err), &err);
            for (size_t p = 0; p < list->count; p++) {
                const Slice *slice = &list->item[p];
                const bool muon = !strncmp(slice->name, "conv", 4) && slice->shape.rank > 1;
                matrices += muon;
                if (muon)
                    exact_muon(&e, slice, t->agreed, &s.optimizer);
                else
                    exact_adamw(&e, slice, t->agreed, step, &s.optimizer);
            }
        }
        check(matrices == 2 * 20);
        for (size_t i = 0; i < t->floats; i++)
            check_near((double)t->weights[i], e.w[i], 1e-5);
        trainer_close(t);
    }
}

/* The embeddings of a transformer, with which the weights of the output layer are tied, are AdamW's. */
TEST(embeddings_and_the_output_layer_are_left_to_adamw)
{
    static const char *const network[] = {"gpt:layers=1,heads=2,width=16,context=8", "fc"};
    static const size_t matrices[] = {4, 2};
    for (size_t i = 0; i < countof(network); i++) {
        const ModelSpec spec = {.network = network[i], .channels = 1, .rows = i ? 28 : 1, .columns = i ? 28 : 8, .classes = 10,
                                .images = 2, .text = !i};
        const Optimizer o = {.kind = OPTIMIZER_MUON};
        Model *m;
        size_t found = 0;
        check_ok(model_open(&m, &spec, &err), &err);
        for (size_t p = 0; p < model_parameters(m)->count; p++)
            found += muon_rows(&o, m, &model_parameters(m)->item[p]) > 0;
        check(found == matrices[i]);
        model_close(m);
    }
}

TEST(weights_do_not_depend_on_threads_and_muon_learns)
{
    TrainSetup s = setup_of(MUON_KELLER);
    Trainer *t[2];
    StepRecord r;
    MeanScore tested;
    for (int i = 0; i < 2; i++) {
        s.threads = 1 + 2 * i;
        check_ok(trainer_open(&t[i], &s, &err), &err);
        for (size_t step = 0; step < 40; step++)
            check_ok(trainer_step(t[i], &r, &err), &err);
    }
    check(!memcmp(t[0]->weights, t[1]->weights, t[0]->floats * sizeof(float)));
    check_ok(trainer_test(t[0], &test_data, &tested, &err), &err);
    check(tested.accuracy > 0.9);
    trainer_close(t[0]);
    trainer_close(t[1]);
}

CHECK_ALL(open_all, close_all)
