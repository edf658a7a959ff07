/* test_compare.c -- tests comparisons of codecs: the order of the records, the states of the codecs, what
 * happens if a codec fails, and continuing an interrupted comparison. */
#include "rig/compare_world.h"

WORLD_TEST(records_have_their_places)
{
    World *w = open_world(2, 2);
    add_codec(w, &rounded);
    add_codec(w, &coins);
    run(w);
    check(compare_places(&w->list) == 4 * 3 + 4 + 1);
    check(w->records == 2 * compare_places(&w->list) && w->failures == 0);
    for (size_t place = 0; place < 16; place++)
        for (size_t k = 0; k < 2; k++) {
            const KeptRecord *r = kept(w, place, k);
            const size_t cell = place / 4, i = place % 4;
            check(r->codec == k && r->level == (i == 3 ? LEVEL_CELL : LEVEL_VECTOR));
            check(r->vector->step == (int64_t)cell / 2 && r->vector->worker == (int64_t)cell % 2);
            check(r->vectors == (i == 3 ? 3 : 1));
            check(i == 3 || r->vector == &w->vector[cell * 3 + i]);
        }
    check(kept(w, 16, 0)->level == LEVEL_RUN && kept(w, 16, 0)->vectors == 12);
}

WORLD_TEST(one_cell_has_no_record_of_everything)
{
    World *w = open_world(1, 1);
    add_codec(w, &rounded);
    run(w);
    check(w->records == 4 && compare_places(&w->list) == 4 && kept(w, 3, 0)->level == LEVEL_CELL);
}

WORLD_TEST(a_failure_costs_one_record)
{
    World *w = open_world(1, 1);
    add_codec(w, &failing);
    add_codec(w, &rounded);
    run(w);
    check(w->failures == 1 && w->records == 8);
    assert_string_equal(kept(w, 1, 0)->error, "300 elements are too many");
    check(kept(w, 1, 0)->vectors == 0);
    check_same_figures(kept(w, 0, 0), kept(w, 0, 1));
    check_same_figures(kept(w, 2, 0), kept(w, 2, 1));
    const KeptRecord *pooled = kept(w, 3, 0);
    assert_string_equal(pooled->error, "without 1 of 3 tensors, which failed");
    check(pooled->vectors == 2 && value(pooled, "raw_bytes") == 4 * 71000);
    check(isnan(value(pooled, "elem_error_big")) && value(pooled, "wasserstein") > 0);
    check(!*kept(w, 3, 1)->error);
}

WORLD_TEST(states_move_on_by_step_and_worker)
{
    World *w = open_world(3, 2);
    add_codec(w, &counted);
    run(w);
    for (size_t cell = 0; cell < 6; cell++)
        for (size_t i = 0; i < 3; i++) {
            const KeptRecord *r = kept(w, cell * 4 + i, 0);
            const double step = (double)(cell / 2);
            check(value(r, "bytes") == 1 + step && value(r, "raw_bytes") == 4 * (double)sizes[i]);
            check(value(r, "bytes_min") == value(r, "bytes_max"));
            check(value(r, "residual_norm") == step + 1);
        }
    check_rel(value(kept(w, 3, 0), "residual_norm"), sqrt(3), 1e-15);
}

/* In steps 1 and 2 the first vector is missing, so the other vectors have other indices. The state of a codec
 * must belong to the vector of the same name, not to the vector of the same index. */
WORLD_TEST(states_follow_names_not_places)
{
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

static World *compare_distances(size_t repeats, bool without)
{
    World *w = open_world(2, 1);
    w->c.without_distances = without;
    w->c.repeats = repeats;
    w->c.untimed = true;
    add_codec(w, &rounded);
    add_codec(w, &coins);
    run(w);
    check(w->records == 2 * 9);
    return w;
}

/* With one repeat the distance is measured before the other figures, with more repeats after them. */
WORLD_TEST(distances_are_left_out_if_they_are_not_wanted)
{
    static KeptRecord all[2 * 9];
    for (size_t repeats = 1; repeats <= 3; repeats += 2) {
        World *w = compare_distances(repeats, false);
        memcpy(all, w->kept, sizeof all);
        arena_close(w->a);
        w = compare_distances(repeats, true);
        for (size_t i = 0; i < countof(all); i++)
            for (size_t m = 0; metrics[m].name; m++) {
                const double with = all[i].value[m], without = w->kept[i].value[m];
                const bool distance = strstr(metrics[m].name, "wasserstein");
                check(distance ? isnan(without) : same(with, without));
                check(!isnan(with) || strcmp(metrics[m].name, "wasserstein_mean"));
            }
        if (repeats == 1) /* WORLD_TEST closes the last one */
            arena_close(w->a);
    }
}

WORLD_TEST(small_tensors_travel_raw)
{
    World *w = open_world(2, 1);
    add_codec(w, &coins);
    add_codec(w, &counted);
    for (size_t i = 0; i < w->list.count; i++)
        w->vector[i].raw = sizes[i % 3] < 1000;
    run(w);
    for (size_t k = 0; k < 2; k++) {
        const KeptRecord *r = kept(w, 1, k);
        check(value(r, "bytes") == 1200 && value(r, "mse") == 0 && value(r, "variance") == 0);
        check(isnan(value(r, "residual_norm")) && value(r, "raw_fallbacks") == 0);
    }
    check(value(kept(w, 0, 0), "mse") > 0 && value(kept(w, 3, 0), "bytes") == 4 * 71300 + 2);
    check_rel(value(kept(w, 3, 1), "residual_norm"), sqrt(2), 1e-15);
}

WORLD_TEST(a_stop_keeps_what_is_finished)
{
    World *w = open_world(1, 1);
    add_codec(w, &rounded);
    add_codec(w, &coins);
    w->stop_after = 5;
    w->c.stopped = stop_soon;
    check(compare_run(&w->c, &w->failures, w->a, &w->err) == ERR_STOPPED);
    check(w->records == 5);
}

WORLD_TEST(codecs_that_are_done_are_left_out)
{
    World *w = open_world(1, 1);
    static const bool skip[2] = {true, false};
    add_codec(w, &rounded);
    add_codec(w, &coins);
    run(w);
    const KeptRecord before = *kept(w, 3, 1);
    w->c.skip = skip;
    run(w);
    check(w->records == 4 && !kept(w, 3, 0)->vector);
    check_same_figures(&before, kept(w, 3, 1));
}

/* ---- continuing an interrupted comparison ---- */

enum { STEPS_DONE = 2, CODECS_DONE = 4, PLACES_DONE = STEPS_DONE * 2 * (VECTORS + 1) + 1 };

/* The results of a comparison that was not interrupted. `found` marks the results that the next comparison is
 * given, so does not compute again. */
static struct {
    double *sums[PLACES_DONE * CODECS_DONE];
    bool failed[PLACES_DONE * CODECS_DONE], found[PLACES_DONE * CODECS_DONE];
} done;

static Status keep_sums(void *data, const Record *r, Error *err)
{
    World *w = data;
    const size_t at = r->place * CODECS_DONE + r->codec;
    done.sums[at] = NEW(w->a, double, tally_numbers(&r->tally));
    tally_save(&r->tally, done.sums[at]);
    done.failed[at] = r->error && r->level == LEVEL_VECTOR;
    return keep(data, r, err);
}

static bool find_sums(void *data, size_t codec, size_t place, Tally *tally, bool *failed)
{
    const size_t at = place * CODECS_DONE + codec;
    (void)data;
    *failed = done.found[at] && done.failed[at];
    if (done.found[at] && !*failed)
        tally_load(tally, done.sums[at]);
    return done.found[at];
}

/* Records are made in the order of codec, worker, step and vector. A comparison is given the records before
 * record number `until` of codec `last`, as if it had been interrupted there. It must compute all other
 * records, with the same results as a comparison that was not interrupted. */
static void check_continued(World *w, const KeptRecord *whole, size_t last, size_t until)
{
    const size_t record = VECTORS + 1, cells = PLACES_DONE / record;
    size_t rank[PLACES_DONE], missing = 0;
    bool skip[CODECS_DONE];
    for (size_t place = 0; place < PLACES_DONE; place++) {
        const size_t cell = place / record, step = cell / 2, worker = cell % 2;
        rank[place] = cell == cells ? place : (worker * STEPS_DONE + step) * record + place % record;
    }
    for (size_t at = 0; at < PLACES_DONE * CODECS_DONE; at++) {
        const size_t codec = at % CODECS_DONE, place = at / CODECS_DONE;
        done.found[at] = codec < last || (codec == last && rank[place] < until);
        missing += !done.found[at];
    }
    for (size_t k = 0; k < CODECS_DONE; k++)
        skip[k] = k < last;
    w->c.skip = skip;
    run(w);
    check(w->records == missing);
    for (size_t at = 0; at < PLACES_DONE * CODECS_DONE; at++) {
        check(done.found[at] == !w->kept[at].vector);
        if (done.found[at])
            continue;
        check_same_figures(&whole[at], &w->kept[at]);
        assert_string_equal(whole[at].error, w->kept[at].error);
    }
}

/* Three limits of memory: the first suffices for all vectors at once, the second for the vectors of one step,
 * the third for a single vector. The places of the interruptions differ between them. */
WORLD_TEST(an_interrupted_comparison_continues_at_the_next_record)
{
    static const uint64_t memory[] = {(uint64_t)1 << 30, 12 * 71300, 12 * 70000};
    static KeptRecord whole[RECORDS_MAX];
    World *w = open_world(STEPS_DONE, 2);
    add_codec(w, &coins);
    add_codec(w, &counted);
    add_codec(w, &failing);
    add_codec(w, &rounded);
    for (size_t i = 0; i < countof(memory); i++) {
        w->c.memory = memory[i];
        w->c.untimed = true;
        w->c.known = NULL;
        w->c.skip = NULL;
        w->c.record = keep_sums;
        run(w);
        memcpy(whole, w->kept, sizeof whole);
        w->c.known = find_sums;
        w->c.record = keep;
        for (size_t k = 0; k < CODECS_DONE; k++)
            for (size_t until = (i + k) % 3; until < PLACES_DONE; until += k == 1 ? 13 : 31)
                check_continued(w, whole, k, until);
    }
}

WORLD_TEST(numbers_of_a_tally_make_an_equal_one)
{
    World *w = open_world(1, 1);
    Tally t, u;
    check_ok(tally_open(&t, LEVEL_VECTOR, 3, true, w->a, &w->err), &w->err);
    check_ok(tally_open(&u, LEVEL_VECTOR, 3, true, w->a, &w->err), &w->err);
    t.n = 5;
    t.error[2][E_SUMS - 1] = 7;
    t.grown[2] = 9;
    t.distances.n = 2;
    t.spread[S_SUMS - 1] = 0.1;
    t.unbiased = t.percentile_known = false;
    const size_t count = tally_numbers(&t);
    double *number = NEW(w->a, double, count);
    tally_save(&t, number);
    tally_load(&u, number);
    check(u.n == 5 && u.error[2][E_SUMS - 1] == 7 && u.grown[2] == 9 && u.distances.n == 2 && !u.unbiased);
    check(u.spread[S_SUMS - 1] == 0.1 && !u.percentile_known && u.spread_known == t.spread_known);
    check(isnan(u.residual2) && u.decoded == 3);
}

/* The codec `rounded` takes n floats of scratch memory to encode, the codec `counted` takes none. */
WORLD_TEST(scratch_memory_is_counted)
{
    World *w = open_world(2, 1);
    add_codec(w, &rounded);
    add_codec(w, &counted);
    run(w);
    for (size_t place = 0; place < w->records / 2; place++) {
        const KeptRecord *r = kept(w, place, 0);
        const double taken = 4 * (double)sizes[r->level == LEVEL_VECTOR ? place % 4 : 2];
        const double scratch = value(r, "peak_scratch_bytes");
        check(scratch >= taken && scratch < taken + 128); /* it is aligned; the address sanitizer adds 64 bytes */
        check(value(kept(w, place, 1), "peak_scratch_bytes") == 0);
    }
}

CHECK_ALL(NULL, NULL)
