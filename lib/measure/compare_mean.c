/* compare_mean.c -- averages over workers, element by element in double, workers in their order. */
#include "measure/compare_parts.h"

#include "base/parallel.h"

#include <string.h>

typedef struct {
    const float *x;
    float *mean;
    double *sum, count;
    size_t n;
} Averaging;

static void add_block(void *data, size_t b)
{
    const Averaging *job = data;
    const float *x = job->x + b * BLOCK;
    double *sum = job->sum + b * BLOCK;
    for (size_t i = 0, n = block_size(job->n, b); i < n; i++)
        sum[i] += (double)x[i];
}

static void mean_block(void *data, size_t b)
{
    const Averaging *job = data;
    const double *sum = job->sum + b * BLOCK;
    float *mean = job->mean + b * BLOCK;
    for (size_t i = 0, n = block_size(job->n, b); i < n; i++)
        mean[i] = (float)(sum[i] / job->count);
}

static void scale_block(void *data, size_t b)
{
    const Averaging *job = data;
    float *mean = job->mean + b * BLOCK;
    for (size_t i = 0, n = block_size(job->n, b); i < n; i++)
        mean[i] = (float)((double)mean[i] / job->count);
}

void mean_add(const Comparison *c, const float *x, double *sum, size_t n)
{
    Averaging job = {.x = x, .sum = sum, .n = n};
    parallel_for(c->threads, blocks_of(n), add_block, &job);
}

void mean_take(const Comparison *c, float *mean, double *sum, size_t n)
{
    Averaging job = {.mean = mean, .sum = sum, .n = n, .count = (double)c->workers};
    parallel_for(c->threads, blocks_of(n), sum ? mean_block : scale_block, &job);
}

Status merge_mean(const Comparison *c, const Vector *v, const Buffers *b, Error *err)
{
    const size_t n = v->shape.n;
    memset(b->sum_g, 0, n * sizeof *b->sum_g);
    for (size_t w = 0; w < c->workers; w++) {
        if (comparison_stopped(c))
            return FAIL(err, ERR_STOPPED, "stopped");
        TRY(c->load_worker(c->data, v, w, b->g, err));
        mean_add(c, b->g, b->sum_g, n);
    }
    mean_take(c, b->x, b->sum_g, n);
    return OK;
}
