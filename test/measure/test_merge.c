/* test_merge.c -- merges the payloads of many workers. The results are compared with a comparison of one
 * worker, with payloads that the test itself decodes and averages, and with the closed-form variance of
 * averages. */
#include "rig/check.h"
#include "measure/compare.h"
#include "compress/spec.h"

/* ---- a merge of synthetic gradients ---- */

enum { VECTORS = 2, KEPT = VECTORS + 1 };

typedef struct {
    Arena *a;
    Error err;
    Vector vector[VECTORS];
    VectorList list;
    const Codec *codec;
    Comparison c;
    Tally kept[KEPT]; /* records in the order of output: vector a, vector b, both vectors as one vector */
    char error[KEPT][120];
    size_t records, failures, loads, fail_at, stop_at;
    bool same;    /* true if every worker has the gradient of worker 0 */
    size_t apart; /* above 0: the gradients of `fill_apart`, for so many workers */
} Bench;

static Bench *stopping; /* global because stopped() has no argument */

static bool stopped(void)
{
    return stopping && stopping->stop_at && stopping->loads >= stopping->stop_at;
}

static void fill(const Bench *b, const Vector *v, size_t worker, float *x)
{
    const Rng rng = rng_open(5, 0, b->same ? 0 : (int64_t)worker, 0, rng_hash(v->name));
    const RngKey key = rng_key(&rng, USE_TEST, 0);
    for (size_t i = 0; i < v->shape.n; i++) {
        const uint32_t u = rng_word(&key, (uint32_t)i);
        x[i] = 1e-4f * ((float)(u & 0xffff) + (float)(u >> 16) - 0xffff) * (i % 7 ? 1 : 4);
    }
}

/* Worker w has 2 at every element whose remainder is w, and -1/2 at the others. */
static void fill_apart(size_t workers, size_t worker, float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = i % workers == worker ? 2 : -0.5f;
}

static Status load_worker(void *data, const Vector *v, size_t worker, float *x, Error *err)
{
    Bench *b = data;
    if (++b->loads == b->fail_at)
        return FAIL(err, ERR_IO, "gone");
    if (b->apart)
        fill_apart(b->apart, worker, x, v->shape.n);
    else
        fill(b, v, worker, x);
    return OK;
}

static Status load(void *data, const Vector *v, float *x, Error *err)
{
    return load_worker(data, v, 0, x, err);
}

static Status record(void *data, const Record *r, Error *err)
{
    Bench *b = data;
    (void)err;
    check(r->place < KEPT);
    Tally *t = &b->kept[r->place];
    *t = r->tally;
    if (r->vectors) {
        t->error = arena_take(b->a, r->tally.decoded, sizeof *t->error);
        memcpy(t->error, r->tally.error, r->tally.decoded * sizeof *t->error);
    }
    snprintf(b->error[r->place], sizeof *b->error, "%s", r->error ? r->error : "");
    b->records++;
    return OK;
}

static void open_bench(Bench *b, const char *spec, size_t workers, size_t n, size_t more)
{
    *b = (Bench){.a = arena_open(0)};
    b->vector[0] = (Vector){.name = "a", .shape = shape_vector(n)};
    b->vector[1] = (Vector){.name = "b", .shape = shape_vector(more)};
    b->list = (VectorList){.item = b->vector,
                           .count = more ? 2 : 1,
                           .largest = n > more ? n : more,
                           .tensors = more ? 2 : 1,
                           .elements = n + more};
    check_ok(codec_open(&b->codec, spec, b->a, &b->err), &b->err);
    b->c = (Comparison){.codec = &b->codec,
                        .codecs = 1,
                        .vectors = &b->list,
                        .repeats = 1,
                        .seed = 3,
                        .memory = 1 << 24,
                        .threads = 1,
                        .workers = workers,
                        .data = b,
                        .load = load,
                        .load_worker = load_worker,
                        .record = record,
                        .stopped = stopped};
}

static Status run_bench(Bench *b)
{
    return compare_run(&b->c, &b->failures, b->a, &b->err);
}

static void close_bench(Bench *b)
{
    arena_close(b->a);
}

static double figure(const Tally *t, const char *name)
{
    return metric_value(metric_find(name), t);
}

static const char *const varied[] = {"none",
                                     "fp16",
                                     "qsgd",
                                     "qsgd:bits=8",
                                     "terngrad",
                                     "terngrad:share=on",
                                     "entry:ratio=0.1",
                                     "svd:rank=1",
                                     "randk:ratio=0.1",
                                     "randk:ratio=0.1,shared=off",
                                     "sign",
                                     "topk:ratio=0.1",
                                     "ef+topk:ratio=0.1",
                                     "ef+randk:ratio=0.1",
                                     "joint+entry",
                                     "joint:bits=2",
                                     "countsketch",
                                     "countmin",
                                     "cas",
                                     "diana+qsgd",
                                     "ef21+topk:ratio=0.1",
                                     "powersgd",
                                     "intsgd",
                                     "thc",
                                     "induced:with=qsgd+topk:ratio=0.1"};

static void check_same(double a, double b)
{
    check(isnan(a) == isnan(b) && (isnan(a) || fabs(a - b) <= 1e-6 * fabs(a) + 1e-12));
}

/* ---- tests ---- */

TEST(a_merge_of_one_worker_is_a_comparison)
{
    static const char *const figures[] = {"bytes",          "mse",          "relative_error", "wasserstein",
                                          "elem_error_big", "entropy_bits", "raw_fallbacks",  "cosine"};
    for (size_t s = 0; s < countof(varied); s++) {
        Bench one, plain;
        open_bench(&one, varied[s], 1, 700, 3);
        open_bench(&plain, varied[s], 0, 700, 3);
        one.c.repeats = plain.c.repeats = 3;
        check_ok(run_bench(&one), &one.err);
        check_ok(run_bench(&plain), &plain.err);
        check(one.records == KEPT && plain.records == KEPT && !one.failures && !plain.failures);
        for (size_t k = 0; k < KEPT; k++)
            for (size_t i = 0; i < countof(figures); i++)
                check_same(figure(&one.kept[k], figures[i]), figure(&plain.kept[k], figures[i]));
        close_bench(&one);
        close_bench(&plain);
    }
}

/* Decodes each worker's payload separately, and returns the squared error of the mean estimate. Payloads of
 * round 0 are merged only if the codec has a round 1, which needs the merged payload. */
static double error_by_hand(Bench *b, size_t workers, double *bytes)
{
    enum { WORKERS = 24, N = 700 };
    static uint8_t store[WORKERS][2][40 * N];
    static float x[N], y[N];
    static double g[N], h[N];
    uint8_t shared[40 * N];
    Bytes sent[WORKERS], heard[2] = {{0}};
    Arena *scratch = arena_open(0);
    const int rounds = codec_rounds(b->codec);
    memset(g, 0, sizeof g);
    memset(h, 0, sizeof h);
    check(workers <= WORKERS && rounds <= 2 && b->vector->shape.n == N);
    *bytes = 0;
    for (int round = 0; round < rounds; round++) {
        Call c = {.self = b->codec,
                  .shape = &b->vector->shape,
                  .workers = (int)workers,
                  .threads = 1,
                  .round = round};
        c.heard = heard;
        c.scratch = scratch;
        c.err = &b->err;
        c.state = codec_state_size(&c) ? arena_zeroed(b->a, 1, codec_state_size(&c)) : NULL;
        for (size_t w = 0; w < workers; w++) {
            Buf out = {.data = store[w][round], .cap = sizeof store[w][round]};
            fill(b, b->vector, w, x);
            c.worker = (int)w;
            c.rng = rng_open(3, 0, (int64_t)w, 0, rng_hash("a"));
            c.rng_shared = rng_open(3, 0, RNG_EVERYONE, 0, rng_hash("a"));
            check_ok(codec_encode(&c, x, &out), &b->err);
            sent[w] = (Bytes){out.data, out.size};
            *bytes += (double)out.size / (double)workers;
            if (round + 1 < rounds)
                continue;
            check_ok(codec_decode(&c, sent[w], y), &b->err);
            for (size_t i = 0; i < N; i++) {
                g[i] += (double)x[i] / (double)workers;
                h[i] += (double)y[i] / (double)workers;
            }
        }
        if (round + 1 < rounds) {
            Buf out = {.data = shared, .cap = sizeof shared};
            check_ok(codec_merge(&c, sent, workers, &out), &b->err);
            heard[round] = (Bytes){out.data, out.size};
        }
    }
    double sum = 0;
    for (size_t i = 0; i < N; i++)
        sum += (h[i] - g[i]) * (h[i] - g[i]);
    arena_close(scratch);
    return sum;
}

TEST(the_average_is_that_of_every_payload_decoded)
{
    static const size_t numbers[] = {2, 8, 9, 23};
    for (size_t s = 0; s < countof(varied); s++)
        for (size_t i = 0; i < countof(numbers); i++) {
            Bench b;
            double bytes;
            open_bench(&b, varied[s], numbers[i], 700, 0);
            const unsigned traits = codec_traits(b.codec);
            if (codec_plan_size(b.codec) || b.codec->ops->train ||
                (traits & MERGEABLE && !(traits & LINEAR))) {
                close_bench(&b); /* codecs with plans, training or votes are tested elsewhere */
                continue;
            }
            check_ok(run_bench(&b), &b.err);
            const double mse = error_by_hand(&b, numbers[i], &bytes);
            check_near(figure(b.kept, "mse"), mse, 1e-4 * mse + 1e-9);
            check_rel(figure(b.kept, "bytes"), bytes, 1e-12);
            close_bench(&b);
        }
}

/* Each of the 4 workers sends a fourth of the elements, 2, so that every element has one sender. The mean gradient is
 * g = (2 - 3/2) / 4 = 1/8. The mean over all is 2/4 = 4 g: its error is 9 |g|^2. The mean over the senders is 2 = 16 g: its
 * error is 15^2 |g|^2. Vector b is sent as floats, so its mean is exact whatever the average. */
TEST(a_mean_over_senders_has_its_own_bias)
{
    static const struct {
        const char *spec;
        Average average;
        double gain;
    } rows[] = {{"topk:ratio=0.25", AVERAGE_AUTO, 4},
                {"topk:ratio=0.25", AVERAGE_SENDERS, 16},
                {"chunktopk:k=16,chunk=64", AVERAGE_AUTO, 16},
                {"chunktopk:k=16,chunk=64", AVERAGE_ALL, 4},
                {"ef+chunktopk:k=16,chunk=64", AVERAGE_AUTO, 16},
                {"none", AVERAGE_AUTO, 1}};
    for (size_t i = 0; i < countof(rows); i++) {
        Bench b;
        open_bench(&b, rows[i].spec, 4, 640, 64);
        b.vector[1].raw = true;
        b.apart = 4;
        b.c.average = rows[i].average;
        check_ok(run_bench(&b), &b.err);
        check_rel(figure(&b.kept[0], "gain"), rows[i].gain, 1e-6);
        check_near(figure(&b.kept[0], "relative_error"), (rows[i].gain - 1) * (rows[i].gain - 1), 1e-4);
        check_near(figure(&b.kept[1], "relative_error"), 0, 1e-12);
        close_bench(&b);
    }
}

TEST(votes_are_counted_over_all_batches)
{
    enum { N = 700, WORKERS = 21 };
    static float x[N];
    static int minus[N];
    static double g[N];
    Bench b;
    double want = 0;
    open_bench(&b, "sign", WORKERS, N, 0);
    check_ok(run_bench(&b), &b.err);
    for (size_t w = 0; w < WORKERS; w++) {
        fill(&b, b.vector, w, x);
        for (size_t i = 0; i < N; i++) {
            minus[i] += x[i] < 0;
            g[i] += (double)x[i] / WORKERS;
        }
    }
    for (size_t i = 0; i < N; i++) {
        const double vote = 2 * minus[i] > WORKERS ? -1 : 1;
        want += (vote - g[i]) * (vote - g[i]);
    }
    check_rel(figure(b.kept, "mse"), want, 1e-6);
    /* an element gets at most 21 minus votes, so its count takes five bit planes */
    check_near(b.kept->merged, 2 + 5 * ((N + 7) / 8), 16);
    close_bench(&b);
}

TEST(what_does_not_merge_has_no_aggregate)
{
    for (size_t s = 0; s < countof(varied); s++) {
        Bench b;
        open_bench(&b, varied[s], 10, 700, 0);
        check_ok(run_bench(&b), &b.err);
        const bool merges = codec_traits(b.codec) & (LINEAR | MERGEABLE);
        const Tally *t = b.kept;
        check(isnan(t->merge) == !merges && isnan(t->merged) == !merges && isnan(t->decode) == !merges);
        check(t->each > 0 && t->encode > 0 && (!merges || (t->merge > 0 && t->merged > 0)));
        close_bench(&b);
    }
}

/* The mean squared error is over 200 repeats of 700 independent elements. It is off by more than 5 % in fewer
 * than one of 1000 runs. For svd and joint, whose errors vary more, the tolerance is larger. Seeds are
 * fixed. */
TEST(the_variance_of_an_average_is_one_pth)
{
    static const struct {
        const char *spec;
        double allowed;
    } rows[] = {{"qsgd:bits=2", 0.05},      {"terngrad", 0.05},
                {"entry:ratio=0.1", 0.05},  {"randk:ratio=0.1,shared=off", 0.05},
                {"svd:rank=1", 0.15},       {"joint:bits=2", 0.1},
                {"terngrad:share=on", 0.05}};
    for (size_t s = 0; s < countof(rows); s++) {
        Bench one, many;
        open_bench(&one, rows[s].spec, 1, 700, 0);
        open_bench(&many, rows[s].spec, 12, 700, 0);
        one.same = many.same = true;
        one.c.repeats = many.c.repeats = 200;
        check_ok(run_bench(&one), &one.err);
        check_ok(run_bench(&many), &many.err);
        const double v = figure(one.kept, "variance_expected"), p = figure(many.kept, "variance_expected");
        check_rel(p, v / 12, 1e-9);
        check_rel(figure(many.kept, "mse"), p, rows[s].allowed);
        check_rel(figure(many.kept, "variance"), p, rows[s].allowed);
        check(!(fabs(figure(many.kept, "gain_z")) > 4));
        close_bench(&one);
        close_bench(&many);
    }
}

/* All workers use the same random numbers. So the error of their mean does not depend on the number of workers:
 * it is (n/k - 1) |mean g|^2 for randk and (cols + 1)/rank |mean g|^2 for lowrank. */
TEST(a_draw_that_all_share_does_not_average_out)
{
    static const struct {
        const char *spec;
        size_t rows;
        double times;
    } rows[] = {{"randk:ratio=0.1", 1, 9}, {"lowrank:rank=8", 20, 4.5}};
    for (size_t s = 0; s < countof(rows); s++)
        for (size_t workers = 1; workers <= 16; workers *= 4) {
            Bench b;
            open_bench(&b, rows[s].spec, workers, 700, 0);
            check(shape_make(&b.vector[0].shape, 2, (const size_t[]){rows[s].rows, 700 / rows[s].rows}));
            b.c.repeats = 200;
            check_ok(run_bench(&b), &b.err);
            const double want = rows[s].times * b.kept->gradient[G_SQUARES];
            check_rel(figure(b.kept, "variance_expected"), want, 1e-9);
            check_rel(figure(b.kept, "mse"), want, 0.05);
            check(fabs(figure(b.kept, "bias_z")) < 4);
            close_bench(&b);
        }
}

/* Where every payload has the same size, no number of workers or repeats changes the bytes of a payload, of its earlier rounds and
 * its entropy; nor the bytes of the merged payload, but for the number of workers in its head. */
TEST(sizes_are_means_over_workers_and_repeats)
{
    static const char *const specs[] = {"powersgd", "randk:ratio=0.1", "lowrank:rank=8", "none"};
    for (size_t s = 0; s < countof(specs); s++)
        for (size_t workers = 0; workers <= 6; workers += 3) {
            Bench one, more;
            open_bench(&one, specs[s], 2, 700, 0);
            open_bench(&more, specs[s], workers, 700, 0);
            check(shape_make(&one.vector[0].shape, 2, (const size_t[]){20, 35}));
            more.vector[0].shape = one.vector[0].shape;
            more.c.repeats = 3;
            check_ok(run_bench(&one), &one.err);
            check_ok(run_bench(&more), &more.err);
            const Tally *a = &one.kept[0], *b = &more.kept[0];
            check_same(a->bytes, b->bytes);
            check_same(a->entropy, b->entropy);
            check_same(a->raw, b->raw);
            check(fabs(a->early - b->early) <= 8);
            check(!workers || isnan(a->merged) == isnan(b->merged));
            check(!workers || isnan(a->merged) || fabs(a->merged - b->merged) <= 8);
            close_bench(&one);
            close_bench(&more);
        }
}

/* What a comparison says of the mean of P workers with one gradient is what a merge of P such workers measures: a bias and
 * shared draws stay, errors of own draws average out. */
TEST(the_error_of_a_mean_is_that_of_a_merge)
{
    static const char *const specs[] = {"topk:ratio=0.1", "qsgd:bits=2",    "randk:ratio=0.5", "powersgd",
                                        "countsketch",    "drive:scale=mse", "minmax:bits=2,rounding=stochastic"};
    for (size_t s = 0; s < countof(specs); s++)
        for (size_t workers = 4; workers <= 16; workers *= 4) {
            Bench one, many;
            open_bench(&one, specs[s], 0, 700, 0);
            open_bench(&many, specs[s], workers, 700, 0);
            one.same = many.same = true;
            one.c.repeats = many.c.repeats = 60;
            check_ok(run_bench(&one), &one.err);
            check_ok(run_bench(&many), &many.err);
            check_rel(figure(one.kept, workers == 4 ? "mean_error_4" : "mean_error_16"),
                      figure(many.kept, "relative_error"), 0.1);
            close_bench(&one);
            close_bench(&many);
        }
}

/* A biased codec and what an unbiased one sends of the rest with shared draws: the closed form of one worker's error is not that of the
 * mean, whose workers have different rests. */
TEST(shared_draws_on_different_rests_have_no_closed_form)
{
    for (size_t workers = 1; workers <= 3; workers += 2) {
        Bench b;
        open_bench(&b, "induced:with=randk:ratio=0.3+topk:ratio=0.1", workers, 700, 0);
        b.c.repeats = 100;
        check_ok(run_bench(&b), &b.err);
        const double expected = figure(b.kept, "variance_expected");
        check(isnan(expected) == (workers > 1));
        if (workers == 1)
            check_rel(figure(b.kept, "mse"), expected, 0.1);
        close_bench(&b);
    }
}

TEST(threads_change_nothing)
{
    for (size_t s = 0; s < countof(varied); s += 3) {
        Bench one, two;
        open_bench(&one, varied[s], 3, 70000, 3);
        open_bench(&two, varied[s], 3, 70000, 3);
        two.c.threads = 2;
        check_ok(run_bench(&one), &one.err);
        check_ok(run_bench(&two), &two.err);
        for (const Metric *m = metrics; m->name; m++)
            for (size_t k = 0; k < KEPT && !strstr(m->name, "code_"); k++) {
                const double a = metric_value(m, &one.kept[k]), b = metric_value(m, &two.kept[k]);
                check(a == b || (isnan(a) && isnan(b)));
            }
        close_bench(&one);
        close_bench(&two);
    }
}

/* Top-k takes scratch memory to find the k largest elements: at least an index for each. A merge adds its
 * own memory to the codec's. */
TEST(scratch_memory_is_counted)
{
    enum { N = 20000, K = N / 10 };
    double scratch[2];
    for (size_t i = 0; i < 2; i++) {
        Bench b;
        open_bench(&b, "topk:ratio=0.1", i ? 4 : 0, N, 100);
        check_ok(run_bench(&b), &b.err);
        scratch[i] = figure(&b.kept[0], "peak_scratch_bytes");
        check(figure(&b.kept[1], "peak_scratch_bytes") < scratch[i]);
        check(figure(&b.kept[2], "peak_scratch_bytes") == scratch[i]); /* the most of both vectors */
        close_bench(&b);
    }
    check(scratch[0] >= K * sizeof(uint32_t));
    check(scratch[1] >= scratch[0]);
}

CHECK_ALL(NULL, NULL)
