/* sift_vec.c -- the first pass of random sparsifiers: adds up |x|, and lists the candidates, elements that a
 * coin (coin.h) may keep.
 *
 * An element with keep probability p is a candidate if word / 4 <= floor(p 2^30), where `word` is its random
 * word. If < holds, the coin keeps the element; if = holds, coin.h decides with more random bits. The
 * arithmetic is that of coin.h, operation by operation. So every element that `coin_keep` keeps later, with
 * the same or a larger scale, is a candidate. */
#include "math/vec/lane.h"

INLINE VecD magnitudes_at(const float *x)
{
    typedef uint64_t Bits __attribute__((vector_size(VEC_BYTES)));
    return (VecD)((Bits)load_d(x) & UINT64_C(0x7fffffffffffffff));
}

/* Appends the index and the value of each lane with r <= most to `at` and `value`, and returns the number of
 * such lanes. May write LANES elements, even if it appends fewer. */
INLINE size_t append(uint32_t *at, float *value, VecU index, VecF v, VecI r, VecI most)
{
#if VEC_BYTES == 64
    const __mmask16 keep = _mm512_cmple_epi32_mask((__m512i)r, (__m512i)most);
    _mm512_storeu_si512(at, _mm512_maskz_compress_epi32(keep, (__m512i)index));
    _mm512_storeu_ps(value, _mm512_maskz_compress_ps(keep, v));
    return (size_t)__builtin_popcount(keep);
#elif VEC_BYTES == 32
    size_t count = 0;
    unsigned keep = 0xffu ^ (unsigned)_mm256_movemask_ps((__m256)(r > most));
    for (; keep; keep &= keep - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(keep);
        at[count] = index[lane];
        value[count++] = v[lane];
    }
    return count;
#else
    size_t count = 0;
    const VecI drop = r > most;
    uint64_t half[2];
    memcpy(half, &drop, sizeof half);
    if ((half[0] & half[1]) == UINT64_MAX)
        return 0;
    for (int lane = 0; lane < LANES; lane++)
        if (!drop[lane]) {
            at[count] = index[lane];
            value[count++] = v[lane];
        }
    return count;
#endif
}

size_t ISA_NAME(coin_sift)(const float *x, size_t n, Coin coin, const RngKey *key, uint32_t *at, float *value,
                           double *sum)
{
    const VecU step = set_u(RNG_STRIDE * (uint32_t)LANES);
    const VecF lift = set_f(coin.lift), slope = set_f(coin.slope), most = set_f(0x1p30f);
    VecD acc[DPARTS];
    VecU index = (VecU){0}, counter = counter_lanes(*key, 0);
    double lane[ROW];
    size_t i = 0, count = 0;
    for (uint32_t l = 0; l < LANES; l++)
        index[l] = l;
    for (int v = 0; v < DPARTS; v++)
        acc[v] = (VecD){0};
    for (; i + ROW <= n; i += ROW)
        for (int part = 0; part < PARTS; part++) {
            const float *const from = x + i + part * LANES;
            const VecF v = load_f(from), level = min_f(abs_f(v) * lift * slope, most);
            const VecI r = (VecI)(mix_lanes(counter, key->b) >> 2);
            acc[2 * part] += magnitudes_at(from);
            acc[2 * part + 1] += magnitudes_at(from + DLANES);
            count += append(at + count, value + count, index, v, r, whole(level));
            index += (uint32_t)LANES;
            counter += step;
        }
    memcpy(lane, acc, sizeof lane);
    for (int l = 0; i < n; i++, l++) {
        lane[l] += fabs((double)x[i]);
        if (rng_word(key, (uint32_t)i) >> 2 <= (uint32_t)coin_level(coin, x[i])) {
            at[count] = (uint32_t)i;
            value[count++] = x[i];
        }
    }
    *sum = tree16(lane);
    return count;
}

double ISA_NAME(sum_magnitudes)(const float *x, size_t n)
{
    VecD acc[DPARTS] = {{0}};
    EACH_ROW(x, n, row, for (int v = 0; v < DPARTS; v++) acc[v] += magnitudes_at(row + v * DLANES));
    return fold(acc);
}

/* Adds the squares of the magnitudes v to `all2`. For magnitudes below `low`, also adds the magnitudes to
 * `under` and the squares to `under2`. */
INLINE void add_around(VecD v, VecD low, VecD *under, VecD *under2, VecD *all2)
{
    const VecQ in = (VecQ)(v < low);
    const VecD square = v * v;
    *under += (VecD)((VecQ)v & in);
    *under2 += (VecD)((VecQ)square & in);
    *all2 += square;
}

size_t ISA_NAME(sums_around)(const float *x, size_t n, float low, float high, float *between, double sum[3])
{
    const VecF from = set_f(low), to = set_f(high);
    const VecD edge = set_d((double)low);
    VecD under[DPARTS] = {{0}}, under2[DPARTS] = {{0}}, all2[DPARTS] = {{0}};
    uint32_t unused[LANES];
    size_t count = 0;
    EACH_ROW(x, n, row, for (int part = 0; part < PARTS; part++) {
        const VecF v = abs_f(load_f(row + part * LANES));
        const VecI out = 1 + ((v >= from) & (v < to)); /* 0 where from <= v < to, else 1 */
        const int next = 2 * part + 1; /* no loop over the two halves: it would keep the sums in memory */
        add_around(magnitudes_at(row + 2 * part * DLANES), edge, &under[2 * part], &under2[2 * part], &all2[2 * part]);
        add_around(magnitudes_at(row + next * DLANES), edge, &under[next], &under2[next], &all2[next]);
        count += append(unused, between + count, (VecU){0}, v, out, (VecI){0});
    });
    sum[0] = fold(under);
    sum[1] = fold(under2);
    sum[2] = fold(all2);
    return count;
}
