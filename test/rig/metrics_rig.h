/* metrics_rig.h -- helpers of tests of metrics: memory for a Tally, and metrics by name. A Tally holds the
 * sums over elements and repeats from which metrics are computed. */
#ifndef ATOMO_METRICS_RIG_H
#define ATOMO_METRICS_RIG_H

#include "rig/check.h"
#include "measure/metrics.h"

typedef struct {
    Arena *a;
    Error err;
} Bench;

static inline int open_bench(void **state)
{
    static Bench b;
    b.a = arena_open(0);
    *state = &b;
    return 0;
}

static inline int close_bench(void **state)
{
    arena_close(((Bench *)*state)->a);
    return 0;
}

static inline double value(const Tally *t, const char *name)
{
    return metric_value(metric_find(name), t);
}

#define BENCH_TEST(test) TEST_BETWEEN(test, open_bench, close_bench)

#endif
