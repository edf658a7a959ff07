/* blockwise.c -- see blockwise.h. A block is filled in chunks, so that a chunk is still in the first-level cache
 * when its elements are checked. */
#include "math/blockwise.h"

#include "base/bytes.h"
#include "base/parallel.h"
#include "math/vec/kernels.h"

#include <math.h>
#include <stdatomic.h>

enum { CHUNK = 2048 };

typedef struct {
    float *out;
    size_t n;
    BlockwiseFill *fill;
    const void *data;
    atomic_bool bad; /* an element of `out` is not finite */
} Job;

static void fill_block(void *data, size_t block)
{
    Job *job = data;
    const size_t end = block * BLOCK + block_size(job->n, block);
    bool finite = true;
    for (size_t at = block * BLOCK, some; at < end; at += some) {
        some = end - at < CHUNK ? end - at : CHUNK;
        job->fill(job->data, at, some, job->out + at);
        finite &= isfinite(kernels()->abs_max(job->out + at, some)) != 0;
    }
    if (!finite)
        atomic_store_explicit(&job->bad, true, memory_order_relaxed);
}

bool blockwise_fill(float *out, size_t n, int threads, BlockwiseFill *fill, const void *data)
{
    Job job = {.out = out, .n = n, .fill = fill, .data = data};
    parallel_for(threads, blocks_of(n), fill_block, &job);
    return !job.bad;
}

typedef struct {
    const float *a, *b;
    float factor;
} Sum;

static void fill_sum(const void *data, size_t from, size_t count, float *to)
{
    const Sum *s = data;
    kernels()->add_scaled(s->a + from, s->b + from, s->factor, count, to);
}

bool blockwise_add(const float *a, const float *b, float factor, size_t n, int threads, float *sum)
{
    return blockwise_fill(sum, n, threads, fill_sum, &(Sum){a, b, factor});
}

static void fill_copy(const void *data, size_t from, size_t count, float *to)
{
    floats_load(to, (const uint8_t *)data + 4 * from, count);
}

bool blockwise_load(const uint8_t *bytes, size_t n, int threads, float *x)
{
    return blockwise_fill(x, n, threads, fill_copy, bytes);
}

/* ---- the largest magnitude ---- */

typedef struct {
    const float *x;
    size_t n;
    _Atomic uint32_t most; /* the bits of the largest magnitude: magnitudes have the order of their bits */
} Largest;

static void most_block(void *data, size_t block)
{
    Largest *l = data;
    const uint32_t own = float_bits(kernels()->abs_max(l->x + block * BLOCK, block_size(l->n, block)));
    uint32_t most = atomic_load(&l->most);
    while (own > most && !atomic_compare_exchange_weak(&l->most, &most, own))
        ;
}

float blockwise_most(const float *x, size_t n, int threads)
{
    Largest l = {.x = x, .n = n};
    parallel_for(threads, blocks_of(n), most_block, &l);
    return bits_float(l.most);
}

/* ---- sums ---- */

enum { AT_ONCE = 32 }; /* blocks whose sums are computed before they are added, in order */

typedef struct {
    const float *x;
    size_t n;
    double sum[AT_ONCE], squares[AT_ONCE];
    float most[AT_ONCE];
    bool wants_sum, wants_most;
} Moments;

static void moments_block(void *data, size_t block)
{
    Moments *m = data;
    const float *x = m->x + block * BLOCK;
    const size_t n = block_size(m->n, block);
    if (m->wants_sum)
        kernels()->moments(x, n, &m->sum[block], &m->squares[block]);
    else
        m->squares[block] = kernels()->sum_squares(x, n);
    if (m->wants_most)
        m->most[block] = kernels()->abs_max(x, n);
}

void blockwise_moments(const float *x, size_t n, int threads, double *sum, double *squares, float *most)
{
    *squares = 0;
    if (sum)
        *sum = 0;
    if (most)
        *most = 0;
    for (size_t at = 0; at < n; at += (size_t)AT_ONCE * BLOCK) {
        Moments m = {.x = x + at, .n = n - at, .wants_sum = sum, .wants_most = most};
        const size_t blocks = blocks_of(m.n) < AT_ONCE ? blocks_of(m.n) : AT_ONCE;
        parallel_for(threads, blocks, moments_block, &m);
        for (size_t b = 0; b < blocks; b++) {
            if (sum)
                *sum += m.sum[b];
            *squares += m.squares[b];
            if (most)
                *most = m.most[b] > *most ? m.most[b] : *most;
        }
    }
}

double blockwise_squares(const float *x, size_t n, int threads)
{
    double squares;
    if (n <= BLOCK) /* one block needs no parallel loop */
        return kernels()->sum_squares(x, n);
    blockwise_moments(x, n, threads, NULL, &squares, NULL);
    return squares;
}

size_t first_nonfinite(const float *x, size_t n, size_t *count)
{
    size_t first = n, bad = 0;
    for (size_t at = 0; at < n; at += CHUNK) {
        const size_t end = n - at < CHUNK ? n : at + CHUNK;
        if (isfinite(kernels()->abs_max(x + at, end - at)))
            continue;
        for (size_t i = at; i < end; i++)
            if (!isfinite(x[i]) && !bad++)
                first = i;
        if (!count)
            break;
    }
    if (count)
        *count = bad;
    return first;
}
