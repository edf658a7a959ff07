/* test_compare_figures.c -- tests pooled metrics (the metrics of several vectors as if they were one
 * vector). Tests options that must not change metrics. */
#include "rig/compare_world.h"

WORLD_TEST(pooled_figures_are_those_of_the_joined_vector)
{
    World *w = open_world(1, 1);
    add_codec(w, &rounded);
    run(w);
    const KeptRecord pooled = *kept(w, 3, 0);
    close_world(state);
    w = open_world(1, 1);
    add_codec(w, &rounded);
    w->list.count = 1;
    w->vector[0].shape = shape_vector(71300);
    w->list.largest = 71300;
    w->c.load = load_joined;
    run(w);
    const KeptRecord *joined = kept(w, 0, 0);
    /* Beginnings of the names of metrics that may differ: three payloads have three kind bytes, one payload has
     * one; scratch memory grows with the vector. */
    static const char *const differ[] = {"bytes", "ratio", "bits_per", "coding", "peak"};
    for (size_t m = 0; metrics[m].name; m++) {
        bool skip = is_time(metrics[m].name);
        for (size_t i = 0; i < countof(differ); i++)
            skip = skip || strstr(metrics[m].name, differ[i]) == metrics[m].name;
        if (!skip && !same(pooled.value[m], joined->value[m]))
            check_rel_at(pooled.value[m], joined->value[m], 1e-11, metrics[m].name, __FILE__, __LINE__);
    }
    check(value(&pooled, "wasserstein") > 0 && value(&pooled, "elem_error_big") > 0);
    check_rel(value(&pooled, "bytes"), value(joined, "bytes") + 2, 0);
    /* a step with one vector has the metrics of this vector */
    check_same_figures(kept(w, 1, 0), joined);
}

/* A cell is one step of one worker. In the record over all cells, sizes are means over the cells, and errors
 * are sums over the cells. */
WORLD_TEST(the_record_of_everything_averages_sizes)
{
    World *w = open_world(2, 3);
    add_codec(w, &coins);
    run(w);
    const KeptRecord *all = kept(w, 6 * 4, 0);
    double bytes = 0, mse = 0, encode = 0;
    for (size_t cell = 0; cell < 6; cell++) {
        const KeptRecord *r = kept(w, cell * 4 + 3, 0);
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

WORLD_TEST(threads_do_not_change_figures)
{
    static KeptRecord first[RECORDS_MAX];
    static const int threads[] = {1, 8};
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

WORLD_TEST(a_random_codec_is_measured_as_one)
{
    World *w = open_world(1, 1);
    add_codec(w, &coins);
    w->c.repeats = 20;
    run(w);
    const KeptRecord *r = kept(w, 3, 0);
    /* The codec sends 2 x_i with probability 1/2, so the estimate h of g has E|h - g|^2 = |g|^2. Over 71,300
     * elements and 20 repeats, the standard deviation of the measured ratio is well under 2 %. */
    check_rel(value(r, "relative_error"), 1, 0.02);
    check_rel(value(r, "variance"), value(r, "mse"), 0.02);
    check(fabs(value(r, "bias_z")) < 6 && fabs(value(r, "gain_z")) < 6);
    check_rel(value(r, "density"), 15. / 16 / 2, 0.02);
}

WORLD_TEST(too_little_memory_costs_pooled_order_statistics)
{
    static const struct {
        uint64_t memory;
        RecordLevel reach;
    } cases[] = {{12 * 142600, LEVEL_RUN},
                 {12 * 142600 - 1, LEVEL_CELL},
                 {12 * 71300, LEVEL_CELL},
                 {12 * 71300 - 1, LEVEL_VECTOR},
                 {0, LEVEL_VECTOR}};
    for (size_t i = 0; i < countof(cases); i++) {
        World *w = open_world(2, 1);
        add_codec(w, &rounded);
        w->c.memory = cases[i].memory;
        check(compare_reach(&w->list, w->c.memory, true) == cases[i].reach);
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

/* With enough memory, the values of all steps are sorted together for the record of the whole run. The
 * metrics of single steps must be the same as with little memory. */
WORLD_TEST(memory_does_not_change_what_both_have)
{
    World *w = open_world(2, 1);
    add_codec(w, &coins);
    run(w);
    const KeptRecord cell = *kept(w, 7, 0), run_record = *kept(w, 8, 0);
    close_world(state);
    w = open_world(2, 1);
    add_codec(w, &coins);
    w->c.memory = 12 * 71300;
    run(w);
    /* with less memory fewer Wasserstein distances are computed, so their mean may differ */
    KeptRecord less = *kept(w, 7, 0);
    for (size_t m = 0; metrics[m].name; m++)
        if (!strncmp(metrics[m].name, "wasserstein_mean", strlen("wasserstein_mean")))
            less.value[m] = cell.value[m];
    check_same_figures(&cell, &less);
    check(value(&run_record, "mse") == value(kept(w, 8, 0), "mse"));
}

WORLD_TEST(empty_and_single_vectors_are_measured)
{
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

static uint64_t distances[VECTORS + 1];

static Status count_distances(void *data, const Record *r, Error *err)
{
    (void)data, (void)err;
    size_t finite = 0;
    for (size_t i = 0; i < r->tally.decoded; i++)
        finite += isfinite(r->tally.distance[i]) ? 1 : 0;
    check(finite == r->tally.distances.n);
    distances[r->place] = r->tally.distances.n;
    return OK;
}

/* Of vectors with n elements, Wasserstein distances are measured for 2^22 / n repeats, but at least two. */
WORLD_TEST(long_vectors_have_fewer_distances)
{
    World *w = open_world(1, 1);
    static const size_t long_sizes[VECTORS] = {2000000, 1200000, 1000};
    add_codec(w, &coins);
    for (size_t i = 0; i < VECTORS; i++)
        w->vector[i].shape = shape_vector(long_sizes[i]);
    w->list.elements = 3201000;
    w->list.largest = long_sizes[0];
    w->c.repeats = 8;
    w->c.untimed = true;
    w->c.record = count_distances;
    check_ok(compare_run(&w->c, &w->failures, w->a, &w->err), &w->err);
    static const uint64_t want[VECTORS + 1] = {2, 3, 8, 2};
    check(!memcmp(distances, want, sizeof want));
}

/* Without timing, each repeat is encoded only once. All metrics other than times must be the same. */
WORLD_TEST(without_a_clock_all_but_times_is_the_same)
{
    World *w = open_world(1, 1);
    add_codec(w, &coins);
    add_codec(w, &rounded);
    run(w);
    const KeptRecord random = *kept(w, 3, 0), fixed = *kept(w, 3, 1);
    w->c.untimed = true;
    encodings = 0;
    run(w);
    /* a codec that is not random encodes each vector once; the random codec encodes once per repeat */
    check(encodings == VECTORS * (w->c.repeats + 1));
    check_same_figures(kept(w, 3, 0), &random);
    check_same_figures(kept(w, 3, 1), &fixed);
    for (size_t m = 0; metrics[m].name; m++) {
        check((metrics[m].form == FORM_TIME) == is_time(metrics[m].name));
        check(metrics[m].form != FORM_TIME || isnan(kept(w, 3, 0)->value[m]));
    }
}

CHECK_ALL(NULL, NULL)
