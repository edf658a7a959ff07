/* test_compare.c -- the comparison's order, states, failures, pooled figures and what must not change them.
 */
#include "check.h"
#include "compare.h"
#include "reference/vectors.h"

/* ---- codecs of the test's own: floats behind a kind byte, each with one peculiarity ---- */

static unsigned plain_traits(const Codec *codec)
{
    (void)codec;
    return EXACT_BYTES;
}

static unsigned random_traits(const Codec *codec)
{
    (void)codec;
    return EXACT_BYTES | RANDOM | UNBIASED;
}

static size_t bound(const Call *c)
{
    return raw_size(c) + 100;
}

static Status decode(const Call *c, Bytes in, float *x)
{
    if (in.size < raw_size(c))
        return payload_bad(c, "too short");
    memcpy(x, in.data + 1, 4 * c->shape->n);
    return OK;
}

static Status put(const Call *c, Buf *out, const float *y)
{
    buf_u8(out, PAYLOAD_METHOD);
    buf_copy(out, y, 4 * c->shape->n);
    streams_floats(c->streams, c->shape->n);
    return OK;
}

/* Rounds to the grid by the reference's coins: repeat-free, so that vectors end to end are one vector. */
static Status encode_rounded(const Call *c, const float *x, Buf *out)
{
    float *y = NEW(c->scratch, float, c->shape->n);
    for (size_t i = 0; i < c->shape->n; i++)
        y[i] = roundf(x[i] * 32) / 32;
    return put(c, out, y);
}

/* Doubles or drops each element by a coin. */
static Status encode_coins(const Call *c, const float *x, Buf *out)
{
    float *y = NEW(c->scratch, float, c->shape->n);
    for (size_t i = 0; i < c->shape->n; i++)
        y[i] = rng_u32(&c->rng, USE_COIN, i) & 1 ? 2 * x[i] : 0;
    return put(c, out, y);
}

static Status encode_or_fail(const Call *c, const float *x, Buf *out)
{
    if (c->shape->n == 300)
        return FAIL(c->err, ERR_NUMERIC, "300 elements are too many");
    return encode_rounded(c, x, out);
}

/* Nothing but a byte for each step that was settled; its residual is the number of steps. */
static Status encode_counted(const Call *c, const float *x, Buf *out)
{
    const uint64_t steps = *(const uint64_t *)c->state;
    (void)x;
    buf_u8(out, PAYLOAD_METHOD);
    for (uint64_t i = 0; i < steps; i++)
        buf_u8(out, 0);
    streams_bits(c->streams, 0);
    return OK;
}

static Status decode_counted(const Call *c, Bytes in, float *x)
{
    (void)in;
    memset(x, 0, 4 * c->shape->n);
    return OK;
}

static size_t count_size(const Call *c)
{
    (void)c;
    return sizeof(uint64_t);
}

static Status count_settle(const Call *c, const float *x, const Bytes *sent, const float *agreed, void *state)
{
    check(sent[0].size == 1 + *(uint64_t *)state && agreed[0] == 0);
    (void)c, (void)x;
    ++*(uint64_t *)state;
    return OK;
}

static double count_residual(const Call *c)
{
    return (double)*(const uint64_t *)c->state;
}

static const Compressor rounded = {
    .name = "rounded", .traits = plain_traits, .bound = bound, .encode = encode_rounded, .decode = decode};
static const Compressor coins = {
    .name = "coins", .traits = random_traits, .bound = bound, .encode = encode_coins, .decode = decode};
static const Compressor failing = {
    .name = "failing", .traits = plain_traits, .bound = bound, .encode = encode_or_fail, .decode = decode};
static const Compressor counted = {.name = "counted",
                                   .traits = random_traits,
                                   .bound = bound,
                                   .encode = encode_counted,
                                   .decode = decode_counted,
                                   .state_size = count_size,
                                   .settle = count_settle,
                                   .residual = count_residual};

/* ---- a dump in memory: steps x workers x {a, b, c} ---- */

enum { VECTORS = 3, CELLS_MAX = 6, RECORDS_MAX = 200 };

static const size_t sizes[VECTORS] = {1000, 300, 70000};
static const char *const names[VECTORS] = {"a", "b", "c"};

typedef struct {
    double value[64];
    size_t codec, vectors;
    Level level;
    const Vector *vector;
    char error[100];
} Kept;

typedef struct {
    Arena *a;
    Error err;
    Vector vector[CELLS_MAX * VECTORS];
    VectorList list;
    Codec codec[4];
    const Codec *codecs[4];
    Comparison c;
    Kept kept[RECORDS_MAX]; /* by place and codec */
    size_t records, failures, stop_after;
} World;

static World world; /* stopped() has no argument */

static Status load(void *data, const Vector *v, float *x, Error *err)
{
    (void)data, (void)err;
    reference_gradient(x, v->shape.n, (uint32_t)(v->name[0] + 10 * v->step + 100 * v->worker));
    return OK;
}

/* All of a cell as one vector. */
static Status load_joined(void *data, const Vector *v, float *x, Error *err)
{
    for (int i = 0; i < VECTORS; i++) {
        Vector part = *v;
        part.name = names[i];
        part.shape = shape_vector(sizes[i]);
        TRY(load(data, &part, x, err));
        x += sizes[i];
    }
    return OK;
}

static Status keep(void *data, const Record *r, Error *err)
{
    World *w = data;
    (void)err;
    const size_t at = r->place * w->c.codecs + r->codec;
    check(at < RECORDS_MAX && r->codec < w->c.codecs);
    Kept *k = &w->kept[at];
    check(k->vector == NULL); /* each place once */
    *k = (Kept){.codec = r->codec, .vectors = r->vectors, .level = r->level, .vector = r->vector};
    snprintf(k->error, sizeof k->error, "%s", r->error ? r->error : "");
    for (size_t m = 0; metrics[m].name; m++)
        k->value[m] = r->vectors ? metrics[m].of(&r->tally) : NAN;
    w->records++;
    return OK;
}

static bool stop_soon(void)
{
    return world.records >= world.stop_after;
}

static World *open_world(int64_t steps, int64_t workers)
{
    World *w = &world;
    memset(w, 0, sizeof *w);
    w->a = arena_open(0);
    for (int64_t s = 0; s < steps; s++)
        for (int64_t p = 0; p < workers; p++)
            for (int i = 0; i < VECTORS; i++) {
                w->vector[w->list.count++] = (Vector){.name = names[i],
                                                      .step_group = "step",
                                                      .worker_group = workers > 1 ? "worker" : NULL,
                                                      .step = s,
                                                      .worker = p,
                                                      .kind = KIND_OTHER,
                                                      .shape = shape_vector(sizes[i])};
                w->list.elements += sizes[i];
            }
    w->list.item = w->vector;
    w->list.largest = 70000;
    w->c = (Comparison){.codec = w->codecs,
                        .vectors = &w->list,
                        .repeats = 3,
                        .seed = 1,
                        .memory = 1 << 30,
                        .threads = 1,
                        .data = w,
                        .load = load,
                        .record = keep};
    return w;
}

static void add_codec(World *w, const Compressor *ops)
{
    const size_t k = w->c.codecs++;
    w->codec[k] = (Codec){.ops = ops};
    w->codecs[k] = &w->codec[k];
}

static void run(World *w)
{
    memset(w->kept, 0, sizeof w->kept);
    w->records = 0;
    check_ok(compare_run(&w->c, &w->failures, w->a, &w->err), &w->err);
}

static int close_world(void **state)
{
    (void)state;
    arena_close(world.a);
    return 0;
}

static const Kept *kept(const World *w, size_t place, size_t codec)
{
    return &w->kept[place * w->c.codecs + codec];
}

static double value(const Kept *k, const char *name)
{
    return k->value[metric_find(name) - metrics];
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool is_time(const char *name)
{
    return strstr(name, "_ms") || strstr(name, "_gbps");
}

static void check_same_figures(const Kept *a, const Kept *b)
{
    for (size_t m = 0; metrics[m].name; m++)
        if (!is_time(metrics[m].name) && !same(a->value[m], b->value[m])) {
            print_error("%s: %.17g and %.17g\n", metrics[m].name, a->value[m], b->value[m]);
            check(same(a->value[m], b->value[m]));
        }
}

/* ---- tests ---- */

static void records_have_their_places(void **state)
{
    (void)state;
    World *w = open_world(2, 2);
    add_codec(w, &rounded);
    add_codec(w, &coins);
    run(w);
    check(compare_places(&w->list) == 4 * 3 + 4 + 1);
    check(w->records == 2 * compare_places(&w->list) && w->failures == 0);
    for (size_t place = 0; place < 16; place++)
        for (size_t k = 0; k < 2; k++) {
            const Kept *r = kept(w, place, k);
            const size_t cell = place / 4, i = place % 4;
            check(r->codec == k && r->level == (i == 3 ? LEVEL_CELL : LEVEL_VECTOR));
            check(r->vector->step == (int64_t)cell / 2 && r->vector->worker == (int64_t)cell % 2);
            check(r->vectors == (i == 3 ? 3 : 1));
            check(i == 3 || r->vector == &w->vector[cell * 3 + i]);
        }
    check(kept(w, 16, 0)->level == LEVEL_RUN && kept(w, 16, 0)->vectors == 12);
}

static void one_cell_has_no_record_of_everything(void **state)
{
    (void)state;
    World *w = open_world(1, 1);
    add_codec(w, &rounded);
    run(w);
    check(w->records == 4 && compare_places(&w->list) == 4 && kept(w, 3, 0)->level == LEVEL_CELL);
}

/* Figures over vectors end to end, against the same vectors really joined into one. */
static void pooled_figures_are_those_of_the_joined_vector(void **state)
{
    (void)state;
    World *w = open_world(1, 1);
    add_codec(w, &rounded);
    run(w);
    const Kept pooled = *kept(w, 3, 0);
    close_world(state);
    w = open_world(1, 1);
    add_codec(w, &rounded);
    w->list.count = 1;
    w->vector[0].shape = shape_vector(71300);
    w->list.largest = 71300;
    w->c.load = load_joined;
    run(w);
    const Kept *joined = kept(w, 0, 0);
    static const char *const differ[] = {"bytes", "ratio", "bits_per", "coding",
                                         "peak"}; /* kind bytes, scratch */
    for (size_t m = 0; metrics[m].name; m++) {
        bool skip = is_time(metrics[m].name);
        for (size_t i = 0; i < countof(differ); i++)
            skip = skip || strstr(metrics[m].name, differ[i]) == metrics[m].name;
        if (!skip && !same(pooled.value[m], joined->value[m]))
            check_rel_at(pooled.value[m], joined->value[m], 1e-11, metrics[m].name, __FILE__, __LINE__);
    }
    check(value(&pooled, "wasserstein") > 0 && value(&pooled, "elem_error_big") > 0);
    check_rel(value(&pooled, "bytes"), value(joined, "bytes") + 2, 0);
    check_same_figures(kept(w, 1, 0), joined); /* a cell of one vector is that vector */
}

/* Sizes are means per step and worker, errors those of everything. */
static void the_record_of_everything_averages_sizes(void **state)
{
    (void)state;
    World *w = open_world(2, 3);
    add_codec(w, &coins);
    run(w);
    const Kept *all = kept(w, 6 * 4, 0);
    double bytes = 0, mse = 0, encode = 0;
    for (size_t cell = 0; cell < 6; cell++) {
        const Kept *r = kept(w, cell * 4 + 3, 0);
        bytes += value(r, "bytes");
        mse += value(r, "mse");
        encode += value(r, "encode_ms");
    }
    check_rel(value(all, "bytes"), bytes / 6, 1e-14);
    check_rel(value(all, "encode_ms"), encode / 6, 1e-12);
    check_rel(value(all, "mse"), mse, 1e-13);
    check_rel(value(all, "raw_bytes"), 4 * 71300, 0);
    check_rel(value(all, "ratio"), 4 * 71300 / value(all, "bytes"), 1e-14);
    check(value(all, "wasserstein") > 0 && value(all, "elem_error_big") > 0);
}

static void threads_do_not_change_figures(void **state)
{
    (void)state;
    static Kept first[RECORDS_MAX];
    static const int threads[] = {1, 2, 8};
    for (size_t t = 0; t < countof(threads); t++) {
        World *w = open_world(2, 1);
        add_codec(w, &coins);
        add_codec(w, &counted);
        w->c.threads = threads[t];
        run(w);
        if (t == 0)
            memcpy(first, w->kept, sizeof first);
        for (size_t i = 0; i < w->records; i++)
            check_same_figures(&first[i], &w->kept[i]);
        close_world(state);
    }
    open_world(1, 1);
}

static void a_random_codec_is_measured_as_one(void **state)
{
    (void)state;
    World *w = open_world(1, 1);
    add_codec(w, &coins);
    w->c.repeats = 20;
    run(w);
    const Kept *r = kept(w, 3, 0);
    /* E|h - g|^2 = |g|^2; the sum over 71,300 elements and 20 repeats spreads by well under 2 % */
    check_rel(value(r, "relative_error"), 1, 0.02);
    check_rel(value(r, "variance"), value(r, "mse"), 0.02);
    check(fabs(value(r, "bias_z")) < 6 && fabs(value(r, "gain_z")) < 6);
    check_rel(value(r, "density"), 15. / 16 / 2, 0.02);
}

static void a_failure_costs_one_record(void **state)
{
    (void)state;
    World *w = open_world(1, 1);
    add_codec(w, &failing);
    add_codec(w, &rounded);
    run(w);
    check(w->failures == 1 && w->records == 8);
    assert_string_equal(kept(w, 1, 0)->error, "300 elements are too many");
    check(kept(w, 1, 0)->vectors == 0);
    check_same_figures(kept(w, 0, 0), kept(w, 0, 1));
    check_same_figures(kept(w, 2, 0), kept(w, 2, 1));
    const Kept *pooled = kept(w, 3, 0);
    assert_string_equal(pooled->error, "without 1 of 3 tensors, which failed");
    check(pooled->vectors == 2 && value(pooled, "raw_bytes") == 4 * 71000);
    check(isnan(value(pooled, "elem_error_big")) && value(pooled, "wasserstein") > 0);
    check(!*kept(w, 3, 1)->error);
}

static void states_move_on_by_step_and_worker(void **state)
{
    (void)state;
    World *w = open_world(3, 2);
    add_codec(w, &counted);
    run(w);
    for (size_t cell = 0; cell < 6; cell++)
        for (size_t i = 0; i < 3; i++) {
            const Kept *r = kept(w, cell * 4 + i, 0);
            const double step = (double)(cell / 2);
            check(value(r, "bytes") == 1 + step && value(r, "raw_bytes") == 4 * (double)sizes[i]);
            check(value(r, "bytes_min") == value(r, "bytes_max"));
            check(value(r, "residual_norm") == step + 1);
        }
    check_rel(value(kept(w, 3, 0), "residual_norm"), sqrt(3), 1e-15);
}

/* Steps 1 and 2 lack the first vector, so that the others stand at other places there. */
static void states_follow_names_not_places(void **state)
{
    (void)state;
    World *w = open_world(3, 1);
    add_codec(w, &counted);
    w->vector[3] = w->vector[4];
    w->vector[4] = w->vector[5];
    w->vector[5] = w->vector[7];
    w->vector[6] = w->vector[8];
    w->list.count = 7;
    w->list.elements -= 2 * sizes[0];
    run(w);
    static const struct {
        size_t place;
        double steps;
    } expected[] = {{0, 1}, {1, 1}, {2, 1}, {4, 2}, {5, 2}, {7, 3}, {8, 3}};
    for (size_t i = 0; i < countof(expected); i++)
        check(value(kept(w, expected[i].place, 0), "residual_norm") == expected[i].steps);
}

static void small_tensors_travel_raw(void **state)
{
    (void)state;
    World *w = open_world(2, 1);
    add_codec(w, &coins);
    add_codec(w, &counted);
    for (size_t i = 0; i < w->list.count; i++)
        w->vector[i].raw = sizes[i % 3] < 1000;
    run(w);
    for (size_t k = 0; k < 2; k++) {
        const Kept *r = kept(w, 1, k);
        check(value(r, "bytes") == 1200 && value(r, "mse") == 0 && value(r, "variance") == 0);
        check(isnan(value(r, "residual_norm")) && value(r, "raw_fallbacks") == 0);
    }
    check(value(kept(w, 0, 0), "mse") > 0 && value(kept(w, 3, 0), "bytes") == 4 * 71300 + 2);
    check_rel(value(kept(w, 3, 1), "residual_norm"), sqrt(2), 1e-15);
}

static void too_little_memory_costs_pooled_order_statistics(void **state)
{
    (void)state;
    static const struct {
        uint64_t memory;
        Level reach;
    } cases[] = {{12 * 142600, LEVEL_RUN},
                 {12 * 142600 - 1, LEVEL_CELL},
                 {12 * 71300, LEVEL_CELL},
                 {12 * 71300 - 1, LEVEL_VECTOR},
                 {0, LEVEL_VECTOR}};
    for (size_t i = 0; i < countof(cases); i++) {
        World *w = open_world(2, 1);
        add_codec(w, &rounded);
        w->c.memory = cases[i].memory;
        check(compare_reach(&w->list, w->c.memory) == cases[i].reach);
        run(w);
        static const char *const order[] = {"wasserstein", "elem_error_big", "elem_error_small"};
        for (size_t m = 0; m < countof(order); m++) {
            check(value(kept(w, 0, 0), order[m]) > 0);
            check(isnan(value(kept(w, 3, 0), order[m])) == (cases[i].reach < LEVEL_CELL));
            check(isnan(value(kept(w, 8, 0), order[m])) == (cases[i].reach < LEVEL_RUN));
        }
        check(value(kept(w, 8, 0), "elem_error") > 0);
        close_world(state);
    }
    open_world(1, 1);
}

/* What the larger pools sort must not disturb the smaller ones' figures. */
static void memory_does_not_change_what_both_have(void **state)
{
    (void)state;
    World *w = open_world(2, 1);
    add_codec(w, &coins);
    run(w);
    const Kept cell = *kept(w, 7, 0), run_record = *kept(w, 8, 0);
    close_world(state);
    w = open_world(2, 1);
    add_codec(w, &coins);
    w->c.memory = 12 * 71300;
    run(w);
    check_same_figures(&cell, kept(w, 7, 0));
    check(value(&run_record, "mse") == value(kept(w, 8, 0), "mse"));
}

static void a_stop_keeps_what_is_finished(void **state)
{
    (void)state;
    World *w = open_world(1, 1);
    add_codec(w, &rounded);
    add_codec(w, &coins);
    w->stop_after = 5;
    w->c.stopped = stop_soon;
    check(compare_run(&w->c, &w->failures, w->a, &w->err) == ERR_STOPPED);
    check(w->records == 5);
}

static void codecs_that_are_done_are_left_out(void **state)
{
    (void)state;
    World *w = open_world(1, 1);
    static const bool skip[2] = {true, false};
    add_codec(w, &rounded);
    add_codec(w, &coins);
    run(w);
    const Kept before = *kept(w, 3, 1);
    w->c.skip = skip;
    run(w);
    check(w->records == 4 && !kept(w, 3, 0)->vector);
    check_same_figures(&before, kept(w, 3, 1));
}

static void empty_and_single_vectors_are_measured(void **state)
{
    (void)state;
    World *w = open_world(1, 1);
    add_codec(w, &coins);
    w->vector[0].shape = shape_vector(0);
    w->vector[1].shape = shape_vector(1);
    w->list.elements = 70001;
    run(w);
    check(value(kept(w, 0, 0), "bytes") == 1 && isnan(value(kept(w, 0, 0), "bits_per_element")));
    check(isnan(value(kept(w, 0, 0), "wasserstein")) && value(kept(w, 1, 0), "bytes") == 5);
    check(value(kept(w, 3, 0), "bytes") == 4 * 70001 + 3);
}

#define TEST(f) cmocka_unit_test_teardown(f, close_world)

static const struct CMUnitTest tests[] = {
    TEST(records_have_their_places),
    TEST(one_cell_has_no_record_of_everything),
    TEST(pooled_figures_are_those_of_the_joined_vector),
    TEST(the_record_of_everything_averages_sizes),
    TEST(threads_do_not_change_figures),
    TEST(a_random_codec_is_measured_as_one),
    TEST(a_failure_costs_one_record),
    TEST(states_move_on_by_step_and_worker),
    TEST(states_follow_names_not_places),
    TEST(small_tensors_travel_raw),
    TEST(too_little_memory_costs_pooled_order_statistics),
    TEST(memory_does_not_change_what_both_have),
    TEST(a_stop_keeps_what_is_finished),
    TEST(codecs_that_are_done_are_left_out),
    TEST(empty_and_single_vectors_are_measured),
};

CHECK_MAIN(tests)
