/* test_pareto.c -- tests the Pareto front of points (size, error). Small sets of points have fronts known in
 * advance. Many random sets are compared with the definition. */
#include "rig/check.h"
#include "math/pareto.h"
#include "base/rng.h"

#include <math.h>

static void check_front(const ParetoPoint *given, const bool *want, size_t count)
{
    ParetoPoint point[16];
    /* the points are passed in every cyclic order, since the order must not change the front */
    for (size_t turn = 0; turn < count; turn++) {
        for (size_t i = 0; i < count; i++)
            point[i] = given[(i + turn) % count];
        pareto_mark(point, count);
        for (size_t i = 0; i < count; i++)
            check(point[i].front == want[(i + turn) % count]);
    }
    pareto_mark(NULL, 0);
}

/* If both margins are 1, the errors 4 and 5 do not differ, but 4 and 6 do. Sizes without a margin differ
 * unless they are equal. */
TEST(uncertain_points_leave_only_when_beaten_for_certain)
{
    static const ParetoPoint p[] = {{.size = 1, .error = 4, .error_margin = 1},
                                    {.size = 2, .error = 5, .error_margin = 1},
                                    {.size = 2, .error = 6, .error_margin = 1},
                                    {.size = 1, .error = 4},
                                    {.size = 1, .error = 5.5},
                                    {.size = 0.9, .error = 7, .size_margin = 0.2},
                                    {.size = 1.3, .error = 7, .size_margin = 0.2}};
    static const bool want[] = {true, true, false, true, false, true, false};
    check_front(p, want, countof(p));
}

/* `certain` must be true for a point that is off the front. It must be false for a point on the front if
 * another point of its kind may be smaller and better. Equal points do not remove each other. */
TEST(a_point_is_uncertain_if_another_one_may_remove_it)
{
    ParetoPoint p[] = {{.size = 1, .error = 4, .error_margin = 1},
                       {.size = 2, .error = 4.5},
                       {.size = 3, .error = 9},
                       {.size = 4, .error = 1},
                       {.size = 4, .error = 1},
                       {.size = 4.5, .error = 0.5, .kind = 1},
                       {.size = 4.1, .error = 0.9, .size_margin = 1}};
    static const bool front[] = {true, true, false, true, true, true, true},
                      certain[] = {true, false, true, false, false, true, true};
    pareto_mark(p, countof(p));
    for (size_t i = 0; i < countof(p); i++) {
        check(p[i].front == front[i]);
        check(p[i].certain == certain[i]);
    }
    p[6].size_margin = 0;
    pareto_mark(p, countof(p));
    check(p[3].certain && p[4].certain);
}

/* ---- random points against the definition of the Pareto front ---- */

static bool beats(const ParetoPoint *p, const ParetoPoint *q)
{
    const bool no_worse = p->size <= q->size && p->error <= q->error;
    return p->kind == q->kind && no_worse && (p->size < q->size || p->error < q->error);
}

static bool is_unbeaten(const ParetoPoint *point, size_t count, size_t i)
{
    for (size_t k = 0; k < count; k++)
        if (beats(&point[k], &point[i]))
            return false;
    return !isnan(point[i].size) && !isnan(point[i].error);
}

/* Returns one of few values, so that many points are equal: 0, 1, ... , most - 3, infinity or NaN. */
static double figure(uint32_t word, uint32_t most)
{
    const uint32_t v = word % most;
    return v == most - 1 ? (double)NAN : v == most - 2 ? (double)INFINITY : v;
}

static void draw_points(ParetoPoint *point, size_t count, uint32_t figures, const Rng *rng)
{
    for (size_t i = 0; i < count; i++)
        point[i] = (ParetoPoint){.size = figure(rng_u32(rng, 0, i), figures),
                                 .error = figure(rng_u32(rng, 1, i), figures),
                                 .kind = (int)(rng_u32(rng, 2, i) % 3) - 1,
                                 .front = rng_u32(rng, 3, i) % 2};
}

TEST(the_front_is_whom_nobody_beats)
{
    enum { MOST = 60 };
    Arena *a = arena_open(0);
    for (uint64_t round = 0; round < 2000; round++) {
        ParetoPoint point[MOST];
        const Rng rng = rng_open(1, round, 0, 0, 0);
        const size_t count = 1 + rng_u32(&rng, 4, 0) % MOST;
        const ArenaMark mark = arena_mark(a);
        draw_points(point, count, 4 + rng_u32(&rng, 4, 1) % 40, &rng);
        pareto_mark(point, count);
        for (size_t i = 0; i < count; i++)
            check(point[i].front == is_unbeaten(point, count, i));
        arena_rewind(a, mark);
    }
    arena_close(a);
}

CHECK_ALL(NULL, NULL)
