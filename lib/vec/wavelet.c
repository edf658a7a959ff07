/* wavelet.c -- one level of an orthogonal wavelet transform away from the ends: neighbours become a smooth and
 * a detail, and back. Products are added tap by tap, in every lane alike: same bytes from every instruction
 * set. */
#include "vec.h"

void ISA_NAME(wavelet_split)(const WaveletFilter *w, const float *x, size_t pairs, float *smooth,
                             float *detail);
void ISA_NAME(wavelet_join)(const WaveletFilter *w, const float *smooth, const float *detail, size_t pairs,
                            float *x);

/* ---- elements 0, 2, 4, ... and 1, 3, 5, ... of two vectors; and the way back ---- */

typedef struct {
    VecF even, odd;
} Pairs;

INLINE Pairs part(const float *x)
{
    const VecF a = load_f(x), b = load_f(x + LANES);
#if VEC_BYTES == 64
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    return (Pairs){_mm512_permutex2var_ps(a, even, b), _mm512_permutex2var_ps(a, odd, b)};
#elif VEC_BYTES == 32
    const VecF low = _mm256_permute2f128_ps(a, b, 0x20), high = _mm256_permute2f128_ps(a, b, 0x31);
    const VecF even = _mm256_shuffle_ps(low, high, 0x88), odd = _mm256_shuffle_ps(low, high, 0xdd);
    return (Pairs){even, odd};
#else
    return (Pairs){SHUFFLE4(a, b, 0, 2, 4, 6), SHUFFLE4(a, b, 1, 3, 5, 7)};
#endif
}

INLINE void interleave(Pairs p, float *x)
{
#if VEC_BYTES == 64
    const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i high = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    store_f(x, _mm512_permutex2var_ps(p.even, low, p.odd));
    store_f(x + LANES, _mm512_permutex2var_ps(p.even, high, p.odd));
#elif VEC_BYTES == 32
    const VecF low = _mm256_unpacklo_ps(p.even, p.odd), high = _mm256_unpackhi_ps(p.even, p.odd);
    store_f(x, _mm256_permute2f128_ps(low, high, 0x20));
    store_f(x + LANES, _mm256_permute2f128_ps(low, high, 0x31));
#else
    store_f(x, SHUFFLE4(p.even, p.odd, 0, 4, 1, 5));
    store_f(x + LANES, SHUFFLE4(p.even, p.odd, 2, 6, 3, 7));
#endif
}

/* ---- filters of 2 * half taps; `half` is a constant in each case ---- */

INLINE void split(const WaveletFilter *w, const float *x, size_t pairs, float *smooth, float *detail,
                  const int half)
{
    const WaveletFilter f = *w;
    size_t k = 0;
    for (; k + LANES <= pairs; k += LANES) {
        Pairs p = part(x + 2 * k);
        VecF s = p.even * f.smooth[0] + p.odd * f.smooth[1], d = p.even * f.detail[0] + p.odd * f.detail[1];
        for (int j = 1; j < half; j++) {
            p = part(x + 2 * k + 2 * j);
            s = s + p.even * f.smooth[2 * j] + p.odd * f.smooth[2 * j + 1];
            d = d + p.even * f.detail[2 * j] + p.odd * f.detail[2 * j + 1];
        }
        store_f(smooth + k, s);
        store_f(detail + k, d);
    }
    for (; k < pairs; k++) {
        const float *at = x + 2 * k;
        float s = at[0] * f.smooth[0] + at[1] * f.smooth[1], d = at[0] * f.detail[0] + at[1] * f.detail[1];
        for (int j = 2; j < 2 * half; j += 2) {
            s = s + at[j] * f.smooth[j] + at[j + 1] * f.smooth[j + 1];
            d = d + at[j] * f.detail[j] + at[j + 1] * f.detail[j + 1];
        }
        smooth[k] = s;
        detail[k] = d;
    }
}

/* The transpose: pair k hears of smooths and details k, k - 1, ..., k - half + 1. */
INLINE void join(const WaveletFilter *w, const float *smooth, const float *detail, size_t pairs, float *x,
                 const int half)
{
    const WaveletFilter f = *w;
    size_t k = 0;
    for (; k + LANES <= pairs; k += LANES) {
        VecF s = load_f(smooth + k), d = load_f(detail + k);
        Pairs p = {s * f.smooth[0] + d * f.detail[0], s * f.smooth[1] + d * f.detail[1]};
        for (int j = 1; j < half; j++) {
            s = load_f(smooth + k - j);
            d = load_f(detail + k - j);
            p.even = p.even + s * f.smooth[2 * j] + d * f.detail[2 * j];
            p.odd = p.odd + s * f.smooth[2 * j + 1] + d * f.detail[2 * j + 1];
        }
        interleave(p, x + 2 * k);
    }
    for (; k < pairs; k++) {
        const float *s = smooth + k, *d = detail + k;
        float even = s[0] * f.smooth[0] + d[0] * f.detail[0], odd = s[0] * f.smooth[1] + d[0] * f.detail[1];
        for (int j = 1; j < half; j++) {
            even = even + s[-j] * f.smooth[2 * j] + d[-j] * f.detail[2 * j];
            odd = odd + s[-j] * f.smooth[2 * j + 1] + d[-j] * f.detail[2 * j + 1];
        }
        x[2 * k] = even;
        x[2 * k + 1] = odd;
    }
}

void ISA_NAME(wavelet_split)(const WaveletFilter *w, const float *x, size_t pairs, float *smooth,
                             float *detail)
{
    if (w->taps == 2)
        split(w, x, pairs, smooth, detail, 1);
    else if (w->taps == 4)
        split(w, x, pairs, smooth, detail, 2);
    else
        split(w, x, pairs, smooth, detail, 4);
}

void ISA_NAME(wavelet_join)(const WaveletFilter *w, const float *smooth, const float *detail, size_t pairs,
                            float *x)
{
    if (w->taps == 2)
        join(w, smooth, detail, pairs, x, 1);
    else if (w->taps == 4)
        join(w, smooth, detail, pairs, x, 2);
    else
        join(w, smooth, detail, pairs, x, 4);
}
