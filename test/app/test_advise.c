/* test_advise.c -- the choice of advise among measured candidates: limits, ranks, reasons, and the rows shown. */
#include "cmd/bench_advise_rank.c"
#include "rig/check.h"

#include <math.h>
#include <string.h>

static Arena *arena;
static Error err;

static const AdviseLimits no_limits = {.error = INFINITY};

/* A candidate that computes for 10 ms and sends for `comm` ms; half of its 95 % interval is `half` ms. */
static Candidate candidate(const char *name, double comm, double half)
{
    return (Candidate){.name = name,
                       .family = name,
                       .plain = !strcmp(name, "bf16") || !strcmp(name, "none"),
                       .adds = true,
                       .topology = TOPOLOGY_RING,
                       .repeats = 1e9,
                       .time = {10e-3, 0, 1e-3 * comm, 0, 1e-3 * (10 + comm)},
                       .time_se = {.total = 1e-3 * half / 1.959964},
                       .bytes = 1000,
                       .error = 0.1};
}

static const Candidate *named(const Candidate *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(list[i].name, name))
            return &list[i];
    return NULL;
}

TEST(codecs_are_ranked_by_time_and_overlapping_intervals_are_equal)
{
    Candidate list[] = {candidate("c", 3, 0.4), candidate("bf16", 10, 0.1), candidate("a", 1, 0.5),
                        candidate("b", 1.9, 0.41)};
    check_ok(advise_rank(list, countof(list), &no_limits, arena, &err), &err);
    check(!strcmp(list[0].name, "a") && list[0].rank == 1 && !list[0].why);
    check(!strcmp(list[1].name, "b") && list[1].rank == 1 && strstr(list[1].why, "not told from the first"));
    check(!strcmp(list[2].name, "c") && list[2].rank == 3);
    check(!strcmp(list[2].why, "18 % slower: sending takes 3 ms"));
    check(!strcmp(list[3].name, "bf16") && list[3].rank == 4);
    const char *verdict = advise_verdict(list, countof(list), &list[3], arena);
    check(!strcmp(verdict, "a: 1.82 times as fast as bf16; not told from it: b"));
}

TEST(those_equal_to_the_first_stand_before_faster_ones_that_are_not)
{
    Candidate list[] = {candidate("bf16", 9, 0.1), candidate("wide", 1.5, 3), candidate("exact", 1.4, 0.01),
                        candidate("a", 1, 0.1)};
    static const struct {
        const char *name;
        size_t rank;
    } want[] = {{"a", 1}, {"wide", 1}, {"exact", 3}, {"bf16", 4}};
    for (int again = 0; again < 2; again++) { /* ranks of before do not matter */
        check_ok(advise_rank(list, countof(list), &no_limits, arena, &err), &err);
        for (size_t i = 0; i < countof(list); i++)
            check(!strcmp(list[i].name, want[i].name) && list[i].rank == want[i].rank);
    }
}

TEST(bf16_is_the_answer_unless_a_codec_is_faster_for_certain)
{
    Candidate slow[] = {candidate("a", 5, 0.1), candidate("bf16", 4, 0.1)},
              unsure[] = {candidate("a", 3.9, 0.1), candidate("bf16", 4, 0.1)},
              floats[] = {candidate("none", 3, 0.1), candidate("bf16", 4, 0.1)};
    check_ok(advise_rank(slow, 2, &no_limits, arena, &err), &err);
    check_ok(advise_rank(unsure, 2, &no_limits, arena, &err), &err);
    check_ok(advise_rank(floats, 2, &no_limits, arena, &err), &err);
    check(strstr(advise_verdict(slow, 2, named(slow, 2, "bf16"), arena), "send bf16: no codec"));
    check(strstr(advise_verdict(unsure, 2, named(unsure, 2, "bf16"), arena), "send bf16: no codec"));
    check(strstr(advise_verdict(floats, 2, named(floats, 2, "bf16"), arena), "send float32: no codec"));
    Candidate noisy[] = {candidate("a", 1, 0.1), candidate("none", 9, 10), candidate("bf16", 8, 0.1)}; /* a beats the faster plain one */
    check_ok(advise_rank(noisy, 3, &no_limits, arena, &err), &err);
    check(!strcmp(advise_verdict(noisy, 3, named(noisy, 3, "bf16"), arena), "a: 1.64 times as fast as bf16; not told from it: none"));
}

TEST(the_verdict_has_the_speedup_over_float32_where_it_is_the_faster_plain_format)
{
    Candidate list[] = {candidate("a", 1, 0.1), candidate("none", 2, 0.1), candidate("bf16", 9, 0.1)},
              slower[] = {candidate("a", 1, 0.1), candidate("none", 20, 0.1), candidate("bf16", 1e4, 0.1)};
    check_ok(advise_rank(list, 3, &no_limits, arena, &err), &err);
    check(!strcmp(advise_verdict(list, 3, named(list, 3, "bf16"), arena),
                  "a: 1.73 times as fast as bf16, 1.09 times as fast as float32"));
    check_ok(advise_rank(slower, 3, &no_limits, arena, &err), &err);
    check(strstr(named(slower, 3, "bf16")->why, "sending takes 10000 ms"));
}

TEST(without_an_interval_nothing_is_faster_for_certain)
{
    Candidate list[] = {candidate("a", 1, NAN), candidate("bf16", 4, 0.1)};
    check_ok(advise_rank(list, 2, &no_limits, arena, &err), &err);
    check(strstr(advise_verdict(list, 2, &list[1], arena), "send bf16: no codec"));
    check(list[1].rank == 1 && strstr(list[1].why, "too few repeats"));
}

/* t = 1.96 for very many repeats, 4.30 for three: intervals apart in the one case overlap in the other */
TEST(intervals_have_the_degrees_of_freedom_of_the_repeats)
{
    for (int few = 0; few < 2; few++) {
        Candidate list[] = {candidate("a", 1, 0.1), candidate("bf16", 1.3, 0.1)};
        list[0].repeats = list[1].repeats = few ? 3 : 1e9;
        check_ok(advise_rank(list, 2, &no_limits, arena, &err), &err);
        check(list[1].rank == (few ? 1 : 2));
    }
}

TEST(codecs_that_break_a_limit_or_fail_have_no_rank_and_a_reason)
{
    enum { COUNT = 5 };
    Candidate list[COUNT] = {candidate("biased", 1, 0), candidate("gathered", 1, 0),
                             candidate("wrong", 1, 0), candidate("broken", 0, 0), candidate("within", 20, 0)};
    for (size_t i = 1; i < COUNT; i++)
        list[i].unbiased = true;
    list[1].adds = false;
    list[2].error = 0.6;
    list[3].failure = "it failed";
    const AdviseLimits limits = {true, true, 0.5};
    check_ok(advise_rank(list, COUNT, &limits, arena, &err), &err);
    static const char *const why[][2] = {{"biased", "biased"},
                                         {"gathered", "its payloads do not add"},
                                         {"wrong", "error of the mean 0.6, above 0.5"},
                                         {"broken", "it failed"}};
    check(!strcmp(list[0].name, "within") && list[0].rank == 1);
    check(!strcmp(list[COUNT - 1].name, "broken"));
    for (size_t i = 0; i < countof(why); i++) {
        const Candidate *c = named(list, COUNT, why[i][0]);
        check(c && c->rank == 0 && !strcmp(c->why, why[i][1]));
    }
}

/* Two draws of screening leave a wide interval, sixty a narrow one. */
TEST(an_error_is_held_to_the_limit_with_its_interval)
{
    Candidate list[] = {candidate("screened", 1, 0), candidate("drawn", 1, 0), candidate("exact", 1, 0)};
    const AdviseLimits limits = {.error = 0.5};
    for (size_t i = 0; i < countof(list); i++) {
        list[i].error = 0.52;
        list[i].error_se = i == 2 ? 0 : 0.006;
        list[i].repeats = i == 0 ? 2 : 60;
    }
    check_ok(advise_rank(list, countof(list), &limits, arena, &err), &err);
    check(named(list, countof(list), "screened")->rank == 1);
    check(!named(list, countof(list), "drawn")->rank && !named(list, countof(list), "exact")->rank);
}

TEST(the_slow_part_of_a_reason_is_the_one_with_the_largest_excess)
{
    Candidate list[] = {candidate("first", 1, 0), candidate("encoder", 1, 0), candidate("gather", 4, 0),
                        candidate("decoder", 1, 0)};
    list[1].time.encode += 2e-3;
    list[2].topology = TOPOLOGY_ALLGATHER;
    list[2].adds = list[3].adds = false;
    list[3].time.decode = 9e-3;
    for (size_t i = 0; i < countof(list); i++) {
        IterationTime *t = &list[i].time;
        t->total = t->compute + t->encode + t->comm + t->decode;
    }
    check_ok(advise_rank(list, countof(list), &no_limits, arena, &err), &err);
    check(strstr(named(list, 4, "encoder")->why, "encoding takes 2 ms"));
    check(strstr(named(list, 4, "gather")->why, "sending takes 4 ms"));
    check(strstr(named(list, 4, "decoder")->why, "decoding takes 9 ms"));
}

TEST(the_table_has_the_first_three_bf16_and_one_codec_of_each_other_family)
{
    enum { COUNT = 9 };
    Candidate list[COUNT] = {candidate("a1", 1, 0),   candidate("a2", 2, 0),   candidate("a3", 3, 0),
                             candidate("a4", 4, 0),   candidate("b1", 5, 0),   candidate("b2", 6, 0),
                             candidate("zero", 7, 0), candidate("bf16", 8, 0), candidate("d", 9, 0)};
    static const char *const family[COUNT] = {"a", "a", "a", "a", "b", "b", "z", "bf16", "d"};
    for (size_t i = 0; i < COUNT; i++)
        list[i].family = family[i];
    list[6].error = 1; /* as good as sending nothing */
    bool shown[COUNT];
    check_ok(advise_rank(list, COUNT, &no_limits, arena, &err), &err);
    advise_shown(list, COUNT, 4, shown);
    static const bool want[COUNT] = {true, true, true, false, true, false, false, true, true};
    for (size_t i = 0; i < COUNT; i++)
        check(shown[i] == want[i]);
    advise_shown(list, COUNT, 1, shown);
    check(shown[4] && !shown[8] && shown[7]);
}

CHECK_ALL_IN(arena)
