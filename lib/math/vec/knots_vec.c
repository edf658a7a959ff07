/* knots_vec.c -- one layer of the dynamic program that finds a quantiser's best levels (zipml.c). A layer
 * finds the row minima of a totally monotone matrix with rows j and columns i: the column of the minimum never
 * falls from one row to the next.
 *
 * Divide and conquer finds the minimum of every sixteenth row, with one column per lane. The minima of the
 * fifteen rows between lie between the columns of the two minima around them; they are searched with one row
 * per lane. Of equal costs the first column wins, so the result does not depend on the number of lanes. */
#include "math/vec/vec.h"

#include <math.h>

enum { PAIR = 2 * DLANES };

typedef struct {
    const double *x, *b, *a;
} Layer;

typedef struct {
    VecD least, at;
} Least;

INLINE VecD choose(VecL mask, VecD yes, VecD no)
{
    return (VecD)(((VecL)yes & mask) | ((VecL)no & ~mask));
}

INLINE void keep_less(Least *l, VecD cost, VecD i)
{
#if VEC_BYTES == 64
    const __mmask8 less = _mm512_cmp_pd_mask((__m512d)cost, (__m512d)l->least, _CMP_LT_OQ);
    l->least = (VecD)_mm512_min_pd((__m512d)cost, (__m512d)l->least);
    l->at = (VecD)_mm512_mask_mov_pd((__m512d)l->at, less, (__m512d)i);
#elif VEC_BYTES == 32
    const __m256d less = _mm256_cmp_pd((__m256d)cost, (__m256d)l->least, _CMP_LT_OQ);
    l->least = (VecD)_mm256_min_pd((__m256d)cost, (__m256d)l->least);
    l->at = (VecD)_mm256_blendv_pd((__m256d)l->at, (__m256d)i, less);
#else
    const VecL less = cost < l->least;
    l->least = choose(less, cost, l->least);
    l->at = choose(less, i, l->at);
#endif
}

/* Returns the vector from, from + 1, ... */
INLINE VecD count_from(size_t from)
{
    double v[DLANES];
    for (size_t k = 0; k < DLANES; k++)
        v[k] = (double)(from + k);
    return load_doubles(v);
}

/* ---- the minimum of one row: each lane takes another column ---- */

INLINE double least_of(VecD v)
{
    double lane[DLANES];
    memcpy(lane, &v, sizeof lane);
    for (int half = DLANES / 2; half; half /= 2)
        for (int k = 0; k < half; k++)
            lane[k] = lane[k] < lane[k + half] ? lane[k] : lane[k + half];
    return lane[0];
}

/* Returns the column among low .. high with the least cost in row j, the first of equal ones; high < j. */
INLINE size_t search(const Layer *y, size_t j, size_t low, size_t high)
{
    const VecD xj = set_d(y->x[j]), bj = set_d(y->b[j]), last = set_d((double)high), beyond = set_d(INFINITY);
    Least l = {beyond, count_from(low)};
    VecD place = l.at;
    for (size_t i = low; i <= high; i += DLANES, place += (double)DLANES) {
        const VecD cost =
            load_doubles(y->a + i) + (load_doubles(y->b + i) * xj - load_doubles(y->x + i) * bj);
        keep_less(&l, choose(place <= last, cost, beyond), place);
    }
    return (size_t)least_of(choose(l.least == set_d(least_of(l.least)), l.at, beyond));
}

/* ---- the minima of several rows: each lane takes another row ---- */

INLINE VecD cost_of(const Layer *y, size_t i, VecD xj, VecD bj)
{
    return set_d(y->a[i]) + (set_d(y->b[i]) * xj - set_d(y->x[i]) * bj);
}

INLINE void store_pair(const Least l[2], double *next, uint16_t *back)
{
    typedef int32_t VecHI __attribute__((vector_size(VEC_BYTES / 2)));
    for (int v = 0; v < 2; v++) {
        const VecHI at = __builtin_convertvector(l[v].at, VecHI);
        memcpy(next + v * DLANES, &l[v].least, sizeof l[v].least);
        for (int k = 0; k < DLANES; k++)
            back[v * DLANES + k] = (uint16_t)at[k];
    }
}

/* Finds the minima of rows j .. j + PAIR - 1, which lie in the columns low .. high. Writes the minima to
 * next[] and their columns to back[]. */
INLINE void rows_of_pair(const Layer *y, size_t j, size_t low, size_t high, double *next, uint16_t *back)
{
    /* row j has the columns below j; all PAIR rows have the columns below `common` */
    const size_t common = high < j ? high + 1 : j;
    VecD xj[2], bj[2], row[2];
    Least l[2];
    double place = (double)low;
    size_t i = low;
    for (int v = 0; v < 2; v++) {
        xj[v] = load_doubles(y->x + j + (size_t)v * DLANES);
        bj[v] = load_doubles(y->b + j + (size_t)v * DLANES);
        l[v] = (Least){set_d(INFINITY), set_d(0)};
        row[v] = count_from(j + (size_t)v * DLANES);
    }
    for (; i < common; i++, place += 1)
        for (int v = 0; v < 2; v++)
            keep_less(&l[v], cost_of(y, i, xj[v], bj[v]), set_d(place));
    for (; i <= high && i + 1 < j + PAIR; i++, place += 1)
        for (int v = 0; v < 2; v++)
            keep_less(&l[v], choose(row[v] > set_d(place), cost_of(y, i, xj[v], bj[v]), set_d(INFINITY)),
                      set_d(place));
    store_pair(l, next + j, back + j);
}

/* Finds the minima in the blocks first .. last - 1 of sixteen rows. `low` and `high` are the columns of the
 * minima in the row before the first block and in the last row of the last block. */
static void divide(const Layer *y, size_t from, size_t first, size_t last, size_t low, size_t high,
                   double *next, uint16_t *back)
{
    while (last - first > 1) {
        const size_t mid = first + (last - first) / 2, j = from + mid * ROW - 1;
        const size_t at = search(y, j, low, high < j ? high : j - 1);
        divide(y, from, first, mid, low, at, next, back);
        first = mid;
        low = at;
    }
    for (size_t k = 0; k < ROW; k += PAIR)
        rows_of_pair(y, from + first * ROW + k, low, high, next, back);
}

void ISA_NAME(knot_layer)(const double *x, const double *b, const double *a, size_t low, size_t high,
                          size_t from, size_t to, double *next, uint16_t *back)
{
    const Layer y = {x, b, a};
    const size_t at = search(&y, to - 1, low, high < to - 1 ? high : to - 2);
    divide(&y, from, 0, (to - from + ROW - 1) / ROW, low, at, next, back);
}
