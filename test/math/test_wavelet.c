/* test_wavelet.c -- wavelet transforms against their definition in double. Also tests filters against their
 * defining conditions and published values, and the kernels of every instruction set against plain loops. */
#include "rig/check.h"

#include "base/arena.h"
#include "math/vec/kernels.h"
#include "math/dyadic_transform.c"

#include <float.h>

static Arena *a;

static float *normal(size_t n, uint64_t seed)
{
    const Rng rng = rng_open(seed, 0, 0, 0, 0);
    float *x = NEW(a, float, n);
    rng_normals(&rng, USE_TEST, 0, n, 1, x);
    return x;
}

/* ---- filters ---- */

TEST(filters_are_orthonormal_and_have_their_vanishing_moments)
{
    static const int moments[] = {1, 2, 4};
    for (int f = 0; f < WAVELETS; f++) {
        const WaveletFilter w = wavelet_filter(f);
        const double *s = w.smooth;
        const int taps = w.taps;
        double sum = 0;
        assert_int_equal(taps, 2 * moments[f]);
        for (int t = 0; t < taps; t++)
            sum += s[t];
        check_rel(sum, sqrt(2), 1e-15);
        for (int shift = 0; shift < taps; shift += 2) {
            double dot = 0;
            for (int t = 0; t + shift < taps; t++)
                dot += s[t] * s[t + shift];
            check_near(dot, shift ? 0 : 1, 1e-15);
        }
        for (int p = 0; p < moments[f]; p++) {
            double moment = 0;
            for (int t = 0; t < taps; t++)
                moment += (t % 2 ? -1 : 1) * pow(t, p) * s[t];
            check_near(moment, 0, 1e-13);
        }
    }
}

/* Compares the filter db4 with table 6.1 of Daubechies' book, and the filters db2 and Haar with their closed
 * forms. */
TEST(filters_are_the_published_ones)
{
    static const double published[] = {0.230377813309,  0.714846570553, 0.630880767930, -0.027983769417,
                                       -0.187034811719, 0.030841381836, 0.032883011667, -0.010597401785};
    const double r = sqrt(3), four = 4 * sqrt(2);
    const double db2[] = {(1 + r) / four, (3 + r) / four, (3 - r) / four, (1 - r) / four};
    const WaveletFilter haar = wavelet_filter(WAVELET_HAAR), four_taps = wavelet_filter(WAVELET_DB2),
                        eight_taps = wavelet_filter(WAVELET_DB4);
    check_rel(haar.smooth[0], sqrt(0.5), 2e-16);
    check_rel(haar.smooth[1], sqrt(0.5), 2e-16);
    for (int t = 0; t < 4; t++)
        check_rel(four_taps.smooth[t], db2[t], 1e-15);
    for (int t = 0; t < 8; t++)
        check_near(eight_taps.smooth[t], published[t], 5.1e-13);
}

/* ---- the wavelet transform ---- */

static void wavelet_ref(int family, int levels, const double *x, double *y, size_t n)
{
    const WaveletFilter w = wavelet_filter(family);
    const double *s = w.smooth;
    const size_t taps = (size_t)w.taps;
    double *from = NEW(a, double, n), *smooth = NEW(a, double, n);
    memcpy(from, x, n * sizeof *x);
    memcpy(y, x, n * sizeof *x);
    for (size_t m = n, level = 1; m >= 2 && (levels == 0 || level <= (size_t)levels); m /= 2, level++) {
        const size_t h = m / 2;
        for (size_t k = 0; k < h; k++) {
            double low = 0, high = 0;
            for (size_t t = 0; t < taps; t++) {
                low += s[t] * from[(2 * k + t) % (2 * h)];
                high += (t % 2 ? -1 : 1) * s[taps - 1 - t] * from[(2 * k + t) % (2 * h)];
            }
            smooth[k] = low;
            y[h + k] = high;
        }
        if (m % 2)
            y[m - 1] = from[m - 1];
        memcpy(from, smooth, h * sizeof *from);
        memcpy(y, smooth, h * sizeof *y);
    }
}

TEST(unit_vectors_become_what_the_definition_says)
{
    for (int f = 0; f < WAVELETS; f++)
        for (size_t n = 1; n <= 97; n += n < 40 ? 1 : 19)
            for (int levels = 0; levels <= 3; levels++)
                for (size_t i = 0; i < n; i++) {
                    const ArenaMark mark = arena_mark(a);
                    double *unit = NEW_ZERO(a, double, n), *want = NEW(a, double, n);
                    float *x = NEW_ZERO(a, float, n), *y = NEW(a, float, n);
                    unit[i] = 1;
                    x[i] = 1;
                    wavelet_ref(f, levels, unit, want, n);
                    check(wavelet(f, levels, x, y, n, 1, a));
                    for (size_t k = 0; k < n; k++)
                        check_near((double)y[k], want[k], 2 * FLT_EPSILON);
                    arena_rewind(a, mark);
                }
}

TEST(rows_and_columns_are_orthonormal_at_every_length)
{
    static const size_t lengths[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                                     12, 13, 14, 15, 17, 22, 31, 33, 40, 65};
    for (int f = 0; f < WAVELETS; f++)
        for (size_t s = 0; s < countof(lengths); s++)
            for (int levels = 0; levels <= 2; levels++) {
                const size_t n = lengths[s];
                const ArenaMark mark = arena_mark(a);
                /* the matrix of the transform, stored by columns: w[n * column + row] */
                float *w = NEW(a, float, n *n);
                for (size_t i = 0; i < n; i++) {
                    float *x = NEW_ZERO(a, float, n);
                    x[i] = 1;
                    check(wavelet(f, levels, x, w + i * n, n, 1, a));
                }
                for (size_t i = 0; i < n; i++)
                    for (size_t j = 0; j < n; j++) {
                        double columns = 0, rows = 0;
                        for (size_t k = 0; k < n; k++) {
                            columns += (double)w[i * n + k] * (double)w[j * n + k];
                            rows += (double)w[k * n + i] * (double)w[k * n + j];
                        }
                        check_near(columns, i == j, 2 * FLT_EPSILON);
                        check_near(rows, i == j, 2 * FLT_EPSILON);
                    }
                arena_rewind(a, mark);
            }
}

static const size_t sizes[] = {0, 1, 2, 3, 7, 1000, 65535, 65536, 65539, 131071, 300001};

/* Sums are taken in double, so only the results are rounded, each by at most half a unit in the last place. */
TEST(back_is_the_inverse_and_lengths_stay)
{
    for (int f = 0; f < WAVELETS; f++)
        for (size_t s = 0; s < countof(sizes); s++)
            for (int levels = 0; levels <= 3; levels += 3) {
                const size_t n = sizes[s];
                const ArenaMark mark = arena_mark(a);
                const float *x = normal(n, s);
                float *y = NEW(a, float, n), *z = NEW(a, float, n);
                double before = 0, after = 0, off = 0;
                check(wavelet(f, levels, x, y, n, 1, a));
                for (size_t i = 0; i < n; i++) {
                    before += (double)x[i] * (double)x[i];
                    after += (double)y[i] * (double)y[i];
                }
                wavelet_back(f, levels, y, z, n, 1);
                for (size_t i = 0; i < n; i++)
                    off += pow((double)z[i] - (double)x[i], 2);
                check_rel(after, before, FLT_EPSILON);
                check(sqrt(off) <= FLT_EPSILON * sqrt(before));
                arena_rewind(a, mark);
            }
}

/* ---- kernels ---- */

TEST(instruction_sets_agree_to_the_bit_with_plain_loops)
{
    enum { PAIRS = 133 };
    const float *x = normal(2 * PAIRS + 8, 3), *low = normal(PAIRS + 4, 4), *high = normal(PAIRS + 4, 5);
    for (int f = 0; f < WAVELETS; f++) {
        const WaveletFilter w = wavelet_filter(f);
        for (int isa = 0; isa < ISA_COUNT; isa++)
            for (size_t pairs = 0; pairs <= PAIRS; pairs++) {
                const Kernels *k = kernels_of((Isa)isa);
                float smooth[PAIRS + 1], detail[PAIRS + 1], back[2 * PAIRS + 1];
                if (!k)
                    continue;
                smooth[pairs] = detail[pairs] = back[2 * pairs] = 77;
                k->wavelet_split(&w, x, pairs, smooth, detail);
                k->wavelet_join(&w, low + 4, high + 4, pairs, back);
                check(smooth[pairs] == 77 && detail[pairs] == 77 && back[2 * pairs] == 77);
                for (size_t p = 0; p < pairs; p++) {
                    /* these sums start from +0; a kernel may return -0, which == takes as equal */
                    double v = 0, d = 0, even = 0, odd = 0;
                    for (int t = 0; t < w.taps; t++) {
                        v += (double)x[2 * p + (size_t)t] * w.smooth[t];
                        d += (double)x[2 * p + (size_t)t] * w.detail[t];
                    }
                    for (int j = 0; j < w.taps / 2; j++) {
                        const double l = (double)low[4 + p - (size_t)j], h = (double)high[4 + p - (size_t)j];
                        even = even + l * w.smooth[2 * j] + h * w.detail[2 * j];
                        odd = odd + l * w.smooth[2 * j + 1] + h * w.detail[2 * j + 1];
                    }
                    check(smooth[p] == (float)v && detail[p] == (float)d);
                    check(back[2 * p] == (float)even && back[2 * p + 1] == (float)odd);
                }
            }
    }
}

CHECK_ALL_IN(a)
