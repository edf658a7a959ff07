/* sort_vec.c -- sorts floats by Batcher's bitonic network. The array is a matrix with one vector in each row, and
 * element `l rows + r` of the sorted order is lane l of row r. So most comparators join two rows, and need no
 * permutation of lanes.
 *
 * To merge two sorted halves of a run, its first element is compared with its last, the second with the last but one,
 * and so on. Then both halves are bitonic, and elements are compared that are a half, a quarter, ... of a half apart. */
#include "math/vec/lane.h"

enum { BASE = 8 };

INLINE void order_two(VecF *a, VecF *b)
{
    const VecF low = min_f(*a, *b);
    *b = max_f(*a, *b);
    *a = low;
}

INLINE void order_rows(float *a, float *b)
{
    VecF low = load_f(a), high = load_f(b);
    order_two(&low, &high);
    store_f(a, low);
    store_f(b, high);
}

/* Sorts each run of BASE rows, lane by lane, by Batcher's network of 19 comparators. */
INLINE void sort_base(float *x)
{
    static const uint8_t pair[19][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2}, {1, 3}, {4, 6},
                                        {5, 7}, {1, 2}, {5, 6}, {0, 4}, {1, 5}, {2, 6}, {3, 7},
                                        {2, 4}, {3, 5}, {1, 2}, {3, 4}, {5, 6}};
    VecF v[BASE];
    for (int r = 0; r < BASE; r++)
        v[r] = load_f(x + r * LANES);
#pragma GCC unroll 19
    for (int k = 0; k < 19; k++)
        order_two(&v[pair[k][0]], &v[pair[k][1]]);
    for (int r = 0; r < BASE; r++)
        store_f(x + r * LANES, v[r]);
}

/* Compares rows that are 2 `apart` rows apart, then those `apart` rows apart. */
INLINE void order_quads(float *x, size_t rows, size_t apart)
{
    const size_t step = apart * LANES;
    for (size_t from = 0; from < rows; from += 4 * apart)
        for (size_t r = from; r < from + apart; r++) {
            float *const at = x + r * LANES;
            VecF a = load_f(at), b = load_f(at + step), c = load_f(at + 2 * step), d = load_f(at + 3 * step);
            order_two(&a, &c);
            order_two(&b, &d);
            order_two(&a, &b);
            order_two(&c, &d);
            store_f(at, a);
            store_f(at + step, b);
            store_f(at + 2 * step, c);
            store_f(at + 3 * step, d);
        }
}

/* Compares rows `apart`, apart / 2, ... 1 rows apart. */
INLINE void order_within(float *x, size_t rows, size_t apart)
{
    for (; apart >= 2; apart /= 4)
        order_quads(x, rows, apart / 2);
    if (apart == 1)
        for (size_t r = 0; r < rows; r += 2)
            order_rows(x + r * LANES, x + (r + 1) * LANES);
}

static void sort_lanes(float *x, size_t rows)
{
    for (size_t r = 0; r < rows; r += BASE)
        sort_base(x + r * LANES);
    for (size_t run = 2 * BASE; run <= rows; run *= 2) {
        for (size_t from = 0; from < rows; from += run)
            for (size_t r = 0; r < run / 2; r++)
                order_rows(x + (from + r) * LANES, x + (from + run - 1 - r) * LANES);
        order_within(x, rows, run / 4);
    }
}

/* Compares each lane of v with the same lane of w, and keeps the greater element in the lanes of `upper`, else the
 * smaller one. */
INLINE VecF meet(VecF v, VecF w, VecI upper)
{
    return (VecF)(((VecI)max_f(v, w) & upper) | ((VecI)min_f(v, w) & ~upper));
}

INLINE VecI lanes_with(int bit)
{
    return (VecI)((lane_numbers() & (uint32_t)bit) != 0);
}

/* Merges the sorted lanes: two neighbours, then four, ... */
static void merge_lanes(float *x, size_t rows)
{
    for (int run = 2; run <= LANES; run *= 2) {
        const VecI across = (VecI)lane_numbers() ^ (run - 1), upper = lanes_with(run / 2);
        for (size_t r = 0; r < rows / 2; r++) {
            float *const front = x + r * LANES, *const back = x + (rows - 1 - r) * LANES;
            const VecF v = load_f(front), w = load_f(back);
            store_f(front, meet(v, pick_lanes(w, across), upper));
            store_f(back, meet(w, pick_lanes(v, across), upper));
        }
        for (int apart = run / 4; apart >= 1; apart /= 2)
            for (size_t r = 0; r < rows; r++) {
                const VecF v = load_f(x + r * LANES);
                store_f(x + r * LANES,
                        meet(v, pick_lanes(v, (VecI)lane_numbers() ^ apart), lanes_with(apart)));
            }
        order_within(x, rows, rows / 2);
    }
}

void ISA_NAME(sort_floats)(float *x, size_t n, float *sorted)
{
    const size_t rows = n / LANES;
    sort_lanes(x, rows);
    merge_lanes(x, rows);
    for (size_t r = 0; r < rows; r++)
        for (size_t l = 0; l < LANES; l++)
            sorted[l * rows + r] = x[r * LANES + l];
}
