/* test_knot_layer.c -- the kernel knot_layer on every instruction set, against a plain loop. It computes one
 * layer of the dynamic program for optimal quantisation levels. */
#include "math/vec/kernels.h"
#include "rig/knot_laws.h"
#include "rig/wall.h"

enum { N = 700 };

#define EACH_ISA(k)                                                                                          \
    for (int isa = 0; isa < ISA_COUNT; isa++)                                                                \
        for (const Kernels *k = kernels_of((Isa)isa); k; k = NULL)

static double cost_of(const double *x, const double *b, const double *a, size_t i, size_t j)
{
    return a[i] + (b[i] * x[j] - x[i] * b[j]);
}

static Walled walls[5];

/* Numbers `junk` and then a protected page follow the copy of v. So a kernel that reads too far is detected. */
static const double *spared(Walled w, const double *v, size_t n, double junk)
{
    double *copy = (double *)(void *)w.end - (n + ROOM_BEHIND);
    memcpy(copy, v, n * sizeof *v);
    for (size_t i = 0; i < ROOM_BEHIND; i++)
        copy[n + i] = junk;
    return copy;
}

typedef struct {
    double *next;
    uint16_t *back;
} Found;

static Found layer_of(const Kernels *k, const double *x, const double *b, const double *a, size_t low,
                      size_t high, size_t from, size_t to, double junk)
{
    const Found f = {(double *)(void *)walls[3].end - (to + ROOM_BEHIND),
                     (uint16_t *)(void *)walls[4].end - (to + ROOM_BEHIND)};
    for (size_t j = 0; j < from; j++) {
        f.next[j] = (double)j;
        f.back[j] = (uint16_t)j;
    }
    k->knot_layer(spared(walls[0], x, to, junk), spared(walls[1], b, to, junk), spared(walls[2], a, to, junk),
                  low, high, from, to, f.next, f.back);
    for (size_t j = 0; j < from; j++)
        check(f.next[j] == (double)j && f.back[j] == j);
    return f;
}

/* Compares all kernels with a plain loop. A column is a candidate for the previous level. If two columns have
 * equal costs up to rounding, the kernels may choose another column than the loop. But all kernels must choose
 * the same one. */
static void check_layer(const double *x, const double *b, const double *a, size_t low, size_t high,
                        size_t from, size_t to)
{
    static uint16_t first[N];
    const double rounding = 1e-15 * (b[N - 1] * x[N - 1] + fmax(a[0], a[N - 1]));
    EACH_ISA(k)
    {
        const Found f = layer_of(k, x, b, a, low, high, from, to, isa % 2 ? -1e300 : NAN);
        for (size_t j = from; j < to; j++) {
            const size_t at = f.back[j];
            double least = INFINITY;
            for (size_t i = low; i <= high && i < j; i++)
                least = fmin(least, cost_of(x, b, a, i, j));
            check(at >= low && at <= high && at < j && f.next[j] == cost_of(x, b, a, at, j));
            first[j] = isa == 0 ? f.back[j] : first[j];
            check(f.next[j] <= least + rounding && at == first[j]);
        }
    }
}

/* Kinds of costs a[i] of the previous layer of the dynamic program. ALIKE: all 0, so the best column is in the
 * middle. FALLING: the last column is best. RISING: the first column is best. ANY: random. */
enum { ALIKE, FALLING, RISING, ANY, SLOPES };

static double cost_so_far(const Rng *rng, int slope, size_t i, double most)
{
    const double v[] = {0, (double)(N - i), (double)(i + 1), rng_unit(rng, USE_TEST, i) / 16};
    return most * v[slope];
}

static void check_layers(const double *x, const double *b, const double *a)
{
    for (size_t to = 2; to <= N; to += 1 + to / 4)
        for (size_t from = 1; from < to; from += 1 + to / 3)
            for (size_t some = 0; some < 3; some++) {
                check_layer(x, b, a, from / 2, from / 2 + some * (to - from / 2) / 2, from, to);
                check_layer(x, b, a, from - 1, from - 1 + some * (to - from) / 2, from, to);
            }
}

TEST(layers_are_a_plain_loop_s_and_the_same_on_every_instruction_set)
{
    static double x[N], b[N], a[N];
    const Rng rng = rng_open(12, 0, 0, 0, 0);
    float value[N];
    for (size_t i = 0; i < countof(walls); i++)
        walls[i] = walled((N + ROOM_BEHIND) * sizeof *x);
    for (int law = 0; law < LAWS * SLOPES; law++) {
        fill(value, N, law / SLOPES, 1);
        qsort(value, N, sizeof *value, by_value);
        for (size_t i = 0; i < N; i++)
            x[i] = (double)value[i] - (double)value[0];
        for (size_t i = 1; i < N; i++)
            b[i] = b[i - 1] + (double)(i - 1) * (x[i] - x[i - 1]);
        for (size_t i = 0; i < N; i++)
            a[i] = cost_so_far(&rng, law % SLOPES, i, b[N - 1] * x[N - 1]);
        check_layers(x, b, a);
    }
    for (size_t i = 0; i < countof(walls); i++)
        drop_walled(walls[i]);
}

CHECK_ALL(NULL, NULL)
