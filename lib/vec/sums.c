/* sums.c -- norms in double, 16 lanes and a tree. */
#include "vec.h"

double ISA_NAME(sum_squares)(const float *x, size_t n);

enum { DPARTS = 2 * PARTS }; /* double vectors in a row */

double ISA_NAME(sum_squares)(const float *x, size_t n)
{
    VecD acc[DPARTS];
    double lane[ROW];
    size_t i = 0;
    for (int v = 0; v < DPARTS; v++)
        acc[v] = (VecD){0};
    for (; i + ROW <= n; i += ROW)
        for (int v = 0; v < DPARTS; v++) {
            const VecD d = load_d(x + i + v * (LANES / 2));
            acc[v] += d * d;
        }
    memcpy(lane, acc, sizeof lane);
    for (int l = 0; i < n; i++, l++)
        lane[l] += (double)x[i] * (double)x[i];
    return tree16(lane);
}
