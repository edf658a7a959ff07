/* test_train.c -- training. For any number of threads, the weights are the same, also with codecs that keep
 * a state. Without compression, they are the same up to rounding for any number of workers. Networks learn.
 * Error messages name step, worker and layer. */
#include "rig/check.h"
#include "train/train_parts.h"
#include "train/model.h"
#include "train/optim.c"
#include "train/training_run.h"
#include "math/blockwise.h"
#include "rig/tiny_data.h"
#include "compress/spec.h"

static Arena *arena;
static Error err;
static Dataset train_data, test_data;

static TrainSetup setup_of(const char *spec, size_t workers)
{
    TrainSetup s = {.network = "cnn",
                    .train = &train_data,
                    .test = &test_data,
                    .workers = workers,
                    .aggregate = workers,
                    .batch = 24,
                    .test_batch = 100,
                    .optimizer = {.lr = 0.05, .momentum = 0.9},
                    .seed = 1,
                    .threads = 1};
    check_ok(codec_open(&s.codec, spec, arena, &err), &err);
    return s;
}

/* Trains for `steps` steps and returns the weights. Writes the record of the last step to *r. */
static float *weights_after(const TrainSetup *s, size_t steps, size_t *count, StepRecord *r)
{
    Trainer *t;
    check_ok(trainer_open(&t, s, &err), &err);
    for (size_t i = 0; i < steps; i++)
        check_ok(trainer_step(t, r, &err), &err);
    *count = trainer_parameters(t);
    float *w = NEW(arena, float, *count);
    memcpy(w, t->weights, *count * sizeof *w);
    trainer_close(t);
    return w;
}

static double accuracy_after(const TrainSetup *s, size_t steps)
{
    Trainer *t;
    StepRecord r;
    MeanScore tested = {0};
    check_ok(trainer_open(&t, s, &err), &err);
    Status status = OK;
    for (size_t i = 0; i < steps && status == OK; i++)
        status = trainer_step(t, &r, &err);
    if (status == OK)
        status = trainer_test(t, &test_data, &tested, &err);
    trainer_close(t);
    return status == OK ? tested.accuracy : 0; /* the accuracy of a run that diverged counts as 0 */
}

static int open_all(void **state)
{
    arena = arena_open(0);
    train_data = tiny_data(SPLIT_TRAIN, 480, arena);
    test_data = tiny_data(SPLIT_TEST, 250, arena);
    return 0;
}

static int close_all(void **state)
{
    arena_close(arena);
    return 0;
}

TEST(weights_are_the_same_for_one_two_and_three_threads)
{
    static const char *const specs[] = {"none",     "qsgd", "ef+topk:ratio=0.01", "svd", "joint",
                                        "powersgd", "cas"};
    for (size_t i = 0; i < countof(specs); i++) {
        TrainSetup s = setup_of(specs[i], 3);
        StepRecord r[3];
        size_t n;
        float *w[3];
        for (int threads = 1; threads <= 3; threads++) {
            s.threads = threads;
            w[threads - 1] = weights_after(&s, 4, &n, &r[threads - 1]);
        }
        check(!memcmp(w[0], w[1], n * sizeof *w[0]) && !memcmp(w[0], w[2], n * sizeof *w[0]));
        check(r[0].train.loss == r[2].train.loss && r[0].bytes_up == r[2].bytes_up);
    }
}

TEST(workers_without_compression_are_one_worker_with_the_whole_batch)
{
    /* 24 images do not divide equally among 5 or 7 workers */
    for (size_t workers = 2; workers <= 7; workers++) {
        TrainSetup one = setup_of("none", 1), many = setup_of("none", workers);
        StepRecord r, q;
        size_t n;
        const float *a = weights_after(&one, 8, &n, &r), *b = weights_after(&many, 8, &n, &q);
        for (size_t i = 0; i < n; i++)
            check_near((double)a[i], (double)b[i], 2e-6);
        check_rel(r.train.loss, q.train.loss, 1e-5);
        check_near(r.train.accuracy, q.train.accuracy, 1e-12);
        check(q.bytes_up == 4 * (double)n);
    }
}

TEST(grouping_and_small_tensors_change_nothing_without_compression)
{
    TrainSetup s = setup_of("none", 2);
    StepRecord r;
    size_t n;
    const float *a = weights_after(&s, 3, &n, &r);
    s.grouping = GROUP_ALL;
    check(!memcmp(a, weights_after(&s, 3, &n, &r), n * sizeof *a));
    /* only the biases have fewer than 20 elements; they lie between the large tensors */
    s.min_elements = 20;
    check(!memcmp(a, weights_after(&s, 3, &n, &r), n * sizeof *a));
    s = setup_of("topk:ratio=0.01", 2);
    s.min_elements = 1u << 30;
    check(!memcmp(a, weights_after(&s, 3, &n, &r), n * sizeof *a));
}

TEST(a_merged_aggregate_is_the_average_of_decoded_payloads)
{
    size_t seen = 0;
    for (size_t i = 0; compressor_number(i); i++) {
        const Compressor *ops = compressor_number(i);
        if (ops->wraps || !ops->merge || !strcmp(ops->name, "none")) /* a copy of none would be another codec, with a kind byte */
            continue;
        TrainSetup s = setup_of(ops->name, 3);
        StepRecord r;
        size_t n;
        if (!(codec_traits(s.codec) & LINEAR) || codec_rounds(s.codec) > 1)
            continue;
        const float *a = weights_after(&s, 4, &n, &r);
        Compressor each = *ops;
        each.merge = NULL;
        Codec apart = *s.codec;
        apart.ops = &each;
        s.codec = &apart;
        const float *b = weights_after(&s, 4, &n, &r);
        for (size_t j = 0; j < n; j++)
            check_near((double)a[j], (double)b[j], 1e-5);
        seen++;
    }
    check(seen >= 2);
}

TEST(networks_learn_with_each_kind_of_codec)
{
    static const char *const specs[] = {
        "none", "qsgd", "terngrad:clip=2.5", "svd:rank=3", "ef+topk:ratio=0.05", "ef+scaledsign", "powersgd"};
    for (size_t i = 0; i < countof(specs); i++) {
        TrainSetup s = setup_of(specs[i], 4);
        const double accuracy = accuracy_after(&s, 160);
        if (accuracy < 0.9)
            print_error("%s: accuracy %g\n", specs[i], accuracy);
        check(accuracy > 0.9);
    }
}

TEST(some_of_the_workers_are_heard_and_all_go_on)
{
    static const char *const specs[] = {"none",
                                        "qsgd",
                                        "ef+topk:ratio=0.05",
                                        "powersgd",
                                        "ef+powersgd",
                                        "diana+qsgd",
                                        "ef21+topk:ratio=0.05",
                                        "ef+none",
                                        "ef+zstd+qsgd",
                                        "dgc",
                                        "strom",
                                        "cas",
                                        "ef+cas",
                                        "onebit",
                                        "joint",
                                        "ef+joint",
                                        "thc"};
    for (size_t i = 0; i < countof(specs); i++) {
        TrainSetup s = setup_of(specs[i], 4);
        StepRecord r = {0};
        size_t n;
        s.aggregate = 2;
        const float *a = weights_after(&s, 5, &n, &r);
        check(isfinite(r.train.loss) && r.bytes_up > 0);
        check(first_nonfinite(a, n, NULL) == n);
        s.aggregate = 4;
        /* with aggregate = 4, a step averages the gradients of 4 workers, not 2, so the weights must differ */
        check(memcmp(a, weights_after(&s, 5, &n, &r), n * sizeof *a));
    }
    TrainSetup s = setup_of("none", 5);
    s.aggregate = 3;
    check(accuracy_after(&s, 160) > 0.9);
}

/* ---- a codec whose estimates are biased: it rounds up with the probability of rounding down ---- */

/* Encodes like QSGD with one level and buckets of 512 elements. With `inverted`, rounds up with the probability
 * with which QSGD rounds down. */
static Status crude_encode(const Call *c, const float *x, Buf *out, bool inverted)
{
    enum { BUCKET = 512, LEVELS = 1 };
    buf_u8(out, PAYLOAD_METHOD);
    for (size_t from = 0, n = c->shape->n; from < n; from += BUCKET) {
        const size_t to = from + BUCKET < n ? from + BUCKET : n;
        double sum = 0;
        for (size_t i = from; i < to; i++)
            sum += (double)x[i] * (double)x[i];
        for (size_t i = from; i < to; i++) {
            const double a = sum > 0 ? fabs((double)x[i]) / sqrt(sum) * LEVELS : 0, part = a - floor(a);
            const bool up =
                inverted ? rng_unit(&c->rng, USE_TEST, i) > part : rng_unit(&c->rng, USE_TEST, i) < part;
            buf_f32(out, (float)copysign((floor(a) + up) * sqrt(sum) / LEVELS, (double)x[i]));
        }
    }
    return OK;
}

static Status right_encode(const Call *c, const float *x, Buf *out)
{
    return crude_encode(c, x, out, false);
}

static Status inverted_encode(const Call *c, const float *x, Buf *out)
{
    return crude_encode(c, x, out, true);
}

static Status crude_decode(const Call *c, Bytes in, float *x)
{
    memcpy(x, in.data + 1, 4 * c->shape->n);
    return OK;
}

static size_t crude_bound(const Call *c)
{
    return 4 * c->shape->n + 1;
}

TEST(quantisation_that_rounds_the_wrong_way_fails_to_learn)
{
    Compressor crude = {.name = "crude", .promises = RANDOM, .bound = crude_bound, .decode = crude_decode};
    const Codec codec = {.ops = &crude};
    TrainSetup s = setup_of("none", 2);
    s.codec = &codec;
    s.optimizer.lr = 0.02;
    crude.encode = right_encode;
    check(accuracy_after(&s, 200) > 0.9);
    crude.encode = inverted_encode;
    check(accuracy_after(&s, 200) < 0.6);
}

/* ---- errors ---- */

/* ---- the updates of the optimizers ---- */

static void step_of(const Optimizer *o, size_t step, float g, float *v, float *s, float *w)
{
    optimizer_step(o, step, &(Updated){.gradient = &g, .velocity = v, .square = s, .weights = w, .n = 1, .matrix = true, .scale = optimizer_scale(o, &g, 1, 1)}, 1);
}

/* The expected weights are from torch.optim.SGD(lr=0.1, momentum=0.9, weight_decay=0.01), after each of three
 * steps on one weight. */
TEST(descent_is_pytorchs)
{
    const Optimizer s = {.lr = 0.1, .momentum = 0.9, .weight_decay = 0.01, .decay = 0.5, .every = 2};
    float w = 1, v = 0;
    const float g[] = {0.5f, -0.25f, 1};
    const double after[] = {0.949, 0.927151024, 0.86685538};
    double ww = 1, vv = 0;
    for (size_t i = 0; i < 3; i++) {
        step_of(&s, i + 1, g[i], &v, NULL, &w);
        vv = 0.9 * vv + ((double)g[i] + 0.01 * ww);
        ww -= (i < 2 ? 0.1 : 0.05) * vv;
        check_near((double)w, ww, 1e-6);
        check_near((double)w, after[i], 1e-6);
    }
    check(optimizer_rate(&s, 2) == 0.1 && optimizer_rate(&s, 3) == 0.05 && optimizer_rate(&s, 5) == 0.025);
}

/* The expected weights follow from the formulas in double precision. With a constant gradient, AdamW's averages
 * without their bias are the gradient and its square, so each step is r sign(g). */
TEST(adamw_is_its_formula)
{
    const Optimizer o = {
        .lr = 0.1, .momentum = 0.9, .beta2 = 0.99, .weight_decay = 0.05, .kind = OPTIMIZER_ADAMW};
    float w = 1, v = 0, s = 0, still = 1, v0 = 0, s0 = 0;
    double ww = 1, vv = 0, ss = 0, shrunk = 1;
    for (size_t i = 1; i <= 50; i++) {
        const float g = (float)cos((double)i);
        step_of(&o, i, g, &v, &s, &w);
        vv = 0.9 * vv + 0.1 * (double)g;
        ss = 0.99 * ss + 0.01 * (double)g * (double)g;
        ww = (1 - 0.1 * 0.05) * ww -
             0.1 * vv / (1 - pow(0.9, (double)i)) / (sqrt(ss / (1 - pow(0.99, (double)i))) + 1e-8);
        check_near((double)w, ww, 1e-5);
        step_of(&o, i, -3, &v0, &s0, &still);
        shrunk = (1 - 0.1 * 0.05) * shrunk + 0.1;
        check_near((double)still, shrunk, 1e-5);
    }
    Updated vector = {.gradient = &(float){0}, .velocity = &(float){0}, .square = &(float){0}, .weights = &w, .n = 1, .scale = 1};
    const float before = w;
    optimizer_step(&o, 1, &vector, 1);
    check(w == before);
}

/* AdamW shrinks matrices and leaves biases alone: with and without decay, the first step moves the same biases to the same
 * place, and no matrix. */
TEST(decay_shrinks_matrices_only)
{
    TrainSetup s = setup_of("none", 1);
    StepRecord r;
    Model *model;
    size_t n;
    s.optimizer = (Optimizer){.lr = 0.01, .momentum = 0.9, .beta2 = 0.99, .kind = OPTIMIZER_ADAMW};
    const float *plain = weights_after(&s, 1, &n, &r);
    s.optimizer.weight_decay = 0.5;
    const float *shrunk = weights_after(&s, 1, &n, &r);
    const DatasetInfo *d = train_data.info;
    const ModelSpec spec = {.network = s.network,
                            .channels = d->channels,
                            .rows = d->rows,
                            .columns = d->columns,
                            .classes = d->classes,
                            .images = 24};
    check_ok(model_open(&model, &spec, &err), &err);
    const SliceList *list = model_parameters(model);
    for (size_t i = 0; i < list->count; i++) {
        const Slice *p = &list->item[i];
        check(!memcmp(plain + p->offset, shrunk + p->offset, p->shape.n * sizeof *plain) == (p->shape.rank == 1));
    }
    model_close(model);
}

/* The last step of an epoch takes the images that are left, unless some worker would have none. */
TEST(a_last_step_with_fewer_images_than_workers_is_left_out)
{
    for (size_t batch = 16; batch <= 100; batch++)
        for (size_t workers = 1; workers <= 9; workers += 4) {
            TrainSetup s = setup_of("none", workers);
            Trainer *t;
            s.batch = batch;
            check_ok(trainer_open(&t, &s, &err), &err);
            const size_t whole = 480 / batch, rest = 480 - whole * batch;
            check(trainer_epoch_steps(t) == (rest < workers ? whole : whole + 1));
            trainer_close(t);
        }
}

TEST(signsgd_moves_by_the_rate)
{
    const Optimizer o = {.lr = 0.125, .momentum = 0.9, .weight_decay = 0.5, .kind = OPTIMIZER_SIGNSGD};
    float w = 1, v = 0;
    step_of(&o, 1, 1e-30f, &v, NULL, &w);
    check(w == 0.9375f - 0.125f);
    step_of(&o, 2, -7, &v, NULL, &w);
    check(w == 0.8125f * 0.9375f + 0.125f);
    w = 1;
    step_of(&o, 3, 0, &v, NULL, &w);
    check(w == 0.9375f && v == 0);
}

TEST(large_gradients_are_clipped_to_the_norm)
{
    enum { MANY = 3 * BLOCK + 5 };
    static float g[MANY];
    Optimizer o = {.lr = 1, .clip = 2};
    for (size_t i = 0; i < MANY; i++)
        g[i] = i % 2 ? 3 : -4;
    const double norm = sqrt(MANY / 2 * 25 + 16.0);
    for (int threads = 1; threads <= 3; threads++)
        check_rel(optimizer_scale(&o, g, MANY, threads), 2 / norm, 1e-12);
    o.clip = norm * 1.001;
    check(optimizer_scale(&o, g, MANY, 1) == 1);
    o.clip = 0;
    check(optimizer_scale(&o, g, MANY, 1) == 1);
    o.clip = 0.5;
    float w = 1, v = 0;
    step_of(&o, 1, -8, &v, NULL, &w);
    check(w == 1.5f);
}

/* nanoGPT's schedule counts steps from 0: lr (i + 1) / (warmup + 1), then half a cosine. */
TEST(the_rate_warms_up_and_falls_by_a_cosine)
{
    const Optimizer o = {.lr = 1, .warmup = 4, .cosine = 12, .least = 0.1};
    static const double want[] = {0.2, 0.4, 0.6, 0.8, 1};
    for (size_t i = 0; i < countof(want); i++)
        check_near(optimizer_rate(&o, i + 1), want[i], 1e-15);
    check_near(optimizer_rate(&o, 9), 0.55, 1e-15);
    check_near(optimizer_rate(&o, 7), 0.1 + 0.45 * (1 + sqrt(0.5)), 1e-12);
    check(optimizer_rate(&o, 13) == 0.1 && optimizer_rate(&o, 1000) == 0.1);
}

CHECK_ALL(open_all, close_all)
