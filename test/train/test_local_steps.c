/* test_local_steps.c -- training with local steps. The weights must be those of a plain transcription of DiLoCo
 * (arXiv 2311.08105, algorithm 1). One local step of plain SGD must be ordinary training. Bytes and communication
 * time must be those of the exchanges. */
#include "rig/check.h"
#include "train/train_parts.h"
#include "rig/tiny_data.h"
#include "compress/spec.h"

#include <math.h>

enum { WORKERS = 3, BATCH = 20, STEPS = 8 }; /* 20 images do not divide equally among 3 workers */

static Arena *arena;
static Error err;
static Dataset train_data;

static TrainSetup setup_of(const char *spec)
{
    TrainSetup s = {.network = "cnn",
                    .train = &train_data,
                    .workers = WORKERS,
                    .aggregate = WORKERS,
                    .batch = BATCH,
                    .test_batch = 1,
                    .optimizer = {.lr = 0.05},
                    .seed = 1,
                    .threads = 1};
    check_ok(codec_open(&s.codec, spec, arena, &err), &err);
    return s;
}

static int open_all(void **state)
{
    arena = arena_open(0);
    train_data = tiny_data(SPLIT_TRAIN, 68, arena); /* the last step of an epoch has 8 images */
    return 0;
}

static int close_all(void **state)
{
    arena_close(arena);
    return 0;
}

/* Trains STEPS steps. Returns the weights, and the records of the steps in `r`. */
static float *weights_after(const TrainSetup *s, size_t *count, StepRecord r[STEPS])
{
    Trainer *t;
    check_ok(trainer_open(&t, s, &err), &err);
    for (size_t i = 0; i < STEPS; i++)
        check_ok(trainer_step(t, &r[i], &err), &err);
    *count = trainer_parameters(t);
    float *w = NEW(arena, float, *count);
    memcpy(w, t->weights, *count * sizeof *w);
    trainer_close(t);
    return w;
}

TEST(one_local_step_of_plain_sgd_is_ordinary_training)
{
    static const char *const specs[] = {"none", "qsgd", "ef+topk:ratio=0.01", "svd", "powersgd"};
    for (size_t i = 0; i < countof(specs); i++) {
        TrainSetup s = setup_of(specs[i]);
        StepRecord r[STEPS], q[STEPS];
        size_t n;
        s.aggregate = 2;
        const float *ordinary = weights_after(&s, &n, r);
        s.local = (LocalSteps){.steps = 1, .lr = 1};
        check(!memcmp(ordinary, weights_after(&s, &n, q), n * sizeof *ordinary));
        check(r[STEPS - 1].train.loss == q[STEPS - 1].train.loss &&
              r[STEPS - 1].bytes_up == q[STEPS - 1].bytes_up);
    }
}

/* One local step of plain SGD and an outer step of 1/2 move the weights half as far as an ordinary step. */
TEST(half_an_outer_step_moves_half_as_far)
{
    TrainSetup s = setup_of("none");
    Trainer *t;
    StepRecord r;
    float *w[3];
    s.optimizer.lr = 0.5;
    for (size_t k = 0; k < 3; k++) {
        s.local = (LocalSteps){.steps = k == 2, .lr = 0.5};
        check_ok(trainer_open(&t, &s, &err), &err);
        if (k)
            check_ok(trainer_step(t, &r, &err), &err);
        const size_t n = trainer_parameters(t);
        w[k] = NEW(arena, float, n);
        memcpy(w[k], t->weights, n * sizeof **w);
        for (size_t i = 0; k == 2 && i < n; i++)
            check_near((double)w[2][i] - (double)w[0][i], ((double)w[1][i] - (double)w[0][i]) / 2, 1e-6);
        trainer_close(t);
    }
}

/* ---- a plain transcription of DiLoCo with AdamW inside ---- */

typedef struct {
    float *weights, *gradient, *running;
    double *m, *v, *exact; /* moments; weights in double precision */
} Plain;

static void plain_step(const TrainSetup *s, Plain *p, size_t n, size_t step)
{
    const double beta1 = s->optimizer.momentum, beta2 = s->optimizer.beta2;
    for (size_t i = 0; i < n; i++) {
        const double g = (double)p->gradient[i];
        p->m[i] = beta1 * p->m[i] + (1 - beta1) * g;
        p->v[i] = beta2 * p->v[i] + (1 - beta2) * g * g;
        const double m = p->m[i] / (1 - pow(beta1, (double)step)),
                     v = p->v[i] / (1 - pow(beta2, (double)step));
        p->exact[i] -= s->optimizer.lr * m / (sqrt(v) + 1e-8);
        p->weights[i] = (float)p->exact[i];
    }
}

static void plain_gradient(const TrainSetup *s, Model *m, Plain *p, size_t w, size_t step)
{
    const size_t epoch_steps = 4, epoch = (step - 1) / epoch_steps, start = (step - 1) % epoch_steps * BATCH;
    const size_t batch = start + BATCH <= 68 ? BATCH : 68 - start;
    const size_t from = start + batch * w / WORKERS, to = start + batch * (w + 1) / WORKERS;
    const DatasetInfo *d = s->train->info;
    uint32_t order[68];
    float *images = NEW(arena, float, BATCH * d->channels * d->rows * d->columns);
    uint32_t labels[BATCH];
    Score score;
    dataset_shuffle(s->train, s->seed, epoch, order);
    batch_fill(s->train, order + from, to - from, true, s->seed, epoch, 1, images, labels);
    const Rng rng = rng_open(s->seed, 0, (int64_t)w, (int64_t)step, rng_hash("dropout"));
    check_ok(model_gradient(m, &(Batch){images, labels, to - from}, p->weights, p->running, &rng, 1,
                            p->gradient, &score, &err),
             &err);
}

/* The exchange after step `step`: each worker counts as often as it has seen images since step `first`. */
static void plain_exchange(const LocalSteps *l, Plain *p, double *common, double *velocity, size_t n,
                           const double *images)
{
    for (size_t i = 0; i < n; i++) {
        double mean = 0, all = 0;
        for (size_t w = 0; w < WORKERS; w++) {
            mean += images[w] * (common[i] - p[w].exact[i]);
            all += images[w];
        }
        velocity[i] = l->momentum * velocity[i] + mean / all;
        common[i] -= l->lr * (mean / all + l->momentum * velocity[i]);
        for (size_t w = 0; w < WORKERS; w++)
            p[w].weights[i] = (float)(p[w].exact[i] = common[i]);
    }
}

static Plain plain_open(Model *m, uint64_t seed, size_t n)
{
    Plain p = {NEW(arena, float, n),
               NEW(arena, float, n),
               NEW(arena, float, model_running(m)->floats + 1),
               NEW_ZERO(arena, double, n),
               NEW_ZERO(arena, double, n),
               NEW(arena, double, n)};
    model_init(m, seed, p.weights, p.running);
    for (size_t i = 0; i < n; i++)
        p.exact[i] = (double)p.weights[i];
    return p;
}

static double *plain_weights(const TrainSetup *s, size_t n)
{
    const DatasetInfo *d = s->train->info;
    const ModelSpec spec = {.network = s->network,
                            .channels = d->channels,
                            .rows = d->rows,
                            .columns = d->columns,
                            .classes = d->classes,
                            .images = BATCH};
    Model *m;
    Plain p[WORKERS];
    double *common = NEW(arena, double, n), *velocity = NEW_ZERO(arena, double, n), images[WORKERS] = {0};
    check_ok(model_open(&m, &spec, &err), &err);
    for (size_t w = 0; w < WORKERS; w++)
        p[w] = plain_open(m, s->seed, n);
    memcpy(common, p[0].exact, n * sizeof *common);
    for (size_t step = 1; step <= STEPS; step++) {
        const size_t batch = step % 4 ? BATCH : 8;
        for (size_t w = 0; w < WORKERS; w++) {
            plain_gradient(s, m, &p[w], w, step);
            plain_step(s, &p[w], n, step);
            images[w] += (double)(batch * (w + 1) / WORKERS - batch * w / WORKERS);
        }
        if (step % s->local.steps)
            continue;
        plain_exchange(&s->local, p, common, velocity, n, images);
        memset(images, 0, sizeof images);
    }
    model_close(m);
    return common;
}

TEST(local_steps_are_diloco)
{
    StepRecord r[STEPS];
    size_t n, wrong = 0;
    TrainSetup s = setup_of("none");
    s.optimizer = (Optimizer){.kind = OPTIMIZER_ADAMW, .lr = 0.002, .momentum = 0.9, .beta2 = 0.95};
    s.local = (LocalSteps){.steps = 4, .lr = 0.7, .momentum = 0.9};
    const float *w = weights_after(&s, &n, r);
    const double *plain = plain_weights(&s, n);
    double error = 0, norm = 0;
    for (size_t i = 0; i < n; i++) {
        error += pow((double)w[i] - plain[i], 2);
        norm += plain[i] * plain[i];
        wrong += fabs((double)w[i] - plain[i]) > 1e-4;
    }
    /* AdamW divides small gradients by their size, so rounding of a gradient near 0 changes its weight by more */
    check(sqrt(error / norm) < 1e-5);
    check(wrong <= n / 1000);
}

TEST(only_exchanges_cost_bytes_and_time)
{
    StepRecord r[STEPS];
    Link link;
    size_t n;
    TrainSetup s = setup_of("none");
    check_ok(link_read(&link, "lan10g", arena, &err), &err);
    s.link = &link;
    s.topology = TOPOLOGY_ALLGATHER;
    s.local = (LocalSteps){.steps = 4, .lr = 1};
    (void)weights_after(&s, &n, r);
    for (size_t i = 0; i < STEPS; i++) {
        const bool exchanges = i % 4 == 3;
        check(r[i].bytes_up == (exchanges ? 2 * 4 * (double)n : 0));
        check(r[i].bytes_down == (exchanges ? 2 * 4 * (double)n : 0));
        check((r[i].comm > 0) == exchanges && (r[i].modelled > 0) == exchanges &&
              (r[i].encode > 0) == exchanges);
        check(r[i].compute > 0);
    }
}

TEST(weights_are_the_same_for_one_and_three_threads)
{
    StepRecord r[STEPS];
    size_t n;
    TrainSetup s = setup_of("ef+topk:ratio=0.01");
    s.optimizer =
        (Optimizer){.kind = OPTIMIZER_ADAMW, .lr = 0.002, .momentum = 0.9, .beta2 = 0.95, .clip = 1};
    s.local = (LocalSteps){.steps = 2, .lr = 0.7, .momentum = 0.9};
    const float *one = weights_after(&s, &n, r);
    s.threads = 3;
    check(!memcmp(one, weights_after(&s, &n, r), n * sizeof *one));
}

CHECK_ALL(open_all, close_all)
