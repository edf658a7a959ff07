/* sums_vec.c -- sums of elements and of squares in double, and the largest magnitude. Sums have 16 lanes, which
 * are added in the fixed order of vec.h. */
#include "math/vec/lane.h"

double ISA_NAME(sum_squares)(const float *x, size_t n)
{
    VecD acc[DPARTS] = {{0}};
    EACH_ROW(x, n, row, for (int v = 0; v < DPARTS; v++) {
        const VecD d = load_d(row + v * DLANES);
        acc[v] += d * d;
    });
    return fold(acc);
}

void ISA_NAME(moments)(const float *x, size_t n, double *sum, double *squares)
{
    VecD first[DPARTS] = {{0}}, second[DPARTS] = {{0}};
    EACH_ROW(x, n, row, for (int v = 0; v < DPARTS; v++) {
        const VecD d = load_d(row + v * DLANES);
        first[v] += d;
        second[v] += d * d;
    });
    *sum = fold(first);
    *squares = fold(second);
}

float ISA_NAME(abs_max)(const float *x, size_t n)
{
    /* the bits of magnitudes, as integers, have the order of the floats */
    VecI top[PARTS];
    int32_t lane[ROW], most = 0;
    size_t i = 0, next = second_piece(x, ROW);
    for (int v = 0; v < PARTS; v++)
        top[v] = (VecI){0};
    for (; i + ROW <= n; i = next, next += ROW)
        for (int v = 0; v < PARTS; v++)
            top[v] = max_i(top[v], (VecI)abs_f(load_f(x + i + v * LANES)));
    memcpy(lane, top, sizeof lane);
    for (int l = 0; l < ROW; l++)
        most = lane[l] > most ? lane[l] : most;
    for (; i < n; i++) {
        const int32_t bits = (int32_t)(float_bits(x[i]) & 0x7fffffff);
        most = bits > most ? bits : most;
    }
    return bits_float((uint32_t)most);
}
