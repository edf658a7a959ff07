/* cost_errors.c -- computes standard errors of the time of an iteration, of its speedup and of its
 * break-even bandwidth. Each measured quantity is raised by one standard error, and the results are computed
 * again. The squared changes of the results are added up.
 *
 * The errors of a quantity (such as the encoding time) in different layers are independent. So its sum over
 * the layers has the standard error Q, the root of the summed squared standard errors. All layers are raised
 * together, in proportion to their standard errors and by Q in total. This is exact for results that depend
 * only on the sum over the layers, as all do without overlap. */
#include "measure/cost.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const struct {
    size_t value, se; /* offsets in a CostLayer */
} measured[] = {
    {offsetof(CostLayer, encode), offsetof(CostLayer, encode_se)},
    {offsetof(CostLayer, decode), offsetof(CostLayer, decode_se)},
    {offsetof(CostLayer, merge), offsetof(CostLayer, merge_se)},
    {offsetof(CostLayer, bytes), offsetof(CostLayer, bytes_se)},
    {offsetof(CostLayer, merged), offsetof(CostLayer, merged_se)},
};
enum { MEASURED = sizeof measured / sizeof *measured };

static double *field(CostLayer *layer, size_t offset)
{
    return (double *)((char *)layer + offset);
}

/* Raises quantity `m` of each layer in proportion to the layer's standard error. The sum over the layers then
 * rises by Q, the standard error of the sum. The values become NaN if a standard error is unknown. */
static void move(CostLayer *layer, size_t layers, size_t m)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < layers; i++) {
        const double se = *field(&layer[i], measured[m].se);
        sum += se;
        squares += se * se;
    }
    const double share = sum == 0 ? 0 : sqrt(squares) / sum;
    for (size_t i = 0; i < layers; i++)
        *field(&layer[i], measured[m].value) += share * *field(&layer[i], measured[m].se);
}

CostFigures cost_figures(const Iteration *it, const Iteration *plain, double bandwidth)
{
    CostFigures f = {.time = iteration_time(it, bandwidth)};
    f.speedup = iteration_time(plain, bandwidth).total / f.time.total;
    iteration_pays(it, plain, &f.break_even);
    return f;
}

static double squared(double a, double b)
{
    return (a - b) * (a - b);
}

static void add_squares(CostFigures *sum, const CostFigures *a, const CostFigures *b)
{
    sum->time.compute += squared(a->time.compute, b->time.compute);
    sum->time.encode += squared(a->time.encode, b->time.encode);
    sum->time.comm += squared(a->time.comm, b->time.comm);
    sum->time.decode += squared(a->time.decode, b->time.decode);
    sum->time.total += squared(a->time.total, b->time.total);
    sum->speedup += squared(a->speedup, b->speedup);
    sum->break_even += squared(a->break_even, b->break_even);
}

static CostFigures roots(const CostFigures *sum)
{
    return (CostFigures){{sqrt(sum->time.compute), sqrt(sum->time.encode), sqrt(sum->time.comm),
                          sqrt(sum->time.decode), sqrt(sum->time.total)},
                         sqrt(sum->speedup),
                         sqrt(sum->break_even)};
}

CostFigures cost_errors(const Iteration *it, const Iteration *plain, bool same, double compute_se,
                        double bandwidth, CostLayer *scratch)
{
    const CostFigures before = cost_figures(it, plain, bandwidth);
    CostFigures sum = {0};
    Iteration own = *it, other = *plain;
    own.compute += compute_se;
    other.compute += compute_se;
    CostFigures after = cost_figures(&own, &other, bandwidth);
    add_squares(&sum, &after, &before);
    own = *it;
    other = *plain;
    own.layer = scratch;
    other.layer = scratch + it->layers;
    for (size_t m = 0; m < (same ? 1 : 2) * MEASURED; m++) {
        memcpy(scratch, it->layer, it->layers * sizeof *scratch);
        memcpy(scratch + it->layers, plain->layer, it->layers * sizeof *scratch);
        if (same || m < MEASURED)
            move(scratch, it->layers, m % MEASURED);
        if (same || m >= MEASURED)
            move(scratch + it->layers, it->layers, m % MEASURED);
        after = cost_figures(&own, &other, bandwidth);
        add_squares(&sum, &after, &before);
    }
    return roots(&sum);
}
