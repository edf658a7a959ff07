/* kernels_vec.c -- this instruction set's table. */
#include "vec/kernel.h"

double ISA_NAME(sum_squares)(const float *x, size_t n);
double ISA_NAME(sum_gaps)(const float *x, const float *y, size_t n);
void ISA_NAME(gradient_sums)(const float *x, size_t n, const double above[THRESHOLDS], double sum[G_SUMS]);
void ISA_NAME(error_sums)(const float *x, const float *y, size_t n, const double above[THRESHOLDS],
                          double sum[E_SUMS], double *largest);
void ISA_NAME(spread_add)(const float *x, const float *y, size_t n, double count, float *half, float *root,
                          double sum[S_STEPS]);
void ISA_NAME(spread_sums)(const float *x, const float *half, const float *root, size_t n,
                           double sum[S_SUMS]);
void ISA_NAME(gram_rows)(const float *a, size_t rows, size_t cols, double *g);
void ISA_NAME(project_rows)(const float *a, size_t rows, size_t cols, const double *v, size_t count,
                            uint8_t *const u[4]);
void ISA_NAME(outer_rows)(const float *const u[4], const float *const v[4], size_t count, size_t rows,
                          size_t cols, bool add, float *x);
size_t ISA_NAME(sums_around)(const float *x, size_t n, float low, float high, float *between, double sum[3]);
size_t ISA_NAME(coin_sift)(const float *x, size_t n, Coin coin, const RngKey *key, uint32_t *at, float *value,
                           double *sum);
double ISA_NAME(sum_magnitudes)(const float *x, size_t n);
void ISA_NAME(sign_bits)(const float *x, size_t groups, uint8_t *bit);
void ISA_NAME(sign_values)(const uint8_t *bit, size_t groups, float plus, float minus, float *x);
void ISA_NAME(sign_sums)(const float *x, size_t n, double sum[2]);
size_t ISA_NAME(mark_from)(const float *x, size_t n, float least, uint64_t *bits);
void ISA_NAME(hadamard_runs)(float *x, size_t runs);
void ISA_NAME(hadamard_rows)(float *x, size_t stride, int log_rows, size_t cols, float scale);
void ISA_NAME(flip_signs)(const float *x, size_t n, float scale, RngKey key, uint32_t first, float *y);
double ISA_NAME(nearest_levels)(const float *x, size_t n, const LevelScale *s, uint8_t *code);
void ISA_NAME(wavelet_split)(const WaveletFilter *w, const float *x, size_t pairs, float *smooth,
                             float *detail);
void ISA_NAME(wavelet_join)(const WaveletFilter *w, const float *smooth, const float *detail, size_t pairs,
                            float *x);
void ISA_NAME(rows_dot)(const float *a, size_t rows, size_t cols, const float *const q[4], size_t count,
                        float *const p[4]);
void ISA_NAME(rows_add)(const float *a, size_t stride, size_t rows, size_t cols, const float *const p[4],
                        size_t count, double *const sum[4]);

size_t ISA_NAME(add_planes)(const PlaneSet *in, size_t count, size_t from, size_t to, int width, uint8_t *out,
                            bool *above);
bool ISA_NAME(add_up)(const uint8_t *const *in, size_t count, size_t from, size_t to, float part_most,
                      double most, uint8_t *out);

extern const Kernels ISA_NAME(kernels);
const Kernels ISA_NAME(kernels) = {
#if VEC_BYTES == 64
    .name = "avx512",
#elif VEC_BYTES == 32
    .name = "avx2",
#else
    .name = "base",
#endif
    .sum_squares = ISA_NAME(sum_squares),
    .abs_max = ISA_NAME(abs_max),
    .moments = ISA_NAME(moments),
    .quantise8 = ISA_NAME(quantise8),
    .quantise32 = ISA_NAME(quantise32),
    .toss8 = ISA_NAME(toss8),
    .dequantise8 = ISA_NAME(dequantise8),
    .dequantise32 = ISA_NAME(dequantise32),
    .pack8 = ISA_NAME(pack8),
    .pack32 = ISA_NAME(pack32),
    .unpack8 = ISA_NAME(unpack8),
    .unpack32 = ISA_NAME(unpack32),
    .pack_trits = ISA_NAME(pack_trits),
    .unpack_trits = ISA_NAME(unpack_trits),
    .fp16_nearest = ISA_NAME(fp16_nearest),
    .fp16_random = ISA_NAME(fp16_random),
    .fp16_floats = ISA_NAME(fp16_floats),
    .bf16_nearest = ISA_NAME(bf16_nearest),
    .bf16_random = ISA_NAME(bf16_random),
    .bf16_floats = ISA_NAME(bf16_floats),
    .powers = ISA_NAME(powers),
    .power_floats = ISA_NAME(power_floats),
    .range = ISA_NAME(range),
    .grade8 = ISA_NAME(grade8),
    .grade32 = ISA_NAME(grade32),
    .graded8 = ISA_NAME(graded8),
    .graded32 = ISA_NAME(graded32),
    .climb = ISA_NAME(climb),
    .descend = ISA_NAME(descend),
    .places32 = ISA_NAME(places32),
    .entries8 = ISA_NAME(entries8),
    .put_entries = ISA_NAME(put_entries),
    .census8 = ISA_NAME(census8),
    .census32 = ISA_NAME(census32),
    .rans_put = ISA_NAME(rans_put),
    .rans_get = ISA_NAME(rans_get),
    .rans_get_fine = ISA_NAME(rans_get_fine),
    .sum_gaps = ISA_NAME(sum_gaps),
    .gradient_sums = ISA_NAME(gradient_sums),
    .error_sums = ISA_NAME(error_sums),
    .spread_add = ISA_NAME(spread_add),
    .spread_sums = ISA_NAME(spread_sums),
    .gram_rows = ISA_NAME(gram_rows),
    .project_rows = ISA_NAME(project_rows),
    .outer_rows = ISA_NAME(outer_rows),
    .rows_dot = ISA_NAME(rows_dot),
    .rows_add = ISA_NAME(rows_add),
    .add_up = ISA_NAME(add_up),
    .add_planes = ISA_NAME(add_planes),
    .coin_sift = ISA_NAME(coin_sift),
    .sums_around = ISA_NAME(sums_around),
    .sum_magnitudes = ISA_NAME(sum_magnitudes),
    .sign_bits = ISA_NAME(sign_bits),
    .sign_values = ISA_NAME(sign_values),
    .sign_sums = ISA_NAME(sign_sums),
    .mark_from = ISA_NAME(mark_from),
    .hadamard_runs = ISA_NAME(hadamard_runs),
    .hadamard_rows = ISA_NAME(hadamard_rows),
    .flip_signs = ISA_NAME(flip_signs),
    .nearest_levels = ISA_NAME(nearest_levels),
    .wavelet_split = ISA_NAME(wavelet_split),
    .wavelet_join = ISA_NAME(wavelet_join),
    .hash_buckets = ISA_NAME(hash_buckets),
    .hash_places = ISA_NAME(hash_places),
    .medians = ISA_NAME(medians),
    .stretches = ISA_NAME(stretches),
    .cluster_slots = ISA_NAME(cluster_slots),
    .knot_layer = ISA_NAME(knot_layer),
};
