/* rows_vec.c -- the hot loops of transformers, compiled for one instruction set; see rows.h. Sums are formed in
 * ROW partial sums, so that the compiler can use vectors. */
#include "train/rows.h"
#include "math/vec/vec.h"

#include <math.h>

/* Returns exp(x) to two units in the last place, for x <= 88; for x < -87, about 1e-38. With x = n log 2 + r,
 * |r| <= log(2) / 2, exp(r) is a Taylor polynomial of degree 7. NaN stays NaN. */
INLINE float exp_of(float x)
{
    const float high = 0.693359375f, low = -2.12194440e-4f, round = 0x1.8p23f;
    x = x < -87 ? -87 : x;
    const float n = (x * 1.44269504f + round) - round, r = (x - n * high) - n * low;
    float p = 1.98412698e-4f;
    p = p * r + 1.38888889e-3f;
    p = p * r + 8.33333333e-3f;
    p = p * r + 4.16666667e-2f;
    p = p * r + 1.66666667e-1f;
    p = p * r + 0.5f;
    p = p * r + 1;
    p = p * r + 1;
    const int32_t bits = ((int32_t)n + 127) * (1 << 23);
    float power;
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

/* The tail P(N(0, 1) > |x|) is formula 7.1.26 of Abramowitz & Stegun for erfc(|x| / sqrt(2)) / 2; its error is
 * below 1e-7. */
static void gelu(size_t n, float *restrict x, float *restrict y)
{
    for (size_t i = 0; i < n; i++) {
        const float v = x[i], size = fabsf(v), t = 1 / (1 + 0.231641888f * size), e = exp_of(-0.5f * v * v);
        float p = 0.5307027145f;
        p = p * t - 0.7265760135f;
        p = p * t + 0.7107068705f;
        p = p * t - 0.142248368f;
        p = p * t + 0.127414796f;
        const float tail = p * t * e, below = v < 0 ? tail : 1 - tail;
        y[i] = v * below;
        x[i] = below + v * e * 0.398942280f;
    }
}

static void scale(size_t n, const float *restrict by, float *restrict x)
{
    for (size_t i = 0; i < n; i++)
        x[i] *= by[i];
}

INLINE float lanes_sum(const float s[ROW])
{
    float v[ROW];
    memcpy(v, s, sizeof v);
    for (size_t k = ROW / 2; k; k /= 2)
        for (size_t i = 0; i < k; i++)
            v[i] += v[i + k];
    return v[0];
}

static float largest(size_t n, const float *x)
{
    float lane[ROW], most = x[0];
    size_t i = 0;
    for (size_t j = 0; j < ROW; j++)
        lane[j] = most;
    for (; i + ROW <= n; i += ROW)
        for (size_t j = 0; j < ROW; j++)
            lane[j] = x[i + j] > lane[j] ? x[i + j] : lane[j];
    for (size_t j = 0; i + j < n; j++)
        lane[j] = x[i + j] > lane[j] ? x[i + j] : lane[j];
    for (size_t j = 0; j < ROW; j++)
        most = lane[j] > most ? lane[j] : most;
    return most;
}

static void exp_less(size_t n, float shift, float *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = exp_of(x[i] - shift);
}

static float sum_of(size_t n, const float *x)
{
    float lane[ROW] = {0};
    size_t i = 0;
    for (; i + ROW <= n; i += ROW)
        for (size_t j = 0; j < ROW; j++)
            lane[j] += x[i + j];
    for (size_t j = 0; i + j < n; j++)
        lane[j] += x[i + j];
    return lanes_sum(lane);
}

static float softmax(size_t n, float *x)
{
    const float most = largest(n, x);
    exp_less(n, most, x);
    const float sum = sum_of(n, x), by = 1 / sum;
    for (size_t i = 0; i < n; i++)
        x[i] *= by;
    return most + logf(sum);
}

static void softmax_back(size_t n, const float *restrict p, float mean, float *restrict d)
{
    for (size_t i = 0; i < n; i++)
        d[i] = p[i] * (d[i] - mean);
}

static float dot(size_t n, const float *a, const float *b)
{
    float lane[ROW] = {0};
    size_t i = 0;
    for (; i + ROW <= n; i += ROW)
        for (size_t j = 0; j < ROW; j++)
            lane[j] += a[i + j] * b[i + j];
    for (size_t j = 0; i + j < n; j++)
        lane[j] += a[i + j] * b[i + j];
    return lanes_sum(lane);
}

/* ---- layer norm ---- */

#define EPSILON 1e-5f

static float squares_about(size_t n, const float *x, float mean)
{
    float lane[ROW] = {0};
    size_t i = 0;
    for (; i + ROW <= n; i += ROW)
        for (size_t j = 0; j < ROW; j++)
            lane[j] += (x[i + j] - mean) * (x[i + j] - mean);
    for (size_t j = 0; i + j < n; j++)
        lane[j] += (x[i + j] - mean) * (x[i + j] - mean);
    return lanes_sum(lane);
}

static void norm(size_t n, const float *restrict x, const float *restrict weight, const float *restrict bias,
                 float *restrict y, float kept[2])
{
    const float mean = sum_of(n, x) / (float)n,
                by = 1 / sqrtf(squares_about(n, x, mean) / (float)n + EPSILON);
    for (size_t i = 0; i < n; i++)
        y[i] = (x[i] - mean) * by * weight[i];
    for (size_t i = 0; bias && i < n; i++)
        y[i] += bias[i];
    kept[0] = mean;
    kept[1] = by;
}

/* With h = (x - mean) by and g = dy weight: dx = by (g - mean(g) - h mean(g h)). */
static void norm_back(size_t n, const float *restrict x, const float *restrict weight,
                      const float *restrict dy, const float kept[2], int add, float *restrict dx,
                      float *restrict dweight, float *restrict dbias)
{
    const float mean = kept[0], by = kept[1];
    float first[ROW] = {0}, second[ROW] = {0};
    size_t i = 0;
    for (; i + ROW <= n; i += ROW)
        for (size_t j = 0; j < ROW; j++) {
            const float h = (x[i + j] - mean) * by, g = dy[i + j] * weight[i + j];
            dweight[i + j] += dy[i + j] * h;
            first[j] += g;
            second[j] += g * h;
        }
    for (size_t j = 0; i + j < n; j++) {
        const float h = (x[i + j] - mean) * by, g = dy[i + j] * weight[i + j];
        dweight[i + j] += dy[i + j] * h;
        first[j] += g;
        second[j] += g * h;
    }
    for (size_t k = 0; dbias && k < n; k++)
        dbias[k] += dy[k];
    const float g_mean = lanes_sum(first) / (float)n, gh_mean = lanes_sum(second) / (float)n;
    for (size_t k = 0; k < n; k++) {
        const float d = by * (dy[k] * weight[k] - g_mean - (x[k] - mean) * by * gh_mean);
        dx[k] = add ? dx[k] + d : d;
    }
}

extern const RowLoops ISA_NAME(row_loops);
const RowLoops ISA_NAME(row_loops) = {
    .gelu = gelu,
    .scale = scale,
    .softmax = softmax,
    .exp_less = exp_less,
    .softmax_back = softmax_back,
    .dot = dot,
    .norm = norm,
    .norm_back = norm_back,
};
