/* thin_vec.c -- products of a matrix a with a few vectors: a q and a' p.
 *
 * Products of floats are exact in double, so a fused multiply-add rounds once, as a multiplication followed by
 * an addition does. A dot product is summed in eight lanes, whatever the vector width; the eight sums are
 * added in a fixed order. a' p is added row by row. */
#include "math/vec/turn.h"

enum { DOT_LANES = 8, DOT_PARTS = DOT_LANES / DLANES, MOST_ROWS = 4, ADD_ROWS = 4 };

typedef struct {
    VecD v[DOT_PARTS];
} Eight;

INLINE Eight load_some(const float *x, size_t n)
{
    float padded[DOT_LANES] = {0};
    Eight e;
    memcpy(padded, x, n * sizeof *x);
    for (int h = 0; h < DOT_PARTS; h++)
        e.v[h] = load_d(padded + h * DLANES);
    return e;
}

INLINE float sum_of(Eight e)
{
    double l[DOT_LANES];
    memcpy(l, e.v, sizeof l);
    return (float)(((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7])));
}

/* Adds the products of `rows` rows and `count` vectors, of whole eights of columns, to sum[r * count + k]: only the SIMD
 * vectors `first` to `end` - 1 of each eight. */
INLINE void dot_eights(const float *a, const int rows, size_t cols, const float *const q[4], const int count,
                       const int first, const int end, Eight *sum)
{
    for (size_t c = 0; c + DOT_LANES <= cols; c += DOT_LANES)
        for (int h = first; h < end; h++) {
            VecD row[MOST_ROWS];
            for (int r = 0; r < rows; r++)
                row[r] = load_d(a + (size_t)r * cols + c + h * DLANES);
            for (int k = 0; k < count; k++) {
                const VecD v = load_d(q[k] + c + h * DLANES);
                for (int r = 0; r < rows; r++)
                    sum[r * count + k].v[h] = add_product(sum[r * count + k].v[h], row[r], v);
            }
        }
}

/* Adds the products of the last columns, fewer than eight. */
INLINE void dot_rest(const float *a, const int rows, size_t cols, const float *const q[4], const int count,
                     Eight *sum)
{
    const size_t left = cols % DOT_LANES, c = cols - left;
    Eight v[4];
    for (int k = 0; k < count && left; k++)
        v[k] = load_some(q[k] + c, left);
    for (int r = 0; r < rows && left; r++) {
        const Eight row = load_some(a + (size_t)r * cols + c, left);
        for (int k = 0; k < count; k++)
            for (int h = 0; h < DOT_PARTS; h++)
                sum[r * count + k].v[h] = add_product(sum[r * count + k].v[h], row.v[h], v[k].v[h]);
    }
}

/* Computes p[k] = a q[k] for `rows` rows from row `at` on. Every caller passes constant `rows` and `count`,
 * so that the sums stay in registers: all of them, or half of them at a time if they are more than eight. */
INLINE void dot_some(const float *a, const int rows, size_t cols, const float *const q[4], const int count,
                     float *const p[4], size_t at)
{
    Eight sum[MOST_ROWS * 4] = {{{{0}}}}; /* of row r and vector k: sum[r * count + k] */
    if (DOT_PARTS > 1 && rows * count * DOT_PARTS > 8) {
        dot_eights(a, rows, cols, q, count, 0, DOT_PARTS / 2, sum);
        dot_eights(a, rows, cols, q, count, DOT_PARTS / 2, DOT_PARTS, sum);
    } else {
        dot_eights(a, rows, cols, q, count, 0, DOT_PARTS, sum);
    }
    dot_rest(a, rows, cols, q, count, sum);
    for (int r = 0; r < rows; r++)
        for (int k = 0; k < count; k++)
            p[k][at + (size_t)r] = sum_of(sum[r * count + k]);
}

/* Several rows share each load of q[k]. Their sums must fit into registers: 16 sums (4 rows of 4 vectors) with AVX-512,
 * 4 sums or halves of 12 with AVX2. */
INLINE void dot_all(const float *a, size_t rows, size_t cols, const float *const q[4], const int count,
                    float *const p[4])
{
    const size_t wide = VEC_BYTES == 64 ? 4 : VEC_BYTES == 32 ? (count <= 2 ? 4 / (size_t)count : 3) : 1;
    size_t r = 0;
    for (; r + wide <= rows; r += wide)
        dot_some(a + r * cols, (int)wide, cols, q, count, p, r);
    for (; r < rows; r++)
        dot_some(a + r * cols, 1, cols, q, count, p, r);
}

void ISA_NAME(rows_dot)(const float *a, size_t rows, size_t cols, const float *const q[4], size_t count,
                        float *const p[4])
{
    WITH_4(count, dot_all(a, rows, cols, q, N, p))
}

INLINE void add_some(const float *a, size_t stride, const int rows, size_t cols, const float *const p[4],
                     const int count, double *const sum[4], size_t at)
{
    size_t c = 0;
    for (; c + DLANES <= cols; c += DLANES) {
        VecD row[ADD_ROWS];
        for (int r = 0; r < rows; r++)
            row[r] = load_d(a + (size_t)r * stride + c);
        for (int k = 0; k < count; k++) {
            VecD s;
            memcpy(&s, sum[k] + c, sizeof s);
            for (int r = 0; r < rows; r++)
                s = add_product(s, row[r], (VecD){0} + (double)p[k][at + (size_t)r]);
            memcpy(sum[k] + c, &s, sizeof s);
        }
    }
    for (; c < cols; c++)
        for (int k = 0; k < count; k++)
            for (int r = 0; r < rows; r++)
                sum[k][c] += (double)a[(size_t)r * stride + c] * (double)p[k][at + (size_t)r];
}

INLINE void add_all(const float *a, size_t stride, size_t rows, size_t cols, const float *const p[4],
                    const int count, double *const sum[4])
{
    size_t r = 0;
    for (; r + ADD_ROWS <= rows; r += ADD_ROWS)
        add_some(a + r * stride, stride, ADD_ROWS, cols, p, count, sum, r);
    for (; r < rows; r++)
        add_some(a + r * stride, stride, 1, cols, p, count, sum, r);
}

void ISA_NAME(rows_add)(const float *a, size_t stride, size_t rows, size_t cols, const float *const p[4],
                        size_t count, double *const sum[4])
{
    WITH_4(count, add_all(a, stride, rows, cols, p, N, sum))
}
