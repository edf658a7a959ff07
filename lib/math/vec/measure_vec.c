/* measure_vec.c -- the sums over a gradient x, its estimate y and the errors y - x that metrics need, in double. Each
 * function computes all its sums in one pass.
 *
 * Each sum is taken in 16 lanes, which are added at the end in a fixed order (vec.h). Fewer than 16 elements
 * at the end are padded with zeros, which change no sum. */
#include "math/vec/vec.h"

#include <math.h>

INLINE void store_h(float *p, VecH v)
{
    memcpy(p, &v, sizeof v);
}
INLINE VecD where(VecL mask, VecD v)
{
    return (VecD)(mask & (VecL)v);
}
INLINE VecD magnitude_d(VecD v)
{
    return (VecD)((VecL)v & INT64_MAX);
}

/* Returns sign(a) b; 0 where a is 0. */
INLINE VecD signed_by(VecD a, VecD b)
{
    return where(a != 0, (VecD)((VecL)b ^ ((VecL)a & INT64_MIN)));
}

INLINE VecD larger(VecD a, VecD b)
{
    const VecL more = a > b;
    return (VecD)(((VecL)a & more) | ((VecL)b & ~more));
}

INLINE VecD root_d(VecD v)
{
#if VEC_BYTES == 64
    return (VecD)_mm512_sqrt_pd((__m512d)v);
#elif VEC_BYTES == 32
    return (VecD)_mm256_sqrt_pd((__m256d)v);
#else
    for (int l = 0; l < DLANES; l++)
        v[l] = sqrt(v[l]);
    return v;
#endif
}

/* Copies the last n % ROW elements of x to `row` and pads them with zeros; returns `row`. */
INLINE float *padded(float row[ROW], const float *x, size_t n)
{
    memset(row, 0, ROW * sizeof *row);
    memcpy(row, x + n / ROW * ROW, n % ROW * sizeof *row);
    return row;
}

double ISA_NAME(sum_gaps)(const float *x, const float *y, size_t n)
{
    VecD acc[DPARTS] = {{0}};
    float rest_x[ROW], rest_y[ROW];
    for (size_t i = 0; i < n; i += ROW) {
        const float *a = i + ROW <= n ? x + i : padded(rest_x, x, n);
        const float *b = i + ROW <= n ? y + i : padded(rest_y, y, n);
        for (int v = 0; v < DPARTS; v++)
            acc[v] += magnitude_d(load_d(a + v * DLANES) - load_d(b + v * DLANES));
    }
    return fold(acc);
}

INLINE void gradient_row(const float *x, const double above[THRESHOLDS], VecD acc[G_SUMS][DPARTS])
{
    const VecD one = set_d(1);
    for (int v = 0; v < DPARTS; v++) {
        const VecD a = load_d(x + v * DLANES), m = magnitude_d(a);
        acc[G_SQUARES][v] += a * a;
        acc[G_MAGNITUDES][v] += m;
        acc[G_NONZERO][v] += where(m > 0, one);
        for (int t = 0; t < THRESHOLDS; t++)
            acc[G_ABOVE + t][v] += where(m > above[t], one);
    }
}

void ISA_NAME(gradient_sums)(const float *x, size_t n, const double above[THRESHOLDS], double sum[G_SUMS])
{
    VecD acc[G_SUMS][DPARTS] = {{{0}}};
    EACH_ROW(x, n, row, gradient_row(row, above, acc));
    for (int s = 0; s < G_SUMS; s++)
        sum[s] = fold(acc[s]);
}

INLINE void error_row(const float *x, const float *y, const double above[THRESHOLDS],
                      VecD acc[E_SUMS][DPARTS], VecD most[DPARTS])
{
    const VecD one = set_d(1);
    for (int v = 0; v < DPARTS; v++) {
        const VecD a = load_d(x + v * DLANES), b = load_d(y + v * DLANES);
        const VecD d = b - a, e = magnitude_d(d), m = magnitude_d(a), dot = a * b;
        const VecD q = where(m > 0, e / m);
        const VecL under = (d < 0) & (m > 0), over = (d > 0) & (m > 0);
        acc[E_SQUARES][v] += d * d;
        acc[E_ERRORS][v] += e;
        acc[E_NORM][v] += b * b;
        acc[E_DOT][v] += dot;
        acc[E_SIGNED][v] += signed_by(a, b);
        acc[E_NONZERO][v] += where(b != 0, one);
        acc[E_AGREE][v] += where(dot > 0, one);
        acc[E_UNDER][v] += where(under, q);
        acc[E_UNDERS][v] += where(under, one);
        acc[E_OVER][v] += where(over, q);
        acc[E_OVERS][v] += where(over, one);
        for (int t = 0; t < THRESHOLDS; t++)
            acc[E_ABOVE + t][v] += where(m > above[t], q);
        most[v] = larger(e, most[v]);
    }
}

void ISA_NAME(error_sums)(const float *x, const float *y, size_t n, const double above[THRESHOLDS],
                          double sum[E_SUMS], double *largest)
{
    VecD acc[E_SUMS][DPARTS] = {{{0}}}, most[DPARTS] = {{0}};
    float rest_x[ROW], rest_y[ROW];
    size_t i = 0;
    for (; i + ROW <= n; i += ROW)
        error_row(x + i, y + i, above, acc, most);
    if (i < n)
        error_row(padded(rest_x, x, n), padded(rest_y, y, n), above, acc, most);
    for (int s = 0; s < E_SUMS; s++)
        sum[s] = fold(acc[s]);
    double lane[ROW];
    memcpy(lane, most, sizeof lane);
    *largest = 0;
    for (int l = 0; l < ROW; l++)
        *largest = fmax(*largest, lane[l]);
}

/* One step of Welford's recurrence for 16 errors d = y - x. If d equals the mean rounded to float32, the
 * deviation is taken as 0. Otherwise an error that is the same in every repeat would get a variance from
 * rounding its mean. */
INLINE void step_row(const float *x, const float *y, double count, float *half, float *root,
                     VecD acc[S_STEPS][DPARTS])
{
    for (int v = 0; v < DPARTS; v++) {
        const int at = v * DLANES;
        const VecD a = load_d(x + at), d = load_d(y + at) - a, held = load_d(half + at),
                   r = load_d(root + at);
        const VecH now = narrow(d * 0.5);
        const VecD step = where(widen(now) != held, d - 2 * held), next = 2 * held + step / count;
        const VecD more = step * (d - next);
        acc[S_M2][v] += more;
        acc[S_M2_WEIGHTED][v] += more * (a * a);
        store_h(half + at, narrow(next * 0.5));
        store_h(root + at, narrow(root_d(r * r + more)));
    }
}

void ISA_NAME(spread_add)(const float *x, const float *y, size_t n, double count, float *half, float *root,
                          double sum[S_STEPS])
{
    VecD acc[S_STEPS][DPARTS] = {{{0}}};
    float rest_x[ROW], rest_y[ROW], rest_half[ROW], rest_root[ROW];
    size_t i = 0;
    if (count == 1) {
        memset(half, 0, n * sizeof *half);
        memset(root, 0, n * sizeof *root);
    }
    for (; i + ROW <= n; i += ROW)
        step_row(x + i, y + i, count, half + i, root + i, acc);
    if (i < n) {
        step_row(padded(rest_x, x, n), padded(rest_y, y, n), count, padded(rest_half, half, n),
                 padded(rest_root, root, n), acc);
        memcpy(half + i, rest_half, (n - i) * sizeof *half);
        memcpy(root + i, rest_root, (n - i) * sizeof *root);
    }
    for (int s = 0; s < S_STEPS; s++)
        sum[s] = fold(acc[s]);
}

INLINE void spread_row(const float *x, const float *half, const float *root, VecD acc[S_SUMS][DPARTS])
{
    for (int v = 0; v < DPARTS; v++) {
        const int at = v * DLANES;
        const VecD a = load_d(x + at), b = 2 * load_d(half + at), r = load_d(root + at), m2 = r * r;
        const VecD weighted = m2 * (a * a);
        acc[S_M2_SQUARES][v] += m2 * m2;
        acc[S_M2_WEIGHTED_SQUARES][v] += weighted * weighted;
        acc[S_BIAS][v] += b * b;
        acc[S_BIAS_DOT][v] += b * a;
    }
}

void ISA_NAME(spread_sums)(const float *x, const float *half, const float *root, size_t n, double sum[S_SUMS])
{
    VecD acc[S_SUMS][DPARTS] = {{{0}}};
    float rest_x[ROW], rest_half[ROW], rest_root[ROW];
    size_t i = 0;
    for (; i + ROW <= n; i += ROW)
        spread_row(x + i, half + i, root + i, acc);
    if (i < n)
        spread_row(padded(rest_x, x, n), padded(rest_half, half, n), padded(rest_root, root, n), acc);
    for (int s = 0; s < S_SUMS; s++)
        sum[s] = fold(acc[s]);
}
