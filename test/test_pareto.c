/* test_pareto.c -- who is on the front, in cases that can be told by looking. */
#include "check.h"
#include "pareto.h"

#include <math.h>

static void check_front(const ParetoPoint *given, const bool *want, size_t count)
{
    ParetoPoint point[16];
    for (size_t turn = 0; turn < count; turn++) { /* in every rotation: order says nothing */
        for (size_t i = 0; i < count; i++)
            point[i] = given[(i + turn) % count];
        pareto_mark(point, count);
        for (size_t i = 0; i < count; i++)
            check(point[i].front == want[(i + turn) % count]);
    }
}

static void who_is_neither_smaller_nor_better_is_off_the_front(void **state)
{
    (void)state;
    static const ParetoPoint p[] = {{.size = 1, .error = 8},  {.size = 2, .error = 4},
                                    {.size = 3, .error = 5},  {.size = 4, .error = 1},
                                    {.size = 4, .error = 2},  {.size = 0.5, .error = 8},
                                    {.size = 32, .error = 0}, {.size = 33, .error = 1}};
    static const bool want[] = {false, true, false, true, false, true, true, false};
    check_front(p, want, countof(p));
}

static void equal_points_are_both_on_it(void **state)
{
    (void)state;
    static const ParetoPoint p[] = {
        {.size = 1, .error = 1}, {.size = 1, .error = 1}, {.size = 2, .error = 2}, {.size = 2, .error = 2}};
    static const bool want[] = {true, true, false, false};
    check_front(p, want, countof(p));
}

static void kinds_do_not_compete(void **state)
{
    (void)state;
    static const ParetoPoint p[] = {{.size = 1, .error = 1},
                                    {.size = 2, .error = 2, .kind = 1},
                                    {.size = 3, .error = 3, .kind = 1},
                                    {.size = 3, .error = 3}};
    static const bool want[] = {true, true, false, false};
    check_front(p, want, countof(p));
}

static void what_has_no_figures_is_on_no_front_and_in_nobodys_way(void **state)
{
    (void)state;
    const ParetoPoint p[] = {{.size = NAN, .error = 0},
                             {.size = 0, .error = NAN},
                             {.size = NAN, .error = NAN},
                             {.size = 1, .error = 1}};
    static const bool want[] = {false, false, false, true};
    check_front(p, want, countof(p));
    check_front(NULL, NULL, 0);
}

static void zero_and_infinite_errors_are_errors(void **state)
{
    (void)state;
    const ParetoPoint p[] = {
        {.size = 1, .error = INFINITY}, {.size = 1, .error = 0}, {.size = 0.5, .error = INFINITY}};
    static const bool want[] = {false, true, true};
    check_front(p, want, countof(p));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(who_is_neither_smaller_nor_better_is_off_the_front),
    cmocka_unit_test(equal_points_are_both_on_it),
    cmocka_unit_test(kinds_do_not_compete),
    cmocka_unit_test(what_has_no_figures_is_on_no_front_and_in_nobodys_way),
    cmocka_unit_test(zero_and_infinite_errors_are_errors),
};
CHECK_MAIN(tests)
