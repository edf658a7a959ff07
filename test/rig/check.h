/* check.h -- cmocka with tests that are listed by their definitions, and with comparisons of floats and of Status. */
#ifndef ATOMO_CHECK_H
#define ATOMO_CHECK_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#undef fail
#undef skip

#include "base/base.h"

/* TEST(what_must_hold) { ... } is a test, TEST_BETWEEN one with a function before it and one after it, or NULL. A program runs
 * its tests in the order of their definitions. CHECK_ALL is its main function, which calls functions before and after all
 * tests and exits with 1 on any failure. (cmocka itself returns the number of failures, and an exit status of 256 would read as 0.) */
enum { TESTS_MOST = 64 };
__attribute__((unused)) static struct CMUnitTest check_tests[TESTS_MOST];

#define TEST_BETWEEN(test, before, after)                                                                    \
    static void test(void **state);                                                                          \
    __attribute__((constructor)) static void test##_is_a_test(void)                                          \
    {                                                                                                        \
        check_tests[__COUNTER__] = (struct CMUnitTest){#test, test, before, after, NULL};                    \
    }                                                                                                        \
    static void test(void **state)
#define TEST(test) TEST_BETWEEN(test, NULL, NULL)

#define check_run(before, after) _cmocka_run_group_tests("tests", check_tests, __COUNTER__, before, after)
#define CHECK_ALL(before, after)                                                                             \
    int main(void)                                                                                           \
    {                                                                                                        \
        return check_run(before, after) ? 1 : 0;                                                             \
    }
/* The same with an arena that all tests use. */
#define CHECK_ALL_IN(arena)                                                                                  \
    int main(void)                                                                                           \
    {                                                                                                        \
        (arena) = arena_open(0);                                                                             \
        const int failed = check_run(NULL, NULL);                                                            \
        arena_close(arena);                                                                                  \
        return failed ? 1 : 0;                                                                               \
    }

/* Fails unless |a - b| <= tol * max(|a|, |b|). Equal values pass, infinities included. */
static inline void check_rel_at(double a, double b, double tol, const char *what, const char *file, int line)
{
    if (a == b || fabs(a - b) <= tol * fmax(fabs(a), fabs(b)))
        return;
    print_error("%s: %.17g against %.17g, relative difference %.3g, allowed %.3g\n", what, a, b,
                fabs(a - b) / fmax(fabs(a), fabs(b)), tol);
    _fail(file, line);
}
#define check_rel(a, b, tol) check_rel_at(a, b, tol, #a " == " #b, __FILE__, __LINE__)

/* Fails unless |a - b| <= tol. */
static inline void check_near_at(double a, double b, double tol, const char *what, const char *file, int line)
{
    if (a == b || fabs(a - b) <= tol)
        return;
    print_error("%s: %.17g against %.17g, difference %.3g, allowed %.3g\n", what, a, b, fabs(a - b), tol);
    _fail(file, line);
}
#define check_near(a, b, tol) check_near_at(a, b, tol, #a " ~ " #b, __FILE__, __LINE__)

static inline void check_that_at(bool condition, const char *what, const char *file, int line)
{
    if (condition)
        return;
    print_error("not so: %s\n", what);
    _fail(file, line);
}
#define check(condition)    check_that_at(condition, #condition, __FILE__, __LINE__)
#define check_never(wanted) check_that_at(false, wanted, __FILE__, __LINE__) /* fails where it is reached */

/* Fails unless status is OK, and prints the text of the error. */
static inline void check_ok_at(Status status, const Error *err, const char *what, const char *file, int line)
{
    if (status == OK)
        return;
    print_error("%s: %s\n", what, err->text);
    _fail(file, line);
}
#define check_ok(step, err) check_ok_at(step, err, #step, __FILE__, __LINE__)

#endif
