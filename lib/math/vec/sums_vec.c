/* sums_vec.c -- sums of elements and of squares in double, and the largest magnitude. Sums have 16 lanes, which
 * are added in the fixed order of vec.h. */
#include "math/vec/lane.h"
#include "base/bytes.h"

double ISA_NAME(sum_squares)(const float *x, size_t n)
{
    VecD acc[DPARTS]; /* set by a loop: for short vectors that is faster than what compilers make of {0} */
    for (int v = 0; v < DPARTS; v++)
        acc[v] = (VecD){0};
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

/* ---- makes a bit mask of the elements whose magnitude is at or above a threshold ---- */

size_t ISA_NAME(mark_from)(const float *x, size_t n, float least, uint64_t *bits)
{
    const VecF low = set_f(least);
    size_t i = 0, count = 0;
    for (; i + 64 <= n; i += 64) {
        uint64_t word = 0;
        for (int at = 0; at < 64; at += LANES)
            word |= lane_bits((VecI)(abs_f(load_f(x + i + at)) >= low)) << at;
        bits[i / 64] = word;
        count += (size_t)__builtin_popcountll(word);
    }
    if (i < n) {
        uint64_t word = 0;
        for (size_t l = 0; l < n - i; l++)
            word |= (uint64_t)(fabsf(x[i + l]) >= least) << l;
        bits[i / 64] = word;
        count += (size_t)__builtin_popcountll(word);
    }
    return count;
}

/* ---- multiplies a vector, and adds a multiple of a vector to another. Each product is rounded
 * before it is added: fused multiply-add would round differently ---- */

void ISA_NAME(add_scaled)(const float *a, const float *b, float factor, size_t n, float *y)
{
    const VecF f = set_f(factor);
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        store_f(y + i, load_f(a + i) + f * load_f(b + i));
    for (; i < n; i++)
        y[i] = a[i] + factor * b[i];
}

void ISA_NAME(scale)(const float *x, float factor, size_t n, float *y)
{
    const VecF f = set_f(factor);
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        store_f(y + i, f * load_f(x + i));
    for (; i < n; i++)
        y[i] = factor * x[i];
}

/* ---- adds the floats in the payloads of all workers, element by element. The payloads may be
 * unaligned ---- */

/* elements per pass; their sums stay in the first-level cache */
enum { RUN = 512 };

/* Adds elements at .. at + n - 1 of `some` payloads to `sum`. Returns whether all their magnitudes are at
 * most `part_most`. Every caller passes a constant `some`, which unrolls the inner loop. */
INLINE bool add_run(const uint8_t *const *in, size_t some, size_t at, size_t n, float part_most, double *sum)
{
    int beyond = 0;
    for (size_t i = 0; i < n; i++) {
        double s = sum[i];
        for (size_t w = 0; w < some; w++) {
            const float v = load_f32(in[w] + 4 * (at + i));
            s += (double)v;
            beyond |= !(__builtin_fabsf(v) <= part_most);
        }
        sum[i] = s;
    }
    return !beyond;
}

bool ISA_NAME(add_up)(const uint8_t *const *in, size_t count, size_t from, size_t to, float part_most,
                      double most, uint8_t *out)
{
    bool good = true;
    for (size_t at = from; at < to; at += RUN) {
        const size_t some = to - at < RUN ? to - at : RUN;
        double sum[RUN] = {0};
        int beyond = 0;
        size_t w = 0;
        for (; w + 4 <= count; w += 4)
            good &= add_run(in + w, 4, at, some, part_most, sum);
        for (; w < count; w++)
            good &= add_run(in + w, 1, at, some, part_most, sum);
        for (size_t i = 0; i < some; i++) {
            const float s = (float)sum[i];
            beyond |= !(__builtin_fabs(sum[i]) <= most);
            store_f32(out + 4 * (at + i), s);
        }
        good &= !beyond;
    }
    return good;
}
