/* mean.c -- computes the mean of several vectors, in blocks that run in parallel (mean.h). */
#include "exchange/mean.h"

#include "base/parallel.h"
#include "math/vec/kernels.h"

#include <math.h>

typedef struct {
    const float *x;
    const double *total;
    float *mean;
    double *sum, count;
    const uint32_t *senders;
    uint32_t *counted;
    size_t n;
} MeanJob;

static void add_block(void *data, size_t b)
{
    const MeanJob *job = data;
    const float *x = job->x + b * BLOCK;
    double *sum = job->sum + b * BLOCK;
    for (size_t i = 0, n = block_size(job->n, b); i < n; i++)
        sum[i] += (double)x[i];
}

static void divide_block(void *data, size_t b)
{
    const MeanJob *job = data;
    const double *total = job->total + b * BLOCK;
    float *mean = job->mean + b * BLOCK;
    for (size_t i = 0, n = block_size(job->n, b); i < n; i++)
        mean[i] = (float)(total[i] / job->count);
}

static void scale_block(void *data, size_t b)
{
    const MeanJob *job = data;
    float *mean = job->mean + b * BLOCK;
    for (size_t i = 0, n = block_size(job->n, b); i < n; i++)
        mean[i] = (float)((double)mean[i] / job->count);
}

void mean_add(double *sum, const float *x, size_t n, int threads)
{
    MeanJob job = {.x = x, .sum = sum, .n = n};
    parallel_for(threads, blocks_of(n), add_block, &job);
}

void mean_of_sum(float *mean, const double *sum, size_t n, double count, int threads)
{
    MeanJob job = {.total = sum, .mean = mean, .n = n, .count = count};
    parallel_for(threads, blocks_of(n), divide_block, &job);
}

static void count_block(void *data, size_t b)
{
    const MeanJob *job = data;
    const float *x = job->x + b * BLOCK;
    uint32_t *counted = job->counted + b * BLOCK;
    for (size_t i = 0, n = block_size(job->n, b); i < n; i++)
        counted[i] += x[i] != 0;
}

void mean_count(uint32_t *count, const float *x, size_t n, int threads)
{
    MeanJob job = {.x = x, .counted = count, .n = n};
    parallel_for(threads, blocks_of(n), count_block, &job);
}

static void divide_by_senders(void *data, size_t b)
{
    const MeanJob *job = data;
    const double *total = job->total + b * BLOCK;
    const uint32_t *senders = job->senders + b * BLOCK;
    float *mean = job->mean + b * BLOCK;
    for (size_t i = 0, n = block_size(job->n, b); i < n; i++)
        mean[i] = senders[i] ? (float)(total[i] / senders[i]) : 0;
}

void mean_of_senders(float *mean, const double *sum, const uint32_t *count, size_t n, int threads)
{
    MeanJob job = {.total = sum, .mean = mean, .senders = count, .n = n};
    parallel_for(threads, blocks_of(n), divide_by_senders, &job);
}

/* Divides by a power of two: multiplying by its inverse, which is exact in float32, gives the same rounded
 * result. */
static void halve_block(void *data, size_t b)
{
    const MeanJob *job = data;
    float *mean = job->mean + b * BLOCK;
    kernels()->scale(mean, (float)(1 / job->count), block_size(job->n, b), mean);
}

void mean_scale(float *x, size_t n, double count, int threads)
{
    MeanJob job = {.mean = x, .n = n, .count = count};
    int exponent;
    const bool power_of_two = frexp(count, &exponent) == 0.5;
    parallel_for(threads, blocks_of(n), power_of_two ? halve_block : scale_block, &job);
}
