/* test_zipml.c -- the codec zipml, which rounds at random to levels that a solver chooses for each bucket:
 * the variance; and a transcription of MuLoCo's levels, the means of bins in each row. */
#include "compress/levels/zipml.c"
#include "coder/planes.h"
#include "rig/try.h"

#include <float.h>

typedef struct {
    size_t n, bucket, levels;
} Case;

static Try *open_case(Case k)
{
    char spec[96];
    snprintf(spec, sizeof spec, "zipml:levels=%zu,bucket=%zu", k.levels, k.bucket);
    return try_open(spec, k.n);
}

/* Reads the levels of the bucket that begins at element `start` from the payload, and compares them with the
 * solver. Returns the number of distinct levels. */
static size_t levels_at(const Try *t, Case k, size_t start, float level[KNOTS_MOST])
{
    KnotsRoom room;
    float own[KNOTS_MOST];
    const size_t size = k.n - start < k.bucket ? k.n - start : k.bucket;
    Arena *arena = arena_open(0);
    check(knots_open(&room, size, k.levels, arena));
    const size_t differ = knots_best(&room, t->x + start, size, own);
    arena_close(arena);
    for (size_t i = 0; i < k.levels; i++) {
        level[i] = load_f32(t->out.data + 1 + 4 * (k.levels * (start / k.bucket) + i));
        check(float_bits(level[i]) == float_bits(own[i]));
    }
    return differ;
}

static size_t above(const float *level, float x)
{
    size_t up = 0;
    while (level[up] < x)
        up++;
    return up;
}

/* ---- variance ---- */

static double variance_ref(const Try *t, Case k)
{
    float level[KNOTS_MOST];
    double sum = 0;
    for (size_t i = 0; i < k.n; i++) {
        if (i % k.bucket == 0)
            levels_at(t, k, i, level);
        const size_t up = above(level, t->x[i]);
        const double x = (double)t->x[i], high = (double)level[up] - x;
        sum += high == 0 ? 0 : high * (x - (double)level[up - 1]);
    }
    return sum;
}

TEST(the_variance_told_is_that_of_both_neighbours)
{
    static const Case cases[] = {{2000, 512, 16},
                                 {2000, 512, 16},
                                 {2000, 100, 2},
                                 {2000, 2000, 3},
                                 {2000, 700, 5}};
    for (size_t c = 0; c < countof(cases); c++)
        for (int laplace = 0; laplace < 2; laplace++) {
            Try *t = open_case(cases[c]);
            (laplace ? try_laplace : try_normal)(t, 80 + c);
            try_both(t);
            check_rel(codec_variance(&t->call, t->x), variance_ref(t, cases[c]), 1e-9);
            try_close(t);
        }
}

/* Sets y to what a row of n elements is decoded to: the mean of its bin. */
static void muloco_row(const float *x, float *y, size_t n, int levels)
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        mean += (double)x[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += pow((double)x[i] - mean, 2);
    const double sigma = sqrt(squares / (double)(n - 1));
    for (int bin = 0; bin < levels; bin++) {
        double sum = 0, count = 0;
        for (int pass = 0; pass < 2; pass++)
            for (size_t i = 0; i < n; i++) {
                const double place = sigma > 0 ? rint(((double)x[i] - mean) * levels / (6 * sigma) + levels / 2.0) : 0;
                if (fmin(fmax(place, 0), levels - 1) != bin)
                    continue;
                sum += pass ? 0 : (double)x[i];
                count += !pass;
                if (pass)
                    y[i] = (float)(sum / count);
            }
    }
}

/* Rows in and across blocks of 2^16 elements; some are constant, of two values, or have an outlier, so that bins are empty. */
TEST(statistical_levels_are_muloco)
{
    static const Case cases[] = {{40 * 12, 40, 4}, {300 * 12, 300, 7}, {30000 * 12, 30000, 4}, {2000 * 12, 2000, 256}};
    for (size_t c = 0; c < countof(cases); c++) {
        const size_t row = cases[c].bucket, n = cases[c].n;
        char spec[96];
        snprintf(spec, sizeof spec, "zipml:levels=%zu,bucket=0,solver=statistical", cases[c].levels);
        Try *t = try_open(spec, n);
        try_normal(t, 90 + c);
        t->shape = (Shape){.rank = 3, .dim = {12, row / 10, 10}, .n = n};
        t->out.cap = codec_message_bound(&t->call);
        t->out.data = NEW(t->arena, uint8_t, t->out.cap);
        for (size_t i = 0; i < row; i++) {
            t->x[i] = 3;
            t->x[row + i] = i % 3 ? -1 : 0.5f;
            t->x[2 * row + i] += i == 5 ? 1e4f : 0;
        }
        try_both(t);
        float *want = NEW(t->arena, float, n);
        for (size_t r = 0; r < 12; r++)
            muloco_row(t->x + r * row, want + r * row, row, (int)cases[c].levels);
        for (size_t i = 0; i < n; i++)
            check_near((double)t->y[i], (double)want[i], 1e-6 * fmax(1, fabs((double)want[i])));
        check(t->out.size < 4 * n && t->out.data[0] == 1);
        try_close(t);
    }
}

CHECK_ALL(NULL, NULL)
