/* test_local_steps.c -- training with local steps. The weights must be those of a plain transcription of DiLoCo
 * (arXiv 2311.08105, algorithm 1), and with fragments of Streaming DiLoCo (arXiv 2501.18512, algorithm 2). One local step of plain SGD must be ordinary training. Bytes and communication
 * time must be those of the exchanges. */
#include "rig/check.h"
#include "exchange/gradient_buckets.h"
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

/* True if parameter i is in fragment f: every second layer of the cnn, conv1, conv2, fc. */
static bool plain_holds(const SliceList *list, size_t fragments, size_t f, size_t i)
{
    size_t p = 0;
    while (i >= list->item[p].offset + list->item[p].shape.n)
        p++;
    return p / 2 % fragments == f;
}

/* Sets `mean` to that of the pseudo-gradients. A worker counts as often as it has seen images in the last H steps. */
static void plain_send(const Plain *p, const double *common, size_t i, const double *images, double *mean)
{
    double sum = 0, all = 0;
    for (size_t w = 0; w < WORKERS; w++) {
        sum += images[w] * (common[i] - p[w].exact[i]);
        all += images[w];
    }
    mean[i] = sum / all;
}

static void plain_receive(const LocalSteps *l, Plain *p, double *common, double *velocity, size_t i, const double *mean)
{
    velocity[i] = l->momentum * velocity[i] + mean[i];
    common[i] -= l->lr * (mean[i] + l->momentum * velocity[i]);
    for (size_t w = 0; w < WORKERS; w++)
        p[w].weights[i] = (float)(p[w].exact[i] = (1 - l->mix) * common[i] + l->mix * p[w].exact[i]);
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
    const size_t h = s->local.steps, parts = s->local.fragments;
    double *common = NEW(arena, double, n), *velocity = NEW_ZERO(arena, double, n), *mean = NEW(arena, double, n);
    double seen[STEPS + 1][WORKERS];
    check_ok(model_open(&m, &spec, &err), &err);
    for (size_t w = 0; w < WORKERS; w++)
        p[w] = plain_open(m, s->seed, n);
    memcpy(common, p[0].exact, n * sizeof *common);
    for (size_t step = 1; step <= STEPS; step++) {
        const size_t batch = step % 4 ? BATCH : 8;
        for (size_t w = 0; w < WORKERS; w++) {
            plain_gradient(s, m, &p[w], w, step);
            plain_step(s, &p[w], n, step);
            seen[step][w] = (double)(batch * (w + 1) / WORKERS - batch * w / WORKERS);
        }
        for (size_t f = 0; f < parts; f++)
            for (size_t i = 0; i < n; i++) {
                double images[WORKERS] = {0};
                const bool holds = plain_holds(model_parameters(m), parts, f, i);
                for (size_t k = step > h ? step - h + 1 : 1; k <= step; k++)
                    for (size_t w = 0; w < WORKERS; w++)
                        images[w] += seen[k][w];
                if (holds && (step + s->local.late) % h == (f + 1) * h / parts % h)
                    plain_send(p, common, i, images, mean);
                if (holds && step % h == (f + 1) * h / parts % h)
                    plain_receive(&s->local, p, common, velocity, i, mean);
            }
    }
    model_close(m);
    return common;
}

static void check_transcription(LocalSteps local)
{
    StepRecord r[STEPS];
    size_t n, wrong = 0;
    TrainSetup s = setup_of("none");
    s.optimizer = (Optimizer){.kind = OPTIMIZER_ADAMW, .lr = 0.002, .momentum = 0.9, .beta2 = 0.95};
    s.local = local;
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

TEST(local_steps_are_diloco)
{
    check_transcription((LocalSteps){.steps = 4, .fragments = 1, .lr = 0.7, .momentum = 0.9});
}

TEST(fragments_are_streaming_diloco)
{
    check_transcription((LocalSteps){.steps = 4, .fragments = 2, .late = 1, .mix = 0.25, .lr = 0.4, .momentum = 0.9});
    check_transcription((LocalSteps){.steps = 4, .fragments = 2, .late = 1, .mix = 0.5, .lr = 0.4, .momentum = 0.9});
    check_transcription((LocalSteps){.steps = 3, .fragments = 1, .late = 2, .mix = 0.5, .lr = 0.4, .momentum = 0.9});
    check_transcription((LocalSteps){.steps = 4, .fragments = 3, .lr = 0.4, .momentum = 0.9});
}

/* A block of a transformer is a layer: of wte, wpe, h.0, h.1, h.2, ln_f every second one is in the first fragment. */
TEST(blocks_are_layers)
{
    static const char *const names[2][3] = {{"transformer.wte.", "transformer.h.0.", "transformer.h.2."},
                                            {"transformer.wpe.", "transformer.h.1.", "transformer.ln_f."}};
    const ModelSpec spec = {.network = "gpt:layers=3,heads=2,width=16,context=8", .channels = 1, .rows = 1, .columns = 8, .classes = 10,
                            .images = 2, .text = true};
    Trainer t = {.arena = arena, .s.local.fragments = 2};
    check_ok(model_open(&t.model, &spec, &err), &err);
    check_ok(local_open(&t, &err), &err);
    check(t.fragment[0].tensors + t.fragment[1].tensors == model_parameters(t.model)->count);
    for (size_t f = 0; f < 2; f++)
        for (size_t i = 0; i < t.fragment[f].tensors; i++) {
            size_t found = 0;
            for (size_t k = 0; k < 3; k++)
                found += !strncmp(t.fragment[f].tensor[i].name, names[f][k], strlen(names[f][k]));
            check(found == 1);
        }
    t.s.local.fragments = 7;
    check(local_open(&t, &err) == ERR_USAGE);
    model_close(t.model);
}

/* Without fragments, late means and mixing, the outer step is DiLoCo's in floats, bit for bit. */
TEST(one_fragment_is_diloco_to_the_bit)
{
    TrainSetup s = setup_of("qsgd");
    Trainer *t;
    StepRecord r;
    s.optimizer = (Optimizer){.kind = OPTIMIZER_ADAMW, .lr = 0.002, .momentum = 0.9, .beta2 = 0.95};
    s.local = (LocalSteps){.steps = 2, .fragments = 1, .lr = 0.7, .momentum = 0.9};
    check_ok(trainer_open(&t, &s, &err), &err);
    const size_t n = trainer_parameters(t);
    float *w = NEW(arena, float, n), *v = NEW_ZERO(arena, float, n);
    memcpy(w, t->weights, n * sizeof *w);
    for (size_t step = 1; step <= STEPS; step++) {
        check_ok(trainer_step(t, &r, &err), &err);
        for (size_t i = 0; step % 2 == 0 && i < n; i++) {
            v[i] = 0.9f * v[i] + t->agreed[i];
            w[i] -= 0.7f * (t->agreed[i] + 0.9f * v[i]);
        }
        check(!memcmp(w, t->weights, n * sizeof *w) && !memcmp(v, t->velocity, n * sizeof *v));
        for (size_t k = 0; step % 2 == 0 && k < WORKERS; k++)
            check(!memcmp(w, t->inner[k].weights, n * sizeof *w));
    }
    trainer_close(t);
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

/* The parts that the fragments send come to what a whole exchange sends, and communication hides behind the steps that it may
 * take: here behind all of its time. */
TEST(fragments_divide_the_bytes)
{
    StepRecord r[STEPS];
    Link link;
    size_t n;
    TrainSetup s = setup_of("none");
    check_ok(link_read(&link, "alpha=1ns,beta=1e6Gbit", arena, &err), &err);
    s.link = &link;
    for (size_t late = 0; late < 2; late++) {
        s.local = (LocalSteps){.steps = 6, .fragments = 3, .lr = 1, .late = late};
        double sum = 0, most = 0;
        (void)weights_after(&s, &n, r);
        for (size_t i = 0; i < 6; i++) {
            const bool sends = (i + 1 + late) % 2 == 0;
            check((r[i].bytes_up > 0) == sends && r[i].bytes_down == r[i].bytes_up && (r[i].modelled > 0) == (sends && !late));
            sum += r[i].bytes_up;
            most = fmax(most, r[i].bytes_up);
        }
        check(sum == 4 * (double)n && most < sum);
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
