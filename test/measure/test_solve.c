/* test_solve.c -- tests the search for the argument x at which a function has a given value. The functions are
 * like payload sizes: powers, straight lines, stairs, constant at the ends, falling, noisy. Also tests what is
 * returned if no x gives this value. */
#include "cmd/bench_solve.c"
#include "rig/check.h"

#include <math.h>

typedef double (*Law)(double x);
static Law law_now;
static unsigned calls;

static Status size_now(const Sought *p, double at, double *value, Error *err)
{
    (void)err;
    check(at >= p->low && at <= p->high && (!p->whole || at == floor(at)));
    calls++;
    *value = law_now(at);
    return OK;
}

static bool is_reached(const Search *q)
{
    return fabs(q->value / q->p.target - 1) <= 0.01;
}

static Search solved(Law law, double target, double low, double high, bool whole, double start)
{
    Error err;
    Search q = {.p = {.target = target, .tolerance = 0.01, .low = low, .high = high, .whole = whole, .size = size_now}, .at = start, .slope = NAN};
    law_now = law;
    calls = 0;
    check_ok(search(&q, TRIES_MOST, &err), &err);
    check(q.tries == calls);
    check(isnan(q.at) || q.value == law(q.at));
    return q;
}

/* The bits per element if a share x of the elements is sent by index and sign; at most 32.001, the bits of a
 * raw float. */
static double sparse(double x)
{
    return fmin(32.001, x * (4 + log2(1 / x)) * 1.5);
}
static double affine(double x)
{
    return fmin(32.001, 0.3 + 15 * x);
}
static double levels(double x)
{
    return 0.25 + 0.7 * log2(x + 1);
}
static double fixed_width(double x)
{
    return ceil(log2(2 * x + 1)) + 0.0625;
}
static double falling(double x)
{
    return fmin(32, 3 / sqrt(x));
}
static double far_falling(double x)
{
    return fmin(32, 3 / sqrt(x / 1000));
}
/* bits per element of a vector of 512 elements, if 20 bits are sent for each of 512 x elements */
static double stairs(double x)
{
    return 20 * fmax(1, round(512 * x)) / 512;
}
static double jump(double x)
{
    return x < 0.123456 ? 0.5 * x / 0.123456 : 2 + x;
}
static double level(double x)
{
    (void)x;
    return 7;
}

TEST(a_size_is_found_in_few_tries)
{
    static const double targets[] = {0.02, 0.1, 0.5, 1, 2, 4};
    unsigned tries = 0, cases = 0;
    for (size_t i = 0; i < countof(targets); i++) {
        const Law laws[] = {sparse, levels, falling, far_falling, affine};
        const bool whole[] = {false, true, false, false, false};
        for (size_t k = 0; k < countof(laws); k++) {
            if ((laws[k] == levels && targets[i] < 4) || (laws[k] == affine && targets[i] < 0.4))
                continue;
            const double high = k == 0 || k == 4 ? 1 : 1e9;
            const Search s =
                solved(laws[k], targets[i], whole[k] ? 1 : 1e-12, high, whole[k], whole[k] ? 16 : 0.01);
            check(is_reached(&s) && s.tries <= 10);
            tries += s.tries;
            cases++;
        }
    }
    print_message("%u tries for %u sizes\n", tries, cases);
    check(tries <= 6 * cases);
}

/* If the argument must be an integer, the value found must be as near to the target as that of the best of all
 * 4096 arguments. */
TEST(whole_arguments_take_the_nearest)
{
    for (double target = 0.5; target < 12; target += 0.37) {
        const Law laws[] = {levels, fixed_width};
        for (size_t k = 0; k < 2; k++) {
            const Search s = solved(laws[k], target, 1, 4096, true, 16);
            double best = INFINITY;
            for (double x = 1; x <= 4096; x++)
                best = fmin(best, fabs(laws[k](x) - target));
            check(is_reached(&s) || fabs(s.value - target) == best);
        }
    }
}

TEST(stairs_are_climbed_to_the_nearest_step)
{
    for (double target = 0.1; target < 15; target *= 1.3) {
        const Search s = solved(stairs, target, 1e-12, 1, false, 0.01);
        const double step = 20.0 / 512, below = floor(target / step) * step, above = below + step;
        const double best = fmin(target - below, above - target);
        check(is_reached(&s) || fabs(fabs(s.value - target) - best) < 1e-12);
        check(s.tries <= 20);
    }
}

TEST(a_jump_over_the_target_is_closed_in_on)
{
    const Search s = solved(jump, 1.2, 1e-12, 1, false, 0.01);
    check(!is_reached(&s) && s.tries <= 20 && fabs(s.at / 0.123456 - 1) < 1e-3 && s.value < 0.51);
}

TEST(what_is_out_of_reach_is_approached)
{
    Search s = solved(affine, 0.1, 1e-12, 1, false, 0.01);
    check(!is_reached(&s) && fabs(s.value - 0.3) < 1e-5 && s.tries <= 8);
    s = solved(affine, 30, 1e-12, 1, false, 0.01);
    check(!is_reached(&s) && s.at == 1 && s.tries <= 8);
    s = solved(levels, 60, 1, 65535, true, 16);
    check(!is_reached(&s) && s.at == 65535 && s.tries <= 8);
    s = solved(levels, 0.01, 1, 65535, true, 16);
    check(!is_reached(&s) && s.at == 1 && s.tries <= 8);
    s = solved(level, 1, 1e-12, 1, false, 0.01);
    check(!is_reached(&s) && s.value == 7 && s.tries <= 10);
    s = solved(level, 7.05, 1e-12, 1, false, 0.01);
    check(is_reached(&s) && s.tries == 1 && s.at == 0.01);
}

TEST(decimals_are_the_shortest_between_two)
{
    static const struct {
        double v, low, high, want;
    } cases[] = {{0.0312, 0.03, 0.04, 0.031},      {0.0312, 0.0295, 0.04, 0.03},
                 {3.14159, 3.141, 3.142, 3.1416},  {0.96, 0.9, 2, 1},
                 {12345, 12300, 12400, 12345 - 5}, {5e-9, 4e-9, 6e-9, 5e-9}};
    for (size_t i = 0; i < countof(cases); i++)
        check_near(solve_decimal(cases[i].v, cases[i].low, cases[i].high) / cases[i].want, 1, 1e-12);
    check(isnan(solve_decimal(1.00000000012, 1.0000000001, 1.0000000002)));
}

CHECK_ALL(NULL, NULL)
