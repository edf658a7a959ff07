/* wavelet_vec.c -- one level of an orthogonal wavelet transform and its inverse, away from the ends of the
 * vector.
 *
 * Sums are taken in double, in the same order in every lane, and only the results are rounded to float. The
 * filters' coefficients are doubles, too: as floats they would have errors of up to 2^-25 that are the same at
 * every level and add up over twenty levels. Errors of rounded results are random and partly cancel. */
#include "math/vec/vec.h"

enum { CHUNK = 512, BEYOND = WAVELET_TAPS / 2 };

/* ---- splitting a vector into its even and its odd elements, and joining these again ---- */

INLINE void part(const float *restrict x, size_t pairs, float *restrict even, float *restrict odd)
{
    for (size_t k = 0; k < pairs; k++) {
        even[k] = x[2 * k];
        odd[k] = x[2 * k + 1];
    }
}

INLINE void unite(const float *restrict even, const float *restrict odd, size_t pairs, float *restrict x)
{
    for (size_t k = 0; k < pairs; k++) {
        x[2 * k] = even[k];
        x[2 * k + 1] = odd[k];
    }
}

/* ---- filters of 2 * half coefficients; `half` is a constant in every call ---- */

/* A filter f and its output: to_k is the sum over j of a_(k + step j) f_2j + b_(k + step j) f_(2j + 1). In
 * the forward transform, a and b are the even and the odd elements of x; in the inverse, the smooth and the
 * detail coefficients. */
typedef struct {
    const double *f;
    float *to;
} Filter;

INLINE void filter_both(const float *a, const float *b, size_t n, Filter one, Filter two, const int step,
                        const int half)
{
    const double *f = one.f, *g = two.f;
    size_t k = 0;
    for (; k + DLANES <= n; k += DLANES) {
        VecD p = load_d(a + k), q = load_d(b + k);
        VecD first = p * f[0] + q * f[1], second = p * g[0] + q * g[1];
        for (int j = 1; j < half; j++) {
            p = load_d(a + (ptrdiff_t)k + step * j);
            q = load_d(b + (ptrdiff_t)k + step * j);
            first = first + p * f[2 * j] + q * f[2 * j + 1];
            second = second + p * g[2 * j] + q * g[2 * j + 1];
        }
        store_d(one.to + k, first);
        store_d(two.to + k, second);
    }
    for (; k < n; k++) {
        double p = (double)a[k], q = (double)b[k];
        double first = p * f[0] + q * f[1], second = p * g[0] + q * g[1];
        for (int j = 1; j < half; j++) {
            p = (double)a[(ptrdiff_t)k + step * j];
            q = (double)b[(ptrdiff_t)k + step * j];
            first = first + p * f[2 * j] + q * f[2 * j + 1];
            second = second + p * g[2 * j] + q * g[2 * j + 1];
        }
        one.to[k] = (float)first;
        two.to[k] = (float)second;
    }
}

INLINE void split(const WaveletFilter *w, const float *x, size_t pairs, float *smooth, float *detail,
                  const int half)
{
    const WaveletFilter f = *w;
    float even[CHUNK + BEYOND], odd[CHUNK + BEYOND];
    for (size_t from = 0; from < pairs; from += CHUNK) {
        const size_t n = pairs - from < CHUNK ? pairs - from : CHUNK;
        part(x + 2 * from, n + (size_t)half - 1, even, odd);
        filter_both(even, odd, n, (Filter){f.smooth, smooth + from}, (Filter){f.detail, detail + from}, 1,
                    half);
    }
}

/* The transpose of `split`. Pair k of x depends on the smooth and detail coefficients k - half + 1, ..., k. */
INLINE void join(const WaveletFilter *w, const float *smooth, const float *detail, size_t pairs, float *x,
                 const int half)
{
    float even[CHUNK], odd[CHUNK];
    double to_even[WAVELET_TAPS], to_odd[WAVELET_TAPS];
    for (int j = 0; j < half; j++) {
        to_even[2 * j] = w->smooth[2 * j];
        to_even[2 * j + 1] = w->detail[2 * j];
        to_odd[2 * j] = w->smooth[2 * j + 1];
        to_odd[2 * j + 1] = w->detail[2 * j + 1];
    }
    for (size_t from = 0; from < pairs; from += CHUNK) {
        const size_t n = pairs - from < CHUNK ? pairs - from : CHUNK;
        filter_both(smooth + from, detail + from, n, (Filter){to_even, even}, (Filter){to_odd, odd}, -1,
                    half);
        unite(even, odd, n, x + 2 * from);
    }
}

void ISA_NAME(wavelet_split)(const WaveletFilter *w, const float *x, size_t pairs, float *smooth,
                             float *detail)
{
    WITH_4(w->taps / 2, split(w, x, pairs, smooth, detail, N))
}

void ISA_NAME(wavelet_join)(const WaveletFilter *w, const float *smooth, const float *detail, size_t pairs,
                            float *x)
{
    WITH_4(w->taps / 2, join(w, smooth, detail, pairs, x, N))
}
